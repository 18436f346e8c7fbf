//! Where configuration and data are.

use std::path::{Path, PathBuf};

use etcetera::BaseStrategy;

/// The files and folders of one user on one machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigPaths {
    /// `flightdeck.toml` in the user's configuration folder.
    pub user_file: PathBuf,
    /// Where data goes unless configured otherwise.
    pub data_folder: PathBuf,
}

impl ConfigPaths {
    /// The platform's usual places.
    pub fn of_this_user() -> Self {
        match etcetera::choose_base_strategy() {
            Ok(places) => Self {
                user_file: places.config_dir().join("flightdeck").join("flightdeck.toml"),
                data_folder: places.data_dir().join("flightdeck"),
            },
            // Without a home folder (a service account, for example), files go where the server is started.
            Err(_) => Self {
                user_file: PathBuf::from(".flightdeck-config/flightdeck.toml"),
                data_folder: PathBuf::from(".flightdeck-data"),
            },
        }
    }
}

/// The nearest folder at or above `start` that contains `.git`, or else `start`.
pub fn repository_root(start: &Path) -> PathBuf {
    start.ancestors().find(|folder| folder.join(".git").exists()).unwrap_or(start).to_owned()
}

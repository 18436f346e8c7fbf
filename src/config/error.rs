//! What is wrong with a configuration.

use std::path::PathBuf;

/// The configuration is not valid. The text says where, and what to do.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// A file cannot be read.
    #[error("cannot read the configuration file {}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Why not.
        #[source]
        source: std::io::Error,
    },
    /// A file is not TOML.
    #[error("the configuration file {} is not valid TOML:\n{message}", path.display())]
    NotToml {
        /// The file.
        path: PathBuf,
        /// Where and why.
        message: String,
    },
    /// The key is unknown.
    #[error("{origin} sets the unknown key `{key}`{}", nearest.as_ref().map(|known| format!("; did you mean `{known}`?")).unwrap_or_default())]
    UnknownKey {
        /// Where the key was set.
        origin: String,
        /// The key.
        key: String,
        /// The most similar known one.
        nearest: Option<String>,
    },
    /// The requested key is unknown.
    #[error("there is no setting `{key}`{}", nearest.as_ref().map(|known| format!("; did you mean `{known}`?")).unwrap_or_default())]
    NoSuchKey {
        /// The key.
        key: String,
        /// The most similar known one.
        nearest: Option<String>,
    },
    /// A file cannot be written.
    #[error("cannot write the configuration file {}", path.display())]
    Unwritable {
        /// The file.
        path: PathBuf,
        /// Why not.
        #[source]
        source: std::io::Error,
    },
    /// The value is not valid.
    #[error("{origin} sets `{key}` to an invalid value: {message}")]
    BadValue {
        /// Where the key was set.
        origin: String,
        /// The key.
        key: String,
        /// Why not.
        message: String,
    },
    /// What hides a secret was sent for one that is not set.
    #[error("`{key}` has no {secret} to keep: send the value itself, or leave it out")]
    UnknownSecret {
        /// The setting.
        key: String,
        /// The field in it.
        secret: String,
    },
    /// The file is not the one that the caller has seen.
    #[error("the configuration file {} was changed in the meantime; reload the settings", path.display())]
    Changed {
        /// The file.
        path: PathBuf,
    },
    /// The server could not start with it.
    #[error("the server could not start with these settings: {message}")]
    Unusable {
        /// Why not.
        message: String,
    },
    /// A project may not set this key.
    #[error(
        "{origin} sets `{key}`, which a project may not set: set it in {} instead, or remove it from the project's file",
        user_file.display()
    )]
    NotForProjects {
        /// Where the key was set.
        origin: String,
        /// The key.
        key: String,
        /// The file where it is allowed.
        user_file: PathBuf,
    },
}

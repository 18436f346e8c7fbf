//! What is wrong with a configuration.

use std::path::PathBuf;

/// The configuration cannot be used. The text says where and what to do.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// A file cannot be read.
    #[error("the configuration file {} cannot be read", path.display())]
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
    /// Nobody knows the key.
    #[error("{origin} sets the unknown key `{key}`{}", nearest.as_ref().map(|known| format!("; did you mean `{known}`?")).unwrap_or_default())]
    UnknownKey {
        /// Where it stands.
        origin: String,
        /// The key.
        key: String,
        /// The most similar known one.
        nearest: Option<String>,
    },
    /// Nobody knows the key that was asked for.
    #[error("there is no setting `{key}`{}", nearest.as_ref().map(|known| format!("; did you mean `{known}`?")).unwrap_or_default())]
    NoSuchKey {
        /// The key.
        key: String,
        /// The most similar known one.
        nearest: Option<String>,
    },
    /// A file cannot be written.
    #[error("the configuration file {} cannot be written", path.display())]
    Unwritable {
        /// The file.
        path: PathBuf,
        /// Why not.
        #[source]
        source: std::io::Error,
    },
    /// The value will not do.
    #[error("{origin} sets `{key}` to a value that will not do: {message}")]
    BadValue {
        /// Where it stands.
        origin: String,
        /// The key.
        key: String,
        /// Why not.
        message: String,
    },
    /// A project may not set that.
    #[error(
        "{origin} sets `{key}`, which a project may not: set it in {} if you want it, or remove it from the project's file",
        user_file.display()
    )]
    NotForProjects {
        /// Where it stands.
        origin: String,
        /// The key.
        key: String,
        /// Where it would be allowed.
        user_file: PathBuf,
    },
}

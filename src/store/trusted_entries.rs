//! Entries of jobs that a person trusts, by the hash of their file.

use std::path::PathBuf;

use crate::model::Timestamp;

/// An entry that a person trusts, as long as its file has this hash.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TrustedEntry {
    /// The file.
    pub path: PathBuf,
    /// The hash of its content.
    pub hash: String,
    /// When it was trusted.
    pub trusted_at: Timestamp,
}

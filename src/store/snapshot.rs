//! Copies of a data folder's database, and where its large outputs are. For backups; everything here blocks.

use std::path::{Path, PathBuf};

use super::StoreError;
use super::folder::DataFolder;
use super::sqlite;

/// A copy of a database.
#[derive(Debug)]
pub struct Snapshot {
    path: PathBuf,
}

impl Snapshot {
    /// Copies the database of a data folder into a new file, as of one moment. A server may be using it.
    pub fn take(data_folder: &Path, into: &Path) -> Result<Self, StoreError> {
        sqlite::snapshot(&data_folder.join(DataFolder::DATABASE), into)?;
        Ok(Self { path: into.to_owned() })
    }

    /// A copy that is there.
    pub fn at(path: &Path) -> Self {
        Self { path: path.to_owned() }
    }

    /// Checks all of it.
    pub fn check(&self) -> Result<(), StoreError> {
        sqlite::check_snapshot(&self.path)
    }

    /// The hashes of the large outputs that its sessions use.
    pub fn blobs(&self) -> Result<Vec<String>, StoreError> {
        sqlite::blobs_of_snapshot(&self.path)
    }

    /// Prepares it for use in place of the database that it was copied from: no number is given twice.
    pub fn mark_restored(&self) -> Result<(), StoreError> {
        sqlite::mark_restored(&self.path)
    }
}

impl DataFolder {
    /// The database.
    pub const DATABASE: &'static str = "flightdeck.db";
    /// Small files beside the database that belong to what it remembers.
    pub const RECORDS: [&'static str; 2] = ["quarantine.json", "conformance.json"];

    /// Where a large output is, relative to the data folder. `None` for what is not a hash.
    pub fn blob_file(hash: &str) -> Option<PathBuf> {
        let is_hash =
            hash.len() == 64 && hash.bytes().all(|byte| byte.is_ascii_hexdigit() && !byte.is_ascii_uppercase());
        is_hash.then(|| PathBuf::from("blobs").join(&hash[..2]).join(hash))
    }
}

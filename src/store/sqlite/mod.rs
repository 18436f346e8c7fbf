//! The store in one `SQLite` file: the only SQL, and the only place that knows `rusqlite`.
//!
//! What must always hold here:
//!
//! - Only the writer thread writes. Everything that is queued for it is one transaction, in the order given; each job
//!   has its own savepoint, so one that fails does not affect the others.
//! - Nothing slow happens on the writer thread: no hashing, no encoding of attachments, no waiting for readers except
//!   when the WAL has reached its bound.
//! - A log is one range of one B-tree (`events.rs`).

mod append;
mod backend;
mod blobs;
mod boot;
mod browsers;
mod capture_calls;
mod capture_sessions;
mod change;
mod checkpoint;
mod drop_range;
mod durability;
mod error;
mod events;
mod file_identity;
mod folder_rules;
mod jobs;
mod logins;
mod notifications;
mod outcomes;
mod positions;
mod prompts;
mod read_pool;
mod requests;
mod reservation;
mod retention;
mod runs;
mod schema;
mod search;
mod sessions;
mod snapshot;
mod tasks;
#[cfg(test)]
mod tests;
mod tokens;
mod trusted_entries;
mod usage;
mod writer;

pub(super) use backend::Sqlite;
pub(super) use snapshot::{blobs_of_snapshot, check_snapshot, mark_restored, snapshot};

/// Leaves the record of a server that did not shut down cleanly; without a boot id, in this boot.
#[cfg(test)]
pub(super) fn leave_open(folder: &crate::store::DataFolder, boot: Option<&str>) {
    let connection = rusqlite::Connection::open(folder.database().expect("there")).expect("opened");
    let boot = boot.map_or_else(boot::boot_id, str::to_owned);
    let note = "INSERT OR REPLACE INTO meta (key, value) VALUES ('open_since_boot', ?1)";
    connection.execute(note, [boot]).expect("noted");
}

//! The folders that sessions work in: which there are to choose from, and what changed in one since its last commit.
//!
//! What must always hold here:
//!
//! - Nothing is written, not even an index of git's.
//! - Nothing runs that a folder asks for. A repository comes with its own configuration, so every program that git would
//!   run because of it (hooks, filters, drivers of diffs, monitors, helpers) is switched off by name.
//! - Only what is below the folder's repository is read, and no symbolic link is followed on the way.
//! - Time and size of every answer are bounded.

mod change_list;
mod changes;
mod error;
mod git;
mod listing;
mod new_file;
mod status;

pub use change_list::{Change, ChangeKind, ChangeList};
pub use changes::{FileDiff, changes, file_diff};
pub use error::FolderError;
pub use listing::{Listing, Subfolder, list};

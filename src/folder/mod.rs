//! The folders that sessions work in: lists them, and shows what changed in one since its last commit.
//!
//! What must always hold here:
//!
//! - Nothing is written, not even git's index.
//! - No program that a folder names is run. A repository has its own configuration, so every program that git would run
//!   because of it (hooks, filters, diff drivers, monitors, helpers) is turned off explicitly.
//! - Only what is below the folder's repository is read, and no symbolic link is followed on the way.
//! - Every result is bounded in time and size.

mod change_list;
mod changes;
mod error;
mod file_indexes;
mod file_match;
mod files;
mod git;
mod listing;
mod new_file;
mod status;

pub use change_list::{Change, ChangeKind, ChangeList};
pub use changes::{FileDiff, changes, file_diff};
pub use error::FolderError;
pub use file_indexes::FileIndexes;
pub use files::FileIndex;
pub use listing::{Listing, Subfolder, list};

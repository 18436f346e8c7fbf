//! The folders that sessions work in: lists them, shows what changed in one, keeps snapshots of it, and reverts changes.
//!
//! What must always hold here:
//!
//! - Nothing is written in a repository, not even git's index, except for the files that a person reverts.
//! - No program that a folder names is run. A repository has its own configuration, so every program that git would run
//!   because of it (hooks, filters, diff drivers, monitors, helpers) is turned off explicitly.
//! - Only what is below the folder's repository is read or written, and no symbolic link is followed on the way.
//! - Every result is bounded in time and size.

mod change_list;
mod changes;
mod comparison;
mod error;
mod file_indexes;
mod file_match;
mod files;
mod git;
mod listing;
mod new_file;
mod patch;
mod raw_diff;
mod revert;
mod snapshot;
mod snapshot_store;
mod status;
mod worktree;

pub use change_list::{Change, ChangeKind, ChangeList};
pub use changes::{FileDiff, changes, file_diff};
pub use comparison::{Comparison, Since, Until, compare};
pub use error::FolderError;
pub use file_indexes::FileIndexes;
pub use files::FileIndex;
pub use listing::{Listing, Subfolder, list};
pub use patch::Patch;
pub use raw_diff::{TreeChange, TreeEntry};
pub use revert::{LARGEST_REVERT, RevertedPath, content_at, put};
pub use snapshot::{Snapshot, snapshot};
pub use snapshot_store::SnapshotStore;
pub use worktree::Content;

//! Rules for all sessions in a folder.

use crate::model::{FolderRule, Timestamp};

/// A folder's rule as it is kept. It is added by [`super::Change::FolderRuleAdded`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredFolderRule {
    /// Never used again.
    pub id: u64,
    /// The folder, and what is allowed there.
    pub rule: FolderRule,
    /// When it was added.
    pub added_at: Timestamp,
}

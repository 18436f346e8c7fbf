//! The rules of folders, as the store has them. Every session that works in a folder follows its rules.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tokio::sync::{Mutex, watch};

use crate::model::PermissionRule;
use crate::store::{Store, StoreError};

/// The rules of all folders at one moment; clones are cheap.
#[derive(Clone, Debug, Default)]
pub(super) struct FolderRuleSet(Arc<HashMap<PathBuf, Vec<PermissionRule>>>);

impl FolderRuleSet {
    /// Those of exactly this folder; a folder below it has its own.
    pub fn of(&self, folder: Option<&Path>) -> &[PermissionRule] {
        folder.and_then(|folder| self.0.get(folder)).map(Vec::as_slice).unwrap_or_default()
    }
}

impl FromIterator<(PathBuf, PermissionRule)> for FolderRuleSet {
    fn from_iter<T: IntoIterator<Item = (PathBuf, PermissionRule)>>(rules: T) -> Self {
        let mut folders: HashMap<PathBuf, Vec<PermissionRule>> = HashMap::new();
        for (folder, rule) in rules {
            folders.entry(folder).or_default().push(rule);
        }
        Self(Arc::new(folders))
    }
}

/// What all sessions share of it.
#[derive(Default)]
pub(super) struct FolderRules {
    current: watch::Sender<FolderRuleSet>,
    /// One reading at a time, so that an older one never replaces a newer one.
    reading: Mutex<()>,
}

impl FolderRules {
    pub fn current(&self) -> FolderRuleSet {
        self.current.borrow().clone()
    }

    /// Resolves when the rules may have changed since the last time.
    pub fn subscribe(&self) -> watch::Receiver<FolderRuleSet> {
        self.current.subscribe()
    }

    /// Reads them again. What was committed before counts from now on, in every session.
    pub async fn reload(&self, store: &Store) -> Result<(), StoreError> {
        let _alone = self.reading.lock().await;
        let rules = store.folder_rules().await?;
        self.current.send_replace(rules.into_iter().map(|stored| (stored.rule.folder, stored.rule.rule)).collect());
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::RuleDecision;

    #[test]
    fn a_folder_has_its_own_rules_and_those_of_no_other() {
        let rule = PermissionRule::for_tool("shell", RuleDecision::Allow);
        let rules: FolderRuleSet = [(PathBuf::from("/work"), rule.clone())].into_iter().collect();
        assert_eq!(rules.of(Some(Path::new("/work"))), [rule]);
        for other in ["/", "/work/below", "/work2", "/workspace/..", ""] {
            assert_eq!(rules.of(Some(Path::new(other))), [], "{other}");
        }
        assert_eq!(rules.of(None), []);
    }
}

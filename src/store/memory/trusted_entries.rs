//! Trusted entries in memory.

use std::path::PathBuf;

use super::Memory;
use crate::store::{Answer, TrustedEntries, TrustedEntry};

impl TrustedEntries for Memory {
    fn trust_entry(&self, entry: TrustedEntry) -> Answer<'_, ()> {
        self.write_durably(|state| drop(state.trusted_entries.insert(entry.path.clone(), entry)))
    }

    fn is_trusted_entry(&self, path: PathBuf, hash: String) -> Answer<'_, bool> {
        self.read(|state| state.trusted_entries.get(&path).is_some_and(|entry| entry.hash == hash))
    }

    fn trusted_entries(&self) -> Answer<'_, Vec<TrustedEntry>> {
        self.read(|state| state.trusted_entries.values().cloned().collect())
    }

    fn forget_trusted_entry(&self, path: PathBuf) -> Answer<'_, bool> {
        self.write_durably(|state| state.trusted_entries.remove(&path).is_some())
    }
}

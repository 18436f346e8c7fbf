//! How much a commit waits for the disk.

/// Remembers what the connection was last set to, so that a commit sets it only when it changes.
#[derive(Debug, Default)]
pub(super) struct Durability {
    synced: Option<bool>,
}

impl Durability {
    /// The setting to change before the next commit, if it has to change. `synced` commits survive a power cut.
    pub fn change(&mut self, synced: bool) -> Option<&'static str> {
        if self.synced == Some(synced) {
            return None;
        }
        self.synced = Some(synced);
        Some(if synced { "FULL" } else { "NORMAL" })
    }

    /// The setting could not be changed; nobody knows what it is.
    pub fn forget(&mut self) {
        self.synced = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_setting_is_touched_only_when_it_changes() {
        let mut durability = Durability::default();
        let changes = [false, false, true, true, false].map(|synced| durability.change(synced));
        assert_eq!(changes, [Some("NORMAL"), None, Some("FULL"), None, Some("NORMAL")]);
    }
}

//! Agent versions that ran what they were denied. They are not used until the user says otherwise.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use parking_lot::Mutex;

use super::json_file;

/// The quarantined versions, in one file of the data folder. Without a file nothing outlives the process.
#[derive(Debug, Default)]
pub struct Quarantine {
    file: Option<PathBuf>,
    /// `runtime version` pairs that the user trusts all the same.
    trusted: Vec<String>,
    reasons: Mutex<BTreeMap<String, String>>,
}

impl Quarantine {
    /// What is known below `data_folder`.
    pub fn load(data_folder: &Path, trusted: &[String]) -> Self {
        let file = data_folder.join("quarantine.json");
        let reasons = json_file::read(&file).unwrap_or_else(|| {
            if file.exists() {
                tracing::error!(file = %file.display(), "the quarantine cannot be read; run `flightdeck doctor`");
            }
            BTreeMap::new()
        });
        Self { file: Some(file), trusted: trusted.to_vec(), reasons: Mutex::new(reasons) }
    }

    /// Why a version must not be used, and how to use it all the same.
    pub fn reason(&self, runtime: &str, version: &str) -> Option<String> {
        let key = format!("{runtime} {version}");
        if self.trusted.contains(&key) {
            return None;
        }
        let reason = self.reasons.lock().get(&key).cloned()?;
        Some(format!(
            "{key} is quarantined: {reason}. Install another version, then run `flightdeck doctor`; to use it all the \
             same, add \"{key}\" to agents.trusted_versions"
        ))
    }

    /// Locks a version out.
    pub fn add(&self, runtime: &str, version: &str, reason: &str) {
        self.reasons.lock().insert(format!("{runtime} {version}"), reason.to_owned());
        self.save();
    }

    /// Lets a version in again: it has behaved.
    pub fn remove(&self, runtime: &str, version: &str) {
        if self.reasons.lock().remove(&format!("{runtime} {version}")).is_some() {
            self.save();
        }
    }

    fn save(&self) {
        let Some(file) = &self.file else { return };
        if let Err(error) = json_file::write(file, &*self.reasons.lock()) {
            tracing::error!(%error, file = %file.display(), "the quarantine could not be written");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_stays_locked_out_until_it_behaves_or_is_trusted() {
        let folder = tempfile::tempdir().expect("a folder");
        let quarantine = Quarantine::load(folder.path(), &[]);
        quarantine.add("copilot", "1.0.0", "it wrote a file that it was denied");
        let again = Quarantine::load(folder.path(), &[]);
        let reason = again.reason("copilot", "1.0.0").expect("locked out");
        assert!(reason.contains("denied") && reason.contains("agents.trusted_versions"), "{reason}");
        assert_eq!(again.reason("copilot", "1.0.1"), None);
        let trusting = Quarantine::load(folder.path(), &["copilot 1.0.0".to_owned()]);
        assert_eq!(trusting.reason("copilot", "1.0.0"), None);
        again.remove("copilot", "1.0.0");
        assert_eq!(Quarantine::load(folder.path(), &[]).reason("copilot", "1.0.0"), None);
    }
}

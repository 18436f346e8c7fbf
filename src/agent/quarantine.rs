//! Agent versions that ran tools which they were denied. They are not used until the user allows them.

use std::collections::BTreeMap;
use std::error::Error as _;
use std::io;
use std::path::{Path, PathBuf};

use parking_lot::Mutex;

use crate::private_file::{read_json, write_json};

/// The quarantined versions, in one file of the data folder. Without a file, they are lost when the process exits.
///
/// A file that cannot be read quarantines every version, because any of them may be in it.
#[derive(Debug, Default)]
pub struct Quarantine {
    file: Option<PathBuf>,
    /// `runtime version` pairs that the user trusts anyway.
    trusted: Vec<String>,
    reasons: Mutex<BTreeMap<String, String>>,
    /// Why the file cannot be read, and what to do.
    unreadable: Option<String>,
}

impl Quarantine {
    /// Loads the versions from the file in `data_folder`.
    pub fn load(data_folder: &Path, trusted: &[String]) -> Self {
        let file = data_folder.join("quarantine.json");
        let (reasons, unreadable) = match read_json(&file) {
            Ok(reasons) => (reasons.unwrap_or_default(), None),
            Err(error) => {
                let cause = error.source().map(|cause| format!(": {cause}")).unwrap_or_default();
                let problem = format!(
                    "Cannot read {}: {error}{cause}. It lists agent versions that must not run, so no agent is started. \
                     Delete the file, then run `flightdeck doctor` to check the installed agents again",
                    file.display()
                );
                tracing::error!(file = %file.display(), %error, "cannot read the quarantine; no agent is started");
                (BTreeMap::new(), Some(problem))
            }
        };
        Self { file: Some(file), trusted: trusted.to_vec(), reasons: Mutex::new(reasons), unreadable }
    }

    /// Why the file cannot be read, and what to do; `None` if it was read.
    pub fn problem(&self) -> Option<&str> {
        self.unreadable.as_deref()
    }

    /// Why a version must not be used, and what to do about it. An unknown version is rejected only while the file
    /// cannot be read.
    pub fn reason(&self, runtime: &str, version: Option<&str>) -> Option<String> {
        let key = version.map(|version| format!("{runtime} {version}"));
        if key.as_ref().is_some_and(|key| self.trusted.contains(key)) {
            return None;
        }
        if let Some(problem) = &self.unreadable {
            return Some(problem.clone());
        }
        let key = key?;
        let reason = self.reasons.lock().get(&key).cloned()?;
        Some(format!(
            "{key} is quarantined: {reason}. Install another version, then run `flightdeck doctor`; to use this version \
             anyway, add \"{key}\" to agents.trusted_versions"
        ))
    }

    /// Quarantines a version. It is quarantined in this process even if the file cannot be written.
    pub fn add(&self, runtime: &str, version: &str, reason: &str) -> io::Result<()> {
        self.reasons.lock().insert(format!("{runtime} {version}"), reason.to_owned());
        self.save()
    }

    /// Releases a version that has passed the permission canary.
    pub fn remove(&self, runtime: &str, version: &str) -> io::Result<()> {
        match self.reasons.lock().remove(&format!("{runtime} {version}")) {
            Some(_) => {}
            None => return Ok(()),
        }
        self.save()
    }

    fn save(&self) -> io::Result<()> {
        let Some(file) = &self.file else { return Ok(()) };
        if let Some(problem) = &self.unreadable {
            // The unreadable file must not be overwritten.
            return Err(io::Error::other(problem.clone()));
        }
        let reasons = self.reasons.lock().clone();
        write_json(file, &reasons)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_stays_quarantined_until_it_passes_or_is_trusted() {
        let folder = tempfile::tempdir().expect("a folder");
        let quarantine = Quarantine::load(folder.path(), &[]);
        quarantine.add("copilot", "1.0.0", "it wrote a file that it was denied").expect("written");
        let again = Quarantine::load(folder.path(), &[]);
        let reason = again.reason("copilot", Some("1.0.0")).expect("quarantined");
        assert!(reason.contains("denied") && reason.contains("agents.trusted_versions"), "{reason}");
        assert_eq!(again.reason("copilot", Some("1.0.1")), None);
        assert_eq!(again.reason("copilot", None), None);
        let trusting = Quarantine::load(folder.path(), &["copilot 1.0.0".to_owned()]);
        assert_eq!(trusting.reason("copilot", Some("1.0.0")), None);
        again.remove("copilot", "1.0.0").expect("written");
        assert_eq!(Quarantine::load(folder.path(), &[]).reason("copilot", Some("1.0.0")), None);
    }

    #[test]
    fn a_file_that_cannot_be_read_quarantines_every_version_that_is_not_trusted() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("quarantine.json");
        std::fs::write(&file, "{\"copilot 1.0.0\": ").expect("damaged");
        let quarantine = Quarantine::load(folder.path(), &["claude 2".to_owned()]);
        for version in [Some("1.0.0"), Some("1.0.1"), None] {
            let reason = quarantine.reason("copilot", version).expect("quarantined");
            assert!(reason.contains("quarantine.json") && reason.contains("Delete the file"), "{reason}");
        }
        assert_eq!(quarantine.reason("claude", Some("2")), None);
        assert!(quarantine.problem().is_some());
        assert!(quarantine.add("copilot", "1.0.1", "it ran a command").is_err());
        assert_eq!(std::fs::read_to_string(&file).expect("kept"), "{\"copilot 1.0.0\": ", "nothing in it is lost");
    }
}

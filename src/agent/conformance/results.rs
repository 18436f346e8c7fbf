//! The stored results, and what each version may do after them.

use std::collections::BTreeMap;
use std::error::Error as _;
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use parking_lot::Mutex;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Capability, ConformanceReport};
use crate::model::Timestamp;
use crate::private_file::{read_json, write_json};

/// How many results the history keeps.
const MOST_RESULTS: usize = 200;
/// How many versions keep their whole report.
const MOST_REPORTS: usize = 20;

/// One line of the history.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PastResult {
    /// The runtime.
    pub runtime: String,
    /// The version.
    pub version: String,
    /// When the checks began.
    pub at: Timestamp,
    /// How many assumptions hold.
    pub passed: usize,
    /// The names of the checks that failed.
    pub failed: Vec<String>,
}

/// The content of the file.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Content {
    /// Oldest first.
    history: Vec<PastResult>,
    /// The last report of each runtime and version, by `runtime version`.
    reports: BTreeMap<String, ConformanceReport>,
}

/// What tells one content of the file from the next: its time and its length; `None` if there is no file.
type Stamp = Option<(SystemTime, u64)>;

/// The results in one file of the data folder. The server and the command share the file, so it is read again when it
/// has changed.
#[derive(Debug)]
pub struct ConformanceResults {
    file: PathBuf,
    read: Mutex<Option<(Stamp, Result<Content, String>)>>,
}

impl ConformanceResults {
    /// The results in a data folder.
    pub fn in_folder(data_folder: &Path) -> Self {
        Self { file: data_folder.join("conformance.json"), read: Mutex::new(None) }
    }

    /// Whether a version may use a capability. The error says which checks failed and what to do.
    ///
    /// A version that was never checked may, because the checks are run on purpose and before an upgrade.
    pub fn allows(&self, runtime: &str, version: &str, capability: Capability) -> Result<(), String> {
        self.with(|content| {
            let Some(report) = content.reports.get(&key(runtime, version)) else { return Ok(()) };
            let rests_on = report.failures().filter(|check| check.capabilities.contains(&capability));
            let failed: Vec<&str> = rests_on.map(|check| check.id.as_str()).collect();
            if failed.is_empty() {
                return Ok(());
            }
            Err(format!(
                "Capture mode `{capability}` is off for {runtime} {version}: it failed {} on {}. Install another \
                 version, then run `flightdeck conformance --runtime {runtime}`",
                names(&failed),
                report.at
            ))
        })?
    }

    /// Adds a result to the history. It replaces the last report of the same version.
    pub fn add(&self, report: &ConformanceReport) -> io::Result<()> {
        let mut content = self.with(Content::clone).map_err(io::Error::other)?;
        let failed: Vec<String> = report.failures().map(|check| check.id.clone()).collect();
        content.history.push(PastResult {
            runtime: report.runtime.clone(),
            version: report.version.clone(),
            at: report.at,
            passed: report.checks.len() - failed.len(),
            failed,
        });
        let excess = content.history.len().saturating_sub(MOST_RESULTS);
        content.history.drain(..excess);
        content.reports.insert(key(&report.runtime, &report.version), report.clone());
        while content.reports.len() > MOST_REPORTS {
            let oldest = content.reports.iter().min_by_key(|(_, report)| report.at).map(|(key, _)| key.clone());
            content.reports.remove(&oldest.expect("there are too many"));
        }
        let written = write_json(&self.file, &content);
        *self.read.lock() = None;
        written
    }

    /// The history, oldest first.
    pub fn history(&self) -> Result<Vec<PastResult>, String> {
        self.with(|content| content.history.clone())
    }

    /// The newest report of each runtime.
    pub fn newest(&self) -> Result<Vec<ConformanceReport>, String> {
        self.with(|content| {
            let mut newest: BTreeMap<&str, &ConformanceReport> = BTreeMap::new();
            for report in content.reports.values() {
                let known = newest.entry(&report.runtime).or_insert(report);
                if report.at > known.at {
                    *known = report;
                }
            }
            newest.into_values().cloned().collect()
        })
    }

    /// The last report of a version.
    pub fn of_version(&self, runtime: &str, version: &str) -> Result<Option<ConformanceReport>, String> {
        self.with(|content| content.reports.get(&key(runtime, version)).cloned())
    }

    fn with<T>(&self, work: impl FnOnce(&Content) -> T) -> Result<T, String> {
        let stamp = std::fs::metadata(&self.file).ok().and_then(|file| Some((file.modified().ok()?, file.len())));
        let mut read = self.read.lock();
        if read.as_ref().is_none_or(|(known, _)| *known != stamp) {
            *read = Some((stamp, self.load()));
        }
        match read.as_ref().map(|(_, content)| content).expect("just read") {
            Ok(content) => Ok(work(content)),
            Err(problem) => Err(problem.clone()),
        }
    }

    /// A file that cannot be read may list any version as failed, so it is an error and not an empty file.
    fn load(&self) -> Result<Content, String> {
        read_json(&self.file).map(Option::unwrap_or_default).map_err(|error| {
            let cause = error.source().map(|cause| format!(": {cause}")).unwrap_or_default();
            format!(
                "Cannot read {}: {error}{cause}. It lists agent versions that failed their conformance checks. Delete the \
                 file, then run `flightdeck conformance`",
                self.file.display()
            )
        })
    }
}

fn key(runtime: &str, version: &str) -> String {
    format!("{runtime} {version}")
}

/// `a`, `a and b`, `a, b and 3 more checks`.
fn names(failed: &[&str]) -> String {
    match failed {
        [one] => (*one).to_owned(),
        [one, other] => format!("{one} and {other}"),
        [one, other, rest @ ..] => {
            format!("{one}, {other} and {} more check{}", rest.len(), if rest.len() == 1 { "" } else { "s" })
        }
        [] => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent::conformance::{Area, AssumptionResult};

    fn report(version: &str, at: i64, failed: &[(&str, &[Capability])]) -> ConformanceReport {
        let check = |id: &str, capabilities: &[Capability], passed| AssumptionResult {
            id: id.to_owned(),
            area: Area::Deny,
            assumption: "it holds".to_owned(),
            why: "it matters".to_owned(),
            capabilities: capabilities.to_vec(),
            passed,
            seen: "1 call".to_owned(),
        };
        let mut checks = vec![check("deny.fine", &[Capability::Hold, Capability::Destroy], true)];
        checks.extend(failed.iter().map(|(id, capabilities)| check(id, capabilities, false)));
        ConformanceReport {
            runtime: "copilot".to_owned(),
            program: "/bin/copilot".to_owned(),
            version: version.to_owned(),
            at: Timestamp::from_millis(at),
            milliseconds: 5,
            checks,
        }
    }

    #[test]
    fn a_failed_check_switches_off_what_rests_on_it_for_that_version_only() {
        let folder = tempfile::tempdir().expect("a folder");
        let results = ConformanceResults::in_folder(folder.path());
        let allows = |version, capability| results.allows("copilot", version, capability);
        assert_eq!(allows("1.0", Capability::Hold), Ok(()), "a version that was never checked");
        results.add(&report("1.0", 1, &[("hold.waits", &[Capability::Hold])])).expect("written");
        results.add(&report("1.1", 2, &[("vocabulary.schema", &[])])).expect("written");
        let refused = allows("1.0", Capability::Hold).expect_err("failed");
        assert!(refused.contains("hold.waits") && refused.contains("flightdeck conformance"), "{refused}");
        assert_eq!(allows("1.0", Capability::Destroy), Ok(()));
        assert_eq!(allows("1.1", Capability::Hold), Ok(()));
        assert_eq!(results.allows("other", "1.0", Capability::Hold), Ok(()));
        let elsewhere = ConformanceResults::in_folder(folder.path());
        elsewhere.add(&report("1.0", 3, &[])).expect("written");
        assert_eq!(allows("1.0", Capability::Hold), Ok(()), "another process wrote a newer result");
        let history = results.history().expect("readable");
        let lines: Vec<(&str, usize, usize)> =
            history.iter().map(|past| (past.version.as_str(), past.passed, past.failed.len())).collect();
        assert_eq!(lines, [("1.0", 1, 1), ("1.1", 1, 1), ("1.0", 1, 0)]);
        let newest = results.newest().expect("readable");
        assert_eq!(newest.iter().map(|report| report.version.as_str()).collect::<Vec<_>>(), ["1.0"]);
    }

    #[test]
    fn the_history_is_bounded_and_keeps_the_newest() {
        let folder = tempfile::tempdir().expect("a folder");
        let results = ConformanceResults::in_folder(folder.path());
        let last = i64::try_from(MOST_RESULTS).expect("small") + 5;
        for number in 1..=last {
            results.add(&report(&format!("1.{number}"), number, &[])).expect("written");
        }
        let history = results.history().expect("readable");
        assert_eq!((history.len(), history[0].version.as_str()), (MOST_RESULTS, "1.6"));
        assert_eq!(results.of_version("copilot", "1.6").expect("readable"), None);
        assert!(results.of_version("copilot", &format!("1.{last}")).expect("readable").is_some());
    }

    #[test]
    fn a_damaged_file_refuses_everything_and_is_not_overwritten() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("conformance.json");
        std::fs::write(&file, "{\"history\":").expect("damaged");
        let results = ConformanceResults::in_folder(folder.path());
        let refused = results.allows("copilot", "1.0", Capability::Destroy).expect_err("unknown");
        assert!(refused.contains("conformance.json") && refused.contains("Delete the file"), "{refused}");
        assert!(results.add(&report("1.0", 1, &[])).is_err());
        assert_eq!(std::fs::read_to_string(&file).expect("kept"), "{\"history\":");
    }
}

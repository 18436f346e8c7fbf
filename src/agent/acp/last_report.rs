//! What an agent last said of itself, kept in a file: only a session makes it say so, and its models should be offered before
//! the next one, also by another runtime after a change of the settings, and after a restart.

use std::path::{Path, PathBuf};

use parking_lot::Mutex;
use serde::{Deserialize, Serialize};

use crate::agent::Model;
use crate::private_file::{read_json, write_json};

/// An agent's version and models.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Report {
    /// The program with its arguments: another one has other models.
    command: Vec<String>,
    pub version: Option<String>,
    pub models: Vec<Model>,
}

/// The last report of one agent.
pub(super) struct LastReport {
    command: Vec<String>,
    file: Option<PathBuf>,
    report: Mutex<Report>,
}

impl LastReport {
    /// Of the runtime with that name, which starts that program with its arguments. Without a folder nothing is kept.
    pub fn of(runtime: &str, command: Vec<String>, folder: Option<&Path>) -> Self {
        let file = folder.map(|folder| folder.join(file_name(runtime)));
        let kept = file.as_ref().and_then(|file| read_json::<Report>(file).ok()?);
        let report = kept.filter(|report| report.command == command).unwrap_or_default();
        Self { command, file, report: Mutex::new(report) }
    }

    pub fn current(&self) -> Report {
        self.report.lock().clone()
    }

    /// Takes over what a session said. Without models, those of an earlier session stay.
    pub async fn replace(&self, version: Option<String>, models: Vec<Model>) {
        let report = {
            let mut known = self.report.lock();
            let models = if models.is_empty() { known.models.clone() } else { models };
            let next = Report { command: self.command.clone(), version, models };
            if std::mem::replace(&mut *known, next.clone()) == next {
                return;
            }
            next
        };
        let Some(file) = self.file.clone() else { return };
        let written = tokio::task::spawn_blocking(move || write_json(&file, &report)).await;
        if let Ok(Err(error)) = written {
            tracing::warn!(%error, "could not keep the models of an agent");
        }
    }
}

/// A runtime's name may contain what a file's name must not.
fn file_name(runtime: &str) -> String {
    let letter = |byte: u8| match byte {
        b'a'..=b'z' | b'0'..=b'9' | b'-' => char::from(byte).to_string(),
        other => format!("_{other:02x}"),
    };
    format!("{}.json", runtime.bytes().map(letter).collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn what_an_agent_said_is_known_to_the_next_runtime_of_the_same_program() {
        let folder = tempfile::tempdir().expect("a folder");
        let last = |name: &str, argument: &str| {
            let cache = folder.path().join("cache");
            LastReport::of(name, vec!["agent".to_owned(), argument.to_owned()], Some(&cache))
        };
        let first = last("acp:../a", "acp");
        assert_eq!(first.current(), Report::default());
        first.replace(Some("1.0".to_owned()), vec![Model::named("M", "m")]).await;
        first.replace(Some("1.1".to_owned()), Vec::new()).await;
        let file = folder.path().join("cache").join(file_name("acp:../a"));
        let moved = folder.path().join("moved");
        std::fs::rename(&file, &moved).expect("written");
        first.replace(Some("1.1".to_owned()), Vec::new()).await;
        assert!(!file.exists(), "nothing new is not written again");
        std::fs::rename(&moved, &file).expect("moved back");
        let second = last("acp:../a", "acp").current();
        assert_eq!((second.version.as_deref(), second.models.as_slice()), (Some("1.1"), &[Model::named("M", "m")][..]));
        assert_eq!(last("acp:../a", "other").current(), Report::default());
        assert_eq!(last("acp:b", "acp").current(), Report::default());
    }

    #[test]
    fn names_stay_apart_and_inside_their_folder() {
        assert_eq!(file_name("acp:open-code"), "acp_3aopen-code.json");
        assert_eq!(file_name("acp:../A"), "acp_3a_2e_2e_2f_41.json");
    }
}

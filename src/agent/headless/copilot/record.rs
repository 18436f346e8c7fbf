//! Where Copilot keeps a session.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde_json::Value;

use crate::agent::headless::record::RecordEnd;

/// What the program says on standard error about a session that it cannot resume.
pub const LOST: [&str; 3] =
    ["was found but could not be loaded", "Session file is corrupted", "No session, task, or name"];

/// The folder of a session, whether it exists or not.
pub(super) fn session_folder(environment: &BTreeMap<String, String>, session: &str) -> Option<PathBuf> {
    let given = |name: &str| environment.get(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let home = given("COPILOT_HOME").or_else(|| Some(given("HOME").or_else(|| given("USERPROFILE"))?.join(".copilot")));
    Some(home?.join("session-state").join(session))
}

/// The file of a session, if there is one. Old versions wrote `ID.jsonl`; whether the installed version still reads
/// that is for it to say.
pub fn record(environment: &BTreeMap<String, String>, session: &str) -> Option<PathBuf> {
    let folder = session_folder(environment, session)?;
    let files = [folder.join("events.jsonl"), folder.with_file_name(format!("{session}.jsonl"))];
    files.into_iter().find(|file| file.metadata().is_ok_and(|file| file.is_file() && file.len() > 0))
}

pub fn telling(entry: &Value) -> Option<RecordEnd> {
    if !entry["agentId"].is_null() {
        return None;
    }
    match entry["type"].as_str()? {
        "user.message" | "assistant.turn_start" => Some(RecordEnd::Cut),
        "assistant.turn_end" | "abort" | "session.shutdown" => Some(RecordEnd::Clean),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_forms_of_a_record_count_and_an_empty_one_does_not() {
        let home = tempfile::tempdir().expect("a folder");
        let environment = [("COPILOT_HOME".to_owned(), home.path().display().to_string())].into();
        let folder = home.path().join("session-state");
        std::fs::create_dir_all(folder.join("new")).expect("made");
        std::fs::write(folder.join("old.jsonl"), "{}\n").expect("written");
        assert_eq!(record(&environment, "old"), Some(folder.join("old.jsonl")));
        assert_eq!(record(&environment, "new"), None, "a folder without events is no session");
        std::fs::write(folder.join("new/events.jsonl"), "").expect("written");
        assert_eq!(record(&environment, "new"), None);
        std::fs::write(folder.join("new/events.jsonl"), "{}\n").expect("written");
        assert_eq!(record(&environment, "new"), Some(folder.join("new/events.jsonl")));
    }
}

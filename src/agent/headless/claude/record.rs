//! Where Claude Code keeps a session.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde_json::Value;

use crate::agent::headless::record::RecordEnd;

/// What the program says about a session that it cannot resume.
pub const LOST: [&str; 1] = ["No conversation found with session ID"];

/// The file of a session, if there is one. It is below the folder of the project that the session was started in.
pub fn record(environment: &BTreeMap<String, String>, session: &str) -> Option<PathBuf> {
    let given = |name: &str| environment.get(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let home = given("HOME").or_else(|| given("USERPROFILE"));
    let folder = given("CLAUDE_CONFIG_DIR").or_else(|| Some(home?.join(".claude")))?;
    let projects = std::fs::read_dir(folder.join("projects")).into_iter().flatten().flatten();
    let file = format!("{session}.jsonl");
    let mut files = projects.map(|project| project.path().join(&file));
    files.find(|file| file.metadata().is_ok_and(|file| file.is_file() && file.len() > 0))
}

pub fn telling(entry: &Value) -> Option<RecordEnd> {
    if entry["isSidechain"] == true {
        return None;
    }
    match entry["type"].as_str()? {
        // Written when the program exits, also after an interrupt.
        "cost-state" => Some(RecordEnd::Clean),
        "user" => Some(RecordEnd::Cut),
        "assistant" => {
            let parts = entry["message"]["content"].as_array()?;
            // Each part has an entry of its own; the last one of a turn is its answer.
            let answers = parts.iter().any(|part| part["type"] == "text");
            Some(if answers { RecordEnd::Clean } else { RecordEnd::Cut })
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_prompt_or_a_call_without_what_follows_is_cut() {
        let said = |kind: &str, part: &str| json!({ "type": kind, "message": { "content": [{ "type": part }] } });
        assert_eq!(telling(&said("user", "text")), Some(RecordEnd::Cut));
        assert_eq!(telling(&said("assistant", "tool_use")), Some(RecordEnd::Cut));
        assert_eq!(telling(&said("assistant", "thinking")), Some(RecordEnd::Cut));
        assert_eq!(telling(&said("assistant", "text")), Some(RecordEnd::Clean));
        assert_eq!(telling(&json!({ "type": "cost-state" })), Some(RecordEnd::Clean));
        assert_eq!(telling(&json!({ "type": "attachment" })), None);
        assert_eq!(telling(&json!({ "type": "user", "isSidechain": true })), None);
    }
}

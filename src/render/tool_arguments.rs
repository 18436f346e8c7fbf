//! What a tool does, derived from its name and arguments. Agents use different names for the same tool, so mostly the
//! arguments decide.

use serde_json::{Map, Value};

use super::diff;

/// What a tool does.
#[derive(Debug, PartialEq)]
pub(super) enum ToolArguments {
    /// Run a command.
    Shell { command: String, description: Option<String>, rest: Map<String, Value> },
    /// Replace a part of a file.
    Edit { path: String, old: String, new: String },
    /// Write a whole file.
    Create { path: String, text: String },
    /// Change files by a patch.
    Patch(String),
    /// Read a file or a folder.
    View { path: String },
    /// Report what comes next.
    Intent(String),
    /// Query a database.
    Query { sql: String, description: Option<String> },
    /// Anything else, as JSON.
    Other(String),
}

const PATHS: [&str; 6] = ["path", "file_path", "filePath", "filename", "file", "absolute_path"];
const OLD_TEXTS: [&str; 4] = ["old_str", "old_string", "oldString", "oldText"];
const NEW_TEXTS: [&str; 4] = ["new_str", "new_string", "newString", "newText"];
const WHOLE_TEXTS: [&str; 3] = ["file_text", "content", "contents"];
const PATCHES: [&str; 3] = ["input", "patch", "diff"];
const SHELLS: [&str; 6] = ["bash", "shell", "powershell", "terminal", "command", "exec"];

impl ToolArguments {
    /// `arguments` is JSON, or whatever the agent sent instead.
    pub fn read(name: &str, arguments: &str) -> Self {
        match serde_json::from_str(arguments) {
            Ok(Value::Object(fields)) => Self::of_fields(name, fields, arguments),
            Ok(Value::String(text)) if is_change(&text) => Self::Patch(text),
            _ if is_change(arguments) => Self::Patch(arguments.to_owned()),
            _ => Self::Other(arguments.to_owned()),
        }
    }

    fn of_fields(name: &str, mut fields: Map<String, Value>, arguments: &str) -> Self {
        let lower = name.to_lowercase();
        let text = |names: &[&str]| names.iter().find_map(|name| fields.get(*name)?.as_str()).map(str::to_owned);
        let path = text(&PATHS);
        if let (Some(path), Some(old), Some(new)) = (path.clone(), text(&OLD_TEXTS), text(&NEW_TEXTS)) {
            return Self::Edit { path, old, new };
        }
        let writes = ["create", "write", "insert"].iter().any(|word| lower.contains(word))
            || fields.get("command").is_some_and(|command| command == "create");
        if let (Some(path), Some(text), true) = (path.clone(), text(&WHOLE_TEXTS), writes) {
            return Self::Create { path, text };
        }
        if let Some(patch) = text(&PATCHES).filter(|patch| is_change(patch)) {
            return Self::Patch(patch);
        }
        let reads = ["view", "read", "cat", "open"].iter().any(|word| lower.starts_with(word))
            || fields.get("command").is_some_and(|command| command == "view");
        if let (Some(path), true) = (path, reads) {
            return Self::View { path };
        }
        if let (Some(intent), "report_intent") = (text(&["intent"]), lower.as_str()) {
            return Self::Intent(intent);
        }
        if let (Some(sql), "sql") = (text(&["query"]), lower.as_str()) {
            return Self::Query { sql, description: text(&["description"]) };
        }
        if let (Some(command), true) = (text(&["command"]), SHELLS.iter().any(|word| lower.contains(word))) {
            let description = text(&["description"]);
            fields.remove("command");
            fields.remove("description");
            return Self::Shell { command, description, rest: fields };
        }
        Self::Other(arguments.to_owned())
    }
}

fn is_change(text: &str) -> bool {
    diff::is_patch(text) || diff::is_unified(text)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(name: &str, arguments: &Value) -> ToolArguments {
        ToolArguments::read(name, &format!("{arguments:#}"))
    }

    #[test]
    fn tools_of_different_agents_are_understood_alike() {
        let edit = ToolArguments::Edit { path: "/a".to_owned(), old: "x".to_owned(), new: "y".to_owned() };
        for (name, arguments) in [
            ("edit", json!({ "path": "/a", "old_str": "x", "new_str": "y" })),
            ("Edit", json!({ "file_path": "/a", "old_string": "x", "new_string": "y" })),
            ("str_replace_editor", json!({ "command": "str_replace", "path": "/a", "old_str": "x", "new_str": "y" })),
        ] {
            assert_eq!(read(name, &arguments), edit);
        }
        assert!(matches!(
            read("bash", &json!({ "command": "ls", "description": "List" })),
            ToolArguments::Shell { description: Some(_), rest, .. } if rest.is_empty()
        ));
        assert!(matches!(read("run_shell_command", &json!({ "command": "ls" })), ToolArguments::Shell { .. }));
        assert!(matches!(read("create", &json!({ "path": "/a", "file_text": "" })), ToolArguments::Create { .. }));
        assert!(matches!(
            read("write_file", &json!({ "file_path": "/a", "content": "" })),
            ToolArguments::Create { .. }
        ));
        assert!(matches!(read("view", &json!({ "path": "/a" })), ToolArguments::View { .. }));
        assert!(matches!(read("report_intent", &json!({ "intent": "x" })), ToolArguments::Intent(_)));
        assert!(matches!(read("apply_patch", &json!("*** Begin Patch\n")), ToolArguments::Patch(_)));
        assert!(matches!(read("apply_patch", &json!({ "input": "*** Begin Patch\n" })), ToolArguments::Patch(_)));
    }

    #[test]
    fn anything_else_stays_what_it_is() {
        for arguments in ["", "{}", "[1]", "null", "{\"path\":7}", "{\"command\":\"ls\"}", "not json", "\"text\""] {
            assert_eq!(ToolArguments::read("weather", arguments), ToolArguments::Other(arguments.to_owned()));
        }
    }
}

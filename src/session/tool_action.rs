//! What a tool call did to the machine, as far as its arguments say: a command, or changes to files. Agents use different
//! names for the same tool, so mostly the arguments decide.

use serde_json::{Map, Value};

const PATHS: [&str; 6] = ["path", "file_path", "filePath", "filename", "file", "absolute_path"];
/// Arguments that only tools have which change a file.
const NEW_TEXTS: [&str; 7] = ["file_text", "content", "contents", "new_str", "new_string", "newString", "newText"];
const PATCHES: [&str; 3] = ["input", "patch", "diff"];
/// Where a patch names a file.
const PATCHED: [&str; 5] = ["*** Add File: ", "*** Update File: ", "*** Delete File: ", "*** Move to: ", "+++ b/"];
/// Files of one patch that are looked at.
const MOST_FILES: usize = 100;

#[derive(Debug, PartialEq, Eq)]
pub(super) enum ToolAction {
    Command(String),
    ChangedFiles(Vec<String>),
    /// It read something, or does something else.
    Other,
}

impl ToolAction {
    /// `arguments` is JSON, or whatever the agent sent instead.
    pub fn of(name: &str, arguments: &str) -> Self {
        match serde_json::from_str(arguments) {
            Ok(Value::Object(fields)) => Self::of_fields(name, &fields),
            Ok(Value::String(patch)) => Self::of_patch(&patch),
            _ => Self::of_patch(arguments),
        }
    }

    fn of_fields(name: &str, fields: &Map<String, Value>) -> Self {
        let text = |names: &[&str]| names.iter().find_map(|name| fields.get(*name)?.as_str());
        if let Some(path) = text(&PATHS) {
            let lower = name.to_lowercase();
            let changes = ["delete", "remove", "move", "rename"].iter().any(|word| lower.contains(word))
                || text(&NEW_TEXTS).is_some();
            return if changes { Self::ChangedFiles(vec![path.to_owned()]) } else { Self::Other };
        }
        match text(&["command"]) {
            Some(command) => Self::Command(command.to_owned()),
            None => text(&PATCHES).map_or(Self::Other, Self::of_patch),
        }
    }

    fn of_patch(patch: &str) -> Self {
        let named =
            |line: &str| PATCHED.iter().find_map(|mark| line.strip_prefix(mark)).map(|file| file.trim().to_owned());
        let files: Vec<String> = patch.lines().filter_map(named).take(MOST_FILES).collect();
        if files.is_empty() { Self::Other } else { Self::ChangedFiles(files) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_and_changes_are_told_from_reading() {
        let changed = |files: &[&str]| ToolAction::ChangedFiles(files.iter().map(|file| (*file).to_owned()).collect());
        for (name, arguments, expected) in [
            ("bash", r#"{"command":"ls -l","description":"List"}"#, ToolAction::Command("ls -l".to_owned())),
            ("create", r#"{"path":"/a","file_text":"x"}"#, changed(&["/a"])),
            ("Write", r#"{"file_path":"/b","content":""}"#, changed(&["/b"])),
            ("edit", r#"{"path":"/c","old_str":"x","new_str":"y"}"#, changed(&["/c"])),
            ("str_replace_editor", r#"{"command":"create","path":"/d","file_text":"x"}"#, changed(&["/d"])),
            ("delete_file", r#"{"path":"/e"}"#, changed(&["/e"])),
            ("apply_patch", r#"{"input":"*** Begin Patch\n*** Update File: f\n@@\n"}"#, changed(&["f"])),
            ("apply_patch", "--- a/g\n+++ b/g\n@@ -1 +1 @@\n", changed(&["g"])),
            ("view", r#"{"path":"/a"}"#, ToolAction::Other),
            ("str_replace_editor", r#"{"command":"view","path":"/d"}"#, ToolAction::Other),
            ("web", r#"{"url":"x"}"#, ToolAction::Other),
            ("odd", "", ToolAction::Other),
        ] {
            assert_eq!(ToolAction::of(name, arguments), expected, "{name} {arguments}");
        }
    }
}

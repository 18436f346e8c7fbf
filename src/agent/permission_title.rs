//! The one-line summary of a permission request, the same for every runtime.

/// What the agent wants to do, in one line. `path` is the file or folder concerned, where the request names one, and
/// `title` is the agent's own description. It is left out only for a read, because what a change does (create, edit,
/// delete) must stay visible.
pub(super) fn permission_title(agent: &str, kind: &str, path: Option<&str>, title: &str) -> String {
    match (kind, path) {
        ("read", Some(path)) => format!("{agent} wants to read {path}"),
        ("read", None) => format!("{agent} wants to read a file: {title}"),
        ("write", Some(path)) if !title.contains(path) => format!("{agent} wants to change {path}: {title}"),
        ("write", _) => format!("{agent} wants to change a file: {title}"),
        ("shell", _) => format!("{agent} wants to run a command: {title}"),
        ("url", _) => format!("{agent} wants to fetch a URL: {title}"),
        ("mcp" | "custom-tool", _) => format!("{agent} wants to use a tool: {title}"),
        (kind, _) => format!("{agent} wants to use {kind}: {title}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_kinds_are_written_as_actions() {
        for (kind, path, expected) in [
            ("read", Some("/x"), "Copilot wants to read /x"),
            ("write", Some("/x"), "Copilot wants to change /x: Tidy up"),
            ("write", Some("Tidy"), "Copilot wants to change a file: Tidy up"),
            ("write", None, "Copilot wants to change a file: Tidy up"),
            ("shell", None, "Copilot wants to run a command: Tidy up"),
            ("memory", None, "Copilot wants to use memory: Tidy up"),
        ] {
            assert_eq!(permission_title("Copilot", kind, path, "Tidy up"), expected);
        }
    }
}

//! A tool call in one line.

use serde_json::Value;

use super::super::terminal::text::{one_line, shortened};

/// Arguments that say most about a call, in this order.
const TELLING: [&str; 14] = [
    "command",
    "cmd",
    "path",
    "file_path",
    "filePath",
    "filename",
    "file",
    "pattern",
    "query",
    "url",
    "prompt",
    "description",
    "argument",
    "reason",
];
/// A line that stays readable where the width is unknown.
const LONGEST: usize = 160;

/// The name of a tool and the most telling of its arguments, which are JSON or whatever the agent sent instead.
pub(super) fn tool_line(name: &str, arguments: &str) -> String {
    let telling = match serde_json::from_str(arguments) {
        Ok(Value::Object(fields)) => {
            let text = TELLING.iter().find_map(|name| fields.get(*name)?.as_str());
            match text.or_else(|| fields.values().find_map(Value::as_str)) {
                Some(text) => text.to_owned(),
                None if fields.is_empty() => String::new(),
                None => Value::Object(fields).to_string(),
            }
        }
        Ok(Value::String(text)) => text,
        _ => arguments.to_owned(),
    };
    let line = format!("{}  {}", one_line(name), one_line(&telling));
    shortened(line.trim_end(), LONGEST)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_most_telling_argument_is_shown() {
        for (name, arguments, line) in [
            ("bash", r#"{"description":"List","command":"ls -l\n cd"}"#, "bash  ls -l cd"),
            ("view", r#"{"path":"/a b"}"#, "view  /a b"),
            ("odd", r#"{"n":1}"#, r#"odd  {"n":1}"#),
            ("own", r#"{"n":1,"word":"x"}"#, "own  x"),
            ("none", "{}", "none"),
            ("raw", "*** Begin\u{1b}", "raw  *** Begin\u{fffd}"),
        ] {
            assert_eq!(tool_line(name, arguments), line);
        }
        assert_eq!(tool_line("bash", &format!("{{\"command\":\"{}\"}}", "x".repeat(500))).chars().count(), LONGEST);
    }
}

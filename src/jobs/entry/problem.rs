//! What is wrong with an entry.

use std::fmt;

use schemars::JsonSchema;
use serde::Serialize;

/// How serious a problem is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// The entry cannot be used.
    Error,
    /// The entry can be used, but probably does not do what its author expects.
    Warning,
}

/// Something that is wrong with an entry, and where.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Problem {
    /// Where, such as `entry.tasks["build"].prompt`.
    pub path: String,
    /// What.
    pub message: String,
    /// How serious it is.
    pub severity: Severity,
    /// The path is the subject of the message, so no colon separates them.
    #[serde(skip)]
    is_subject: bool,
}

impl Problem {
    /// A problem that makes the entry unusable.
    pub fn error(path: impl Into<String>, message: impl Into<String>) -> Self {
        Self { path: path.into(), message: message.into(), severity: Severity::Error, is_subject: false }
    }

    /// A problem that the author should know of.
    pub fn warning(path: impl Into<String>, message: impl Into<String>) -> Self {
        Self { severity: Severity::Warning, ..Self::error(path, message) }
    }

    /// The path begins the sentence that the message ends.
    pub(super) fn with_path_as_subject(self) -> Self {
        Self { is_subject: true, ..self }
    }

    /// The same problem as a warning, for what cannot be decided yet.
    #[must_use]
    pub fn as_warning(self) -> Self {
        Self { severity: Severity::Warning, ..self }
    }

    /// Whether the entry is unusable because of it.
    pub fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }

    /// The text behind a prefix that says where the entry comes from, without a separator, as the portal writes it.
    pub fn text_with_prefix(&self, prefix: &str) -> String {
        format!("{prefix}{self}")
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let separator = if self.is_subject { " " } else { ": " };
        write!(formatter, "{}{separator}{}", self.path, self.message)
    }
}

/// A path and the name of something in it, such as `entry.tasks["build"]`.
pub(super) fn named(path: &str, name: &str) -> String {
    format!("{path}[{}]", quoted(name))
}

/// A text in double quotes.
pub(super) fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_problem_is_its_path_and_its_message() {
        let problem = Problem::error("entry.models.driving", "Should exist.");
        assert_eq!(problem.to_string(), "entry.models.driving: Should exist.");
        assert_eq!(problem.text_with_prefix("testEntry"), "testEntryentry.models.driving: Should exist.");
        let subject = Problem::error("entry.models[\"a\"]", "refers to nothing.").with_path_as_subject();
        assert_eq!(subject.to_string(), "entry.models[\"a\"] refers to nothing.");
        assert!(subject.is_error() && !subject.as_warning().is_error());
    }

    #[test]
    fn the_json_of_a_problem_has_three_fields() {
        let json = serde_json::to_value(Problem::warning("entry", "Odd.")).expect("JSON");
        assert_eq!(json, serde_json::json!({ "path": "entry", "message": "Odd.", "severity": "warning" }));
    }

    #[test]
    fn names_are_quoted_like_json() {
        assert_eq!(named("entry.tasks", "a \"b\""), r#"entry.tasks["a \"b\""]"#);
    }
}

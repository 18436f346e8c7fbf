//! The tools with which an agent reports to a job.

use serde_json::{Value, json};

use super::words::words;

words! {
    /// A tool with which an agent reports to the task that it works for. It takes one text and returns it.
    pub enum JobTool {
        /// Names the document that the agent prepared.
        PrepareDocument = "job_prepare_document",
        /// The condition that the agent checked holds.
        BooleanTrue = "job_boolean_true",
        /// The condition that the agent checked does not hold.
        BooleanFalse = "job_boolean_false",
        /// The work cannot be done, because something that it needs is missing.
        PrerequisiteFailed = "job_prerequisite_failed",
    }
}

impl JobTool {
    /// The name of our own MCP server, which offers the tools to agents that take no tools from their host.
    pub const SERVER: &'static str = "flightdeck";

    /// The tool that an agent calls by this name. Agents put the name of the MCP server before a tool's own name, each in
    /// its own way. Tools of other servers are not ours, whatever their names end with.
    pub fn named(name: &str) -> Option<Self> {
        let tool = Self::ALL.into_iter().find(|tool| name.ends_with(tool.as_str()))?;
        let before = name.strip_suffix(tool.as_str())?;
        if before.is_empty() {
            return Some(tool);
        }
        let server = before.trim_end_matches(|letter: char| !letter.is_ascii_alphanumeric());
        let server = server.strip_prefix("mcp").unwrap_or(server);
        let server = server.trim_start_matches(|letter: char| !letter.is_ascii_alphanumeric());
        (server == Self::SERVER && !before.ends_with(char::is_alphanumeric)).then_some(tool)
    }

    /// What it does, for the agent.
    pub const fn description(self) -> &'static str {
        match self {
            Self::PrepareDocument => {
                "Reports the document that you prepared. Call it when you were asked to prepare a document, after you \
                 have written it. The first line of the argument must be the document's path."
            }
            Self::BooleanTrue => {
                "Reports that the condition you were asked to check is true, and why. Call either this tool or \
                 job_boolean_false once you have decided."
            }
            Self::BooleanFalse => {
                "Reports that the condition you were asked to check is false, and why. Call either this tool or \
                 job_boolean_true once you have decided."
            }
            Self::PrerequisiteFailed => {
                "Reports that you cannot do the work because something that it needs is missing or wrong, and what that \
                 is. The task ends as failed, so call it only if you cannot fix the problem yourself."
            }
        }
    }

    /// The name of its one argument.
    pub const fn argument(self) -> &'static str {
        match self {
            Self::PrepareDocument => "argument",
            Self::BooleanTrue | Self::BooleanFalse | Self::PrerequisiteFailed => "reason",
        }
    }

    /// The JSON Schema of its arguments.
    pub fn parameters(self) -> Value {
        let about = match self {
            Self::PrepareDocument => "The document's path in the first line.",
            Self::BooleanTrue | Self::BooleanFalse => "The reason for the decision.",
            Self::PrerequisiteFailed => "What is missing or wrong.",
        };
        let name = self.argument();
        json!({
            "type": "object",
            "properties": { name: { "type": "string", "description": about } },
            "required": [name],
        })
    }

    /// The text that a call reports: the first text among its arguments, whatever its name. Models do not always use the
    /// name that they were given.
    pub fn reported(arguments: &str) -> String {
        match serde_json::from_str(arguments) {
            Ok(Value::Object(arguments)) => arguments.values().find_map(Value::as_str).unwrap_or_default().to_owned(),
            Ok(Value::String(text)) => text,
            _ => String::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tool_is_known_by_its_own_name_and_behind_the_name_of_our_server() {
        for name in [
            "job_boolean_true",
            "flightdeck-job_boolean_true",
            "flightdeck_job_boolean_true",
            "flightdeck/job_boolean_true",
            "mcp__flightdeck__job_boolean_true",
            "mcp: flightdeck: job_boolean_true",
        ] {
            assert_eq!(JobTool::named(name), Some(JobTool::BooleanTrue), "{name}");
        }
        for name in [
            "",
            "bash",
            "other-job_boolean_true",
            "mcp__other__job_boolean_true",
            "flightdeckjob_boolean_true",
            "notflightdeck-job_boolean_true",
            "job_boolean_true2",
            "my_job_boolean_true",
        ] {
            assert_eq!(JobTool::named(name), None, "{name}");
        }
    }

    #[test]
    fn a_call_reports_the_first_text_among_its_arguments() {
        for (arguments, text) in [
            (r#"{"reason":"it builds"}"#, "it builds"),
            (r#"{"a":1,"why":"other name","z":"later"}"#, "other name"),
            (r#""bare""#, "bare"),
            ("{}", ""),
            ("{broken", ""),
            ("", ""),
        ] {
            assert_eq!(JobTool::reported(arguments), text, "{arguments}");
        }
    }
}

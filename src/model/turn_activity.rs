//! What an agent did in a turn, as far as those who sent the prompt need to know.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::JobTool;

/// Names of tools that are kept.
const MOST_TOOLS: usize = 1_000;
/// Reports that are kept, the last ones.
const MOST_REPORTS: usize = 100;
/// Denied permissions that are kept, the last ones.
pub const MOST_DENIED: usize = 100;
/// The longest name of a tool, in characters.
const LONGEST_NAME: usize = 200;
/// The longest text of a report, in characters.
const LONGEST_TEXT: usize = 16_000;
/// The longest line about a permission, in characters.
const LONGEST_LINE: usize = 300;

/// What an agent did in a turn.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TurnActivity {
    /// The tools that were started, each once, in the order of their first start. At most 1,000.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<String>,
    /// The calls of job tools, in order; the last 100.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reports: Vec<ToolReport>,
    /// What a rule, the permission mode or a timeout denied, one line each; the last 100.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub denied: Vec<String>,
}

/// A call of a job tool.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ToolReport {
    /// The tool's own name.
    pub tool: String,
    /// What was reported.
    pub text: String,
}

impl TurnActivity {
    /// Whether there is nothing to say.
    pub fn is_empty(&self) -> bool {
        self.tools.is_empty() && self.reports.is_empty() && self.denied.is_empty()
    }

    /// A tool was started. A job tool counts under its own name, whatever the agent puts before it. Returns whether it is
    /// one, and the last of the reports then is its.
    pub fn tool_started(&mut self, name: &str, arguments: &str) -> bool {
        let job_tool = JobTool::named(name);
        if let Some(tool) = job_tool {
            let text = cut(&JobTool::reported(arguments), LONGEST_TEXT);
            push_last(&mut self.reports, ToolReport { tool: tool.as_str().to_owned(), text }, MOST_REPORTS);
        }
        let name = cut(job_tool.map_or(name, |tool| tool.as_str()), LONGEST_NAME);
        if self.tools.len() < MOST_TOOLS && !self.tools.contains(&name) {
            self.tools.push(name);
        }
        job_tool.is_some()
    }

    /// The call of a report ended. A job tool returns what it got, so this is the text of a report whose arguments the agent
    /// did not give when it began.
    pub fn report_returned(&mut self, report: usize, returned: &str) {
        if let Some(report) = self.reports.get_mut(report).filter(|report| report.text.is_empty()) {
            report.text = cut(returned, LONGEST_TEXT);
        }
    }

    /// The line about a permission that was asked for: the command, or what else would have been done.
    pub fn line_of_permission(kind: &str, title: &str, detail: &str) -> String {
        let mut lines = detail.trim().lines();
        let first = lines.next().unwrap_or_default();
        let more = lines.next().is_some();
        let what = match (kind, more) {
            ("shell", true) => format!("{first} …"),
            // The content of a file, or a diff.
            (_, true) => title.to_owned(),
            _ if first.is_empty() => title.to_owned(),
            _ => first.to_owned(),
        };
        cut(&format!("{kind}: {what}"), LONGEST_LINE)
    }
}

/// Adds an item, and drops the first one if there are too many.
fn push_last<T>(items: &mut Vec<T>, item: T, most: usize) {
    if items.len() >= most {
        items.remove(0);
    }
    items.push(item);
}

fn cut(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tools_count_once_and_reports_each_time() {
        let mut activity = TurnActivity::default();
        for (name, arguments) in [
            ("bash", "{}"),
            ("mcp__flightdeck__job_boolean_false", r#"{"reason":"not yet"}"#),
            ("bash", "{}"),
            ("job_boolean_true", r#"{"reason":"now"}"#),
            ("flightdeck-job_boolean_false", r#"{"reason":"no"}"#),
        ] {
            activity.tool_started(name, arguments);
        }
        assert_eq!(activity.tools, ["bash", "job_boolean_false", "job_boolean_true"]);
        let reports: Vec<(&str, &str)> =
            activity.reports.iter().map(|report| (report.tool.as_str(), report.text.as_str())).collect();
        let expected = [("job_boolean_false", "not yet"), ("job_boolean_true", "now"), ("job_boolean_false", "no")];
        assert_eq!(reports, expected);
    }

    #[test]
    fn a_turn_without_an_end_is_bounded_and_its_last_reports_count() {
        let mut activity = TurnActivity::default();
        for number in 0..3_000 {
            activity.tool_started(&format!("tool-{number}"), "");
            activity.tool_started("job_boolean_true", &format!("{{\"reason\":\"{number}\"}}"));
        }
        assert_eq!((activity.tools.len(), activity.reports.len()), (MOST_TOOLS, MOST_REPORTS));
        assert_eq!(activity.reports.last().expect("one").text, "2999");
        activity.tool_started("job_boolean_true", &format!("{{\"reason\":\"{}\"}}", "ü".repeat(LONGEST_TEXT + 1)));
        assert_eq!(activity.reports.last().expect("one").text.chars().count(), LONGEST_TEXT + 1, "cut, and marked");
    }

    #[test]
    fn a_permission_is_one_line() {
        let line = TurnActivity::line_of_permission;
        assert_eq!(line("shell", "Tidy up", "rm -rf x"), "shell: rm -rf x");
        assert_eq!(line("shell", "Tidy up", "cd x\nrm y"), "shell: cd x …");
        assert_eq!(line("write", "Copilot wants to edit /x", "--- a\n+++ b"), "write: Copilot wants to edit /x");
        assert_eq!(line("url", "t", ""), "url: t");
        assert!(line("shell", "", &"x".repeat(1_000)).chars().count() <= LONGEST_LINE + 1);
    }
}

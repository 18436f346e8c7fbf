//! Renders a tool call: its arguments and its result.

use super::budget::Budget;
use super::code::{code_block, long_code_block};
use super::cut::Extent;
use super::diff::{self, FileDiff, between, diff_tables, parse_patch, parse_unified};
use super::highlight::language_of_path;
use super::html::Html;
use super::markdown::{LineEnds, markdown};
use super::terminal::terminal;
use super::tool_arguments::ToolArguments;
use crate::model::ToolError;

/// A tool call that has ended.
#[derive(Clone, Debug, Default)]
pub struct ToolBlock<'a> {
    /// The tool's name.
    pub name: &'a str,
    /// JSON, or whatever the agent sent.
    pub arguments: &'a str,
    /// The result.
    pub output: Option<ToolOutput<'a>>,
    /// Images in the result.
    pub images: &'a [ToolImage],
    /// Why it failed.
    pub error: Option<&'a ToolError>,
    /// The session's folder; paths below it are shown without it.
    pub working_directory: Option<&'a str>,
}

/// The complete result of a tool.
#[derive(Clone, Debug, Default)]
pub struct ToolOutput<'a> {
    /// The content that the model got.
    pub content: &'a str,
    /// The address of the whole content, if it is long.
    pub content_address: Option<&'a str>,
    /// A more detailed version for people.
    pub detailed: Option<&'a str>,
    /// The address of the whole detailed content, if it is long.
    pub detailed_address: Option<&'a str>,
}

/// An image in a tool's result.
#[derive(Clone, Debug)]
pub struct ToolImage {
    /// Its address.
    pub address: String,
}

/// Tools whose results are written for people, in Markdown.
const PROSE: [&str; 3] = ["task", "task_complete", "read_agent"];

pub(super) fn tool(block: &ToolBlock<'_>, extent: Extent, budget: &mut Budget) -> Html {
    let asked = ToolArguments::read(block.name, block.arguments);
    let view = View { block, extent };
    let result_diff = view.diff_of_result();
    let mut html = Html::new();
    // A diff in the result contains everything in the arguments, with line numbers.
    let arguments = if result_diff.is_some() { Html::new() } else { view.arguments(&asked, budget) };
    part(&arguments, "<section class=\"tool-part tool-arguments\">", &mut html);
    let mut output = match &result_diff {
        Some(files) => diff_tables(files, extent),
        None => view.output(&asked, budget),
    };
    view.images(&mut output);
    part(&output, "<section class=\"tool-part tool-output\">", &mut html);
    if let Some(error) = block.error {
        let message = terminal(&error.message, extent, None);
        part(&message, "<section class=\"tool-part tool-error\">", &mut html);
    }
    html
}

fn part(content: &Html, start: &'static str, html: &mut Html) {
    if !content.is_empty() {
        html.markup(start).append(content).markup("</section>");
    }
}

struct View<'a> {
    block: &'a ToolBlock<'a>,
    extent: Extent,
}

impl View<'_> {
    /// The diff in the result. Copilot reports a file that it read as a diff without changes, which does not count.
    fn diff_of_result(&self) -> Option<Vec<FileDiff>> {
        let output = self.block.output.as_ref()?;
        let text = [output.detailed, Some(output.content)].into_iter().flatten().find(|text| diff::is_unified(text))?;
        // The output of a command is shown as output even if it is a diff.
        let is_for_people = output.detailed == Some(text);
        let files = self.with_shown_paths(parse_unified(text));
        (is_for_people && files.iter().any(FileDiff::changes_something)).then_some(files)
    }

    fn arguments(&self, asked: &ToolArguments, budget: &mut Budget) -> Html {
        let mut html = Html::new();
        match asked {
            ToolArguments::Shell { command, description, rest } => {
                write_description(description.as_deref(), &mut html);
                html.append(&long_code_block(command, self.shell_language(), self.extent, None, budget));
                if !rest.is_empty() {
                    let rest = format!("{:#}", serde_json::Value::Object(rest.clone()));
                    html.append(&long_code_block(&rest, "json", self.extent, None, budget));
                }
            }
            ToolArguments::Query { sql, description } => {
                write_description(description.as_deref(), &mut html);
                html.append(&long_code_block(sql, "sql", self.extent, None, budget));
            }
            ToolArguments::Edit { path, old, new } => {
                let file = between(&self.shown_path(path), old, new, budget);
                html.append(&diff_tables(&[file], self.extent));
            }
            ToolArguments::Create { path, text } => {
                let file = between(&self.shown_path(path), "", text, budget);
                html.append(&diff_tables(&[file], self.extent));
            }
            ToolArguments::Patch(text) => {
                let files = if diff::is_patch(text) { parse_patch(text) } else { parse_unified(text) };
                html.append(&diff_tables(&self.with_shown_paths(files), self.extent));
            }
            ToolArguments::View { path } => {
                html.markup("<p class=\"tool-path\">").text(&self.shown_path(path)).markup("</p>");
            }
            ToolArguments::Intent(text) => write_description(Some(text), &mut html),
            ToolArguments::Other(text) if matches!(text.trim(), "" | "{}" | "null") => {}
            ToolArguments::Other(text) => {
                let is_json = serde_json::from_str::<serde::de::IgnoredAny>(text).is_ok();
                let language = if is_json { "json" } else { "" };
                html.append(&long_code_block(text, language, self.extent, None, budget));
            }
        }
        html
    }

    fn output(&self, asked: &ToolArguments, budget: &mut Budget) -> Html {
        let Some(output) = &self.block.output else { return Html::new() };
        // The detailed version is better, except for a file that was read: there the plain content is the file.
        let (shown, address) = match output.detailed.filter(|detailed| !diff::is_unified(detailed)) {
            Some(detailed) => (detailed, output.detailed_address),
            None => (output.content, output.content_address),
        };
        match asked {
            _ if shown.is_empty() => Html::new(),
            ToolArguments::View { path } => {
                long_code_block(output.content, &language_of_path(path), self.extent, output.content_address, budget)
            }
            ToolArguments::Shell { .. } => {
                let (text, code) = split_exit_code(shown);
                let mut html = if text.is_empty() { Html::new() } else { terminal(text, self.extent, address) };
                if let Some(code) = code {
                    let failed = code != "0";
                    html.markup(if failed {
                        "<p class=\"tool-exit-code failed\">"
                    } else {
                        "<p class=\"tool-exit-code\">"
                    });
                    html.markup("Exit code ").text(code).markup("</p>");
                }
                html
            }
            ToolArguments::Intent(_) => Html::new(),
            _ if PROSE.contains(&self.block.name) => markdown(shown, LineEnds::Soft, self.extent, budget),
            _ => terminal(shown, self.extent, address),
        }
    }

    fn images(&self, html: &mut Html) {
        if self.block.images.is_empty() {
            return;
        }
        html.markup("<div class=\"tool-images\">");
        for (position, image) in self.block.images.iter().enumerate() {
            html.markup("<img class=\"agent-image\" src=\"").text(&image.address);
            html.markup("\" alt=\"Image ").number(position + 1).markup(" of ").text(self.block.name);
            html.markup("\" loading=\"lazy\">");
        }
        html.markup("</div>");
    }

    /// The language of a command; PowerShell has a label but no syntax.
    fn shell_language(&self) -> &'static str {
        let name = self.block.name.to_lowercase();
        if name.contains("powershell") || name.contains("pwsh") { "powershell" } else { "bash" }
    }

    fn with_shown_paths(&self, mut files: Vec<FileDiff>) -> Vec<FileDiff> {
        for file in &mut files {
            file.path = self.shown_path(&file.path);
        }
        files
    }

    /// A path relative to the session's folder, if it is below it; Copilot leaves out the first slash in diffs.
    fn shown_path(&self, path: &str) -> String {
        let Some(folder) = self.block.working_directory.filter(|folder| *folder != "/") else { return path.to_owned() };
        let folder = folder.trim_end_matches(['/', '\\']);
        let below = |path: &str| {
            let rest = path.strip_prefix(folder).or_else(|| path.strip_prefix(folder.trim_start_matches('/')))?;
            rest.strip_prefix(['/', '\\']).filter(|rest| !rest.is_empty()).map(str::to_owned)
        };
        path.split(" → ").map(|path| below(path).unwrap_or_else(|| path.to_owned())).collect::<Vec<_>>().join(" → ")
    }
}

fn write_description(text: Option<&str>, html: &mut Html) {
    if let Some(text) = text.filter(|text| !text.is_empty()) {
        html.markup("<p class=\"tool-description\">").text(text).markup("</p>");
    }
}

/// Copilot's shell ends its output with a line such as `<shellId: 0 completed with exit code 3>`.
fn split_exit_code(output: &str) -> (&str, Option<&str>) {
    let trimmed = output.trim_end();
    let start = trimmed.rfind('\n').map_or(0, |newline| newline + 1);
    let code = trimmed[start..]
        .strip_prefix('<')
        .and_then(|line| line.strip_suffix('>'))
        .and_then(|line| line.rsplit_once("exit code "))
        .map(|(_, code)| code)
        .filter(|code| {
            !code.is_empty()
                && code.len() < 12
                && code.trim_start_matches('-').bytes().all(|byte| byte.is_ascii_digit())
        });
    if code.is_some() { (&output[..start], code) } else { (output, None) }
}

/// What would run or be written, for the person who decides.
pub(super) fn permission(
    kind: &str,
    detail: &str,
    working_directory: Option<&str>,
    extent: Extent,
    budget: &mut Budget,
) -> Html {
    let block = ToolBlock { name: kind, working_directory, ..ToolBlock::default() };
    let view = View { block: &block, extent };
    if diff::is_unified(detail) {
        return diff_tables(&view.with_shown_paths(parse_unified(detail)), extent);
    }
    match kind {
        "shell" | "commands" => {
            // Never cut: a person must see everything that they allow.
            code_block(detail, view.shell_language(), budget)
        }
        _ => terminal(detail, Extent::All, None),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    /// Recorded tool calls of the real CLI.
    const RECORDED: &str = include_str!("../../tests/transcripts/copilot-tools.jsonl");

    /// The recorded call of a tool whose arguments contain something.
    fn recorded(name: &str, contained: &str) -> String {
        let lines: Vec<Value> = RECORDED.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
        let start = lines
            .iter()
            .find(|line| {
                line["toolName"] == name && line["toolArguments"].as_str().is_some_and(|all| all.contains(contained))
            })
            .expect("recorded");
        let end = lines
            .iter()
            .find(|line| line["callback"] == "onEndToolExecution" && line["toolCallId"] == start["toolCallId"])
            .expect("recorded");
        let error =
            end["error"]["message"].as_str().map(|message| ToolError { message: message.to_owned(), code: None });
        let output = end["result"]["content"].as_str().map(|content| ToolOutput {
            content,
            detailed: end["result"]["detailedContent"].as_str(),
            ..ToolOutput::default()
        });
        let block = ToolBlock {
            name,
            arguments: start["toolArguments"].as_str().expect("text"),
            output,
            error: error.as_ref(),
            working_directory: Some("/project"),
            ..ToolBlock::default()
        };
        tool(&block, Extent::Beginning, &mut Budget::default()).into_string()
    }

    fn check(html: &str, there: &[&str], absent: &[&str]) {
        for part in there {
            assert!(html.contains(part), "{part} is missing in {html}");
        }
        for part in absent {
            assert!(!html.contains(part), "{part} is in {html}");
        }
    }

    #[test]
    fn edits_are_diffs_with_paths_as_the_session_has_them() {
        let edit = recorded("edit", "import sys");
        check(
            &edit,
            &[
                "<section class=\"tool-part tool-output\"><div class=\"diff\"><div class=\"diff-file\">a.py</div>",
                "<td class=\"diff-text\">import <span class=\"diff-word\">sys</span></td>",
            ],
            &["tool-arguments", "updated with changes"],
        );
        check(
            &recorded("create", "new.ts"),
            &["<div class=\"diff-file\">new.ts</div>", "diff-added"],
            &["diff-removed"],
        );
        let patch = recorded("apply_patch", "Begin Patch");
        check(
            &patch,
            &["<div class=\"diff-file\">new.ts</div>", "<div class=\"diff-file\">a.py</div>"],
            &["Begin Patch"],
        );
    }

    #[test]
    fn an_edit_that_failed_shows_what_it_would_have_done_and_why_it_did_not() {
        check(
            &recorded("edit", "nothing like that"),
            &[
                "<section class=\"tool-part tool-arguments\"><div class=\"diff\">",
                "<section class=\"tool-part tool-error\"><pre class=\"terminal\">No match found</pre></section>",
            ],
            &["tool-output"],
        );
    }

    #[test]
    fn a_file_that_was_read_is_code_and_a_folder_is_text() {
        check(
            &recorded("view", "view_range"),
            &["<p class=\"tool-path\">a.py</p>", "data-language=\"py\"", "<span class=\"hl-keyword\">return</span>"],
            &["diff"],
        );
        check(&recorded("view", "\"/project\""), &["a.png\na.py"], &["diff", "hl-"]);
    }

    #[test]
    fn a_command_shows_itself_its_output_and_its_exit_code() {
        check(
            &recorded("bash", "exit 3"),
            &[
                "<p class=\"tool-description\">Colours</p>",
                "data-language=\"bash\"",
                "<pre class=\"terminal\">red plain\n",
                "<p class=\"tool-exit-code failed\">Exit code 3</p>",
            ],
            &["shellId"],
        );
        check(&recorded("bash", "seq"), &["<p class=\"tool-exit-code\">Exit code 0</p>"], &[]);
        assert_eq!(split_exit_code("a\n<b exit code 7>\n"), ("a\n", Some("7")));
        for other in ["", "a", "<exit code >", "<exit code x>", "exit code 3", "<exit code 1>\nb"] {
            assert_eq!(split_exit_code(other), (other, None));
        }
    }

    #[test]
    fn unknown_tools_show_their_arguments_and_their_result() {
        check(
            &recorded("grep", "return"),
            &[
                "<section class=\"tool-part tool-arguments\"><div class=\"code-block\" data-language=\"json\">",
                "<pre class=\"terminal\">/project/a.py:    return x + 2",
            ],
            &["tool-error"],
        );
    }

    #[test]
    fn markup_in_every_field_stays_text() {
        let evil = "</pre></td></section><script>alert(1)</script><img src=x onerror=alert(1)>\"'";
        let error = ToolError { message: evil.to_owned(), code: None };
        let images = [ToolImage { address: evil.to_owned() }];
        let diff = format!("--- a/{evil}\n+++ b/{evil}\n@@ -1 +1 @@ {evil}\n-{evil}\n+{evil} {evil}\n");
        let string = serde_json::to_string(evil).expect("JSON");
        let arguments = [
            evil.to_owned(),
            format!("{{{string}: {string}}}"),
            format!("{{\"command\": {string}, \"description\": {string}, {string}: 1}}"),
            format!("{{\"path\": {string}, \"old_str\": {string}, \"new_str\": \"x\"}}"),
            format!("{{\"path\": {string}, \"file_text\": {string}, \"intent\": {string}, \"query\": {string}}}"),
            format!("*** Begin Patch\n*** Update File: {evil}\n@@ {evil}\n-{evil}\n*** End Patch"),
            diff.clone(),
        ];
        for name in
            [evil, "bash", "edit", "create", "view", "apply_patch", "report_intent", "sql", "task", "powershell"]
        {
            for arguments in &arguments {
                for detailed in [None, Some(diff.as_str()), Some(evil)] {
                    let output = Some(ToolOutput {
                        content: evil,
                        content_address: Some(evil),
                        detailed,
                        detailed_address: Some(evil),
                    });
                    let working_directory = Some(evil);
                    let block =
                        ToolBlock { name, arguments, output, images: &images, error: Some(&error), working_directory };
                    let html = tool(&block, Extent::Beginning, &mut Budget::default()).into_string();
                    let harmless = !html.contains("<script") && !html.contains("<img src=x");
                    assert!(html.contains("src=\"&lt;/pre&gt;"), "{html}");
                    assert!(harmless, "{name} {arguments}: {html}");
                    let opened = html.matches("<section").count();
                    assert_eq!(opened, html.matches("</section>").count(), "{html}");
                }
            }
        }
        let html = permission(evil, evil, Some(evil), Extent::Beginning, &mut Budget::default());
        assert!(!html.as_str().contains("<script"), "{}", html.as_str());
    }

    #[test]
    fn a_permission_shows_the_whole_command_or_the_diff() {
        let ask = |kind, detail: &str| {
            permission(kind, detail, None, Extent::Beginning, &mut Budget::default()).into_string()
        };
        let command = "echo line\n".repeat(1_000);
        assert_eq!(ask("shell", &command).matches("line").count(), 1_000);
        check(&ask("write", "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n"), &["diff-removed", "diff-added"], &[]);
        assert_eq!(
            ask("url", "https://example.com/<b>"),
            "<pre class=\"terminal\">https://example.com/&lt;b&gt;</pre>"
        );
    }
}

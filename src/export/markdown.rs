//! A log as Markdown: prompts as headings with a quotation, messages as they are, reasoning and tools folded.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::path::PathBuf;

use super::fence::{cannot_unfold, fenced, html, markdown, plain, quoted};
use crate::model::{AttachedFile, Callback, Response, SessionId, SessionTrouble, Timestamp, ToolError, ToolResult};
use crate::store::StoredEvent;

/// What the document says about the session itself.
#[derive(Clone, Debug)]
pub struct SessionHead {
    /// Which session.
    pub id: SessionId,
    /// Its title.
    pub title: Option<String>,
    /// The runtime's name.
    pub runtime: String,
    /// The model's id.
    pub model: String,
    /// Where the agent works.
    pub working_directory: Option<PathBuf>,
    /// When it was started.
    pub created_at: Timestamp,
    /// When this was exported.
    pub exported_at: Timestamp,
}

/// Writes a log, event by event.
#[derive(Default)]
pub(super) struct MarkdownWriter {
    prompts: usize,
    /// Tool calls that have not ended: their names and arguments.
    tools: HashMap<String, (String, String)>,
    /// Messages and reasoning that have not ended. Those that have are written from their end.
    blocks: Vec<(String, &'static str, String)>,
}

impl MarkdownWriter {
    pub fn head(out: &mut String, head: &SessionHead) {
        let title = head.title.clone().unwrap_or_else(|| head.id.to_string());
        let _ = write!(out, "# {}\n\n", plain(&title));
        let folder = head.working_directory.as_ref().map(|folder| folder.to_string_lossy().into_owned());
        for (name, value) in [
            ("Session", head.id.to_string()),
            ("Agent", head.runtime.clone()),
            ("Model", head.model.clone()),
            ("Folder", folder.unwrap_or_default()),
            ("Started", head.created_at.to_string()),
            ("Exported", head.exported_at.to_string()),
        ] {
            if !value.is_empty() {
                let _ = writeln!(out, "- **{name}:** {}", plain(&value));
            }
        }
        out.push_str("\n---\n\n");
    }

    pub fn event(&mut self, out: &mut String, event: &StoredEvent) {
        let body = String::from_utf8_lossy(&event.body);
        match Response::from_json(&body) {
            Some(Response::Callback(callback)) => self.callback(out, event.time, callback),
            Some(Response::SessionError(trouble)) => error(out, &trouble),
            // Of a later version: kept as it is.
            None => fold(out, "Unknown event", |out| fenced(out, "json", &body)),
        }
    }

    /// What the log leaves open, because the agent is still working.
    pub fn end(&mut self, out: &mut String) {
        for (_, name, text) in std::mem::take(&mut self.blocks) {
            let _ = write!(out, "*{name}, not finished:*\n\n");
            markdown(out, &text);
        }
        let mut open: Vec<_> = std::mem::take(&mut self.tools).into_iter().collect();
        open.sort();
        for (_, (name, arguments)) in open {
            fold(out, &format!("Tool: <code>{}</code>, not finished", html(&name)), |out| {
                write_arguments(out, &arguments);
            });
        }
    }

    fn callback(&mut self, out: &mut String, time: Timestamp, callback: Callback) {
        match callback {
            Callback::UserPrompt { text, attachments, .. } => {
                self.prompt(out, time, &text);
                attached(out, &attachments);
            }
            Callback::PromptChanged { prompt_id, text } => {
                let _ = write!(out, "*The queued prompt {prompt_id} was changed to:*\n\n");
                quoted(out, &text);
            }
            Callback::PromptCancelled { prompt_id } => {
                let _ = write!(out, "*The queued prompt {prompt_id} was cancelled.*\n\n");
            }
            Callback::GeneratedUserPrompt { prompt, prompt_id, .. } => {
                if prompt_id.is_some() {
                    self.prompt(out, time, &prompt);
                } else {
                    out.push_str("*The agent continues with:*\n\n");
                    quoted(out, &prompt);
                }
            }
            Callback::StartMessage { message_id, .. } => self.blocks.push((message_id, "Message", String::new())),
            Callback::StartReasoning { reasoning_id, .. } => {
                self.blocks.push((reasoning_id, "Reasoning", String::new()));
            }
            Callback::Message { message_id: id, delta } | Callback::Reasoning { reasoning_id: id, delta } => {
                if let Some((_, _, text)) = self.blocks.iter_mut().rfind(|(known, ..)| *known == id) {
                    text.push_str(&delta);
                }
            }
            Callback::EndMessage { message_id, complete_content, .. } => {
                self.blocks.retain(|(id, ..)| *id != message_id);
                markdown(out, &complete_content);
            }
            Callback::EndReasoning { reasoning_id, complete_content, .. } => {
                self.blocks.retain(|(id, ..)| *id != reasoning_id);
                fold(out, "Reasoning", |out| markdown(out, &cannot_unfold(&complete_content)));
            }
            Callback::StartToolExecution { tool_call_id, tool_name, tool_arguments, .. } => {
                self.tools.insert(tool_call_id, (tool_name, tool_arguments));
            }
            Callback::EndToolExecution { tool_call_id, result, error } => {
                let (name, arguments) = self.tools.remove(&tool_call_id).unwrap_or_default();
                tool(out, &name, &arguments, result.as_ref(), error.as_ref());
            }
            Callback::PermissionRequested { title, .. } => {
                let _ = write!(out, "*Permission requested: {}*\n\n", plain(&title));
            }
            Callback::PermissionAnswered { decision, by, feedback, .. } => {
                let _ = write!(out, "*Permission: {} (by {})*\n\n", decision.as_str(), by.as_str());
                if let Some(feedback) = feedback {
                    quoted(out, &feedback);
                    out.push('\n');
                }
            }
            Callback::QuestionAsked { question, choices, .. } => {
                out.push_str("**Question:**\n\n");
                quoted(out, &question);
                for choice in choices.unwrap_or_default() {
                    let _ = writeln!(out, "- {}", plain(&choice));
                }
                out.push('\n');
            }
            Callback::QuestionAnswered { answer, .. } => {
                out.push_str("**Answer:**\n\n");
                quoted(out, answer.as_deref().unwrap_or("nobody answered"));
            }
            Callback::Notice { kind, message, .. } => {
                let _ = write!(out, "*Note ({}): {}*\n\n", kind.as_str(), plain(&message));
            }
            // Progress and figures: JSON has them.
            _ => {}
        }
    }

    fn prompt(&mut self, out: &mut String, time: Timestamp, text: &str) {
        self.prompts += 1;
        let _ = write!(out, "## Prompt {} · {time}\n\n", self.prompts);
        quoted(out, text);
    }
}

/// What was sent along with a prompt.
fn attached(out: &mut String, files: &[AttachedFile]) {
    for AttachedFile { name, mime, size, hash } in files {
        let name = plain(name);
        let _ = match hash {
            Some(hash) => writeln!(out, "- Attached: [{name}]({}) ({size} bytes)", file_name(hash, mime)),
            None => writeln!(out, "- Attached: {name} ({size} bytes, not kept)"),
        };
    }
    if !files.is_empty() {
        out.push('\n');
    }
}

/// The name that a blob has beside the document.
pub(super) fn file_name(hash: &str, mime: &str) -> String {
    let (folder, extension) = match mime {
        "image/png" => ("images", "png"),
        "image/jpeg" => ("images", "jpg"),
        "image/gif" => ("images", "gif"),
        "image/webp" => ("images", "webp"),
        "image/svg+xml" => ("images", "svg"),
        mime if mime.starts_with("image/") => ("images", "bin"),
        mime if mime.starts_with("text/") => ("outputs", "txt"),
        _ => ("outputs", "bin"),
    };
    format!("{folder}/{hash}.{extension}")
}

fn tool(out: &mut String, name: &str, arguments: &str, result: Option<&ToolResult>, error: Option<&ToolError>) {
    let name = if name.is_empty() { "unknown" } else { name };
    let failed = if error.is_some() { ", failed" } else { "" };
    fold(out, &format!("Tool: <code>{}</code>{failed}", html(name)), |out| {
        write_arguments(out, arguments);
        if let Some(result) = result {
            output(out, "Output", &result.content, result.content_blob.as_deref());
            if let Some(detailed) = &result.detailed_content {
                output(out, "Details", detailed, result.detailed_content_blob.as_deref());
            }
            for image in &result.images {
                let _ = write!(out, "![Image]({})\n\n", file_name(&image.blob, &image.mime));
            }
        }
        if let Some(error) = error {
            out.push_str("Error:\n\n");
            fenced(out, "text", &error.message);
        }
    });
}

fn output(out: &mut String, name: &str, text: &str, blob: Option<&str>) {
    if !text.is_empty() {
        let _ = write!(out, "{name}:\n\n");
        fenced(out, "text", text);
    }
    if let Some(blob) = blob {
        let _ = write!(out, "This is only the beginning. [All of it]({})\n\n", file_name(blob, "text/plain"));
    }
}

fn write_arguments(out: &mut String, arguments: &str) {
    if !arguments.is_empty() {
        out.push_str("Arguments:\n\n");
        fenced(out, "json", arguments);
    }
}

/// The summary is HTML. The empty lines make what is inside Markdown again.
fn fold(out: &mut String, summary: &str, content: impl FnOnce(&mut String)) {
    let _ = write!(out, "<details>\n<summary>{summary}</summary>\n\n");
    content(out);
    out.push_str("</details>\n\n");
}

fn error(out: &mut String, trouble: &SessionTrouble) {
    let _ = write!(out, "**Error:** {}\n\n", plain(&trouble.message));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{PromptId, ToolImage};

    fn document(callbacks: Vec<Callback>) -> String {
        let (mut writer, mut out) = (MarkdownWriter::default(), String::new());
        for (seq, callback) in (1..).zip(callbacks) {
            let body = Response::from(callback).to_json().into();
            writer.event(&mut out, &StoredEvent { seq, time: Timestamp::from_millis(0), body });
        }
        writer.end(&mut out);
        out
    }

    fn started(id: &str) -> Callback {
        Callback::StartToolExecution {
            tool_call_id: id.to_owned(),
            parent_tool_call_id: None,
            tool_name: "ba<sh>".to_owned(),
            tool_arguments: "{}".to_owned(),
        }
    }

    #[test]
    fn a_turn_is_a_prompt_its_folded_work_and_its_answer() {
        let ended = Callback::EndToolExecution {
            tool_call_id: "t".to_owned(),
            result: Some(ToolResult {
                content: "```\n</details>".to_owned(),
                images: vec![ToolImage { blob: "abc".to_owned(), mime: "image/png".to_owned() }],
                ..ToolResult::default()
            }),
            error: None,
        };
        let text = document(vec![
            Callback::UserPrompt {
                prompt_id: PromptId::from_number(1),
                text: "a\nb".to_owned(),
                queued: false,
                attachments: vec![AttachedFile {
                    name: "a [b].png".to_owned(),
                    mime: "image/png".to_owned(),
                    size: 3,
                    hash: Some("ab".to_owned()),
                }],
            },
            started("t"),
            ended,
            Callback::EndMessage {
                message_id: "m".to_owned(),
                complete_content: "**Done**".to_owned(),
                incomplete: false,
            },
        ]);
        let expected = "## Prompt 1 · 1970-01-01T00:00:00.000Z\n\n> a\n> b\n\n\
             - Attached: [a \\[b\\].png](images/ab.png) (3 bytes)\n\n\
             <details>\n<summary>Tool: <code>ba&lt;sh&gt;</code></summary>\n\nArguments:\n\n```json\n{}\n```\n\n\
             Output:\n\n````text\n```\n</details>\n````\n\n![Image](images/abc.png)\n\n</details>\n\n**Done**\n\n";
        assert_eq!(text, expected);
    }

    #[test]
    fn what_is_not_finished_is_there_too() {
        let text = document(vec![
            started("t"),
            Callback::StartMessage { message_id: "m".to_owned(), parent_tool_call_id: None },
            Callback::Message { message_id: "m".to_owned(), delta: "so ".to_owned() },
            Callback::Message { message_id: "m".to_owned(), delta: "far".to_owned() },
        ]);
        assert!(text.contains("*Message, not finished:*\n\nso far\n"), "{text}");
        assert!(text.contains("not finished</summary>"), "{text}");
    }
}

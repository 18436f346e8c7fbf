//! Events of a session as text for people.

use std::collections::HashMap;

use super::super::terminal::markdown::Markdown;
use super::super::terminal::style::Style;
use super::super::terminal::text::{clean, indented, one_line, shortened};
use super::asked::Asked;
use super::tool_line::tool_line;
use crate::model::{Callback, NoticeKind, RequestId, RequestOutcome, Response};

/// Lines that only hint at something are cut.
const LONGEST_HINT: usize = 120;

/// A piece of the transcript.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Piece {
    /// A part of the answer, as it arrives.
    Answer(String),
    /// A whole line about everything else.
    Line(String),
}

/// How a transcript looks.
#[derive(Clone, Copy, Debug)]
pub(super) struct Look {
    /// The style of lines.
    pub style: Style,
    /// The style of the answer, if it is rendered; `None` to leave it as it is.
    pub rendered: Option<Style>,
    /// Whether prompts and requests are part of it.
    pub is_whole: bool,
}

/// Turns events into text, one after the other.
#[derive(Debug)]
pub(super) struct Transcript {
    look: Look,
    /// The message that is being written.
    message: Option<Message>,
    has_answer: bool,
    tools: HashMap<String, String>,
    requests: HashMap<RequestId, String>,
}

#[derive(Debug)]
struct Message {
    id: String,
    /// What was shown of it, as it was written.
    seen: String,
    markdown: Option<Markdown>,
}

impl Transcript {
    pub fn new(look: Look) -> Self {
        Self { look, message: None, has_answer: false, tools: HashMap::new(), requests: HashMap::new() }
    }

    /// What an event adds.
    pub fn add(&mut self, response: &Response) -> Vec<Piece> {
        let mut pieces = Vec::new();
        match response {
            Response::SessionError(trouble) => {
                let line = self.look.style.red(&format!("✗ {}", clean(&trouble.message)));
                add_line(&mut pieces, line);
            }
            Response::Callback(callback) => self.callback(callback, &mut pieces),
        }
        pieces
    }

    fn callback(&mut self, callback: &Callback, pieces: &mut Vec<Piece>) {
        let style = self.look.style;
        match callback {
            // A message with a parent is a sub-agent's: not part of the answer.
            Callback::StartMessage { message_id, parent_tool_call_id: None } => self.begin(message_id, pieces),
            Callback::Message { message_id, delta } => self.continue_message(message_id, delta, pieces),
            Callback::EndMessage { message_id, complete_content, .. } => {
                self.end_message(message_id, complete_content, pieces);
            }
            Callback::EndReasoning { complete_content, .. } => {
                let first = complete_content.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
                if !first.is_empty() {
                    let hint = shortened(&one_line(first).replace("**", ""), LONGEST_HINT);
                    add_line(pieces, style.dim(&format!("∙ {hint}")));
                }
            }
            Callback::StartToolExecution { tool_call_id, tool_name, tool_arguments, parent_tool_call_id } => {
                let line = tool_line(tool_name, tool_arguments);
                self.tools.insert(tool_call_id.clone(), one_line(tool_name));
                let indent = if parent_tool_call_id.is_some() { "  " } else { "" };
                add_line(pieces, format!("{indent}{} {line}", style.bold("●")));
            }
            Callback::EndToolExecution { tool_call_id, error, .. } => {
                let name = self.tools.remove(tool_call_id).unwrap_or_else(|| "tool".to_owned());
                if let Some(error) = error {
                    let message = shortened(&one_line(&error.message), LONGEST_HINT);
                    add_line(pieces, format!("{} {name}: {message}", style.red("✗")));
                }
            }
            Callback::UserPrompt { text, queued, attachments, .. } if self.look.is_whole => {
                let queued = if *queued { style.dim(" (queued)") } else { String::new() };
                let text = indented(&clean(text), 2);
                add_line(pieces, format!("{}{queued}", style.bold(&format!("> {}", text.trim_start()))));
                for file in attachments {
                    add_line(pieces, style.dim(&format!("  + {} ({} bytes)", one_line(&file.name), file.size)));
                }
            }
            Callback::PromptChanged { text, .. } if self.look.is_whole => {
                let text = indented(&clean(text), 2);
                let changed = style.dim(" (queued, changed)");
                add_line(pieces, format!("{}{changed}", style.bold(&format!("> {}", text.trim_start()))));
            }
            Callback::PromptCancelled { prompt_id } if self.look.is_whole => {
                add_line(pieces, style.dim(&format!("! {prompt_id} was cancelled before it was sent")));
            }
            Callback::GeneratedUserPrompt { prompt, .. } if self.look.is_whole => {
                add_line(pieces, style.dim(&format!("> {}", shortened(&one_line(prompt), LONGEST_HINT))));
            }
            Callback::PermissionRequested { request_id, title, .. } => self.asked(request_id, title, callback, pieces),
            Callback::QuestionAsked { request_id, question, .. } => self.asked(request_id, question, callback, pieces),
            Callback::PermissionAnswered { request_id, decision, by, feedback } => {
                let title = self.requests.remove(request_id).unwrap_or_default();
                let word = match decision {
                    RequestOutcome::AllowOnce => style.green("✓ allowed once"),
                    RequestOutcome::AllowAlways => style.green("✓ allowed from now on"),
                    RequestOutcome::Deny => style.red("✗ denied"),
                    other => style.dim(&format!("– {other}")),
                };
                let title = if title.is_empty() { title } else { format!(": {title}") };
                let said = feedback.as_deref().map(|words| format!(" — {}", one_line(words))).unwrap_or_default();
                add_line(pieces, format!("{word} by {by}{title}{said}"));
            }
            Callback::QuestionAnswered { request_id, answer, by } => {
                self.requests.remove(request_id);
                let answer = answer.as_deref().map_or_else(|| "no answer".to_owned(), one_line);
                add_line(pieces, format!("{} answered by {by}: {answer}", style.green("✓")));
            }
            Callback::Notice { kind, message, .. } if is_told(*kind) => {
                add_line(pieces, style.dim(&format!("! {}", clean(message))));
            }
            Callback::StateChanged { state, detail }
                if matches!(state.as_str(), "recovering" | "needs-login" | "failed") =>
            {
                let detail = detail.as_deref().map(|detail| format!(": {}", clean(detail))).unwrap_or_default();
                add_line(pieces, style.yellow(&format!("! {state}{detail}")));
            }
            _ => {}
        }
    }

    fn asked(&mut self, request: &RequestId, title: &str, callback: &Callback, pieces: &mut Vec<Piece>) {
        self.requests.insert(request.clone(), one_line(title));
        if self.look.is_whole
            && let Some(asked) = Asked::of_event(callback)
        {
            add_line(pieces, asked.shown(self.look.style));
        }
    }

    fn begin(&mut self, id: &str, pieces: &mut Vec<Piece>) {
        self.close(pieces);
        let markdown = self.look.rendered.map(Markdown::new);
        self.message = Some(Message { id: id.to_owned(), seen: String::new(), markdown });
    }

    fn continue_message(&mut self, id: &str, part: &str, pieces: &mut Vec<Piece>) {
        let Some(message) = self.message.as_mut().filter(|message| message.id == id) else { return };
        if part.is_empty() {
            return;
        }
        // Messages are apart from each other by an empty line.
        if message.seen.is_empty() && std::mem::replace(&mut self.has_answer, true) {
            pieces.push(Piece::Answer("\n".to_owned()));
        }
        message.seen.push_str(part);
        let shown = match &mut message.markdown {
            Some(markdown) => markdown.add(part),
            None => part.to_owned(),
        };
        if !shown.is_empty() {
            pieces.push(Piece::Answer(shown));
        }
    }

    fn end_message(&mut self, id: &str, whole: &str, pieces: &mut Vec<Piece>) {
        let Some(message) = self.message.as_ref().filter(|message| message.id == id) else { return };
        // What was not streamed, or was dropped because this reader was too slow.
        let rest = whole.strip_prefix(message.seen.as_str()).unwrap_or_default().to_owned();
        self.continue_message(id, &rest, pieces);
        self.close(pieces);
    }

    /// Ends a message on a line of its own.
    fn close(&mut self, pieces: &mut Vec<Piece>) {
        let Some(mut message) = self.message.take() else { return };
        let mut rest = message.markdown.as_mut().map(Markdown::finish).unwrap_or_default();
        if !message.seen.is_empty() && !message.seen.ends_with('\n') {
            rest.push('\n');
        }
        if !rest.is_empty() {
            pieces.push(Piece::Answer(rest));
        }
    }

    /// Ends what is still open.
    pub fn finish(&mut self) -> Vec<Piece> {
        let mut pieces = Vec::new();
        self.close(&mut pieces);
        pieces
    }
}

fn add_line(pieces: &mut Vec<Piece>, line: String) {
    pieces.push(Piece::Line(line));
}

/// Whether a person at a terminal wants to know it.
fn is_told(kind: NoticeKind) -> bool {
    !matches!(
        kind,
        NoticeKind::Commands | NoticeKind::Mode | NoticeKind::Plan | NoticeKind::SubAgent | NoticeKind::TaskComplete
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn transcript(is_whole: bool) -> Transcript {
        Transcript::new(Look { style: Style::plain(), rendered: None, is_whole })
    }

    fn add(transcript: &mut Transcript, events: &[&str]) -> (String, Vec<String>) {
        let (mut answer, mut lines) = (String::new(), Vec::new());
        for event in events {
            for piece in transcript.add(&Response::from_json(event).expect("an event")) {
                match piece {
                    Piece::Answer(text) => answer.push_str(&text),
                    Piece::Line(line) => lines.push(line),
                }
            }
        }
        (answer, lines)
    }

    #[test]
    fn an_answer_is_shown_once_however_it_arrives() {
        let (answer, lines) = add(
            &mut transcript(false),
            &[
                r#"{"callback":"onStartMessage","messageId":"m"}"#,
                r#"{"callback":"onMessage","messageId":"m","delta":"Hel"}"#,
                r#"{"callback":"onMessage","messageId":"m","delta":"lo"}"#,
                r#"{"callback":"onEndMessage","messageId":"m","completeContent":"Hello, world"}"#,
                r#"{"callback":"onStartMessage","messageId":"s","parentToolCallId":"t"}"#,
                r#"{"callback":"onEndMessage","messageId":"s","completeContent":"a sub-agent's"}"#,
                r#"{"callback":"onStartMessage","messageId":"n"}"#,
                r#"{"callback":"onEndMessage","messageId":"n","completeContent":"Whole\n"}"#,
            ],
        );
        assert_eq!(answer, "Hello, world\n\nWhole\n");
        assert_eq!(lines, Vec::<String>::new());
    }

    #[test]
    fn tools_are_single_lines_and_failures_say_why() {
        let events = [
            r#"{"callback":"onStartToolExecution","toolCallId":"t","toolName":"bash","toolArguments":"{\"command\":\"make\\n\\u001b[2J\"}"}"#,
            r#"{"callback":"onEndToolExecution","toolCallId":"t","error":{"message":"exit\n2"}}"#,
        ];
        let (_, lines) = add(&mut transcript(false), &events);
        assert_eq!(lines, ["● bash  make \u{fffd}[2J", "✗ bash: exit 2"]);
    }

    #[test]
    fn only_a_whole_transcript_has_prompts() {
        let prompt = [r#"{"callback":"onUserPrompt","promptId":"prompt-1","text":"do\nit","queued":false}"#];
        assert_eq!(add(&mut transcript(false), &prompt).1, Vec::<String>::new());
        assert_eq!(add(&mut transcript(true), &prompt).1, ["> do\n  it"]);
    }
}

//! What an agent is told when its own session was lost: a bounded summary of our log.
//!
//! What must always hold here:
//!
//! - The same events give the same text, however long the log is, and both the text and the memory are bounded.
//! - Only what people asked for counts as a request: no summary of an earlier loss, no system prompt, no prompt that an
//!   agent made for itself. So a summary after a second loss is as good as after the first.

use std::collections::{HashMap, HashSet, VecDeque};
use std::fmt::Write as _;

use super::tool_action::ToolAction;
use crate::model::{Callback, NoticeKind, PromptId, RequestId, RequestOutcome, Response};

/// The most characters of a summary.
pub(super) const LONGEST: usize = 6_000;

const BEGIN: &str = "[Summary of an earlier conversation";
const PREFACE: &str = " that could not be restored. It was made from the log and is not a request.]";
const END: &str = "[End of the summary. Results of this work may be in the folder: check before you do any of it again. \
                   The next request follows.]";
const SYSTEM: (&str, &str) = ("<system>", "</system>");

/// Characters of each part, and the longest line in it.
const TASK: usize = 900;
const REQUESTS: (usize, usize) = (1_200, 400);
const FILES: (usize, usize) = (800, 160);
const COMMANDS: (usize, usize) = (800, 160);
const DECISIONS: (usize, usize) = (500, 160);
const OPEN: (usize, usize) = (600, 200);
const ANSWER: usize = 500;
/// Lines of a part that are remembered; more would not fit.
const MOST_LINES: usize = 64;
/// Calls and requests that are followed at once.
const MOST_OPEN: usize = 256;

/// The events of a session so far, as much of them as a summary needs.
#[derive(Debug, Default)]
pub(super) struct Summary {
    /// Prompts that the agent has not been given yet: it gets them as they are.
    waiting: HashSet<PromptId>,
    task: Option<String>,
    requests: Lines,
    /// The lines of prompts that were queued: they may be changed or cancelled.
    queued: HashMap<PromptId, String>,
    files: Lines,
    commands: Lines,
    decisions: Lines,
    calls: HashMap<String, Call>,
    asked: HashMap<RequestId, String>,
    turn: LastTurn,
}

#[derive(Debug)]
struct Call {
    name: String,
    action: ToolAction,
}

/// The turn that began last.
#[derive(Debug, Default)]
struct LastTurn {
    is_over: bool,
    was_interrupted: bool,
    failure: Option<String>,
    answer: Option<String>,
    plan: Option<String>,
    /// What it left open.
    open: Lines,
    /// Messages of sub-agents to the agent.
    asides: HashSet<String>,
}

/// The last lines of a part.
#[derive(Debug, Default)]
struct Lines {
    kept: VecDeque<String>,
    dropped: usize,
}

impl Lines {
    fn push(&mut self, line: String) {
        self.kept.push_back(line);
        if self.kept.len() > MOST_LINES {
            self.kept.pop_front();
            self.dropped += 1;
        }
    }

    /// Moves a line that is there already to the end.
    fn push_once(&mut self, line: String) {
        self.kept.retain(|kept| *kept != line);
        self.push(line);
    }

    fn is_empty(&self) -> bool {
        self.kept.is_empty()
    }

    /// The newest lines that fit, in order.
    fn write(&self, heading: &str, most: usize, into: &mut String) {
        if self.is_empty() {
            return;
        }
        let mut room = most;
        let fitting = self.kept.iter().rev().take_while(|line| {
            let size = line.chars().count() + 3;
            let fits = size <= room;
            room = room.saturating_sub(size);
            fits
        });
        let fitting = fitting.count();
        let dropped = self.dropped + self.kept.len() - fitting;
        let _ = writeln!(into, "\n{heading}");
        if dropped > 0 {
            let _ = writeln!(into, "- ({dropped} earlier left out)");
        }
        for line in self.kept.iter().skip(self.kept.len() - fitting) {
            let _ = writeln!(into, "- {line}");
        }
    }
}

impl Summary {
    /// For a session in which these prompts wait for the agent.
    pub fn without(waiting: impl IntoIterator<Item = PromptId>) -> Self {
        Self { waiting: waiting.into_iter().collect(), ..Self::default() }
    }

    /// Applies an event.
    pub fn apply(&mut self, response: &Response) {
        let callback = match response {
            Response::SessionError(trouble) => return self.turn().failure = Some(cut(&trouble.message, OPEN.1)),
            Response::Callback(callback) => callback,
        };
        match callback {
            Callback::UserPrompt { prompt_id, text, queued, .. }
            | Callback::GeneratedUserPrompt { prompt: text, prompt_id: Some(prompt_id), queued: Some(queued) }
                if !self.waiting.contains(prompt_id) =>
            {
                if *queued {
                    self.on_queued_request(*prompt_id, text);
                } else {
                    self.turn();
                    self.on_request(text);
                }
            }
            Callback::PromptChanged { prompt_id, text } if !self.waiting.contains(prompt_id) => {
                self.forget_queued_request(*prompt_id);
                self.on_queued_request(*prompt_id, text);
            }
            Callback::PromptCancelled { prompt_id } => self.forget_queued_request(*prompt_id),
            Callback::AgentStart { .. } => drop(self.turn()),
            Callback::StartMessage { message_id, parent_tool_call_id } => {
                let is_aside = parent_tool_call_id.is_some();
                let asides = &mut self.turn().asides;
                if is_aside && asides.len() < MOST_OPEN {
                    asides.insert(message_id.clone());
                }
            }
            Callback::EndMessage { message_id, complete_content, incomplete: false } => {
                let turn = self.turn();
                if !turn.asides.remove(message_id) && !complete_content.trim().is_empty() {
                    turn.answer = Some(cut(complete_content, ANSWER));
                }
            }
            Callback::StartToolExecution { tool_call_id, tool_name, tool_arguments, .. } => {
                self.turn();
                if self.calls.len() < MOST_OPEN {
                    let action = ToolAction::of(tool_name, tool_arguments);
                    self.calls.insert(tool_call_id.clone(), Call { name: tool_name.clone(), action });
                }
            }
            Callback::EndToolExecution { tool_call_id, error, .. } => {
                if let Some(call) = self.calls.remove(tool_call_id) {
                    self.on_call(call, error.as_ref().and_then(|error| error.code.as_deref()), error.is_some());
                }
            }
            Callback::PermissionRequested { request_id, title, .. }
            | Callback::QuestionAsked { request_id, question: title, .. } => {
                self.turn();
                if self.asked.len() < MOST_OPEN {
                    self.asked.insert(request_id.clone(), title.clone());
                }
            }
            Callback::PermissionAnswered { request_id, decision, .. } => {
                let Some(title) = self.asked.remove(request_id) else { return };
                let decided = match decision {
                    RequestOutcome::AllowOnce => "allowed",
                    RequestOutcome::AllowAlways => "always allowed",
                    RequestOutcome::Deny => "denied",
                    _ => return self.turn().open.push(cut(&format!("not decided: {title}"), OPEN.1)),
                };
                self.decisions.push(cut(&format!("{decided}: {title}"), DECISIONS.1));
            }
            Callback::QuestionAnswered { request_id, answer, .. } => {
                let Some(title) = self.asked.remove(request_id) else { return };
                match answer {
                    Some(answer) => self.decisions.push(cut(&format!("{title} Answer: {answer}"), DECISIONS.1)),
                    None => self.turn().open.push(cut(&format!("not answered: {title}"), OPEN.1)),
                }
            }
            Callback::Usage(usage) => {
                for file in usage.code_changes.iter().flat_map(|changes| &changes.files_modified) {
                    self.files.push_once(cut(file, FILES.1));
                }
            }
            Callback::Notice { kind: NoticeKind::Interrupted, .. } => self.turn().was_interrupted = true,
            Callback::Notice { kind: NoticeKind::Plan, message, .. } => {
                self.turn().plan = Some(cut(&message.replace('\n', " "), OPEN.0 / 2));
            }
            Callback::Idle {} => {
                self.turn.is_over = true;
                self.calls.clear();
            }
            _ => {}
        }
    }

    /// The turn that the next event belongs to.
    fn turn(&mut self) -> &mut LastTurn {
        if self.turn.is_over {
            self.turn = LastTurn::default();
        }
        &mut self.turn
    }

    /// Returns the line that stands for it.
    fn on_request(&mut self, text: &str) -> String {
        let text = without_preambles(text).trim();
        let text = if text.is_empty() { "(attachments)" } else { text };
        let line = if self.task.is_none() { cut_lines(text, TASK) } else { cut(text, REQUESTS.1) };
        if self.task.is_none() {
            self.task = Some(line.clone());
        } else {
            self.requests.push(line.clone());
        }
        line
    }

    fn on_queued_request(&mut self, prompt: PromptId, text: &str) {
        let line = self.on_request(text);
        if self.queued.len() < MOST_OPEN {
            self.queued.insert(prompt, line);
        }
    }

    /// A queued prompt has another text now, or none: the agent never got the one before.
    fn forget_queued_request(&mut self, prompt: PromptId) {
        let Some(line) = self.queued.remove(&prompt) else { return };
        if self.task.as_ref() == Some(&line) {
            self.task = None;
        } else if let Some(position) = self.requests.kept.iter().rposition(|kept| *kept == line) {
            self.requests.kept.remove(position);
        }
    }

    fn on_call(&mut self, Call { name, action }: Call, code: Option<&str>, has_failed: bool) {
        if code == Some("denied") {
            return;
        }
        let is_cut = code == Some("interrupted");
        let result = match (is_cut, has_failed) {
            (true, _) => " (interrupted)",
            (false, true) => " (failed)",
            (false, false) => "",
        };
        match action {
            ToolAction::Command(command) => {
                let line = cut(&command, COMMANDS.1);
                if is_cut {
                    self.turn().open.push(cut(&format!("a command was interrupted: {line}"), OPEN.1));
                }
                self.commands.push(format!("{line}{result}"));
            }
            ToolAction::ChangedFiles(files) => {
                for file in files.iter().filter(|_| is_cut || !has_failed) {
                    self.files.push_once(format!("{}{result}", cut(file, FILES.1)));
                }
            }
            ToolAction::Other if is_cut => {
                self.turn().open.push(cut(&format!("a tool call was interrupted: {name}"), OPEN.1));
            }
            ToolAction::Other => {}
        }
    }

    /// The summary; `None` if nobody has asked for anything.
    pub fn text(&self) -> Option<String> {
        let task = self.task.as_ref()?;
        let mut text = format!("{BEGIN}{PREFACE}\nThe task as first stated:\n{task}\n");
        self.requests.write("The latest requests after it:", REQUESTS.0, &mut text);
        self.files.write("Files changed:", FILES.0, &mut text);
        self.commands.write("Commands run:", COMMANDS.0, &mut text);
        self.decisions.write("Decisions of the user:", DECISIONS.0, &mut text);
        if let Some(answer) = &self.turn.answer {
            let _ = writeln!(text, "\nThe last answer:\n{answer}");
        }
        let failed = self.turn.failure.as_ref().map(|failure| format!("It failed: {failure}"));
        let state = match failed {
            Some(failed) => failed,
            None if self.turn.was_interrupted || !self.turn.is_over => {
                "It was interrupted before it was finished.".to_owned()
            }
            None => "It was answered.".to_owned(),
        };
        let _ = writeln!(text, "\nThe last request: {state}");
        if let Some(plan) = &self.turn.plan {
            let _ = writeln!(text, "The plan was: {plan}");
        }
        let mut open = Lines::default();
        let mut undecided: Vec<&String> = self.asked.values().collect();
        undecided.sort();
        for line in
            self.turn.open.kept.iter().cloned().chain(undecided.iter().map(|title| format!("not decided: {title}")))
        {
            open.push(cut(&line, OPEN.1));
        }
        open.write("Still open:", OPEN.0, &mut text);
        // Every part is bounded, so this only guards the bound itself.
        let room = LONGEST - END.chars().count();
        let mut text: String = text.chars().take(room).collect();
        text.push_str(END);
        Some(text)
    }
}

/// Whether an agent made a title from a summary, or from a system prompt that was put before the first prompt. Agents
/// cut titles and change white space.
pub(super) fn is_title_of_preamble(title: &str) -> bool {
    let title = title.split_whitespace().collect::<Vec<_>>().join(" ");
    let title = title.trim_end_matches(['…', '.', ' ']);
    title.starts_with(SYSTEM.0) || title.starts_with(BEGIN) || (title.len() >= 8 && BEGIN.starts_with(title))
}

/// A prompt without what was put before it: it may come back in the history of a session that is imported.
fn without_preambles(mut text: &str) -> &str {
    loop {
        let rest = text.trim_start();
        let end = if rest.starts_with(SYSTEM.0) {
            SYSTEM.1
        } else if rest.starts_with(BEGIN) {
            END
        } else {
            return rest;
        };
        let Some((_, after)) = rest.split_once(end) else { return rest };
        text = after;
    }
}

/// One line of at most that many characters.
fn cut(text: &str, most: usize) -> String {
    let (mut line, mut size) = (String::new(), 0);
    for word in text.split_whitespace() {
        let gap = if line.is_empty() { "" } else { " " };
        // One character more than fits, so that the end shows that there is more.
        line.extend(gap.chars().chain(word.chars()).take(most + 1));
        size += gap.len() + word.chars().take(most + 1).count();
        if size > most {
            let mut short: String = line.chars().take(most.saturating_sub(1)).collect();
            short.truncate(short.trim_end().len());
            short.push('…');
            return short;
        }
    }
    line
}

/// At most that many characters, with its lines.
fn cut_lines(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((at, _)) => format!("{} …", text[..at].trim_end()),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests;

//! The text that an event is found by.

use crate::model::{Callback, Response};
use crate::store::{SearchKind, SearchText};

/// Of a longer prompt, message or reasoning, this much can be found.
const LONGEST: usize = 64 * 1024;
/// Of longer arguments or outputs of a tool, this much can be found. (The log itself has at most this much of an output.)
const LONGEST_OF_TOOLS: usize = 16 * 1024;

/// What is found of an event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// Its text.
    pub text: SearchText,
    /// The id of its block or prompt.
    pub block_id: String,
}

/// How the events begin that have text. All others, most of them deltas, need not be read.
const WITH_TEXT: [&str; 7] = [
    r#"{"callback":"onUserPrompt","#,
    r#"{"callback":"onGeneratedUserPrompt","#,
    r#"{"callback":"onPromptChanged","#,
    r#"{"callback":"onEndMessage","#,
    r#"{"callback":"onEndReasoning","#,
    r#"{"callback":"onStartToolExecution","#,
    r#"{"callback":"onEndToolExecution","#,
];

/// The text of an event as the log has it.
pub fn of_event(body: &[u8]) -> Option<Found> {
    if !WITH_TEXT.iter().any(|start| body.starts_with(start.as_bytes())) {
        return None;
    }
    of(Response::from_json(std::str::from_utf8(body).ok()?)?)
}

/// The text of a response: prompts, starts of tool calls, and blocks that have ended. Deltas have none, because the end of
/// their block has all of it.
fn of(response: Response) -> Option<Found> {
    let Response::Callback(callback) = response else { return None };
    let (kind, text, block_id) = match callback {
        Callback::UserPrompt { text, prompt_id, .. } | Callback::PromptChanged { text, prompt_id } => {
            (SearchKind::Prompt, text, prompt_id.to_string())
        }
        Callback::GeneratedUserPrompt { prompt, prompt_id: Some(prompt_id), .. } => {
            (SearchKind::Prompt, prompt, prompt_id.to_string())
        }
        Callback::EndMessage { complete_content, message_id, .. } => {
            (SearchKind::Message, complete_content, message_id)
        }
        Callback::EndReasoning { complete_content, reasoning_id, .. } => {
            (SearchKind::Reasoning, complete_content, reasoning_id)
        }
        Callback::StartToolExecution { tool_call_id, tool_name, tool_arguments, .. } => {
            (SearchKind::ToolCall, format!("{tool_name}\n{tool_arguments}"), tool_call_id)
        }
        Callback::EndToolExecution { tool_call_id, result, error } => {
            let output = result.map(|result| result.content).unwrap_or_default();
            let text = match error {
                Some(error) if output.is_empty() => error.message,
                Some(error) => format!("{output}\n{}", error.message),
                None => output,
            };
            (SearchKind::ToolOutput, text, tool_call_id)
        }
        _ => return None,
    };
    let longest = match kind {
        SearchKind::ToolCall | SearchKind::ToolOutput => LONGEST_OF_TOOLS,
        _ => LONGEST,
    };
    let text = beginning(text, longest);
    (!text.is_empty()).then_some(Found { text: SearchText { kind, text }, block_id })
}

fn beginning(mut text: String, longest: usize) -> String {
    text.truncate(text.floor_char_boundary(longest));
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{PromptId, ToolError, ToolResult};

    fn found(callback: Callback) -> Option<(SearchKind, String, String)> {
        let found = of_event(Response::from(callback).to_json().as_bytes())?;
        Some((found.text.kind, found.text.text, found.block_id))
    }

    fn expect(callback: Callback, kind: SearchKind, text: &str, id: &str) {
        assert_eq!(found(callback), Some((kind, text.to_owned(), id.to_owned())));
    }

    fn message(content: &str) -> Callback {
        Callback::EndMessage { message_id: "m".to_owned(), complete_content: content.to_owned(), incomplete: false }
    }

    #[test]
    fn prompts_tool_calls_and_ended_blocks_can_be_found_and_deltas_cannot() {
        let prompt_id = PromptId::from_number(1);
        expect(message("hello"), SearchKind::Message, "hello", "m");
        let asked = Callback::UserPrompt { prompt_id, text: "why".to_owned(), queued: false, attachments: Vec::new() };
        expect(asked, SearchKind::Prompt, "why", "prompt-1");
        let changed = Callback::PromptChanged { prompt_id, text: "how".to_owned() };
        expect(changed, SearchKind::Prompt, "how", "prompt-1");
        let of_task = Callback::GeneratedUserPrompt {
            prompt: "build it".to_owned(),
            prompt_id: Some(prompt_id),
            queued: Some(false),
        };
        expect(of_task, SearchKind::Prompt, "build it", "prompt-1");
        let called = Callback::StartToolExecution {
            tool_call_id: "t".to_owned(),
            parent_tool_call_id: None,
            tool_name: "bash".to_owned(),
            tool_arguments: "{\"command\":\"ls\"}".to_owned(),
        };
        expect(called, SearchKind::ToolCall, "bash\n{\"command\":\"ls\"}", "t");
        let failed = Callback::EndToolExecution {
            tool_call_id: "t".to_owned(),
            result: Some(ToolResult { content: "some".to_owned(), ..ToolResult::default() }),
            error: Some(ToolError { message: "exit 1".to_owned(), code: None }),
        };
        expect(failed, SearchKind::ToolOutput, "some\nexit 1", "t");
        assert_eq!(found(Callback::Message { message_id: "m".to_owned(), delta: "hel".to_owned() }), None);
        assert_eq!(found(Callback::generated_prompt("go on".to_owned())), None);
        assert_eq!(found(message("")), None);
        assert_eq!(of_event(b"{\"callback\":\"onEndMessage\",oops"), None);
    }

    #[test]
    fn of_a_long_text_the_beginning_can_be_found() {
        let (_, text, _) = found(message(&"ä".repeat(LONGEST))).expect("text");
        assert_eq!(text.len(), LONGEST);
    }
}

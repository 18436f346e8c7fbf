//! The text that a full-text search finds an event by, taken while the event is still typed.

use crate::model::{Callback, Response};
use crate::store::{SearchKind, SearchText};

/// The searchable text of a response: prompts, and blocks that have ended. Deltas have none, because the end of their
/// block has all of it. The response is used up, so that a long text is not held twice.
pub(super) fn of(response: Response) -> Option<SearchText> {
    let Response::Callback(callback) = response else { return None };
    let (kind, text) = match callback {
        Callback::UserPrompt { text, .. } | Callback::GeneratedUserPrompt { prompt: text, prompt_id: Some(_), .. } => {
            (SearchKind::Prompt, text)
        }
        Callback::EndMessage { complete_content, .. } => (SearchKind::Message, complete_content),
        Callback::EndReasoning { complete_content, .. } => (SearchKind::Reasoning, complete_content),
        Callback::EndToolExecution { result: Some(result), .. } => (SearchKind::ToolOutput, result.content),
        _ => return None,
    };
    (!text.is_empty()).then_some(SearchText { kind, text })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prompts_and_ended_blocks_can_be_found_and_deltas_cannot() {
        let ended = Callback::EndMessage {
            message_id: "m".to_owned(),
            complete_content: "hello".to_owned(),
            incomplete: false,
        };
        let text = of(ended.into()).expect("text");
        assert_eq!((text.kind, text.text.as_str()), (SearchKind::Message, "hello"));
        let delta = Callback::Message { message_id: "m".to_owned(), delta: "hel".to_owned() };
        assert_eq!(of(delta.into()), None);
        let of_task = Callback::GeneratedUserPrompt {
            prompt: "build it".to_owned(),
            prompt_id: Some(crate::model::PromptId::from_number(1)),
            queued: Some(false),
        };
        assert_eq!(of(of_task.into()).expect("text").kind, SearchKind::Prompt);
        assert_eq!(of(Callback::generated_prompt("go on".to_owned()).into()), None);
    }
}

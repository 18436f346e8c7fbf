//! Prompts: what a person or program asks of an agent.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{ErrorClass, PromptId, TurnActivity, Usage};

/// A file or picture sent along with a prompt.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Attachment {
    /// File name, for people and for the agent.
    pub name: String,
    /// Media type, such as `image/png`.
    pub mime: String,
    /// Content in base64.
    pub data: String,
}

/// A file that was sent along with a prompt, as the log describes it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AttachedFile {
    /// File name, as the sender gave it.
    pub name: String,
    /// Media type, as the sender gave it.
    pub mime: String,
    /// Size in bytes.
    pub size: u64,
    /// Hash of the blob with its content; `None` if it was too large to keep or could not be stored.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hash: Option<String>,
}

/// Who wrote a prompt.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PromptAuthor {
    /// A person, or a program on behalf of one.
    #[default]
    Person,
    /// A task.
    Task,
}

/// How the turn of a prompt ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum PromptVerdict {
    /// The agent finished without an error.
    Succeeded,
    /// The agent reported an error or was lost.
    Failed,
    /// Somebody ended the turn, or the server stopped.
    Interrupted,
    /// The prompt was never sent: its session was closed while it waited.
    Dropped,
}

impl PromptVerdict {
    /// Whether somebody may want to send the same prompt again, because it did not do its work.
    pub fn may_be_repeated(self) -> bool {
        self != Self::Succeeded
    }
}

/// What is known of a prompt once its turn is over.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PromptOutcome {
    /// The prompt's id within its session.
    pub prompt_id: PromptId,
    /// The agent's final text: what it said after its last tool call.
    pub text: String,
    /// How the turn ended.
    pub verdict: PromptVerdict,
    /// What the turn cost, as far as the agent reported it.
    pub usage: Usage,
    /// What kind of failure ended the turn. Outcomes of earlier versions have none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error_class: Option<ErrorClass>,
    /// Whether sending the same prompt again is worth it; `None` for a turn that succeeded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry: Option<RetryHint>,
    /// What the agent did in the turn. Outcomes of earlier versions do not say.
    #[serde(default, skip_serializing_if = "TurnActivity::is_empty")]
    pub activity: TurnActivity,
}

impl PromptOutcome {
    /// The outcome of a prompt that was never sent.
    pub fn dropped(prompt_id: PromptId) -> Self {
        let verdict = PromptVerdict::Dropped;
        Self {
            prompt_id,
            text: String::new(),
            verdict,
            usage: Usage::default(),
            error_class: None,
            retry: RetryHint::of(verdict, None),
            activity: TurnActivity::default(),
        }
    }
}

/// Whether sending a prompt again is worth it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RetryHint {
    /// Nothing is wrong with the prompt or the agent: somebody interrupted the turn, or the prompt was never sent.
    Now,
    /// The cause is likely to pass, such as a rate limit or a network failure.
    Later,
    /// Somebody must change something first: log in, choose another model, shorten the conversation.
    AfterChange,
}

impl RetryHint {
    /// The hint that follows from how a turn ended.
    pub fn of(verdict: PromptVerdict, class: Option<ErrorClass>) -> Option<Self> {
        match verdict {
            PromptVerdict::Succeeded => None,
            PromptVerdict::Interrupted if class == Some(ErrorClass::Budget) => Some(Self::AfterChange),
            PromptVerdict::Interrupted | PromptVerdict::Dropped => Some(Self::Now),
            PromptVerdict::Failed => Some(Self::after(class.unwrap_or(ErrorClass::Unknown))),
        }
    }

    fn after(class: ErrorClass) -> Self {
        match class {
            ErrorClass::RateLimit
            | ErrorClass::Network
            | ErrorClass::StreamBroken
            | ErrorClass::Timeout
            | ErrorClass::ProcessGone
            | ErrorClass::Crash
            | ErrorClass::Aborted
            | ErrorClass::Unknown => Self::Later,
            ErrorClass::Auth
            | ErrorClass::Quota
            | ErrorClass::Budget
            | ErrorClass::ModelUnavailable
            | ErrorClass::ContextTooLong
            | ErrorClass::ContentFilter
            | ErrorClass::InvalidRequest
            | ErrorClass::ToolConflict
            | ErrorClass::Configuration => Self::AfterChange,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_outcome_of_an_earlier_version_is_still_readable() {
        let stored = r#"{"promptId":"prompt-1","text":"done","verdict":"succeeded","usage":{}}"#;
        let outcome: PromptOutcome = serde_json::from_str(stored).expect("readable");
        assert_eq!((outcome.error_class, outcome.retry), (None, None));
        assert!(outcome.activity.is_empty());
    }

    #[test]
    fn the_hint_follows_from_the_verdict_and_the_class() {
        let failed = |class| RetryHint::of(PromptVerdict::Failed, Some(class));
        assert_eq!(failed(ErrorClass::RateLimit), Some(RetryHint::Later));
        assert_eq!(failed(ErrorClass::Auth), Some(RetryHint::AfterChange));
        assert_eq!(RetryHint::of(PromptVerdict::Succeeded, None), None);
        assert_eq!(RetryHint::of(PromptVerdict::Dropped, None), Some(RetryHint::Now));
    }
}

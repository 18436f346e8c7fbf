//! What Copilot says about its model while it asks it again, in words that name the cause.

use crate::agent::AgentEvent;
use crate::model::NoticeKind;

const TOO_MANY_REQUESTS: u16 = 429;
/// Why the program asks again, where it says nothing else about it.
const RATE_LIMIT: &str = "rate_limit";

#[derive(Debug, Default)]
pub(super) struct ModelRetry {
    /// The HTTP status of the last call that failed.
    status: Option<u16>,
    /// The wait before the next attempt was announced.
    is_announced: bool,
}

impl ModelRetry {
    /// A call of the model failed. The program waits long before it repeats one that was limited, and says so to nobody.
    pub fn failed(&mut self, status: Option<u16>, earlier_attempts: u64) -> Option<AgentEvent> {
        self.status = status;
        self.is_announced = status == Some(TOO_MANY_REQUESTS) && earlier_attempts == 0;
        self.is_announced.then(|| self.notice(""))
    }

    /// The program asks the model again.
    pub fn again(&mut self, reason: Option<&str>) -> Option<AgentEvent> {
        let is_silent = reason == Some(RATE_LIMIT) && !std::mem::take(&mut self.is_announced);
        is_silent.then(|| self.notice(""))
    }

    /// The notice that the program asks its model again. It calls everything a transient error, a rejected key too.
    pub fn notice(&self, own_words: &str) -> AgentEvent {
        let cause = match self.status {
            Some(401 | 403) => "The model provider rejected the credentials",
            Some(TOO_MANY_REQUESTS) => "The model provider limits the number of requests",
            Some(500..=599) => "The model provider failed",
            _ => "",
        };
        let message = match self.status {
            Some(status) if !cause.is_empty() => format!("{cause} (HTTP {status}). Retrying …"),
            _ if own_words.is_empty() => "The model provider did not answer. Retrying …".to_owned(),
            _ => own_words.to_owned(),
        };
        AgentEvent::Notice { kind: NoticeKind::Retrying, message }
    }
}

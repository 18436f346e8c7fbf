//! Why a turn failed: one table of classes for all runtimes.
//!
//! Invariants: a class is derived from what the program reports (error events, stderr, a status), never from the
//! agent's messages, because a model may write about errors. Secrets are redacted before the text is stored or shown.

mod early_exit;
mod retry_after;
mod table;

use std::time::Duration;

pub(in crate::agent) use early_exit::{EarlyExit, says_the_same};

use crate::model::{ErrorClass, Response, SessionTrouble, redact};

/// The longest delay, unless the service asks for more.
const LONGEST_WAIT: Duration = Duration::from_secs(30);
/// An overloaded service gets more time.
const OVERLOADED_TIMES: u32 = 10;
/// The longest part of a program's output that is quoted in the message.
const LONGEST_DETAIL: usize = 300;
/// The longest part of a program's output that is kept.
const LONGEST_RAW: usize = 16 * 1024;

/// Why a turn failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// What kind of failure it is.
    pub class: ErrorClass,
    /// The message for display: what failed and what to do.
    pub message: String,
    /// The program's output, with secrets redacted.
    pub raw: String,
    /// How long the service asks to wait.
    pub retry_after: Option<Duration>,
    /// The service is overloaded, so retries wait longer.
    pub is_overloaded: bool,
    /// A login to the agent would fix it, rather than an API key.
    pub wants_login: bool,
    /// The agent has lost its session, so the prompt needs a new one.
    pub lost_session: bool,
}

impl Failure {
    /// A failure of a known class, with the message of the class and the program's output.
    pub fn of_class(class: ErrorClass, agent_title: &str, text: &str) -> Self {
        let raw = cut(&redact(text.trim()), LONGEST_RAW);
        let detail = raw.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
        let sentence = table::sentence(class).replace("{agent}", agent_title);
        let message = match detail {
            "" => format!("{sentence}."),
            detail => format!("{sentence} ({})", cut(detail.trim_end_matches('.'), LONGEST_DETAIL)),
        };
        Self {
            class,
            message,
            retry_after: retry_after::in_text(text),
            raw,
            is_overloaded: table::is_overloaded(text),
            wants_login: false,
            lost_session: false,
        }
    }

    /// A failure with a message of its own.
    pub fn with_message(class: ErrorClass, message: &str) -> Self {
        let message = redact(message).into_owned();
        let raw = message.clone();
        Self { class, message, raw, retry_after: None, is_overloaded: false, wants_login: false, lost_session: false }
    }

    /// The same failure, marked as fixable by a login.
    #[must_use]
    pub fn that_wants_login(mut self) -> Self {
        self.wants_login = true;
        self
    }

    /// The agent has lost its session: it is missing or damaged, and the prompt was not sent.
    pub fn of_lost_session(reason: &str) -> Self {
        Self { lost_session: true, ..Self::with_message(ErrorClass::ProcessGone, reason) }
    }

    /// Whether a retry of the same prompt may succeed.
    pub fn retries(&self) -> bool {
        table::retries(self.class)
    }

    /// Whether the model's service failed, not the agent.
    pub fn is_of_service(&self) -> bool {
        matches!(
            self.class,
            ErrorClass::RateLimit | ErrorClass::Network | ErrorClass::StreamBroken | ErrorClass::Timeout
        )
    }

    /// Whether the agent's session is no longer usable.
    pub fn needs_fresh_session(&self) -> bool {
        table::needs_fresh_session(self.class)
    }

    /// The delay before the next attempt, after `failed` attempts beyond the first and with `first` as the shortest
    /// delay. A `spread` from 0 to 1 varies it from -10 % to +10 %, so that sessions do not all retry at the same
    /// moment.
    pub fn wait_spread(&self, failed: u32, first: Duration, spread: f64) -> Duration {
        if let Some(asked) = self.retry_after {
            return asked;
        }
        let wait = first.saturating_mul(2_u32.saturating_pow(failed)).min(LONGEST_WAIT);
        let wait = if self.is_overloaded { wait.saturating_mul(OVERLOADED_TIMES) } else { wait };
        wait.mul_f64(0.9 + 0.2 * spread.clamp(0.0, 1.0))
    }
}

impl From<Failure> for Response {
    fn from(failure: Failure) -> Self {
        let raw = (failure.raw != failure.message).then_some(failure.raw);
        Self::SessionError(SessionTrouble { message: failure.message, error_class: Some(failure.class), raw })
    }
}

/// Classifies the output of a program and the status that came with it. The first matching row wins.
pub fn classify(agent_title: &str, text: &str, status: Option<u16>) -> Failure {
    let mut failure = Failure::of_class(table::class(text, status), agent_title, text);
    failure.is_overloaded |= status.is_some_and(table::is_overload);
    failure
}

fn cut(text: &str, most: usize) -> String {
    if text.len() <= most {
        return text.to_owned();
    }
    format!("{} …", &text[..text.floor_char_boundary(most)])
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn failing(text: &str) -> Failure {
        classify("Copilot", text, None)
    }

    #[test]
    fn waits_double_up_to_the_longest_and_are_spread_a_little() {
        let failure = failing("ECONNREFUSED");
        let waits: Vec<u64> = (0..7).map(|attempt| failure.wait_spread(attempt, SECOND, 0.5).as_secs()).collect();
        assert_eq!(waits, [1, 2, 4, 8, 16, 30, 30]);
        assert_eq!(failure.wait_spread(0, SECOND, 0.0), Duration::from_millis(900));
        assert_eq!(failure.wait_spread(0, SECOND, 1.0), Duration::from_millis(1_100));
        assert_eq!(failure.wait_spread(u32::MAX, SECOND, 0.5), Duration::from_secs(30));
    }

    #[test]
    fn an_overloaded_service_gets_ten_times_as_long_and_one_that_says_how_long_gets_that() {
        let overloaded =
            r#"API Error: 529 {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}"#;
        assert_eq!(failing(overloaded).wait_spread(1, SECOND, 0.5), Duration::from_secs(20));
        assert_eq!(classify("Claude", "Try later", Some(529)).wait_spread(0, SECOND, 0.5), Duration::from_secs(10));
        assert_eq!(failing("429 slow down, retry-after: 7").wait_spread(3, SECOND, 0.9), Duration::from_secs(7));
    }

    #[test]
    fn the_sentence_names_the_agent_and_neither_it_nor_the_raw_text_has_secrets() {
        let failure = classify("Claude Code", "401 invalid x-api-key sk-ant-0123456789abcdef\nmore", Some(401));
        assert_eq!(failure.class, ErrorClass::Auth);
        assert!(failure.message.starts_with("Claude Code "), "{}", failure.message);
        assert!(failure.message.contains("401 invalid x-api-key [redacted]"), "{}", failure.message);
        assert_eq!(failure.raw, "401 invalid x-api-key [redacted]\nmore");
        assert!(failing("").message.ends_with('.'));
    }

    #[test]
    fn long_words_are_cut_at_a_letter() {
        let failure = failing(&"ü".repeat(LONGEST_RAW));
        assert!(failure.raw.len() <= LONGEST_RAW + 8 && failure.message.len() < 2 * LONGEST_DETAIL);
    }

    #[test]
    fn what_follows_stands_in_the_table() {
        assert!(failing("fetch failed").retries() && !failing("401 Unauthorized").retries());
        assert!(failing("fetch failed").is_of_service() && !failing("thread panicked at").is_of_service());
        assert!(failing("prompt is too long").needs_fresh_session() && !failing("fetch failed").needs_fresh_session());
    }
}

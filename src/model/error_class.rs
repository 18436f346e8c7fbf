//! Why a turn failed, in the same words for all agents.

use super::words::words;

words! {
    /// The kinds of failure. `agent::failure` decides what follows from each.
    pub enum ErrorClass {
        /// Nobody is logged in, or a key was rejected.
        Auth = "auth",
        /// Too many requests for now, or the service is overloaded.
        RateLimit = "rate-limit",
        /// A quota is used up.
        Quota = "quota",
        /// A limit of `[budget]`, or of the session's own budget, is reached.
        Budget = "budget",
        /// The model does not exist, or this account may not use it.
        ModelUnavailable = "model-unavailable",
        /// The conversation is too long for the model.
        ContextTooLong = "context-too-long",
        /// A filter refused the prompt or the answer.
        ContentFilter = "content-filter",
        /// The service rejected the request as invalid.
        InvalidRequest = "invalid-request",
        /// Tools, or tool calls, conflict with each other.
        ToolConflict = "tool-conflict",
        /// The service cannot be reached, or failed itself.
        Network = "network",
        /// An answer ended in the middle.
        StreamBroken = "stream-broken",
        /// Something took too long.
        Timeout = "timeout",
        /// The agent's process ended before its turn did.
        ProcessGone = "process-gone",
        /// Somebody interrupted the turn.
        Aborted = "aborted",
        /// A setting, an option or the agent's program is wrong.
        Configuration = "configuration",
        /// The agent crashed.
        Crash = "crash",
        /// None of the above.
        Unknown = "unknown",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_word_is_the_same_in_the_log_and_for_people() {
        for class in ErrorClass::ALL {
            assert_eq!(serde_json::to_string(&class).expect("JSON"), format!("\"{class}\""));
            assert_eq!(class.as_str().parse(), Ok(class));
        }
        let error = "authh".parse::<ErrorClass>().expect_err("no such class");
        assert!(error.starts_with("unknown value \"authh\"; known values: auth, rate-limit, "), "{error}");
    }
}

//! The table of failure classes: the phrases that identify each class, and its consequences.

use crate::model::ErrorClass;

/// One row: phrases, in lower case, that identify a class. A `*` stands for one or two words.
struct Row {
    class: ErrorClass,
    signs: &'static [&'static str],
}

/// The consequences of a class for the session.
struct Consequence {
    retries: bool,
    needs_fresh_session: bool,
    sentence: &'static str,
}

/// Phrases that identify a class. The first matching row wins, so specific rows come first.
const ROWS: [Row; 11] = [
    Row {
        class: ErrorClass::Configuration,
        signs: &[
            "offline mode requires",
            "unknown option",
            "unrecognized option",
            "unknown argument",
            "unrecognized argument",
            "unexpected argument",
            "too many arguments",
            "no model is configured",
            "no model configured",
            "invalid mcp configuration",
            "cannot be used with root",
            "command not found",
            "no such file or directory",
            "setpriv: failed to execute",
            "exec format error",
            "cannot find module",
            "is not a valid session",
            "option requires",
            "argument missing",
            "allowed choices are",
        ],
    },
    Row {
        class: ErrorClass::Quota,
        signs: &[
            "insufficient_quota",
            "exceeded your current quota",
            "no quota",
            "quota exceeded",
            "quota_exceeded",
            "monthly quota",
            "premium request allowance",
            "credit balance is too low",
            "usage limit reached",
            "reached your usage limit",
            "billing_hard_limit",
            "billing hard limit",
            "spending limit",
            "maximum budget",
            "error_max_budget_usd",
            "payment required",
        ],
    },
    Row {
        class: ErrorClass::ContextTooLong,
        signs: &[
            "context_length_exceeded",
            "context length",
            "context window",
            "maximum context",
            "model_max_prompt_tokens_exceeded",
            "prompt token count",
            "prompt is too long",
            "input is too long",
            "exceeds the token limit",
            "token budget",
            "exceeds the limit of",
            "request_too_large",
            "too many tokens",
        ],
    },
    Row {
        class: ErrorClass::ContentFilter,
        signs: &[
            "content_filter",
            "content filter",
            "content management policy",
            "responsibleaipolicyviolation",
            "responsible ai",
            "content_policy",
            "content policy",
            "usage policy",
            "violates our",
            "output blocked",
        ],
    },
    Row {
        class: ErrorClass::ToolConflict,
        signs: &[
            "conflicts with a built-in tool",
            "tool names must be unique",
            "without `tool_result`",
            "without tool_result",
            "unexpected `tool_use_id`",
            "tool_call_id",
            "tool_calls' must be followed",
            "tool use concurrency",
            "duplicate tool",
        ],
    },
    Row {
        class: ErrorClass::ModelUnavailable,
        signs: &[
            "model_not_supported",
            "model_not_found",
            "model is not supported",
            "model not found",
            "model is not available",
            "from --model flag is not available",
            "unknown model",
            "invalid model",
            "model is invalid",
            "model * is invalid",
            "issue with the selected model",
            "no access to the model",
            "does not have access to model",
            "model_not_available",
            "not_found_error",
        ],
    },
    Row {
        class: ErrorClass::Auth,
        signs: &[
            "not authenticated",
            "authentication failed",
            "authentication required",
            "authentication_error",
            "no authentication information",
            "not logged in",
            "please run /login",
            "copilot login",
            "invalid_api_key",
            "invalid api key",
            "invalid x-api-key",
            "incorrect api key",
            "bad credentials",
            "unauthorized",
            "oauth token",
            "token has expired",
            "token expired",
            "permission_error",
            "access denied by policy",
        ],
    },
    Row {
        class: ErrorClass::RateLimit,
        signs: &[
            "rate limit",
            "rate_limit",
            "rate-limit",
            "ratelimit",
            "too many requests",
            "overloaded",
            "server is busy",
            "slow down",
        ],
    },
    Row {
        class: ErrorClass::StreamBroken,
        signs: &[
            "unexpected eof",
            "error decoding response body",
            "error reading a body",
            "premature close",
            "stream closed",
            "stream ended",
            "stream was interrupted",
            "stream disconnected",
            "response was interrupted",
            "missing finish_reason",
            "incomplete chunked read",
            "socket hang up",
            "econnreset",
            "connection reset",
        ],
    },
    Row {
        class: ErrorClass::Timeout,
        signs: &["timed out", "timeout", "etimedout", "deadline exceeded", "took too long"],
    },
    Row {
        class: ErrorClass::Network,
        signs: &[
            "econnrefused",
            "enotfound",
            "eai_again",
            "ehostunreach",
            "enetunreach",
            "epipe",
            "connection refused",
            "connection error",
            "could not connect",
            "error sending request",
            "error trying to connect",
            "failed to lookup address",
            "fetch failed",
            "network error",
            "dns error",
            "certificate",
            "tls handshake",
            "bad gateway",
            "service unavailable",
            "internal server error",
            "server_error",
            "api_error",
        ],
    },
];

/// Phrases that count only if no status is known.
const VAGUE_ROWS: [Row; 3] = [
    Row {
        class: ErrorClass::Crash,
        signs: &[
            "panic",
            "uncaught",
            "unhandled",
            "segmentation fault",
            "heap out of memory",
            "typeerror:",
            "referenceerror:",
            "syntaxerror:",
            "internal error",
            "fatal error",
        ],
    },
    Row {
        class: ErrorClass::InvalidRequest,
        signs: &["invalid_request_error", "invalid request", "bad request", "unprocessable", "unsupported parameter"],
    },
    Row {
        class: ErrorClass::Aborted,
        signs: &["aborted", "user_initiated", "cancelled by", "canceled by", "was interrupted", "interrupted by"],
    },
];

/// Statuses that decide if no phrase matches.
fn of_status(status: u16) -> Option<ErrorClass> {
    Some(match status {
        401 | 403 | 407 => ErrorClass::Auth,
        402 => ErrorClass::Quota,
        404 => ErrorClass::ModelUnavailable,
        408 | 504 | 524 => ErrorClass::Timeout,
        413 => ErrorClass::ContextTooLong,
        429 | 529 => ErrorClass::RateLimit,
        400 | 405..=428 => ErrorClass::InvalidRequest,
        500..=599 => ErrorClass::Network,
        _ => return None,
    })
}

/// Whether a status means that the service is overloaded.
pub(super) fn is_overload(status: u16) -> bool {
    matches!(status, 503 | 529)
}

/// Whether a text means that the service is overloaded.
pub(super) fn is_overloaded(text: &str) -> bool {
    text.to_ascii_lowercase().contains("overloaded") || status_in(text).is_some_and(is_overload)
}

/// The class of a program's output. Phrases take precedence over the status, which covers many causes. A status in the
/// text counts if none was given.
pub(super) fn class(text: &str, status: Option<u16>) -> ErrorClass {
    let words = text.to_lowercase();
    let find =
        |rows: &[Row]| rows.iter().find(|row| row.signs.iter().any(|sign| says(&words, sign))).map(|row| row.class);
    let by_status = || status.or_else(|| status_in(&words)).and_then(of_status);
    find(&ROWS).or_else(by_status).or_else(|| find(&VAGUE_ROWS)).unwrap_or(ErrorClass::Unknown)
}

/// Whether a text contains a phrase of the table.
fn says(words: &str, sign: &str) -> bool {
    let Some((start, end)) = sign.split_once('*') else { return words.contains(sign) };
    let mut rests = words.match_indices(start).map(|(at, _)| &words[at + start.len()..]);
    rests.any(|rest| {
        let between = rest.find(end).map(|at| rest[..at].split_whitespace().count());
        matches!(between, Some(1 | 2))
    })
}

/// A status at the start of a text or after a phrase that introduces one: `400 Bad request`, `Last error: 500 …`.
fn status_in(text: &str) -> Option<u16> {
    let words = text.to_ascii_lowercase();
    let begins = std::iter::once(words.as_str());
    let announced = ["error: ", "error ", "status ", "status: ", "status code ", "http ", "statuscode\":"]
        .iter()
        .flat_map(|introduction| words.split(introduction).skip(1).collect::<Vec<_>>());
    begins.chain(announced).find_map(|rest| {
        let rest = rest.trim_start();
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        let status = (digits == 3).then(|| rest[..3].parse().ok()).flatten()?;
        (400..600).contains(&status).then_some(status)
    })
}

pub(super) fn retries(class: ErrorClass) -> bool {
    consequence(class).retries
}

pub(super) fn needs_fresh_session(class: ErrorClass) -> bool {
    consequence(class).needs_fresh_session
}

/// The message for display; `{agent}` is replaced by the agent's name.
pub(super) fn sentence(class: ErrorClass) -> &'static str {
    consequence(class).sentence
}

fn consequence(class: ErrorClass) -> Consequence {
    let ends = |sentence| Consequence { retries: false, needs_fresh_session: false, sentence };
    let again = |sentence| Consequence { retries: true, needs_fresh_session: false, sentence };
    let fresh = |sentence| Consequence { retries: false, needs_fresh_session: true, sentence };
    match class {
        ErrorClass::Auth => {
            ends("{agent} is not logged in, or its API key was rejected: log in again or check the key")
        }
        ErrorClass::RateLimit => again("{agent} hit a rate limit: wait before you retry"),
        ErrorClass::Quota => {
            ends("{agent} has used up its quota: wait for the next period, raise the limit or choose another model")
        }
        ErrorClass::Budget => ends("{agent} was stopped because a budget is spent: raise the limit or wait"),
        ErrorClass::ModelUnavailable => ends("{agent} cannot use this model: choose another model"),
        ErrorClass::ContextTooLong => {
            fresh("{agent} exceeded its model's context window: start a new session or send less")
        }
        ErrorClass::ContentFilter => ends("{agent} was blocked by a content filter: rephrase the request"),
        ErrorClass::InvalidRequest => {
            ends("{agent} sent a request that its model rejected: change the model or the session's options")
        }
        ErrorClass::ToolConflict => fresh("{agent} has conflicting tools or tool calls: start a new session"),
        ErrorClass::Network => {
            again("{agent} cannot reach its model, or the model's service is failing: check the connection and retry")
        }
        ErrorClass::StreamBroken => again("{agent} lost the connection in the middle of its model's answer: retry"),
        ErrorClass::Timeout => again("{agent} timed out waiting for an answer: retry"),
        ErrorClass::ProcessGone => again("{agent} exited in the middle of its turn: retry"),
        ErrorClass::Aborted => ends("{agent} was interrupted before its turn finished"),
        ErrorClass::Configuration => {
            ends("{agent} cannot run with its current configuration: fix the setting that it names")
        }
        ErrorClass::Crash => again("{agent} crashed: retry, and update it if it keeps crashing"),
        ErrorClass::Unknown => ends("{agent} reported an error"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(class_expected: ErrorClass, texts: &[(&str, Option<u16>)]) {
        for (text, status) in texts {
            assert_eq!(class(text, *status), class_expected, "{text}");
        }
    }

    #[test]
    fn what_copilot_says_has_a_class() {
        check(
            ErrorClass::Auth,
            &[
                ("Authentication failed with provider at http://127.0.0.1:1/v1: 401 Bad key (scripted)", Some(401)),
                ("Error: No authentication information found.\n\nCopilot can be authenticated with GitHub using", None),
                ("403 unauthorized: not authorized to use this Copilot feature", Some(403)),
                ("Not authenticated", None),
            ],
        );
        check(
            ErrorClass::RateLimit,
            &[
                (
                    "Failed to get response from the AI model; retried 5 times (total retry wait time: 5.93 seconds) \
                     Last error: 429 Rate limit reached",
                    Some(429),
                ),
                ("Sorry, you've hit a rate limit that restricts the number of Copilot model requests", None),
            ],
        );
        check(
            ErrorClass::Quota,
            &[
                ("402 You have no quota (Request ID: AAAA)", Some(402)),
                ("429 You exceeded your current quota, please check your plan", Some(429)),
                ("quota_exceeded", Some(429)),
            ],
        );
        check(
            ErrorClass::ModelUnavailable,
            &[
                ("400 The requested model is not supported.", Some(400)),
                ("Error: Model \"gpt-9\" from --model flag is not available.", None),
                ("404 page not found", Some(404)),
                ("Error: model foo is invalid", None),
                ("The model 'gpt-9' is invalid.", None),
                ("Configured model is invalid", None),
            ],
        );
        check(
            ErrorClass::ContextTooLong,
            &[
                ("400 prompt token count of 130000 exceeds the limit of 128000", Some(400)),
                ("413 Request Entity Too Large", Some(413)),
                ("This model's maximum context length is 128000 tokens", Some(400)),
            ],
        );
        check(
            ErrorClass::ContentFilter,
            &[("400 The response was filtered due to the prompt triggering content management policy", Some(400))],
        );
        check(ErrorClass::InvalidRequest, &[("400 Bad request (scripted)", Some(400)), ("422 no", None)]);
        check(
            ErrorClass::ToolConflict,
            &[("External tool \"bash\" conflicts with a built-in tool of the same name", None)],
        );
        check(
            ErrorClass::Network,
            &[
                (
                    "Failed to get response from the AI model; retried 5 times (total retry wait time: 14.84 seconds) \
                     Last error: 500 Internal fake error",
                    Some(500),
                ),
                ("Last error: 502 nothing", None),
                ("connect ECONNREFUSED 127.0.0.1:9", None),
                ("Failed native model HTTP request: error sending request: client error (Connect)", None),
            ],
        );
        check(
            ErrorClass::StreamBroken,
            &[(
                "Last error: Failed native model HTTP request: error decoding response body: error reading a body from \
                 connection: unexpected EOF during chunk size line",
                None,
            )],
        );
        check(ErrorClass::Timeout, &[("Request timed out.", None), ("504 Gateway", Some(504))]);
        check(
            ErrorClass::Configuration,
            &[("error: unknown option '--nope'", None), ("Offline mode requires a local model provider. Set X", None)],
        );
        check(
            ErrorClass::Crash,
            &[("thread 'main' panicked at src/main.rs:1", None), ("panic: runtime error: index out of range", None)],
        );
        check(
            ErrorClass::Unknown,
            &[("something odd about 500 apples", None), ("", None), ("the model that we use here is invalid", None)],
        );
    }

    #[test]
    fn what_claude_says_has_a_class() {
        check(
            ErrorClass::Auth,
            &[
                ("Invalid API key · Please run /login", None),
                (
                    r#"API Error: 401 {"type":"error","error":{"type":"authentication_error","message":"invalid x-api-key"}}"#,
                    Some(401),
                ),
                ("Not logged in · Please run /login", None),
            ],
        );
        check(
            ErrorClass::RateLimit,
            &[(r#"API Error: 529 {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}"#, None)],
        );
        check(
            ErrorClass::Quota,
            &[
                ("Credit balance is too low", None),
                ("Claude AI usage limit reached|1767225600", None),
                ("error_max_budget_usd", None),
            ],
        );
        check(
            ErrorClass::ModelUnavailable,
            &[
                ("There's an issue with the selected model (nope). It may not exist or you may not have access", None),
                (
                    r#"API Error: 404 {"type":"error","error":{"type":"not_found_error","message":"model: nope"}}"#,
                    Some(404),
                ),
            ],
        );
        check(ErrorClass::ContextTooLong, &[("Prompt is too long", None)]);
        check(
            ErrorClass::ToolConflict,
            &[("API Error: 400 messages.1: `tool_use` ids were found without `tool_result` blocks", Some(400))],
        );
        check(
            ErrorClass::Network,
            &[("API Error: Connection error.", None), ("API Error: 500 Internal error (scripted)", None)],
        );
        check(ErrorClass::InvalidRequest, &[("API Error: 400 due to something", None)]);
    }

    #[test]
    fn statuses_are_found_where_they_are_announced_and_nowhere_else() {
        assert_eq!(status_in("Last error: 500 Internal"), Some(500));
        assert_eq!(status_in("429 slow"), Some(429));
        assert_eq!(status_in("Error: 4000 files"), None);
        assert_eq!(status_in("I counted 404 files"), None);
        assert_eq!(status_in("error 200 ok"), None);
    }

    #[test]
    fn every_class_has_a_sentence_that_names_the_agent() {
        for class in ErrorClass::ALL {
            assert!(sentence(class).starts_with("{agent} "), "{class}");
        }
    }
}

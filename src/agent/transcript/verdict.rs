//! Decides whether a turn succeeded: it needs a successful terminal event and no evidence of a failure.

use super::stream::{StreamEnd, Terminal};
use crate::agent::failure::{Failure, classify};
use crate::model::ErrorClass;
use crate::process::Exit;

/// What is known about the process that wrote a stream.
#[derive(Clone, Debug, Default)]
pub struct ProcessEnd {
    /// Its exit status; `None` if it is unknown or we killed the process.
    pub exit: Option<Exit>,
    /// Its output outside the stream, such as standard error.
    pub words: String,
    /// We interrupted it.
    pub interrupted: bool,
}

/// Why a turn failed; `None` when it succeeded.
pub fn judge(agent_title: &str, end: &StreamEnd, process: &ProcessEnd) -> Option<Failure> {
    let exit = process.exit.unwrap_or_default();
    let exit_speaks_against = exit.signal.is_some() || exit.code.is_some_and(|code| code != 0);
    let is_good = end.terminal == Terminal::Good && end.failure.is_none() && !end.aborted;
    if is_good && end.open_tools.is_empty() && !exit_speaks_against {
        return None;
    }
    if end.terminal == Terminal::Missing && (process.interrupted || end.aborted || was_asked_to_end(exit)) {
        return Some(Failure::of_class(ErrorClass::Aborted, agent_title, ""));
    }
    if let Some(failure) = &end.failure {
        return Some(failure.clone());
    }
    if end.aborted {
        return Some(Failure::of_class(ErrorClass::Aborted, agent_title, ""));
    }
    if !process.words.is_empty() && end.terminal != Terminal::Good {
        let failure = classify(agent_title, &process.words, None);
        let class = if exit.signal.is_some() { ErrorClass::ProcessGone } else { failure.class };
        return Some(match class {
            ErrorClass::Unknown => Failure::of_class(ErrorClass::ProcessGone, agent_title, &process.words),
            class if class == failure.class => failure,
            class => Failure::of_class(class, agent_title, &process.words),
        });
    }
    let (class, words) = match (exit.signal, exit.code, &end.open_tools[..]) {
        (Some(signal), _, _) => (ErrorClass::ProcessGone, format!("killed by signal {signal}")),
        (None, _, [name, ..]) => (ErrorClass::StreamBroken, format!("its call to {name} never finished")),
        (None, Some(code), []) if code != 0 => (ErrorClass::ProcessGone, format!("exit code {code}")),
        (None, _, []) if end.terminal == Terminal::Bad => {
            (ErrorClass::Unknown, "it reported a failure without a reason".to_owned())
        }
        (None, _, []) => (ErrorClass::StreamBroken, "it exited without reporting a result".to_owned()),
    };
    Some(Failure::of_class(class, agent_title, &words))
}

/// Whether it was stopped from outside, by SIGINT or SIGTERM (or an exit code that stands for one of them).
fn was_asked_to_end(exit: Exit) -> bool {
    matches!(exit.signal, Some(2 | 15)) || matches!(exit.code, Some(130 | 143))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn class(end: &StreamEnd, process: &ProcessEnd) -> Option<&'static str> {
        judge("Copilot", end, process).map(|failure| failure.class.as_str())
    }

    fn good() -> StreamEnd {
        StreamEnd { terminal: Terminal::Good, ..StreamEnd::default() }
    }

    fn exited(code: i32) -> ProcessEnd {
        ProcessEnd { exit: Some(Exit { code: Some(code), signal: None }), ..ProcessEnd::default() }
    }

    fn signalled(signal: i32) -> ProcessEnd {
        ProcessEnd { exit: Some(Exit { code: None, signal: Some(signal) }), ..ProcessEnd::default() }
    }

    #[test]
    fn only_a_good_terminal_event_with_nothing_against_it_is_success() {
        assert_eq!(class(&good(), &ProcessEnd::default()), None);
        assert_eq!(class(&good(), &exited(0)), None);
        assert_eq!(class(&good(), &ProcessEnd { interrupted: true, ..exited(0) }), None, "it was done already");
        assert_eq!(class(&StreamEnd::default(), &exited(0)), Some("stream-broken"));
        assert_eq!(class(&good(), &exited(3)), Some("process-gone"));
        assert_eq!(class(&good(), &signalled(9)), Some("process-gone"));
        let open = StreamEnd { open_tools: vec!["bash".to_owned()], ..good() };
        assert_eq!(class(&open, &exited(0)), Some("stream-broken"));
        let failure = Some(Failure::with_message(ErrorClass::Quota, "no more"));
        assert_eq!(class(&StreamEnd { failure, ..good() }, &exited(0)), Some("quota"));
        let bad = StreamEnd { terminal: Terminal::Bad, ..StreamEnd::default() };
        assert_eq!(class(&bad, &ProcessEnd::default()), Some("unknown"));
    }

    #[test]
    fn a_turn_that_somebody_ended_is_aborted() {
        let nothing = StreamEnd::default();
        for process in [
            ProcessEnd { interrupted: true, ..exited(0) },
            ProcessEnd { interrupted: true, ..signalled(9) },
            exited(143),
            exited(130),
            signalled(15),
        ] {
            assert_eq!(class(&nothing, &process), Some("aborted"), "{process:?}");
        }
        assert_eq!(class(&StreamEnd { aborted: true, ..nothing }, &exited(0)), Some("aborted"));
    }

    #[test]
    fn what_a_program_says_beside_its_stream_has_a_class() {
        let said = |words: &str, process: ProcessEnd| ProcessEnd { words: words.to_owned(), ..process };
        let nothing = StreamEnd::default();
        assert_eq!(class(&nothing, &said("Error: No authentication information found.", exited(1))), Some("auth"));
        assert_eq!(class(&nothing, &said("error: unknown option '--x'", exited(1))), Some("configuration"));
        assert_eq!(class(&nothing, &said("something odd", exited(1))), Some("process-gone"));
        assert_eq!(class(&nothing, &said("rate limit", signalled(11))), Some("process-gone"), "that was not why");
        assert_eq!(class(&good(), &said("rate limit, tried again", exited(0))), None, "a warning is no failure");
    }
}

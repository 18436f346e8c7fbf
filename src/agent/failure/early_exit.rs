//! A program that exited before it was ready: whether starting it again may succeed.

use super::{Failure, classify};
use crate::agent::StartError;
use crate::model::ErrorClass;

/// The exit of a program that was not ready for work yet.
#[derive(Clone, Debug)]
pub(in crate::agent) struct EarlyExit {
    /// What happened, for display, with the program's own words.
    pub message: String,
    /// What the program wrote, and how it exited.
    pub words: String,
}

impl EarlyExit {
    /// What it means if nothing else is known: the program's own words decide.
    pub fn start_error(&self) -> StartError {
        match self.class() {
            _ if is_killed(&self.words) => StartError::Temporary(self.message.clone()),
            ErrorClass::Auth => StartError::NeedsLogin(self.message.clone()),
            ErrorClass::Configuration | ErrorClass::ModelUnavailable => StartError::Permanent(self.message.clone()),
            _ => StartError::Temporary(self.message.clone()),
        }
    }

    /// What it means if the program had just exited like `first`: the third start would end the same way.
    pub fn start_error_after(&self, first: &Self) -> StartError {
        match self.start_error() {
            StartError::Temporary(message) if self.repeats(first) => {
                StartError::Permanent(format!("{message} (twice in a row)"))
            }
            error => error,
        }
    }

    /// Whether two exits have the same cause, and one that does not pass by itself.
    pub fn repeats(&self, first: &Self) -> bool {
        let is_passing = Failure::of_class(self.class(), "", "").is_of_service();
        !is_passing && !is_killed(&self.words) && says_the_same(&self.words, &first.words)
    }

    fn class(&self) -> ErrorClass {
        classify("", &self.words, None).class
    }
}

/// Whether two outputs of a program differ only in numbers, such as times and process ids.
pub(in crate::agent) fn says_the_same(one: &str, other: &str) -> bool {
    let letters = |text: &'_ str| text.chars().filter(|letter| !letter.is_ascii_digit()).collect::<String>();
    letters(one) == letters(other)
}

/// Whether the program was killed, which says nothing about the next start.
fn is_killed(words: &str) -> bool {
    words.contains("signal: ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn exit(words: &str) -> EarlyExit {
        EarlyExit { message: format!("X exited at startup: {words}"), words: words.to_owned() }
    }

    #[test]
    fn a_program_that_says_what_is_missing_is_not_started_again() {
        for words in [
            "exit status: 1; stderr: Offline mode requires a local model provider. Set COPILOT_PROVIDER_BASE_URL",
            "exit status: 1; stderr: error: unexpected argument '--nope' found",
            "exit status: 126; stderr: setpriv: failed to execute /x: Permission denied",
        ] {
            let StartError::Permanent(message) = exit(words).start_error() else { panic!("{words}") };
            assert!(message.ends_with(words), "{message}");
        }
        assert!(matches!(exit("No authentication information found").start_error(), StartError::NeedsLogin(_)));
        for words in ["exit status: 1", "signal: 9 (SIGKILL); stderr: a.txt: no such file or directory"] {
            assert!(matches!(exit(words).start_error(), StartError::Temporary(_)), "{words}");
        }
    }

    #[test]
    fn the_same_exit_twice_is_permanent_unless_it_may_pass() {
        let after = |first: &str, second: &str| exit(second).start_error_after(&exit(first));
        let is_permanent = |first: &str, second: &str| matches!(after(first, second), StartError::Permanent(_));
        assert!(is_permanent("exit status: 1; stderr: 10:01 no database", "exit status: 1; stderr: 10:02 no database"));
        assert!(!is_permanent("exit status: 1; stderr: one", "exit status: 1; stderr: other"));
        assert!(!is_permanent("signal: 9 (SIGKILL)", "signal: 9 (SIGKILL)"));
        assert!(!is_permanent("connect ECONNREFUSED 127.0.0.1:9", "connect ECONNREFUSED 127.0.0.1:9"));
        let StartError::Permanent(message) = after("no database", "no database") else { panic!("not permanent") };
        assert_eq!(message, "X exited at startup: no database (twice in a row)");
    }
}

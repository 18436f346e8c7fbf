//! How a turn ended, for people and for scripts.

use super::super::exit;
use crate::model::{ErrorClass, PromptOutcome, PromptVerdict};

/// The last line on standard error.
pub(super) fn end_line(outcome: &PromptOutcome, denied: bool, number: u32) -> String {
    let verdict = match outcome.verdict {
        PromptVerdict::Succeeded if denied => "Succeeded, but something was denied",
        PromptVerdict::Succeeded => "Succeeded",
        PromptVerdict::Failed => "Failed",
        PromptVerdict::Interrupted => "Interrupted",
        PromptVerdict::Dropped => "The prompt was not sent",
    };
    format!("{verdict} · session {number} · continue with `flightdeck run -s {number} PROMPT`")
}

/// The exit code of `run`.
pub(super) fn exit_code(outcome: &PromptOutcome, denied: bool) -> u8 {
    match (outcome.verdict, outcome.error_class) {
        (PromptVerdict::Succeeded, _) if denied => exit::DENIED,
        (PromptVerdict::Succeeded, _) => 0,
        (PromptVerdict::Interrupted, _) => exit::INTERRUPTED,
        (_, Some(ErrorClass::Budget)) => exit::BUDGET,
        (PromptVerdict::Failed | PromptVerdict::Dropped, _) => 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::PromptId;

    #[test]
    fn every_end_has_its_code() {
        let outcome = |verdict, error_class| PromptOutcome {
            verdict,
            error_class,
            ..PromptOutcome::dropped(PromptId::from_number(1))
        };
        for (verdict, class, denied, code) in [
            (PromptVerdict::Succeeded, None, false, 0),
            (PromptVerdict::Succeeded, None, true, 3),
            (PromptVerdict::Failed, Some(ErrorClass::Network), true, 1),
            (PromptVerdict::Failed, Some(ErrorClass::Budget), false, 4),
            (PromptVerdict::Interrupted, Some(ErrorClass::Aborted), false, 130),
            (PromptVerdict::Interrupted, Some(ErrorClass::Budget), false, 130),
            (PromptVerdict::Dropped, None, false, 1),
        ] {
            assert_eq!(exit_code(&outcome(verdict, class), denied), code, "{verdict:?} {class:?} {denied}");
        }
    }
}

//! What a person may want to be notified of. Each happening is committed with what it reports.

use std::time::Duration;

use super::{Entries as _, Machine};
use crate::model::{
    AnsweredBy, ErrorClass, Happening, HappeningKind, OpenRequest, PromptId, PromptVerdict, RequestBody,
};

/// The key of a needed login.
const LOGIN: &str = "login";

/// How a turn ended.
pub(super) struct TurnEnd<'a> {
    pub prompt: PromptId,
    pub verdict: PromptVerdict,
    pub error_class: Option<ErrorClass>,
    /// What ended it.
    pub by: AnsweredBy,
    /// What the agent said at its end.
    pub text: &'a str,
    pub duration: Option<Duration>,
}

impl Machine {
    /// A turn is over.
    pub(super) fn report_turn_end(&mut self, end: &TurnEnd<'_>) {
        let news = self.news_of(end);
        self.note_turn_end(news.is_some_and(|(kind, _)| kind == HappeningKind::Failed));
        let Some((kind, reason)) = news else { return };
        self.draft.happened(Happening {
            key: end.prompt.to_string(),
            kind,
            reason: reason.to_owned(),
            text: Happening::shortened(end.text),
            duration_ms: end.duration.and_then(|duration| u64::try_from(duration.as_millis()).ok()),
        });
    }

    /// What to report of the end of a turn. One that a person ended is no news, and neither is one that the next prompt
    /// follows.
    fn news_of(&self, end: &TurnEnd<'_>) -> Option<(HappeningKind, &'static str)> {
        match (end.verdict, end.error_class) {
            (PromptVerdict::Succeeded, _) if self.prompts.is_empty() => Some((HappeningKind::Finished, "")),
            (PromptVerdict::Failed, class) => {
                Some((HappeningKind::Failed, class.unwrap_or(ErrorClass::Unknown).as_str()))
            }
            (PromptVerdict::Interrupted, Some(ErrorClass::Budget)) => {
                Some((HappeningKind::Failed, ErrorClass::Budget.as_str()))
            }
            // A request that is still open has been reported, and its answer continues the work.
            (PromptVerdict::Interrupted, _) if end.by == AnsweredBy::Restart && !self.requests.are_kept() => {
                Some((HappeningKind::Failed, "interrupted"))
            }
            _ => None,
        }
    }

    /// A request waits for a person.
    pub(super) fn report_request(&mut self, request: &OpenRequest) {
        let reason = match request.body {
            RequestBody::Permission { .. } => "permission",
            RequestBody::Question { .. } => "question",
        };
        self.draft.happened(Happening {
            key: request.request_id.as_str().to_owned(),
            kind: HappeningKind::NeedsYou,
            reason: reason.to_owned(),
            text: Happening::shortened(request.headline()),
            duration_ms: None,
        });
    }

    /// The agent needs a login.
    pub(super) fn report_needed_login(&mut self, message: &str) {
        self.draft.happened(Happening {
            // A login may be needed again later.
            key: format!("{LOGIN}-{}", self.draft.next_seq()),
            kind: HappeningKind::NeedsYou,
            reason: LOGIN.to_owned(),
            text: Happening::shortened(message),
            duration_ms: None,
        });
    }

    /// The session cannot continue.
    pub(super) fn report_failure(&mut self, class: ErrorClass, reason: &str) {
        self.draft.happened(Happening {
            key: format!("failure-{}", self.draft.next_seq()),
            kind: HappeningKind::Failed,
            reason: class.as_str().to_owned(),
            text: Happening::shortened(reason),
            duration_ms: None,
        });
    }
}

//! The spans of prompts and turns, for the log of the server: who, which, how long, with what outcome; never what was said.

use std::collections::HashMap;
use std::time::Duration;

use tracing::{Span, field};

use super::super::statistics::{RuntimeLabels, SessionStatistics, TurnLabels, outcome_word};
use crate::model::{ErrorClass, PromptId, PromptVerdict, SessionId, SessionProfile};

/// Spans of what is under way.
#[derive(Debug, Default)]
pub(super) struct Spans {
    prompts: HashMap<PromptId, Span>,
    turn: Option<Span>,
}

/// How a turn ended.
pub(super) struct EndedTurn {
    pub prompt: PromptId,
    pub verdict: PromptVerdict,
    pub error_class: Option<ErrorClass>,
    pub duration: Option<Duration>,
}

impl Spans {
    /// A prompt was accepted.
    pub fn prompt_accepted(&mut self, session: SessionId, prompt: PromptId) {
        let span = tracing::info_span!("prompt", %session, %prompt);
        span.in_scope(|| tracing::debug!("prompt accepted"));
        self.prompts.insert(prompt, span);
    }

    /// A prompt has its outcome.
    pub fn prompt_ended(&mut self, prompt: PromptId) {
        self.prompts.remove(&prompt);
    }

    /// The agent gets a prompt.
    pub fn turn_started(&mut self, session: SessionId, prompt: PromptId, profile: &SessionProfile) {
        let span = turn_span(self.prompts.get(&prompt), session, prompt, profile);
        span.in_scope(|| tracing::debug!("turn started"));
        self.turn = Some(span);
    }

    /// A turn is over: counted, and logged with its figures. One that never reached an agent has a span too.
    pub fn turn_ended(
        &mut self,
        session: SessionId,
        profile: &SessionProfile,
        ended: &EndedTurn,
        statistics: &SessionStatistics,
    ) {
        let outcome = outcome_word(ended.verdict);
        statistics.turns.get_or_create(&TurnLabels { runtime: profile.runtime.clone(), outcome }).inc();
        let span = self
            .turn
            .take()
            .unwrap_or_else(|| turn_span(self.prompts.get(&ended.prompt), session, ended.prompt, profile));
        span.record("outcome", outcome);
        if let Some(class) = ended.error_class {
            span.record("error_class", class.as_str());
        }
        if let Some(duration) = ended.duration {
            let labels = RuntimeLabels { runtime: profile.runtime.clone() };
            statistics.turn_seconds.get_or_create(&labels).observe(duration.as_secs_f64());
            span.record("duration_ms", u64::try_from(duration.as_millis()).unwrap_or(u64::MAX));
        }
        // Entered, because the lines in JSON list only spans that are.
        span.in_scope(|| tracing::info!("turn ended"));
    }
}

/// After a restart the prompt has no span of its own.
fn turn_span(parent: Option<&Span>, session: SessionId, prompt: PromptId, profile: &SessionProfile) -> Span {
    tracing::info_span!(
        parent: parent.and_then(Span::id),
        "turn",
        %session,
        %prompt,
        runtime = profile.runtime,
        model = profile.model,
        outcome = field::Empty,
        error_class = field::Empty,
        duration_ms = field::Empty,
    )
}

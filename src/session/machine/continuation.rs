//! Work that was cut off while it waited for a person: the requests stay open, and their answers continue it.
//!
//! There are two ways. An agent that keeps its requests on disk gets the answers from a new connection, and the same
//! turn continues. For all others the turn ends, the requests stay open here, and the answers become a prompt that
//! begins a new turn.

use super::turn::{Ending, Phase};
use super::waiting::Waiting;
use super::{Context, Link, Machine};
use crate::agent::{AgentCommand, Pending, QuestionAnswer, RequestAnswer, SuspendedTurn};
use crate::model::{
    AnsweredBy, Callback, Continuation, Decided, Decision, NoticeKind, OpenRequest, PromptVerdict, RequestBody,
    RequestOutcome, SessionState,
};
use crate::store::{Change, QueuePlace, QueuedPrompt};

/// What becomes of open requests when the connection ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fate {
    /// Nothing waits for a person.
    NothingWaits,
    /// The agent keeps them, and the turn continues with their answers.
    TurnContinues,
    /// The agent forgets them: the turn ends, and they stay open here.
    Kept,
    /// They cannot be answered any more.
    Lost,
}

impl Machine {
    /// What becomes of open requests if the connection ends now.
    pub(super) fn fate_of_requests(&self, context: &Context) -> Fate {
        let decided = self.continuation.decided.iter().map(|decided| &decided.request);
        if self.requests.is_empty() && decided.len() == 0 {
            return Fate::NothingWaits;
        }
        let Some(turn) = &self.turn else {
            let is_kept = self.requests.is_empty() || self.requests.are_kept();
            return if is_kept { Fate::Kept } else { Fate::Lost };
        };
        if !matches!(turn.phase, Phase::Working(_) | Phase::Suspended) {
            return Fate::Lost;
        }
        let abilities = context.abilities;
        let is_durable = |request: &OpenRequest| match request.body {
            RequestBody::Permission { .. } => abilities.durable_requests,
            RequestBody::Question { .. } => abilities.durable_questions,
        };
        let mut waiting = self.requests.all().chain(decided);
        if waiting.all(is_durable) && !self.runs_tool() {
            Fate::TurnContinues
        } else if abilities.session_resume && !self.requests.is_empty() {
            Fate::Kept
        } else {
            Fate::Lost
        }
    }

    /// Whether a tool has started that does not wait for a person: an agent might run it a second time.
    pub(super) fn runs_tool(&self) -> bool {
        let decided = self.continuation.decided.iter().map(|decided| &decided.request);
        let waiting: Vec<&str> = self
            .requests
            .all()
            .chain(decided)
            .filter_map(|request| match &request.body {
                RequestBody::Permission { tool_call_id, .. } => tool_call_id.as_deref(),
                RequestBody::Question { .. } => None,
            })
            .collect();
        self.transcript.fold().open_tools().any(|call| !waiting.contains(&call))
    }

    /// Whether the turn waits for a person and has no connection that knows of it, or only a new one.
    pub(super) fn is_suspended(&self) -> bool {
        matches!(self.turn.as_ref().map(|turn| &turn.phase), Some(Phase::Suspended))
    }

    /// The turn stays open without a connection.
    pub(super) fn suspend_turn(&mut self) {
        if let Some(turn) = &mut self.turn {
            turn.phase = Phase::Suspended;
        }
        self.set_state(SessionState::Waiting, None);
    }

    /// Ends the turn, and keeps its requests open.
    pub(super) fn cut_waiting_turn(&mut self, context: &Context, message: String, by: AnsweredBy) {
        self.requests.keep();
        self.finish_turn(context, &Ending::cut(message, by, PromptVerdict::Interrupted));
        if self.requests.are_kept() {
            self.notify(
                NoticeKind::RequestKept,
                "The agent was interrupted while it waited for you. Answer the request to continue the work, or send \
                 another prompt to cancel it.",
            );
        }
    }

    /// The state of a session in which nothing is in progress.
    pub(super) fn resting_state(&self) -> SessionState {
        if self.requests.are_kept() { SessionState::Waiting } else { SessionState::Ready }
    }

    /// The turn that a new connection is to continue.
    pub(super) fn suspended_turn(&self) -> Option<SuspendedTurn> {
        let turn = self.turn.as_ref().filter(|_| self.is_suspended())?;
        let decided = self.continuation.decided.iter().map(|decided| &decided.request);
        Some(SuspendedTurn {
            turn_id: turn.id.clone(),
            requests: self.requests.all().chain(decided).cloned().collect(),
        })
    }

    /// Some answer has not reached the agent: it is brought back, or told in a new turn.
    pub(super) fn continue_work(&mut self, context: &Context) {
        if !self.is_suspended() {
            return self.advance(context);
        }
        match self.link {
            Link::Live { .. } => self.deliver_answers(),
            Link::None | Link::AwaitingLogin => self.open(context),
            Link::Opening { .. } | Link::BackingOff { .. } => {}
        }
    }

    /// A connection was opened for a turn that waits for a person. `pending` is what the agent still waits for.
    pub(super) fn on_suspended_opened(&mut self, context: &Context, pending: &Pending) {
        let waiting = self.suspended_turn().map(|turn| turn.requests).unwrap_or_default();
        let is_forgotten = |request: &OpenRequest| !pending.includes(&request.agent_request_id);
        if waiting.iter().all(is_forgotten) {
            let message = "The agent is no longer waiting for an answer to its request.".to_owned();
            self.cut_waiting_turn(context, message, AnsweredBy::Agent);
            return self.advance(context);
        }
        let forgotten: Vec<&OpenRequest> = waiting.iter().filter(|request| is_forgotten(request)).collect();
        for request in &forgotten {
            let message = format!(
                "The agent is no longer waiting for an answer, and asks again if needed: {}",
                request.headline()
            );
            self.notify(NoticeKind::Warning, message);
        }
        if !forgotten.is_empty() {
            self.continuation.decided.retain(|decided| !is_forgotten(&decided.request));
            self.draft.change(Change::Continuation(self.continuation.clone()));
            self.close_forgotten(&is_forgotten);
        }
        let waits = !self.requests.is_empty();
        self.set_state(if waits { SessionState::Waiting } else { SessionState::Working }, None);
        self.deliver_answers();
    }

    /// The agent gets the answers once it is recorded that it gets them: a restart in between may not repeat them.
    fn deliver_answers(&mut self) {
        if self.continuation.decided.is_empty() || self.waiting.is_some() {
            return;
        }
        let first = self.begin_commit();
        let rest = Continuation { decided: Vec::new(), grants: self.continuation.grants.clone() };
        self.draft.change(Change::Continuation(rest));
        self.commit(Waiting::Delivery { first });
    }

    pub(super) fn on_delivery_committed(&mut self, context: &Context) {
        for decided in std::mem::take(&mut self.continuation.decided) {
            let answer = answer(&decided);
            let agent_request_id = decided.request.agent_request_id;
            self.send(context, AgentCommand::Answer { agent_request_id, answer });
        }
        if self.requests.is_empty()
            && let Some(turn) = &mut self.turn
        {
            turn.phase = Phase::Working(super::retries::Attempt::default());
        }
    }

    /// Nothing was delivered: it is tried again when the store takes writes.
    pub(super) fn on_delivery_refused(&mut self) {
        self.disconnect(super::Disconnect::Politely);
        self.set_state(SessionState::Waiting, None);
    }

    /// Whether all requests of a turn that was cut off are answered, and no turn has begun with the answers.
    pub(super) fn has_answers(&self) -> bool {
        self.turn.is_none() && self.requests.is_empty() && !self.continuation.decided.is_empty()
    }

    /// Turns the answers into a prompt that comes before all others.
    pub(super) fn begin_continuation(&mut self) {
        if self.continuation.decided.iter().all(|decided| decided.by == AnsweredBy::Timeout) {
            // Nobody is there, so nothing is begun.
            return self.drop_continuation();
        }
        let id = self.prompts.next_id();
        let prompt = QueuedPrompt {
            id,
            idempotency_key: None,
            text: self.continuation.prompt(),
            attachments: Vec::new(),
            place: QueuePlace::of(id, true),
            is_continuation: true,
        };
        let continuation = Continuation { decided: Vec::new(), grants: self.continuation.permitted() };
        let first = self.begin_commit();
        self.write(Callback::generated_prompt(prompt.text.clone()));
        let last = self.prompts.take_id(prompt.id);
        self.draft.change(Change::PromptAccepted(prompt.prepare()));
        self.draft.change(Change::Continuation(continuation.clone()));
        self.commit(Waiting::Continuation {
            prompt: Box::new(prompt),
            continuation: Box::new(continuation),
            last,
            first,
        });
    }

    pub(super) fn on_continuation_committed(
        &mut self,
        context: &Context,
        prompt: QueuedPrompt,
        continuation: Continuation,
    ) {
        self.continuation = continuation;
        self.prompts.put_back(prompt);
        self.advance(context);
    }

    /// What was permitted for a turn ends with it, and answers that nobody waits for are dropped.
    pub(super) fn drop_continuation(&mut self) {
        if !self.continuation.is_empty() {
            self.continuation = Continuation::default();
            self.draft.change(Change::Continuation(Continuation::default()));
        }
    }

    /// The turn is over: what was permitted for it is not permitted any more.
    pub(super) fn drop_grants(&mut self) {
        if !self.continuation.grants.is_empty() {
            self.continuation.grants.clear();
            self.draft.change(Change::Continuation(self.continuation.clone()));
        }
    }

    /// Whether a person allowed exactly this before the agent was cut off. Counts once.
    pub(super) fn use_grant(&mut self, body: &RequestBody) -> bool {
        let Some(position) = self.continuation.grants.iter().position(|grant| grant.covers(body)) else { return false };
        self.continuation.grants.remove(position);
        self.draft.change(Change::Continuation(self.continuation.clone()));
        true
    }
}

/// The answer as the agent gets it.
fn answer(decided: &Decided) -> RequestAnswer {
    let text = decided.text.clone();
    match (&decided.request.body, decided.outcome) {
        (RequestBody::Permission { .. }, outcome) => RequestAnswer::Permission {
            decision: if outcome.allows() { Decision::AllowOnce } else { Decision::Deny },
            feedback: text,
        },
        (RequestBody::Question { .. }, RequestOutcome::Declined) => RequestAnswer::Question(QuestionAnswer::Declined),
        (RequestBody::Question { form, .. }, _) => {
            let values = text.as_deref().filter(|_| form.is_some()).and_then(|text| serde_json::from_str(text).ok());
            RequestAnswer::Question(match (values, text) {
                (Some(values), _) => QuestionAnswer::Form(values),
                (None, Some(text)) => QuestionAnswer::Text(text),
                (None, None) => QuestionAnswer::Nobody,
            })
        }
    }
}

//! Permissions and questions: asked, answered once, closed when they can no longer be answered.

use std::time::Duration;

use serde_json::{Map, Value};

use super::waiting::Waiting;
use super::{Context, Entries as _, Machine, Output, Reply};
use crate::agent::{AgentCommand, QuestionAnswer, RequestAnswer};
use crate::model::{
    AlwaysCovers, AnsweredBy, Callback, Continuation, Decided, Decision, NoticeKind, OpenRequest, PermissionPolicy,
    PolicyAnswer, RequestBody, RequestId, RequestOutcome, Seq, SessionOrigin, SessionState,
};
use crate::session::session_feed::PendingRequest;
use crate::session::{AnswerError, SessionSettings};
use crate::store::Change;

/// How long to wait before a request that could not be closed is closed again.
const RETRY_AFTER: Duration = Duration::from_secs(5);

/// Open requests.
#[derive(Debug, Default)]
pub(super) struct Requests {
    open: Vec<WaitingRequest>,
    /// They outlived their turn: no agent waits for their answers, which start a turn of their own.
    are_kept: bool,
    /// The store refused to close an unattended request; it is retried then.
    retry_after: Duration,
}

#[derive(Debug)]
struct WaitingRequest {
    request: OpenRequest,
    since: Duration,
}

/// An answer that counts as soon as it is committed.
pub(super) struct AnswerGiven {
    request: OpenRequest,
    answer: RequestAnswer,
    permissions: Option<PermissionPolicy>,
    by: AnsweredBy,
    /// All answers that the agent has not received, this one included; `None` if the agent gets it at once.
    continuation: Option<Continuation>,
}

impl AnswerGiven {
    /// Whether a caller waits for the result.
    pub fn is_asked(&self) -> bool {
        self.by != AnsweredBy::Timeout
    }
}

impl Requests {
    pub fn new(open: Vec<OpenRequest>) -> Self {
        let open = open.into_iter().map(|request| WaitingRequest { request, since: Duration::ZERO }).collect();
        Self { open, ..Self::default() }
    }

    pub fn is_empty(&self) -> bool {
        self.open.is_empty()
    }

    /// Whether the requests outlived their turn.
    pub fn are_kept(&self) -> bool {
        self.are_kept && !self.open.is_empty()
    }

    /// The turn is over, and the requests stay open.
    pub fn keep(&mut self) {
        self.are_kept = !self.open.is_empty();
    }

    /// Nobody could answer while the server was down, so the time starts over.
    pub fn restart(&mut self, context: &Context<'_>) {
        for waits in &mut self.open {
            waits.since = context.now;
        }
    }

    pub fn all(&self) -> impl Iterator<Item = &OpenRequest> {
        self.open.iter().map(|waits| &waits.request)
    }

    pub fn postpone(&mut self, context: &Context<'_>) {
        self.retry_after = context.now + RETRY_AFTER;
    }

    pub fn briefs(&self) -> Vec<PendingRequest> {
        self.all()
            .map(|request| PendingRequest {
                request_id: request.request_id.clone(),
                kind: match request.body {
                    RequestBody::Permission { .. } => "permission",
                    RequestBody::Question { .. } => "question",
                },
                headline: request.headline().to_owned(),
                asked_at: request.asked_at,
            })
            .collect()
    }

    /// When a request that nobody watches has waited long enough.
    pub fn deadline(&self, context: &Context<'_>, origin: SessionOrigin) -> Option<Duration> {
        let first = self.open.first()?;
        if origin == SessionOrigin::User {
            // Its person comes back.
            return None;
        }
        let timeout = context.settings.unattended_timeout;
        let due = match context.unattended_since {
            Some(since) => since.max(first.since) + timeout,
            // Somebody watches: the time starts when they leave.
            None => context.now + timeout,
        };
        Some(due.max(self.retry_after))
    }

    pub fn withdraw_all(&mut self) {
        (self.open, self.are_kept) = (Vec::new(), false);
    }

    fn find(&self, request_id: &RequestId) -> Option<&OpenRequest> {
        self.all().find(|request| request.request_id == *request_id)
    }

    fn remove(&mut self, request_id: &RequestId) {
        self.open.retain(|waits| waits.request.request_id != *request_id);
        self.are_kept &= !self.open.is_empty();
    }
}

impl Machine {
    /// Mode and rules: the session's own rules come before the configured ones.
    pub fn policy(&self, configured: &PermissionPolicy) -> PermissionPolicy {
        let mut policy = self.profile.permissions.clone();
        policy.rules.extend(configured.rules.iter().cloned());
        policy
    }

    pub(super) fn on_request(&mut self, context: &Context<'_>, agent_request_id: String, body: RequestBody) {
        let decided = self.continuation.decided.iter().map(|decided| &decided.request);
        if self.requests.all().chain(decided).any(|known| known.agent_request_id == agent_request_id) {
            // Repeated in a new connection.
            return;
        }
        let policy_answer = self.profile.permissions.answer_with(&context.settings.configured(), &body);
        let allowed_by = match policy_answer {
            PolicyAnswer::Allow(part) => Some(part.into()),
            PolicyAnswer::Ask => self.use_grant(&body).then_some(AnsweredBy::Grant),
            PolicyAnswer::Deny(_) => None,
        };
        if let Some(by) = allowed_by {
            return self.allow(agent_request_id, body, by);
        }
        let request_id = RequestId::of_event(self.draft.next_seq());
        let request = OpenRequest { request_id, agent_request_id, asked_at: Some(context.time), body };
        self.write(Callback::of_request(request.request_id.clone(), request.body.clone()));
        self.draft.change(Change::RequestOpened(request.clone()));
        if let PolicyAnswer::Deny(part) = policy_answer {
            self.write_answer(&request, RequestOutcome::Deny, None, part.into());
            return self.send_policy_answer(request.agent_request_id, Decision::Deny, Some(part.denial()));
        }
        if context.unattended_since.is_some() && self.origin != SessionOrigin::User {
            self.warn_of_absence(context, &request);
        }
        self.requests.open.push(WaitingRequest { request, since: context.now });
        self.set_state(SessionState::Waiting, None);
        self.status_changed = true;
    }

    fn warn_of_absence(&mut self, context: &Context<'_>, request: &OpenRequest) {
        let timeout = context.settings.unattended_timeout;
        let consequence = if timeout == SessionSettings::NEVER {
            "It waits".to_owned()
        } else {
            format!("Without an answer within {} it is denied", humantime::format_duration(timeout))
        };
        let headline = request.headline();
        let message = format!("Nobody who could answer a request is attached. {consequence}: {headline}");
        self.notify(NoticeKind::Unattended, message);
    }

    /// Nobody is asked.
    fn allow(&mut self, agent_request_id: String, body: RequestBody, by: AnsweredBy) {
        if let RequestBody::Permission { kind, title, detail, tool_call_id, .. } = body {
            self.write(Callback::PermissionAllowed { kind, title, detail, tool_call_id, by });
            self.send_policy_answer(agent_request_id, Decision::AllowOnce, None);
        }
    }

    /// The agent hears of the answer once its event is committed.
    fn send_policy_answer(&mut self, agent_request_id: String, decision: Decision, feedback: Option<String>) {
        let answer = RequestAnswer::Permission { decision, feedback };
        let command = AgentCommand::Answer { agent_request_id, answer };
        self.outputs.push(Output::SendCommitted(self.draft.last_seq(), command));
    }

    pub(super) fn on_request_withdrawn(&mut self, agent_request_id: &str) {
        let open = self.requests.all().find(|request| request.agent_request_id == agent_request_id);
        if let Some(request) = open.filter(|_| !self.requests.are_kept()).cloned() {
            self.requests.remove(&request.request_id);
            self.write_answer(&request, RequestOutcome::Cancelled, None, AnsweredBy::Agent);
            self.after_answer();
        }
    }

    /// An answer. It is committed before the agent gets it, so that no restart asks again.
    pub(super) fn on_answer(
        &mut self,
        request_id: &RequestId,
        answer: RequestAnswer,
        covers: &AlwaysCovers,
        by: AnsweredBy,
    ) {
        let Some(request) = self.requests.find(request_id).cloned() else {
            return self.reply(Reply::Answer(Err(AnswerError::NotFound)));
        };
        match self.checked(&request, &answer, covers) {
            Err(error) => self.reply(Reply::Answer(Err(error))),
            Ok((outcome, text, permissions)) => {
                let first = self.begin_commit();
                if let Some(policy) = &permissions {
                    self.draft.change(Change::Permissions(policy.clone()));
                }
                self.commit_answer(first, request, Given { answer, outcome, text, permissions, by });
            }
        }
    }

    /// Commits an answer; the agent gets it then, or once it is there again.
    fn commit_answer(&mut self, first: Seq, request: OpenRequest, given: Given) {
        let Given { answer, outcome, text, permissions, by } = given;
        self.write_answer(&request, outcome, text.clone(), by);
        let continuation = (!self.is_awaited()).then(|| {
            let feedback = match &answer {
                RequestAnswer::Permission { feedback, .. } => feedback.clone(),
                RequestAnswer::Question(_) => text,
            };
            let mut continuation = self.continuation.clone();
            continuation.decided.push(Decided { request: request.clone(), outcome, text: feedback, by });
            continuation
        });
        if let Some(continuation) = &continuation {
            self.draft.change(Change::Continuation(continuation.clone()));
        }
        let given = Box::new(AnswerGiven { request, answer, permissions, by, continuation });
        self.commit(Waiting::Answer { given, first });
    }

    /// The outcome for the log, and the permissions that follow from the answer.
    fn checked(
        &self,
        request: &OpenRequest,
        answer: &RequestAnswer,
        covers: &AlwaysCovers,
    ) -> Result<CheckedAnswer, AnswerError> {
        match (&request.body, answer) {
            (RequestBody::Permission { .. }, RequestAnswer::Permission { decision, .. }) => {
                let mut permissions = None;
                if *decision == Decision::AllowAlways {
                    let mut policy = self.profile.permissions.clone();
                    policy.always_allow(&request.body, covers).map_err(AnswerError::NotForGood)?;
                    permissions = Some(policy);
                }
                Ok(((*decision).into(), None, permissions))
            }
            (RequestBody::Question { form, .. }, RequestAnswer::Question(given)) => {
                if let (Some(form), QuestionAnswer::Form(values)) = (form, given) {
                    check_form(form, values)?;
                }
                let is_declined = *given == QuestionAnswer::Declined;
                let outcome = if is_declined { RequestOutcome::Declined } else { RequestOutcome::Answered };
                Ok((outcome, given.shown(), None))
            }
            (RequestBody::Permission { .. }, RequestAnswer::Question(_)) => Err(AnswerError::WrongKind(
                "the request asks for a permission; send the answer to …/permission/{requestId}",
            )),
            (RequestBody::Question { .. }, RequestAnswer::Permission { .. }) => {
                Err(AnswerError::WrongKind("the request is a question; send the answer to …/answer/{requestId}"))
            }
        }
    }

    pub(super) fn on_answer_committed(&mut self, context: &Context<'_>, given: AnswerGiven) {
        if given.is_asked() {
            self.reply(Reply::Answer(Ok(())));
        }
        let AnswerGiven { request, answer, permissions, continuation, .. } = given;
        self.requests.remove(&request.request_id);
        if let Some(policy) = permissions {
            self.profile.permissions = policy;
        }
        if let Some(continuation) = continuation {
            self.continuation = continuation;
            self.recheck_requests(context);
            self.continue_work(context);
        } else {
            self.send(context, AgentCommand::Answer { agent_request_id: request.agent_request_id, answer });
            self.recheck_requests(context);
        }
        self.after_answer();
    }

    /// The rules have changed: what they allow now is not asked any more.
    pub(super) fn recheck_requests(&mut self, context: &Context<'_>) {
        let configured = &context.settings.configured();
        let allowed = |request: &OpenRequest| {
            let answer = self.profile.permissions.answer_with(configured, &request.body);
            match answer {
                PolicyAnswer::Allow(part) => Some((request.clone(), AnsweredBy::from(part))),
                PolicyAnswer::Deny(_) | PolicyAnswer::Ask => None,
            }
        };
        let allowed: Vec<(OpenRequest, AnsweredBy)> = self.requests.all().filter_map(allowed).collect();
        let is_awaited = self.is_awaited();
        for (request, by) in allowed {
            self.requests.remove(&request.request_id);
            let outcome = RequestOutcome::AllowOnce;
            self.write_answer(&request, outcome, None, by);
            if is_awaited {
                self.send_policy_answer(request.agent_request_id, Decision::AllowOnce, None);
            } else {
                self.continuation.decided.push(Decided { request, outcome, text: None, by });
                self.draft.change(Change::Continuation(self.continuation.clone()));
            }
            self.status_changed = true;
        }
    }

    /// Work that only waited for what the rules allow now continues.
    pub(super) fn after_recheck(&mut self, context: &Context<'_>) {
        if !self.continuation.decided.is_empty() {
            self.continue_work(context);
        }
        self.after_answer();
    }

    /// Whether the agent waits for answers right now.
    fn is_awaited(&self) -> bool {
        self.is_live() && !self.requests.are_kept() && !self.is_suspended()
    }

    fn after_answer(&mut self) {
        if self.requests.is_empty() && self.state == SessionState::Waiting {
            let is_working = self.turn.is_some() || self.open_after.is_some();
            self.set_state(if is_working { SessionState::Working } else { SessionState::Ready }, None);
        }
        self.status_changed = true;
    }

    pub(super) fn write_answer(
        &mut self,
        request: &OpenRequest,
        outcome: RequestOutcome,
        text: Option<String>,
        by: AnsweredBy,
    ) {
        let request_id = request.request_id.clone();
        self.write(match request.body {
            RequestBody::Permission { .. } => {
                Callback::PermissionAnswered { request_id: request_id.clone(), decision: outcome, by }
            }
            RequestBody::Question { .. } => {
                Callback::QuestionAnswered { request_id: request_id.clone(), answer: text, by }
            }
        });
        self.draft.change(Change::RequestClosed { request_id, outcome, by });
    }

    /// Closes all open requests because no answer is needed any more.
    pub(super) fn close_requests(&mut self, outcome: RequestOutcome, by: AnsweredBy) {
        let open = std::mem::take(&mut self.requests.open);
        self.requests.are_kept = false;
        for WaitingRequest { request, .. } in &open {
            self.write_answer(request, outcome, None, by);
            self.status_changed = true;
        }
    }

    /// Writes that a prompt replaces the answers to the requests. They are removed when it is committed.
    pub(super) fn write_withdrawal(&mut self) {
        let open: Vec<OpenRequest> = self.requests.all().cloned().collect();
        for request in &open {
            self.write_answer(request, RequestOutcome::Cancelled, None, AnsweredBy::Prompt);
        }
        self.draft.change(Change::Continuation(Continuation::default()));
    }

    /// The agent no longer waits for some of the requests.
    pub(super) fn close_forgotten(&mut self, is_forgotten: &dyn Fn(&OpenRequest) -> bool) {
        let forgotten: Vec<OpenRequest> =
            self.requests.all().filter(|request| is_forgotten(request)).cloned().collect();
        for request in forgotten {
            self.requests.remove(&request.request_id);
            self.write_answer(&request, RequestOutcome::AgentGone, None, AnsweredBy::Agent);
            self.status_changed = true;
        }
    }

    /// Denies the first request that nobody has watched for long enough. Notice and answer are one commit.
    pub(super) fn close_unattended_request(&mut self, context: &Context<'_>) {
        let is_due = self.requests.deadline(context, self.origin).is_some_and(|deadline| deadline <= context.now);
        if !is_due || self.waiting.is_some() {
            return;
        }
        let Some(request) = self.requests.open.first().map(|waits| waits.request.clone()) else { return };
        let timeout = humantime::format_duration(context.settings.unattended_timeout);
        let (answer, outcome, done) = match request.body {
            RequestBody::Permission { .. } => {
                let feedback = Some("nobody was there to decide".to_owned());
                let answer = RequestAnswer::Permission { decision: Decision::Deny, feedback };
                (answer, RequestOutcome::Deny, "denied")
            }
            RequestBody::Question { .. } => {
                let answer = RequestAnswer::Question(QuestionAnswer::Nobody);
                (answer, RequestOutcome::Answered, "left unanswered")
            }
        };
        let first = self.begin_commit();
        let headline = request.headline();
        let message = format!("A request was {done} because nobody watched the session for {timeout}: {headline}");
        self.notify(NoticeKind::Unattended, message);
        let by = AnsweredBy::Timeout;
        self.commit_answer(first, request, Given { answer, outcome, text: None, permissions: None, by });
    }
}

/// An answer that was checked.
struct Given {
    answer: RequestAnswer,
    outcome: RequestOutcome,
    text: Option<String>,
    permissions: Option<PermissionPolicy>,
    by: AnsweredBy,
}

type CheckedAnswer = (RequestOutcome, Option<String>, Option<PermissionPolicy>);

/// A form's required values must be there; the agent checks the rest and asks again.
fn check_form(form: &Value, values: &Map<String, Value>) -> Result<(), AnswerError> {
    let required = form["required"].as_array().map(Vec::as_slice).unwrap_or_default();
    let missing: Vec<&str> =
        required.iter().filter_map(Value::as_str).filter(|name| !values.contains_key(*name)).collect();
    if missing.is_empty() { Ok(()) } else { Err(AnswerError::Incomplete(missing.join(", "))) }
}

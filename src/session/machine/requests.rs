//! Permissions and questions: asked, answered once, closed when they can no longer be answered.

use std::time::Duration;

use serde_json::{Map, Value};

use super::waiting::Waiting;
use super::{Context, Entries as _, Link, Machine, Output, Reply};
use crate::agent::{AgentCommand, QuestionAnswer, RequestAnswer};
use crate::model::{
    AnsweredBy, Callback, Decision, NoticeKind, OpenRequest, PermissionPolicy, PolicyAnswer, RequestBody, RequestId,
    RequestOutcome, SessionState,
};
use crate::session::AnswerError;
use crate::session::session_feed::PendingRequest;
use crate::store::Change;

/// How long to wait before a request that could not be closed is closed again.
const RETRY_AFTER: Duration = Duration::from_secs(5);

/// Open requests, and answers for an agent that is being started.
#[derive(Debug, Default)]
pub(super) struct Requests {
    open: Vec<WaitingRequest>,
    /// Requests of the turn before the restart, which the next connection must know of.
    suspended: Vec<OpenRequest>,
    undelivered: Vec<(String, RequestAnswer)>,
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
}

impl AnswerGiven {
    /// Whether a caller waits for the result.
    pub fn is_asked(&self) -> bool {
        self.by != AnsweredBy::Timeout
    }
}

impl Requests {
    pub fn new(open: Vec<OpenRequest>) -> Self {
        let suspended = open.clone();
        let open = open.into_iter().map(|request| WaitingRequest { request, since: Duration::ZERO }).collect();
        Self { open, suspended, ..Self::default() }
    }

    pub fn is_empty(&self) -> bool {
        self.open.is_empty()
    }

    /// Nobody could answer while the server was down, so the time starts over.
    pub fn restart(&mut self, context: &Context<'_>) {
        for waits in &mut self.open {
            waits.since = context.now;
        }
    }

    pub fn take_suspended(&mut self) -> Vec<OpenRequest> {
        std::mem::take(&mut self.suspended)
    }

    pub fn take_undelivered(&mut self) -> Vec<(String, RequestAnswer)> {
        std::mem::take(&mut self.undelivered)
    }

    pub fn drop_undelivered(&mut self) {
        self.undelivered.clear();
    }

    pub fn postpone(&mut self, context: &Context<'_>) {
        self.retry_after = context.now + RETRY_AFTER;
    }

    pub fn briefs(&self) -> Vec<PendingRequest> {
        self.open
            .iter()
            .map(|WaitingRequest { request, .. }| PendingRequest {
                request_id: request.request_id.clone(),
                kind: match request.body {
                    RequestBody::Permission { .. } => "permission",
                    RequestBody::Question { .. } => "question",
                },
                headline: request.headline().to_owned(),
            })
            .collect()
    }

    /// When a request that nobody watches has waited long enough.
    pub fn deadline(&self, context: &Context<'_>) -> Option<Duration> {
        let first = self.open.first()?;
        let timeout = context.settings.unattended_timeout;
        let due = match context.unattended_since {
            Some(since) => since.max(first.since) + timeout,
            // Somebody watches: the time starts when they leave.
            None => context.now + timeout,
        };
        Some(due.max(self.retry_after))
    }

    fn find(&self, request_id: &RequestId) -> Option<&OpenRequest> {
        self.open.iter().map(|waits| &waits.request).find(|request| request.request_id == *request_id)
    }

    fn remove(&mut self, request_id: &RequestId) {
        self.open.retain(|waits| waits.request.request_id != *request_id);
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
        let configured = &context.settings.permissions.rules;
        let policy_answer = self.profile.permissions.answer_with(configured, &body);
        if policy_answer == PolicyAnswer::Allow {
            // Leaves no event, so there is nothing that would have to be committed first.
            let answer = RequestAnswer::Permission { decision: Decision::AllowOnce, feedback: None };
            return self.send(context, AgentCommand::Answer { agent_request_id, answer });
        }
        let request_id = RequestId::of_event(self.draft.next_seq());
        let request = OpenRequest { request_id, agent_request_id, body };
        self.write(asked(&request));
        self.draft.change(Change::RequestOpened(request.clone()));
        if let PolicyAnswer::Deny(reason) = policy_answer {
            self.write_answer(&request, RequestOutcome::Deny, None, reason.into());
            let feedback = Some(reason.feedback());
            let answer = RequestAnswer::Permission { decision: Decision::Deny, feedback };
            let command = AgentCommand::Answer { agent_request_id: request.agent_request_id, answer };
            return self.outputs.push(Output::SendCommitted(self.draft.last_seq(), command));
        }
        self.requests.open.push(WaitingRequest { request, since: context.now });
        self.set_state(SessionState::Waiting, None);
        self.status_changed = true;
    }

    pub(super) fn on_request_withdrawn(&mut self, agent_request_id: &str) {
        let open = self.requests.open.iter().find(|waits| waits.request.agent_request_id == agent_request_id);
        if let Some(request) = open.map(|waits| waits.request.clone()) {
            self.requests.remove(&request.request_id);
            self.write_answer(&request, RequestOutcome::Cancelled, None, AnsweredBy::Agent);
            self.after_answer();
        }
    }

    /// An answer. It is committed before the agent gets it, so that no restart asks again.
    pub(super) fn on_answer(&mut self, request_id: &RequestId, answer: RequestAnswer, by: AnsweredBy) {
        let Some(request) = self.requests.find(request_id).cloned() else {
            return self.reply(Reply::Answer(Err(AnswerError::NotFound)));
        };
        match self.checked(&request, &answer) {
            Err(error) => self.reply(Reply::Answer(Err(error))),
            Ok((outcome, text, permissions)) => {
                let first = self.begin_commit();
                self.write_answer(&request, outcome, text, by);
                if let Some(policy) = &permissions {
                    self.draft.change(Change::Permissions(policy.clone()));
                }
                let given = Box::new(AnswerGiven { request, answer, permissions, by });
                self.commit(Waiting::Answer { given, first });
            }
        }
    }

    /// The outcome for the log, and the permissions that follow from the answer.
    fn checked(&self, request: &OpenRequest, answer: &RequestAnswer) -> Result<CheckedAnswer, AnswerError> {
        match (&request.body, answer) {
            (RequestBody::Permission { tool, .. }, RequestAnswer::Permission { decision, .. }) => {
                let permissions = (*decision == Decision::AllowAlways).then(|| {
                    let mut policy = self.profile.permissions.clone();
                    policy.always_allow(tool);
                    policy
                });
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
        let AnswerGiven { request, answer, permissions, .. } = given;
        if let Some(policy) = permissions {
            self.profile.permissions = policy;
        }
        self.requests.remove(&request.request_id);
        if self.is_live() {
            self.send(context, AgentCommand::Answer { agent_request_id: request.agent_request_id, answer });
        } else {
            self.requests.undelivered.push((request.agent_request_id, answer));
            if matches!(self.link, Link::None | Link::AwaitingLogin) {
                self.open(context);
            }
        }
        self.after_answer();
    }

    fn after_answer(&mut self) {
        if self.requests.is_empty() && self.state == SessionState::Waiting {
            self.set_state(SessionState::Working, None);
        }
        self.status_changed = true;
    }

    fn write_answer(&mut self, request: &OpenRequest, outcome: RequestOutcome, text: Option<String>, by: AnsweredBy) {
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
        self.requests.suspended.clear();
        self.requests.undelivered.clear();
        for WaitingRequest { request, .. } in &open {
            self.write_answer(request, outcome, None, by);
            self.status_changed = true;
        }
    }

    /// Denies the first request that nobody has watched for long enough. Notice and answer are one commit.
    pub(super) fn close_unattended_request(&mut self, context: &Context<'_>) {
        let is_due = self.requests.deadline(context).is_some_and(|deadline| deadline <= context.now);
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
        self.write_answer(&request, outcome, None, by);
        self.commit(Waiting::Answer { given: Box::new(AnswerGiven { request, answer, permissions: None, by }), first });
    }
}

type CheckedAnswer = (RequestOutcome, Option<String>, Option<PermissionPolicy>);

/// A form's required values must be there; the agent checks the rest and asks again.
fn check_form(form: &Value, values: &Map<String, Value>) -> Result<(), AnswerError> {
    let required = form["required"].as_array().map(Vec::as_slice).unwrap_or_default();
    let missing: Vec<&str> =
        required.iter().filter_map(Value::as_str).filter(|name| !values.contains_key(*name)).collect();
    if missing.is_empty() { Ok(()) } else { Err(AnswerError::Incomplete(missing.join(", "))) }
}

fn asked(request: &OpenRequest) -> Callback {
    let request_id = request.request_id.clone();
    match request.body.clone() {
        RequestBody::Permission { kind, title, detail, options, tool_call_id, .. } => {
            Callback::PermissionRequested { request_id, kind, title, detail, options, tool_call_id }
        }
        RequestBody::Question { question, detail, choices, form, url } => {
            Callback::QuestionAsked { request_id, question, detail, choices, form, url }
        }
    }
}

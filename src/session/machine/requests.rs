//! Permissions and questions: asked, answered once, closed when they can no longer be answered.

use std::time::Duration;

use serde_json::{Map, Value};

use super::rules::{NewRule, folder_notice};
use super::waiting::Waiting;
use super::{Context, Entries as _, Machine, Output, Reply};
use crate::agent::{AgentCommand, QuestionAnswer, RequestAnswer};
use crate::model::{
    Always, AnsweredBy, Callback, Continuation, Decided, Decision, JobTool, NoticeKind, OpenRequest, PermissionMode,
    PolicyAnswer, PolicyPart, RequestBody, RequestId, RequestOutcome, Seq, SessionOrigin, SessionState,
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

/// How long requests wait when nobody watches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Patience {
    /// Until the unattended timeout.
    Limited,
    /// For ever.
    Endless,
}

/// An answer that counts as soon as it is committed.
pub(super) struct AnswerGiven {
    request: OpenRequest,
    answer: RequestAnswer,
    rule: Option<NewRule>,
    by: AnsweredBy,
    /// All answers that the agent has not received, this one included; `None` if the agent gets it at once.
    continuation: Option<Continuation>,
}

impl AnswerGiven {
    pub fn request_id(&self) -> &RequestId {
        &self.request.request_id
    }

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
    pub fn restart(&mut self, context: &Context) {
        for waits in &mut self.open {
            waits.since = context.now;
        }
    }

    pub fn all(&self) -> impl Iterator<Item = &OpenRequest> {
        self.open.iter().map(|waits| &waits.request)
    }

    pub fn postpone(&mut self, context: &Context) {
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
    pub fn deadline(&self, context: &Context, patience: Patience) -> Option<Duration> {
        let first = self.open.first()?;
        if patience == Patience::Endless {
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

    pub fn remove(&mut self, request_id: &RequestId) {
        self.open.retain(|waits| waits.request.request_id != *request_id);
        self.are_kept &= !self.open.is_empty();
    }
}

impl Machine {
    /// A person comes back, and a task that asks on purpose waits for one.
    pub(super) fn patience(&self) -> Patience {
        let asks = self.profile.permissions.mode == PermissionMode::Ask;
        match self.origin {
            SessionOrigin::User => Patience::Endless,
            SessionOrigin::Job if asks => Patience::Endless,
            SessionOrigin::Job | SessionOrigin::Api => Patience::Limited,
        }
    }

    pub(super) fn on_request(&mut self, context: &Context, agent_request_id: String, body: RequestBody) {
        let decided = self.continuation.decided.iter().map(|decided| &decided.request);
        if self.requests.all().chain(decided).any(|known| known.agent_request_id == agent_request_id) {
            // Repeated in a new connection.
            return;
        }
        let policy_answer = if context.abilities.own_server && is_of_own_server(&body) {
            PolicyAnswer::Allow(PolicyPart::Rule)
        } else {
            self.profile.permissions.answer_with(&self.configured(context), &body)
        };
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
        self.report_request(&request);
        if context.unattended_since.is_some() && self.origin != SessionOrigin::User {
            self.warn_of_absence(context, &request);
        }
        self.requests.open.push(WaitingRequest { request, since: context.now });
        self.set_state(SessionState::Waiting, None);
        self.status_changed = true;
    }

    fn warn_of_absence(&mut self, context: &Context, request: &OpenRequest) {
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
    pub(super) fn send_policy_answer(
        &mut self,
        agent_request_id: String,
        decision: Decision,
        feedback: Option<String>,
    ) {
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
    pub(super) fn on_answer(&mut self, request_id: &RequestId, answer: RequestAnswer, always: &Always, by: AnsweredBy) {
        let Some(request) = self.requests.find(request_id).cloned() else {
            return self.reply(Reply::Answer(Err(AnswerError::NotFound)));
        };
        match self.checked(&request, &answer, always) {
            Err(error) => self.reply(Reply::Answer(Err(error))),
            Ok((outcome, text, rule)) => {
                let first = self.begin_commit();
                match &rule {
                    None => {}
                    Some(NewRule::Session(policy)) => self.draft.change(Change::Permissions(policy.clone())),
                    Some(NewRule::Folder(rule)) => {
                        self.draft.change(Change::FolderRuleAdded(rule.clone()));
                        self.notify(NoticeKind::Info, folder_notice(rule));
                    }
                }
                self.commit_answer(first, request, Given { answer, outcome, text, rule, by });
            }
        }
    }

    /// Commits an answer; the agent gets it then, or once it is there again.
    fn commit_answer(&mut self, first: Seq, request: OpenRequest, given: Given) {
        let Given { answer, outcome, text, rule, by } = given;
        self.write_answer(&request, outcome, text.clone(), by);
        let continuation = (!self.is_awaited()).then(|| {
            let told = match &answer {
                RequestAnswer::Permission { feedback, .. } => feedback.clone(),
                RequestAnswer::Question(_) => text,
            };
            let mut continuation = self.continuation.clone();
            continuation.decided.push(Decided { request: request.clone(), outcome, text: told, by });
            continuation
        });
        if let Some(continuation) = &continuation {
            self.draft.change(Change::Continuation(continuation.clone()));
        }
        let given = Box::new(AnswerGiven { request, answer, rule, by, continuation });
        self.commit(Waiting::Answer { given, first });
    }

    /// The outcome for the log, and the rule that follows from the answer.
    fn checked(
        &self,
        request: &OpenRequest,
        answer: &RequestAnswer,
        always: &Always,
    ) -> Result<CheckedAnswer, AnswerError> {
        match (&request.body, answer) {
            (RequestBody::Permission { .. }, RequestAnswer::Permission { decision, feedback }) => {
                let rule = match decision {
                    Decision::AllowAlways => {
                        Some(self.new_rule(&request.body, always).map_err(AnswerError::NotForGood)?)
                    }
                    Decision::AllowOnce | Decision::Deny => None,
                };
                Ok(((*decision).into(), feedback.clone(), rule))
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

    pub(super) fn on_answer_committed(&mut self, context: &Context, given: AnswerGiven) {
        if given.is_asked() {
            self.reply(Reply::Answer(Ok(())));
        }
        let AnswerGiven { request, answer, rule, continuation, .. } = given;
        self.requests.remove(&request.request_id);
        match rule {
            None => {}
            Some(NewRule::Session(policy)) => self.profile.permissions = policy,
            // This session hears of it as all others of the folder do, and checks then what else waits.
            Some(NewRule::Folder(_)) => self.outputs.push(Output::FolderRuleAdded),
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

    /// Whether the agent waits for answers right now.
    pub(super) fn is_awaited(&self) -> bool {
        self.is_live() && !self.requests.are_kept() && !self.is_suspended()
    }

    pub(super) fn after_answer(&mut self) {
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
                Callback::PermissionAnswered { request_id: request_id.clone(), decision: outcome, by, feedback: text }
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
    pub(super) fn close_unattended_request(&mut self, context: &Context) {
        let is_due = self.requests.deadline(context, self.patience()).is_some_and(|deadline| deadline <= context.now);
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
        self.commit_answer(first, request, Given { answer, outcome, text: None, rule: None, by });
    }
}

/// Whether a tool of our own MCP server would be called. It only reports.
fn is_of_own_server(body: &RequestBody) -> bool {
    let RequestBody::Permission { kind, tool, .. } = body else { return false };
    matches!(kind.as_str(), "mcp" | "other") && JobTool::named(tool).is_some()
}

/// An answer that was checked.
struct Given {
    answer: RequestAnswer,
    outcome: RequestOutcome,
    text: Option<String>,
    rule: Option<NewRule>,
    by: AnsweredBy,
}

type CheckedAnswer = (RequestOutcome, Option<String>, Option<NewRule>);

/// A form's required values must be there; the agent checks the rest and asks again.
fn check_form(form: &Value, values: &Map<String, Value>) -> Result<(), AnswerError> {
    let required = form["required"].as_array().map(Vec::as_slice).unwrap_or_default();
    let missing: Vec<&str> =
        required.iter().filter_map(Value::as_str).filter(|name| !values.contains_key(*name)).collect();
    if missing.is_empty() { Ok(()) } else { Err(AnswerError::Incomplete(missing.join(", "))) }
}

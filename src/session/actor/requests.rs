//! Permissions and questions: asked, answered once, closed when nobody can answer any more.

use serde_json::{Map, Value};
use tokio::time::Instant;

use super::connecting::Link;
use super::{Actor, PendingBriefs};
use crate::agent::{AgentCommand, QuestionAnswer, RequestAnswer};
use crate::model::{
    AnsweredBy, Callback, Decision, NoticeKind, OpenRequest, PermissionPolicy, RequestBody, RequestId, RequestOutcome,
    Response, SessionState, Verdict,
};
use crate::session::bulletin::PendingBrief;
use crate::session::{AnswerError, SessionError};
use crate::store::Change;

/// Requests that wait, since when, and answers on their way to an agent that is being started.
#[derive(Debug, Default)]
pub(super) struct Requests {
    open: Vec<(OpenRequest, Instant)>,
    /// Requests of the turn before the restart, which the next connection must know of.
    suspended: Vec<OpenRequest>,
    undelivered: Vec<(String, RequestAnswer)>,
}

impl Requests {
    pub fn new(open: Vec<OpenRequest>) -> Self {
        let suspended = open.clone();
        let since = Instant::now();
        Self { open: open.into_iter().map(|request| (request, since)).collect(), suspended, undelivered: Vec::new() }
    }

    pub fn is_empty(&self) -> bool {
        self.open.is_empty()
    }

    pub fn take_suspended(&mut self) -> Vec<OpenRequest> {
        std::mem::take(&mut self.suspended)
    }

    pub fn briefs(&self) -> PendingBriefs {
        self.open
            .iter()
            .map(|(request, _)| PendingBrief {
                request_id: request.request_id.clone(),
                kind: match request.body {
                    RequestBody::Permission { .. } => "permission",
                    RequestBody::Question { .. } => "question",
                },
                headline: request.headline().to_owned(),
            })
            .collect()
    }
}

impl Actor {
    /// Mode and rules: the session's own rules go before the configured ones.
    pub(super) fn policy(&self) -> PermissionPolicy {
        let mut policy = self.profile.permissions.clone();
        policy.rules.extend(self.around.settings.permissions.rules.iter().cloned());
        policy
    }

    pub(super) fn on_request(&mut self, agent_request_id: String, body: RequestBody) {
        let verdict = match &body {
            RequestBody::Permission { tool, .. } => self.policy().verdict(tool),
            RequestBody::Question { .. } => Verdict::Ask,
        };
        if verdict == Verdict::Allow {
            let answer = RequestAnswer::Permission { decision: Decision::AllowOnce, feedback: None };
            self.send(AgentCommand::Answer { agent_request_id, answer });
            return;
        }
        // The number is unique in the session for good, and so is the id made of it.
        let request_id = RequestId::of_event(self.journal.next_seq());
        let request = OpenRequest { request_id: request_id.clone(), agent_request_id: agent_request_id.clone(), body };
        self.journal.write(&asked(&request));
        self.journal.change(Change::RequestOpened(request.clone()));
        if let Verdict::Deny(by) = verdict {
            self.write_answer(&request, Decision::Deny.into(), None, by);
            let feedback = Some(format!("denied by the session's permission {}", by.as_str()));
            let answer = RequestAnswer::Permission { decision: Decision::Deny, feedback };
            self.send(AgentCommand::Answer { agent_request_id, answer });
            return;
        }
        self.requests.open.push((request, Instant::now()));
        self.set_state(SessionState::Waiting, None);
        self.post();
    }

    pub(super) fn on_request_withdrawn(&mut self, agent_request_id: &str) {
        let position = self.requests.open.iter().position(|(open, _)| open.agent_request_id == agent_request_id);
        if let Some(position) = position {
            let (request, _) = self.requests.open.remove(position);
            self.write_answer(&request, RequestOutcome::Cancelled, None, AnsweredBy::Agent);
            self.after_answer();
        }
    }

    /// A person's answer. It is committed before the agent hears of it, so that no restart asks again.
    pub(super) async fn accept_answer(
        &mut self,
        request_id: &RequestId,
        answer: RequestAnswer,
        by: AnsweredBy,
    ) -> Result<(), AnswerError> {
        let position = self.requests.open.iter().position(|(open, _)| open.request_id == *request_id);
        let Some(position) = position else { return Err(AnswerError::NotFound) };
        let request = self.requests.open[position].0.clone();
        let mut permissions = None;
        let (decision, text) = match (&request.body, &answer) {
            (RequestBody::Permission { tool, .. }, RequestAnswer::Permission { decision, .. }) => {
                if *decision == Decision::AllowAlways {
                    let mut policy = self.profile.permissions.clone();
                    policy.always_allow(tool);
                    permissions = Some(policy);
                }
                ((*decision).into(), None)
            }
            (RequestBody::Question { form, .. }, RequestAnswer::Question(given)) => {
                if let (Some(form), QuestionAnswer::Form(values)) = (form, given) {
                    check_form(form, values)?;
                }
                let decision = if *given == QuestionAnswer::Declined {
                    RequestOutcome::Declined
                } else {
                    RequestOutcome::Answered
                };
                (decision, given.shown())
            }
            (RequestBody::Permission { .. }, RequestAnswer::Question(_)) => {
                return Err(AnswerError::WrongKind(
                    "the request asks for a permission; send the answer to …/permission/{requestId}",
                ));
            }
            (RequestBody::Question { .. }, RequestAnswer::Permission { .. }) => {
                return Err(AnswerError::WrongKind(
                    "the request is a question; send the answer to …/answer/{requestId}",
                ));
            }
        };
        self.journal.flush();
        self.write_answer(&request, decision, text, by);
        if let Some(policy) = &permissions {
            self.journal.change(Change::Permissions(policy.clone()));
        }
        self.journal.commit().await.map_err(SessionError::Store)?;
        if let Some(policy) = permissions {
            self.profile.permissions = policy;
        }
        self.requests.open.remove(position);
        self.pass_on(request.agent_request_id, answer);
        self.after_answer();
        Ok(())
    }

    fn pass_on(&mut self, agent_request_id: String, answer: RequestAnswer) {
        if self.is_connected() {
            self.send(AgentCommand::Answer { agent_request_id, answer });
        } else {
            self.requests.undelivered.push((agent_request_id, answer));
            if matches!(self.link, Link::None | Link::AwaitingLogin(_)) {
                self.connect();
            }
        }
    }

    /// The agent is there again: answers given in the meantime reach it.
    pub(super) fn deliver_answers(&mut self) {
        for (agent_request_id, answer) in std::mem::take(&mut self.requests.undelivered) {
            self.send(AgentCommand::Answer { agent_request_id, answer });
        }
    }

    fn after_answer(&mut self) {
        if self.requests.is_empty() && self.state == SessionState::Waiting {
            self.set_state(SessionState::Working, None);
        }
        self.post();
    }

    fn write_answer(&mut self, request: &OpenRequest, decision: RequestOutcome, text: Option<String>, by: AnsweredBy) {
        let request_id = request.request_id.clone();
        let response = match request.body {
            RequestBody::Permission { .. } => {
                Callback::PermissionAnswered { request_id: request_id.clone(), decision, by }
            }
            RequestBody::Question { .. } => {
                Callback::QuestionAnswered { request_id: request_id.clone(), answer: text, by }
            }
        };
        self.journal.write(&response.into());
        self.journal.change(Change::RequestClosed { request_id, outcome: decision, by });
    }

    /// Closes what is open because nobody will hear an answer any more.
    pub(super) fn close_requests(&mut self, decision: RequestOutcome, by: AnsweredBy) {
        let open = std::mem::take(&mut self.requests.open);
        self.requests.suspended.clear();
        self.requests.undelivered.clear();
        if !open.is_empty() {
            for (request, _) in &open {
                self.write_answer(request, decision, None, by);
            }
            self.post();
        }
    }

    /// When a request that nobody watches has waited long enough.
    pub(super) fn request_deadline(&self) -> Option<Instant> {
        let (_, asked_at) = self.requests.open.first()?;
        let timeout = self.around.settings.unattended_timeout;
        Some(match self.journal.log().unattended_since() {
            Some(since) => since.max(*asked_at) + timeout,
            // Somebody watches: whenever they leave, the clock begins anew.
            None => Instant::now() + timeout,
        })
    }

    pub(super) async fn give_up_on_unattended_requests(&mut self) {
        while self.request_deadline().is_some_and(|deadline| deadline <= Instant::now()) {
            let Some((request, _)) = self.requests.open.first() else { return };
            let request = request.clone();
            let timeout = humantime::format_duration(self.around.settings.unattended_timeout);
            let (answer, done) = match request.body {
                RequestBody::Permission { .. } => {
                    let feedback = Some("nobody was there to decide".to_owned());
                    (RequestAnswer::Permission { decision: Decision::Deny, feedback }, "denied")
                }
                RequestBody::Question { .. } => (RequestAnswer::Question(QuestionAnswer::Nobody), "left unanswered"),
            };
            self.write_notice(
                NoticeKind::Unattended,
                format!(
                    "A request was {done} because nobody watched the session for {timeout}: {}",
                    request.headline()
                ),
            );
            if let Err(error) = self.accept_answer(&request.request_id, answer, AnsweredBy::Timeout).await {
                tracing::warn!(session = %self.id, error = %error, "an unattended request could not be closed yet");
                return;
            }
        }
    }
}

/// A form's required values must be there; the agent checks the rest and asks again.
fn check_form(form: &Value, values: &Map<String, Value>) -> Result<(), AnswerError> {
    let required = form["required"].as_array().map(Vec::as_slice).unwrap_or_default();
    let missing: Vec<&str> =
        required.iter().filter_map(Value::as_str).filter(|name| !values.contains_key(*name)).collect();
    if missing.is_empty() { Ok(()) } else { Err(AnswerError::Incomplete(missing.join(", "))) }
}

fn asked(request: &OpenRequest) -> Response {
    let request_id = request.request_id.clone();
    match request.body.clone() {
        RequestBody::Permission { kind, title, detail, options, tool_call_id, .. } => {
            Callback::PermissionRequested { request_id, kind, title, detail, options, tool_call_id }
        }
        RequestBody::Question { question, detail, choices, form, url } => {
            Callback::QuestionAsked { request_id, question, detail, choices, form, url }
        }
    }
    .into()
}

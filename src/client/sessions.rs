//! Calls about sessions.

use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::call::with_query;
use super::error::ClientError;
use super::local_server::LocalServer;
use super::session_entry::{LoggedResponse, SessionDetails, SessionEntry};
use crate::model::{PromptId, PromptOutcome, RequestId, Seq, SessionId, SessionState};

/// Where sessions are in the API.
const SESSIONS: &str = "/api/copilot/session";
/// The largest page of a list or a log.
const PAGE: usize = 1_000;

/// A session to create; what is `None` is chosen by the server.
#[derive(Clone, Debug, Default)]
pub struct NewSession {
    /// The agent's runtime.
    pub runtime: Option<String>,
    /// The model.
    pub model: Option<String>,
    /// Where the agent works.
    pub working_directory: Option<String>,
    /// The permission mode, alone or with rules, as the API takes it.
    pub permission_mode: Option<Value>,
}

/// A prompt.
#[derive(Clone, Debug, Default)]
pub struct Prompt {
    /// Its text.
    pub text: String,
    /// Files that go with it, as the API takes them.
    pub attachments: Vec<Value>,
}

/// An answer to a permission request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PermissionAnswer {
    /// This time.
    AllowOnce,
    /// For the rest of the session: exactly this call, or every call of the tool if the call is not known exactly.
    AllowAlways {
        /// `call` or `tool`, of what the request offers.
        covers: &'static str,
    },
    /// No, perhaps with a word to the agent.
    Deny {
        /// What the agent is told.
        feedback: Option<String>,
    },
}

/// An answer to a question.
#[derive(Clone, Debug, PartialEq)]
pub enum QuestionAnswer {
    /// In words.
    Text(String),
    /// The values of a form.
    Form(Map<String, Value>),
    /// No answer.
    Decline,
}

#[derive(Deserialize)]
struct SessionPage {
    sessions: Vec<SessionEntry>,
    next: Option<SessionId>,
}

#[derive(Deserialize)]
struct LogPage {
    events: Vec<LoggedResponse>,
    next: Option<Seq>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Accepted {
    prompt_id: PromptId,
}

impl LocalServer {
    /// Every session, newest first; only those in a state, if one is given.
    pub async fn sessions(&self, state: Option<SessionState>) -> Result<Vec<SessionEntry>, ClientError> {
        let (mut sessions, limit) = (Vec::new(), PAGE.to_string());
        let mut after: Option<SessionId> = None;
        loop {
            let from = after.map(|id| id.to_string());
            let mut query = vec![("limit", limit.as_str())];
            query.extend(state.map(|state| ("state", state.as_str())));
            query.extend(from.as_deref().map(|from| ("after", from)));
            let page: SessionPage = self.get_as(&with_query(SESSIONS, &query)).await?;
            sessions.extend(page.sessions);
            match page.next {
                Some(next) => after = Some(next),
                None => return Ok(sessions),
            }
        }
    }

    /// A session.
    pub async fn session(&self, id: SessionId) -> Result<SessionDetails, ClientError> {
        let path = format!("{SESSIONS}/{id}");
        self.details(&path, self.get(&path).await?)
    }

    fn details(&self, path: &str, answer: Value) -> Result<SessionDetails, ClientError> {
        Ok(SessionDetails { entry: self.understood(path, answer.clone())?, more: self.understood(path, answer)? })
    }

    /// Creates a session.
    pub async fn create_session(&self, new: &NewSession) -> Result<SessionDetails, ClientError> {
        let mut body = Map::new();
        let fields = [("runtime", &new.runtime), ("model", &new.model), ("workingDirectory", &new.working_directory)];
        for (name, value) in fields {
            body.extend(value.as_ref().map(|value| (name.to_owned(), json!(value))));
        }
        body.extend(new.permission_mode.as_ref().map(|mode| ("permissionMode".to_owned(), mode.clone())));
        let answer = self.post_json(SESSIONS, &Value::Object(body)).await?;
        self.details(SESSIONS, answer)
    }

    /// Changes a session: its title, its model or its permission mode.
    pub async fn change_session(&self, id: SessionId, changes: &Value) -> Result<SessionDetails, ClientError> {
        let path = format!("{SESSIONS}/{id}");
        let answer = self.patch_json(&path, changes).await?;
        self.details(&path, answer)
    }

    /// Sends a prompt and returns its id as soon as it is accepted. A repeated call with the same key sends nothing.
    pub async fn prompt(&self, id: SessionId, prompt: &Prompt, key: &str) -> Result<PromptId, ClientError> {
        let path = format!("{SESSIONS}/{id}/prompt");
        let answer = self.post_once(&path, &prompt_body(prompt), key).await?;
        Ok(self.understood::<Accepted>(&path, answer)?.prompt_id)
    }

    /// Sends a prompt, unless one with the same key was sent, and waits until its turn has ended.
    pub async fn outcome(&self, id: SessionId, prompt: &Prompt, key: &str) -> Result<PromptOutcome, ClientError> {
        let path = format!("{SESSIONS}/{id}/prompt");
        let mut body = prompt_body(prompt);
        body["wait"] = json!(true);
        let answer = self.clone().without_timeout().post_once(&path, &body, key).await?;
        self.understood(&path, answer)
    }

    /// Cancels a prompt whose turn has not begun.
    pub async fn cancel_prompt(&self, id: SessionId, prompt: PromptId) -> Result<(), ClientError> {
        self.delete(&format!("{SESSIONS}/{id}/prompt/{prompt}")).await.map(|_| ())
    }

    /// Interrupts the turn of a session; `false` if none was running.
    pub async fn interrupt(&self, id: SessionId) -> Result<bool, ClientError> {
        Ok(self.post(&format!("{SESSIONS}/{id}/interrupt")).await?["interrupted"] == true)
    }

    /// Closes a session.
    pub async fn close_session(&self, id: SessionId) -> Result<(), ClientError> {
        self.post(&format!("{SESSIONS}/{id}/stop")).await.map(|_| ())
    }

    /// Opens a closed session again.
    pub async fn reopen_session(&self, id: SessionId) -> Result<(), ClientError> {
        self.post(&format!("{SESSIONS}/{id}/reopen")).await.map(|_| ())
    }

    /// Deletes a session and its log.
    pub async fn delete_session(&self, id: SessionId) -> Result<(), ClientError> {
        self.delete(&format!("{SESSIONS}/{id}")).await.map(|_| ())
    }

    /// A session in the form of a document: `md` or `json`.
    pub async fn export_session(&self, id: SessionId, format: &str) -> Result<bytes::Bytes, ClientError> {
        self.get_text(&with_query(&format!("{SESSIONS}/{id}/export"), &[("format", format)])).await
    }

    /// Searches all sessions, with the parameters of the route.
    pub async fn search(&self, parameters: &[(&str, &str)]) -> Result<Value, ClientError> {
        self.get(&with_query("/api/copilot/search", parameters)).await
    }

    /// Answers a permission request.
    pub async fn answer_permission(
        &self,
        id: SessionId,
        request: &RequestId,
        answer: &PermissionAnswer,
    ) -> Result<(), ClientError> {
        let body = match answer {
            PermissionAnswer::AllowOnce => json!({ "decision": "allow-once" }),
            PermissionAnswer::AllowAlways { covers } => json!({ "decision": "allow-always", "covers": covers }),
            PermissionAnswer::Deny { feedback } => json!({ "decision": "deny", "feedback": feedback }),
        };
        self.post_json(&format!("{SESSIONS}/{id}/permission/{request}"), &body).await.map(|_| ())
    }

    /// Answers a question.
    pub async fn answer_question(
        &self,
        id: SessionId,
        request: &RequestId,
        answer: &QuestionAnswer,
    ) -> Result<(), ClientError> {
        let body = match answer {
            QuestionAnswer::Text(text) => json!({ "answer": text }),
            QuestionAnswer::Form(values) => json!({ "content": values }),
            QuestionAnswer::Decline => json!({ "decline": true }),
        };
        self.post_json(&format!("{SESSIONS}/{id}/answer/{request}"), &body).await.map(|_| ())
    }

    /// A part of a session's log after a number, and where the next part begins.
    pub async fn log_after(
        &self,
        id: SessionId,
        after: Seq,
    ) -> Result<(Vec<LoggedResponse>, Option<Seq>), ClientError> {
        let (after, limit) = (after.to_string(), PAGE.to_string());
        let query = [("after", after.as_str()), ("limit", &limit)];
        let page: LogPage = self.get_as(&with_query(&format!("{SESSIONS}/{id}/log"), &query)).await?;
        Ok((page.events, page.next))
    }

    /// The last events of a session's log, oldest first.
    pub async fn log_end(&self, id: SessionId, last: Seq, most: usize) -> Result<Vec<LoggedResponse>, ClientError> {
        let (before, limit) = ((last + 1).to_string(), most.to_string());
        let query = [("before", before.as_str()), ("limit", &limit)];
        let mut page: LogPage = self.get_as(&with_query(&format!("{SESSIONS}/{id}/log"), &query)).await?;
        page.events.sort_by_key(|event| event.seq);
        Ok(page.events)
    }
}

fn prompt_body(prompt: &Prompt) -> Value {
    json!({ "text": prompt.text, "attachments": prompt.attachments })
}

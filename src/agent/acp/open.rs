//! Opens a session: a new one, or an existing one of the agent.

use std::collections::BTreeMap;
use std::path::Path;

use agent_client_protocol_schema::v1::{
    AuthenticateRequest, ListSessionsRequest, LoadSessionRequest, McpServer as OfferedServer, NewSessionRequest,
};
use serde::Serialize;
use serde_json::Value;

use super::agent::{Agent, CallError};
use super::mcp;
use super::not_opened::NotOpened;
use super::offers::Offers;
use super::options::AcpOptions;
use super::replay::{Replay, is_conversation};
use super::settings::{AcpSettings, Launch};
use super::wire::{Incoming, RpcError};
use crate::agent::failure::EarlyExit;
use crate::agent::{Restored, StartError, StartSpec};
use crate::model::{McpServer, redact};

/// The most pages of the session list that are read.
const MOST_PAGES: usize = 1_000;

/// An open session.
pub(super) struct Opened {
    pub agent: Agent,
    pub session: String,
    pub offers: Offers,
    pub restored: Restored,
    /// Updates that arrived while it was opened and are not part of its history.
    pub early: Vec<Incoming>,
    /// Notices for display.
    pub notes: Vec<String>,
}

/// What opening needs besides the settings.
pub(super) struct Wanted {
    pub launch: Launch,
    pub model: String,
    pub mcp_servers: BTreeMap<String, McpServer>,
    /// It uses GitHub's models, which require a login.
    pub uses_github: bool,
    pub options: AcpOptions,
    pub spec: StartSpec,
}

/// Opens a session. A program that exits is started once more at once; if it exits the same way, more attempts would
/// not help. A login may have completed while the process started, so a "login required" error counts only if a second
/// process reports it too.
pub(super) async fn open(settings: &AcpSettings, wanted: &Wanted) -> Result<Opened, StartError> {
    let first = match open_once(settings, wanted).await {
        Ok(opened) => return Ok(opened),
        Err(problem) if problem.may_pass() => problem,
        Err(problem) => return Err(problem.into()),
    };
    open_once(settings, wanted).await.map_err(|second| second.after(&first))
}

async fn open_once(settings: &AcpSettings, wanted: &Wanted) -> Result<Opened, NotOpened> {
    let mut agent = Agent::start(settings, &wanted.launch).await?;
    let mut opening = Opening { settings, wanted, early: Vec::new(), replay: Replay::default(), notes: Vec::new() };
    match opening.session(&mut agent).await {
        Ok((session, offers)) => {
            let restored = match wanted.spec.agent_session_id {
                Some(_) => opening.replay.restored(),
                None => Restored::New,
            };
            let (early, notes) = (opening.early, opening.notes);
            Ok(Opened { agent, session, offers, restored, early, notes })
        }
        Err(error) => {
            agent.end().await;
            Err(error)
        }
    }
}

struct Opening<'a> {
    settings: &'a AcpSettings,
    wanted: &'a Wanted,
    early: Vec<Incoming>,
    replay: Replay,
    notes: Vec<String>,
}

impl Opening<'_> {
    async fn session(&mut self, agent: &mut Agent) -> Result<(String, Offers), NotOpened> {
        if !self.settings.auth_method.is_empty() {
            let params = AuthenticateRequest::new(self.settings.auth_method.clone());
            self.call(agent, "authenticate", &params).await.map_err(|error| self.refused("the login", error, agent))?;
        }
        let servers = mcp::servers(&self.wanted.mcp_servers, &agent.about);
        if !servers.refused.is_empty() {
            let (name, refused) = (&self.settings.title, servers.refused.join(", "));
            self.notes.push(format!("{name} does not support these MCP servers and runs without them: {refused}."));
        }
        let (session, answer) = match &self.wanted.spec.agent_session_id {
            Some(id) => (id.clone(), self.load(agent, id, servers.offered).await?),
            None => self.begin(agent, servers.offered).await?,
        };
        let mut offers = Offers::read(&answer);
        self.choose(agent, &session, &mut offers).await?;
        Ok((session, offers))
    }

    async fn begin(&mut self, agent: &mut Agent, servers: Vec<OfferedServer>) -> Result<(String, Value), NotOpened> {
        let params = NewSessionRequest::new(self.folder()).mcp_servers(servers);
        let answer = self.call_logged_in(agent, "session/new", &params).await;
        let answer = answer.map_err(|error| self.refused("a new session", error, agent))?;
        match answer["sessionId"].as_str().filter(|id| !id.is_empty()) {
            Some(id) => Ok((id.to_owned(), answer)),
            None => Err(NotOpened::Failed(StartError::Permanent(format!(
                "{} returned a session without an id: {answer}; update the agent",
                self.settings.title
            )))),
        }
    }

    /// Resumes a session if the agent still has it.
    async fn load(&mut self, agent: &mut Agent, id: &str, servers: Vec<OfferedServer>) -> Result<Value, NotOpened> {
        let name = &self.settings.title;
        if !agent.about.loads {
            return Err(StartError::SessionLost(format!("{name} cannot resume sessions")).into());
        }
        if agent.about.lists && !self.is_listed(agent, id).await? {
            return Err(StartError::SessionLost(format!("{name} no longer has the session {id}")).into());
        }
        let params = LoadSessionRequest::new(id.to_owned(), self.folder()).mcp_servers(servers);
        match self.call_logged_in(agent, "session/load", &params).await {
            Ok(answer) => Ok(answer),
            Err(CallError::Refused(error)) if !error.wants_login() => {
                Err(StartError::SessionLost(error.to_string()).into())
            }
            Err(error) => Err(match self.refused("the session", error, agent) {
                NotOpened::Exited { exit, .. } => NotOpened::Exited { exit, loading: true },
                other @ NotOpened::Failed(_) => other,
            }),
        }
    }

    async fn is_listed(&mut self, agent: &mut Agent, id: &str) -> Result<bool, NotOpened> {
        match sessions(agent, |sessions| sessions.iter().any(|session| session["sessionId"] == id)).await {
            Ok(found) => Ok(found),
            // If the list cannot be read, the session may still exist.
            Err(CallError::Refused(error)) => {
                tracing::warn!(
                    session = %self.wanted.spec.owner, agent_session = id, code = error.code, %error,
                    "the agent does not list its sessions; loading the session without checking the list"
                );
                Ok(true)
            }
            Err(error) => Err(self.refused("its sessions", error, agent)),
        }
    }

    /// Sets the session's model, mode and effort.
    async fn choose(&mut self, agent: &mut Agent, session: &str, offers: &mut Offers) -> Result<(), NotOpened> {
        let name = &self.settings.title;
        let (model, effort) = (&self.wanted.model, self.wanted.spec.effort.as_deref().unwrap_or_default());
        if !model.is_empty() && offers.current("model") != Some(model) {
            let (method, params) = offers.choose_model(session, model);
            match self.call(agent, method, &params).await {
                Ok(answer) => offers.learn_options(&answer["configOptions"]),
                Err(CallError::Refused(error)) => {
                    let known: Vec<String> = offers.models().into_iter().map(|model| model.id).collect();
                    let known = if known.is_empty() { "none listed".to_owned() } else { known.join(", ") };
                    return Err(NotOpened::Failed(StartError::Permanent(format!(
                        "{name} rejected the model {model:?}: {error}; available models: {known}"
                    ))));
                }
                Err(error) => return Err(self.refused("the model", error, agent)),
            }
        }
        if !effort.is_empty() {
            match offers.choose_effort(session, effort) {
                Some((method, params)) => {
                    let answer = self.call(agent, method, &params).await;
                    let answer = answer.map_err(|error| self.refused("the effort", error, agent))?;
                    offers.learn_options(&answer["configOptions"]);
                }
                None => self.notes.push(format!("{name} does not support effort {effort:?}; using its default.")),
            }
        }
        if let Some(mode) = &self.wanted.options.mode {
            let (method, params) = offers.choose_mode(session, mode).map_err(|known| {
                StartError::Permanent(format!("{name} has no mode {mode:?} (options.mode); available modes: {known}"))
            })?;
            self.call(agent, method, &params).await.map_err(|error| self.refused("the mode", error, agent))?;
        }
        Ok(())
    }

    /// As [`Self::call`]. An agent that needs a login first and lists its method is asked to log in, and then called
    /// once more.
    async fn call_logged_in(
        &mut self,
        agent: &mut Agent,
        method: &str,
        params: &impl Serialize,
    ) -> Result<Value, CallError> {
        let answer = self.call(agent, method, params).await;
        // A configured method was called before.
        let login = agent.about.login_method.clone().filter(|_| self.settings.auth_method.is_empty());
        match (answer, login) {
            (Err(CallError::Refused(error)), Some(login)) if error.wants_login() => {
                if self.authenticate(agent, &login).await.is_err() {
                    return Err(CallError::Refused(error));
                }
                self.call(agent, method, params).await
            }
            (answer, _) => answer,
        }
    }

    async fn call(&mut self, agent: &mut Agent, method: &str, params: &impl Serialize) -> Result<Value, CallError> {
        let (early, replay) = (&mut self.early, &mut self.replay);
        let answer = agent
            .call(method, params, &mut |incoming| match incoming {
                Incoming::Update { update, .. } if is_conversation(&update) => replay.receive(&update),
                other => early.push(other),
            })
            .await;
        answer.inspect_err(|error| self.log(method, error))
    }

    async fn authenticate(&mut self, agent: &mut Agent, login: &str) -> Result<(), CallError> {
        let early = &mut self.early;
        let answer = agent.authenticate(login, &mut |incoming| early.push(incoming)).await;
        answer.inspect_err(|error| self.log("authenticate", error))
    }

    fn log(&self, method: &str, error: &CallError) {
        let spec = &self.wanted.spec;
        tracing::warn!(
            session = %spec.owner,
            agent_session = spec.agent_session_id.as_deref().unwrap_or_default(),
            agent = %self.settings.name,
            method,
            code = error.code(),
            error = %redact(&error.to_string()),
            "a call to the agent failed"
        );
    }

    fn folder(&self) -> &Path {
        &self.wanted.launch.folder
    }

    /// What a failed call means.
    fn refused(&self, what: &str, error: CallError, agent: &Agent) -> NotOpened {
        let name = &self.settings.title;
        NotOpened::Failed(match error {
            CallError::Refused(error) if error.wants_login() => {
                StartError::NeedsLogin(login_hint(self.settings, &agent.about.logins, &error))
            }
            CallError::Refused(error) => StartError::Permanent(format!("{name} refused {what}: {error}")),
            CallError::Gone(words) => {
                let message = format!("{name} ended: {words}");
                return NotOpened::Exited { exit: EarlyExit { message, words }, loading: false };
            }
            CallError::Silent(words) => StartError::Temporary(format!("{name} is unresponsive: {words}")),
        })
    }
}

/// How to log in: as configured, or else as the agent describes it.
pub(super) fn login_hint(settings: &AcpSettings, methods: &[String], error: &RpcError) -> String {
    if !settings.login_hint.is_empty() {
        return settings.login_hint.clone();
    }
    let name = &settings.title;
    if methods.is_empty() {
        return format!("{name} needs a login and does not say how ({error}).");
    }
    format!("{name} needs a login: {}.", methods.join("; or: "))
}

/// Reads the agent's session list page by page until `enough` returns true.
pub(super) async fn sessions(agent: &mut Agent, mut enough: impl FnMut(&[Value]) -> bool) -> Result<bool, CallError> {
    let mut cursor: Option<String> = None;
    for _ in 0..MOST_PAGES {
        let params = ListSessionsRequest::new().cursor(cursor.clone());
        let page = agent.call("session/list", &params, &mut |_| {}).await?;
        if enough(page["sessions"].as_array().map(Vec::as_slice).unwrap_or_default()) {
            return Ok(true);
        }
        let next = page["nextCursor"].as_str().map(str::to_owned);
        if next.is_none() || next == cursor {
            return Ok(false);
        }
        cursor = next;
    }
    Ok(false)
}

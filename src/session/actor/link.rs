//! The connection to the agent: queueing for a process, starting, ending.

use std::sync::Arc;

use tokio::time::Duration;

use super::{Actor, Input, SlotRequest, SlotStep};
use crate::agent::{
    AgentCommand, AgentEvent, BoxFuture, Connection, Liveness, OpeningStep, Owner, PendingConnection, QueuePosition,
    StartError, StartSpec, SuspendedTurn, agent_environment, job_tools as declared_job_tools,
};
use crate::model::{SessionOptions, redact};
use crate::session::machine::{Disconnect, Opened};
use crate::session::settings::JobTools;

/// How long to wait for an agent to exit.
const CLOSE_GRACE: Duration = Duration::from_secs(5);
/// How long an agent that did not stop its turn may take to respond.
const RESPONDS_WITHIN: Duration = Duration::from_secs(2);

pub(super) enum Link {
    None,
    /// It waits for a process, or the agent is being started.
    Opening(Box<PendingConnection>),
    /// It cannot be opened.
    Failing(StartError),
    Live(Box<Connection>),
    AwaitingLogin,
}

pub(super) enum LinkEvent {
    /// In the buffer.
    Events,
    /// It waits for a process.
    Queued(QueuePosition),
    Started(Result<Box<Connection>, StartError>),
    /// The agent's side ended without a reason.
    Ended,
}

/// What the link does next. May be dropped at any point without losing anything.
pub(super) async fn next(link: &mut Link, buffer: &mut Vec<AgentEvent>, limit: usize) -> LinkEvent {
    match link {
        Link::None | Link::AwaitingLogin => std::future::pending().await,
        Link::Opening(pending) => match pending.next().await {
            OpeningStep::Queued(position) => LinkEvent::Queued(position),
            OpeningStep::Done(outcome) => LinkEvent::Started(outcome),
        },
        Link::Failing(_) => match std::mem::replace(link, Link::None) {
            Link::Failing(error) => LinkEvent::Started(Err(error)),
            _ => std::future::pending().await,
        },
        Link::Live(connection) => match connection.events.recv_many(buffer, limit).await {
            0 => LinkEvent::Ended,
            _ => LinkEvent::Events,
        },
    }
}

/// The next step of a request for a process; nothing for a session that does not wait for one.
pub(super) async fn slot_step(request: &mut Option<SlotRequest>) -> SlotStep {
    match request {
        Some(request) => request.next().await,
        None => std::future::pending().await,
    }
}

/// What a probe finds. May be dropped at any point without losing anything.
pub(super) async fn probed(probe: &mut Option<BoxFuture<'static, bool>>) -> bool {
    match probe {
        Some(probe) => probe.await,
        None => std::future::pending().await,
    }
}

/// Resolves when somebody may have logged in.
pub(super) async fn login(news: &mut Option<BoxFuture<'static, ()>>) {
    match news {
        Some(news) => news.await,
        None => std::future::pending().await,
    }
}

impl Actor {
    /// Begins to open a connection.
    pub(super) fn open(&mut self, agent_session_id: Option<String>, suspended: Option<SuspendedTurn>) {
        let profile = self.machine.profile();
        let settings = self.services.settings.current();
        let options = match SessionOptions::read(&profile.options) {
            Ok(options) => options,
            Err(problem) => {
                let error = StartError::Permanent(format!("the session's options are invalid: {problem}"));
                return self.link = Link::Failing(error);
            }
        };
        let runtime = self.services.runtimes.named(&profile.runtime).ok();
        let job_tools = self.job_tools();
        let spec = StartSpec {
            owner: Owner::Session(self.id),
            model: profile.model.clone(),
            effort: profile.effort.clone(),
            working_directory: profile.working_directory.clone(),
            system_prompt: profile.system_prompt.clone(),
            provider: options.provider,
            mcp_servers: options.mcp_servers,
            own_server: if let JobTools::OverMcp(server) = &job_tools { Some(server.clone()) } else { None },
            options: options.other,
            environment: agent_environment(std::env::vars(), &settings.agent_environment),
            permissions: self.machine.policy(&settings.permissions, &self.services.folder_rules.current()),
            agent_session_id,
            new_session_id: None,
            tools: (job_tools == JobTools::Declared).then(declared_job_tools),
            suspended,
        };
        // Subscribed before the start, so that no login in between is missed.
        self.login_change = runtime.map(|runtime| runtime.credentials_changed());
        self.link = Link::Opening(Box::new(self.services.runtimes.open(&profile.runtime, spec)));
    }

    /// A connection that waits for a process is opened with what the session is set to by then.
    pub(super) fn refresh_opening(&mut self) {
        let (settings, folder_rules) = (self.services.settings.current(), self.services.folder_rules.current());
        let policy = self.machine.policy(&settings.permissions, &folder_rules);
        let profile = self.machine.profile();
        if let Link::Opening(pending) = &mut self.link
            && let Some(spec) = pending.spec_mut()
        {
            (spec.model, spec.effort) = (profile.model.clone(), profile.effort.clone());
            spec.permissions = policy;
        }
    }

    /// Whether the connection has a process that another session could use.
    pub(super) fn holds_process(&self) -> bool {
        matches!(&self.link, Link::Live(connection) if connection.holds_process())
    }

    /// Queues for a process for the next turn. One that needs none may begin.
    pub(super) fn request_turn_slot(&mut self) -> bool {
        if let Link::Live(connection) = &self.link {
            self.slot_request = connection.request_turn_slot();
        }
        self.slot_request.is_none()
    }

    pub(super) async fn on_started(&mut self, outcome: Result<Box<Connection>, StartError>) {
        match outcome {
            Ok(connection) => {
                let summary = self.summary().await;
                let opened = Opened {
                    agent_session_id: connection.agent_session_id.clone(),
                    restored: connection.restored,
                    can_probe: connection.liveness().is_some(),
                    pending: connection.pending.clone(),
                    summary,
                };
                self.link = Link::Live(connection);
                self.drive(Input::Opened(opened)).await;
            }
            Err(error) => {
                self.link = Link::None;
                let message = redact(&error.to_string()).into_owned();
                let code = match &error {
                    StartError::NeedsLogin(_) => "needs-login",
                    StartError::SessionLost(_) => "session-lost",
                    StartError::Temporary(_) => "temporary",
                    StartError::Permanent(_) | StartError::NotConformant(_) => "permanent",
                };
                let agent_session = self.machine.agent_session_id().unwrap_or_default();
                tracing::warn!(
                    session = %self.id, agent_session, code, error = %message, "the agent could not be started"
                );
                self.drive(Input::OpenFailed(error)).await;
            }
        }
    }

    /// The connection is lost.
    pub(super) async fn lose(&mut self, reason: String) {
        tracing::warn!(session = %self.id, reason = %redact(&reason), "the agent is gone");
        self.drive(Input::Lost(reason)).await;
    }

    /// Sends a command to the agent. Returns whether it took it: one that does not keep up with a handful of commands
    /// is treated as lost; one that closed its channel reports that itself.
    pub(super) fn send(&mut self, command: AgentCommand) -> bool {
        use tokio::sync::mpsc::error::TrySendError;
        let Link::Live(connection) = &self.link else { return true };
        !matches!(connection.commands.try_send(command), Err(TrySendError::Full(_)))
    }

    /// Closes the link, if there is one, and waits a bounded time for the agent to exit.
    pub(super) async fn disconnect(&mut self, how: Disconnect) {
        // Its events must not be numbered after what is written now.
        self.backlog.take();
        self.buffer.clear();
        self.probe = None;
        self.unsent.clear();
        if let Link::Live(connection) = std::mem::replace(&mut self.link, Link::None) {
            end_program(connection.liveness().cloned(), how).await;
            if tokio::time::timeout(CLOSE_GRACE, connection.close()).await.is_err() {
                tracing::warn!(session = %self.id, "the agent did not exit in time");
            }
        }
        (self.turn_slot, self.slot_request) = (None, None);
    }

    pub(super) async fn send_committed(&mut self) {
        let committed = self.journal.committed();
        while self.unsent.front().is_some_and(|(after, _)| *after <= committed) {
            let Some((_, command)) = self.unsent.pop_front() else { return };
            if !self.send(command) {
                return self.lose("the agent stopped accepting commands".to_owned()).await;
            }
        }
    }
}

/// Ends the program of an agent that is hung, or gives up on it.
async fn end_program(liveness: Option<Arc<dyn Liveness>>, how: Disconnect) {
    let Some(liveness) = liveness else { return };
    match how {
        Disconnect::Politely => {}
        Disconnect::Hung => liveness.cut_off().await,
        Disconnect::Unresponsive => {
            if !liveness.probe(RESPONDS_WITHIN).await {
                liveness.abandon().await;
            }
        }
    }
}

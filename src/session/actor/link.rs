//! The connection to the agent: queueing for a process, starting, ending.

use std::sync::Arc;

use tokio::time::Duration;

use super::{Actor, Input, Place, Served};
use crate::agent::{
    AgentCommand, AgentEvent, BoxFuture, Connection, ProcessUse, Pulse, StartError, StartSpec, SuspendedTurn,
    agent_environment,
};
use crate::model::redact;
use crate::session::machine::{Disconnect, Opened};

/// How long an agent may take to go away before it is left to itself.
const CLOSE_GRACE: Duration = Duration::from_secs(5);
/// How long an agent that did not stop its turn may take to respond.
const RESPONDS_WITHIN: Duration = Duration::from_secs(2);

pub(super) enum Link {
    None,
    /// In the queue for a process.
    Queued(Place, Box<Wanted>),
    Starting(BoxFuture<'static, Result<Connection, StartError>>),
    Live(Box<Connection>),
    AwaitingLogin,
}

/// What the machine asked for.
pub(super) struct Wanted {
    agent_session_id: Option<String>,
    suspended: Option<SuspendedTurn>,
}

pub(super) enum LinkNews {
    /// In the buffer.
    Events,
    Served(Served),
    Started(Result<Connection, StartError>),
    /// The agent's side ended without saying so.
    Ended,
}

/// What the link does next. May be dropped at any point without losing anything.
pub(super) async fn next(link: &mut Link, buffer: &mut Vec<AgentEvent>, limit: usize) -> LinkNews {
    match link {
        Link::None | Link::AwaitingLogin => std::future::pending().await,
        Link::Queued(place, _) => LinkNews::Served(place.served().await),
        Link::Starting(start) => LinkNews::Started(start.await),
        Link::Live(connection) => match connection.events.recv_many(buffer, limit).await {
            0 => LinkNews::Ended,
            _ => LinkNews::Events,
        },
    }
}

/// What happens in a queue; nothing for somebody who is not in one.
pub(super) async fn served(place: &mut Option<Place>) -> Served {
    match place {
        Some(place) => place.served().await,
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
        let wanted = Box::new(Wanted { agent_session_id, suspended });
        let runtime = self.around.runtimes.named(&self.machine.profile().runtime);
        let needs_process = runtime.is_ok_and(|runtime| runtime.capabilities().processes == ProcessUse::PerSession);
        if needs_process && self.slot.is_none() {
            self.link = Link::Queued(self.around.slots.join(), wanted);
        } else {
            self.start(*wanted);
        }
    }

    /// The session may have a process.
    pub(super) fn start_agent(&mut self) {
        if let Link::Queued(_, wanted) = std::mem::replace(&mut self.link, Link::None) {
            self.start(*wanted);
        }
    }

    fn start(&mut self, wanted: Wanted) {
        let fails = |problem: String| {
            let error = StartError::Permanent(problem);
            Link::Starting(Box::pin(async { Err(error) }))
        };
        let runtime = match self.around.runtimes.named(&self.machine.profile().runtime) {
            Ok(runtime) => runtime,
            Err(error) => return self.link = fails(error.to_string()),
        };
        if let Err(problem) = self.take_lease(wanted.agent_session_id.as_deref()) {
            return self.link = fails(problem);
        }
        let profile = self.machine.profile();
        let settings = &self.around.settings;
        let spec = StartSpec {
            session: self.id,
            model: profile.model.clone(),
            effort: profile.effort.clone(),
            working_directory: profile.working_directory.clone(),
            system_prompt: profile.system_prompt.clone(),
            options: profile.options.clone(),
            environment: agent_environment(std::env::vars(), &settings.agent_environment),
            permissions: self.machine.policy(&settings.permissions),
            agent_session_id: wanted.agent_session_id,
            suspended: wanted.suspended,
        };
        // Listened for from before the start, so that no login in between is missed.
        self.login_news = Some(runtime.credentials_changed());
        self.link = Link::Starting(Box::pin(async move { runtime.start(spec).await }));
    }

    pub(super) async fn on_started(&mut self, outcome: Result<Connection, StartError>) {
        let outcome = match outcome {
            Ok(connection) => match self.take_lease(connection.agent_session_id.as_deref()) {
                Ok(()) => Ok(connection),
                Err(problem) => {
                    self.link = Link::Live(Box::new(connection));
                    self.disconnect(Disconnect::Politely).await;
                    Err(StartError::Permanent(problem))
                }
            },
            Err(error) => Err(error),
        };
        match outcome {
            Ok(connection) => {
                let last_sent = match self.machine.needs_recap() {
                    Some(number) => self.around.store.prompt(self.id, number).await.ok().flatten(),
                    None => None,
                };
                let opened = Opened {
                    agent_session_id: connection.agent_session_id.clone(),
                    restored: connection.restored,
                    can_probe: connection.pulse().is_some(),
                    last_sent,
                };
                self.link = Link::Live(Box::new(connection));
                self.drive(Input::Opened(opened)).await;
            }
            Err(error) => {
                (self.link, self.slot) = (Link::None, None);
                let message = redact(&error.to_string()).into_owned();
                let code = match &error {
                    StartError::NeedsLogin(_) => "needs-login",
                    StartError::SessionLost(_) => "session-lost",
                    StartError::Temporary(_) => "temporary",
                    StartError::Permanent(_) => "permanent",
                };
                let agent_session = self.machine.agent_session_id().unwrap_or_default();
                tracing::warn!(
                    session = %self.id, agent_session, code, error = %message, "the agent could not be started"
                );
                if matches!(error, StartError::SessionLost(_)) {
                    self.lease = None;
                }
                self.drive(Input::OpenFailed(error)).await;
            }
        }
    }

    /// The right to drive the agent's own session, which another session of ours may have; says who, if so.
    fn take_lease(&mut self, agent_session: Option<&str>) -> Result<(), String> {
        let Some(agent_session) = agent_session else { return Ok(()) };
        let name = &self.machine.profile().runtime;
        let runtime = self.around.runtimes.named(name).ok();
        let family = runtime.as_ref().map_or(name.as_str(), |runtime| runtime.family());
        if self.lease.as_ref().is_some_and(|lease| lease.is_of(family, agent_session)) {
            return Ok(());
        }
        match self.around.leases.take(family, agent_session, self.id) {
            Ok(lease) => {
                self.lease = Some(lease);
                Ok(())
            }
            Err(other) => {
                Err(format!("{other} already uses the agent's session {agent_session}; close it there first"))
            }
        }
    }

    /// The connection is of no more use.
    pub(super) async fn lose(&mut self, reason: String) {
        tracing::warn!(session = %self.id, reason = %redact(&reason), "the agent is gone");
        self.drive(Input::Lost(reason)).await;
    }

    /// Sends a command to the agent. Returns whether it took it: one that does not keep up with a handful of commands is
    /// as good as gone; one that closed its channel says so itself.
    pub(super) fn send(&mut self, command: AgentCommand) -> bool {
        use tokio::sync::mpsc::error::TrySendError;
        let Link::Live(connection) = &self.link else { return true };
        !matches!(connection.commands.try_send(command), Err(TrySendError::Full(_)))
    }

    /// Ends the link, if there is one, and waits a bounded time for the agent to go away.
    pub(super) async fn disconnect(&mut self, how: Disconnect) {
        // Nothing that it said may be numbered after what is written now.
        self.held.take();
        self.buffer.clear();
        self.probe = None;
        self.unsent.clear();
        if let Link::Live(connection) = std::mem::replace(&mut self.link, Link::None) {
            end_program(connection.pulse().cloned(), how).await;
            if tokio::time::timeout(CLOSE_GRACE, connection.close()).await.is_err() {
                tracing::warn!(session = %self.id, "the agent did not go away in time");
            }
        }
        // Only now may somebody else drive the agent's session, or have its process.
        self.lease = None;
        (self.slot, self.turn_place) = (None, None);
    }

    pub(super) async fn send_committed(&mut self) {
        let committed = self.journal.committed();
        while self.unsent.front().is_some_and(|(after, _)| *after <= committed) {
            let Some((_, command)) = self.unsent.pop_front() else { return };
            if !self.send(command) {
                return self.lose("the agent took no more commands".to_owned()).await;
            }
        }
    }
}

/// Ends the program of an agent that is hung, or gives up on it.
async fn end_program(pulse: Option<Arc<dyn Pulse>>, how: Disconnect) {
    let Some(pulse) = pulse else { return };
    match how {
        Disconnect::Politely => {}
        Disconnect::Hung => pulse.cut_off().await,
        Disconnect::Unresponsive => {
            if !pulse.feel(RESPONDS_WITHIN).await {
                pulse.abandon().await;
            }
        }
    }
}

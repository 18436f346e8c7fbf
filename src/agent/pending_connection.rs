//! A connection that is being opened: it waits for a process slot, leases the agent's session and starts the runtime.

use std::sync::Arc;

use super::process_slots::{ProcessSlot, ProcessSlots, QueuePosition, SlotRequest, SlotStep};
use super::session_leases::{SessionLease, SessionLeases};
use super::{BoxFuture, Connection, Owner, ProcessUse, Runtime, StartError, StartSpec};

/// The next step of an opening connection.
pub enum OpeningStep {
    /// It waits for a process slot; its position changed.
    Queued(QueuePosition),
    /// It is open, or it failed. Nothing follows.
    Done(Result<Box<Connection>, StartError>),
}

/// A connection that is being opened. Dropping it leaves the queue, or gives up on the agent's start.
pub struct PendingConnection {
    stage: Stage,
}

enum Stage {
    Queued(SlotRequest, Box<Start>),
    Starting(BoxFuture<'static, Result<Connection, StartError>>),
    Finished,
}

/// Everything that the start needs once there is a slot.
pub(super) struct Start {
    pub runtime: Arc<dyn Runtime>,
    pub spec: StartSpec,
    pub slots: ProcessSlots,
    pub leases: SessionLeases,
}

impl PendingConnection {
    pub(super) fn new(start: Start) -> Self {
        let stage = match start.runtime.capabilities().processes {
            ProcessUse::PerSession => Stage::Queued(start.slots.request(), Box::new(start)),
            ProcessUse::None | ProcessUse::Shared | ProcessUse::PerTurn => Stage::Starting(Box::pin(start.run(None))),
        };
        Self { stage }
    }

    /// One that fails immediately.
    pub(super) fn failed(error: StartError) -> Self {
        Self { stage: Stage::Starting(Box::pin(async { Err(error) })) }
    }

    /// The next step. Cancel-safe. Pending forever after [`OpeningStep::Done`].
    pub async fn next(&mut self) -> OpeningStep {
        loop {
            match &mut self.stage {
                Stage::Queued(request, _) => match request.next().await {
                    SlotStep::Queued(position) => return OpeningStep::Queued(position),
                    SlotStep::Granted(slot) => {
                        if let Stage::Queued(_, start) = std::mem::replace(&mut self.stage, Stage::Finished) {
                            self.stage = Stage::Starting(Box::pin(start.run(Some(slot))));
                        }
                    }
                },
                Stage::Starting(start) => {
                    let outcome = start.await;
                    self.stage = Stage::Finished;
                    return OpeningStep::Done(outcome.map(Box::new));
                }
                Stage::Finished => std::future::pending().await,
            }
        }
    }

    /// The connection, for callers that do not show a position in the queue.
    pub async fn finish(mut self) -> Result<Box<Connection>, StartError> {
        loop {
            if let OpeningStep::Done(outcome) = self.next().await {
                return outcome;
            }
        }
    }

    /// The spec of the agent, while it can still be changed (in the queue).
    pub fn spec_mut(&mut self) -> Option<&mut StartSpec> {
        match &mut self.stage {
            Stage::Queued(_, start) => Some(&mut start.spec),
            Stage::Starting(_) | Stage::Finished => None,
        }
    }
}

impl Start {
    async fn run(self, slot: Option<ProcessSlot>) -> Result<Connection, StartError> {
        let Self { runtime, spec, slots, leases } = self;
        let owner = spec.owner;
        if spec.tools.is_some() && !runtime.capabilities().custom_tools {
            return Err(StartError::Permanent(format!(
                "runtime {} cannot be given tools; only runtimes with the capability customTools can",
                runtime.name()
            )));
        }
        let lease = match &spec.agent_session_id {
            Some(id) => Some(lease(&leases, runtime.as_ref(), id, owner)?),
            None => None,
        };
        let connection = runtime.start(spec).await?;
        let lease = match &connection.agent_session_id {
            Some(id) if !lease.as_ref().is_some_and(|lease| lease.is_of(id)) => {
                match self::lease(&leases, runtime.as_ref(), id, owner) {
                    Ok(lease) => Some(lease),
                    Err(error) => {
                        connection.close().await;
                        return Err(error);
                    }
                }
            }
            _ => lease,
        };
        let turn_slots = (runtime.capabilities().processes == ProcessUse::PerTurn).then_some(slots);
        Ok(connection.holding(Held { slot, lease, turn_slots }))
    }
}

fn lease(leases: &SessionLeases, runtime: &dyn Runtime, id: &str, owner: Owner) -> Result<SessionLease, StartError> {
    leases.take(runtime.family(), id, owner).map_err(|holder| {
        StartError::Permanent(format!("{holder} is already using the agent's session {id}; close it there first"))
    })
}

/// What an open connection holds until it is closed.
#[derive(Debug, Default)]
pub(super) struct Held {
    /// Its process slot, if the runtime starts one process per connection.
    pub slot: Option<ProcessSlot>,
    /// The lease of the agent's session.
    #[expect(dead_code, reason = "kept to be dropped with the connection")]
    pub lease: Option<SessionLease>,
    /// The slots to request one from, if the runtime starts one process per turn.
    pub turn_slots: Option<ProcessSlots>,
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::task::Poll;

    use futures_util::poll;
    use tokio::sync::mpsc;
    use tokio_util::sync::CancellationToken;

    use super::*;
    use crate::agent::{Capabilities, Freshness, ModelList, Readiness, Runtimes};
    use crate::model::SessionId;

    /// An agent that opens immediately, with the requested session or `fresh`.
    struct Prompt {
        capabilities: Capabilities,
    }

    impl Runtime for Prompt {
        fn name(&self) -> &'static str {
            "prompt"
        }
        fn capabilities(&self) -> &Capabilities {
            &self.capabilities
        }
        fn readiness(&self) -> BoxFuture<'_, Readiness> {
            Box::pin(async { Readiness::ready("") })
        }
        fn models(&self, _: Freshness) -> BoxFuture<'_, ModelList> {
            Box::pin(async { ModelList::default() })
        }
        fn start(&self, spec: StartSpec) -> BoxFuture<'_, Result<Connection, StartError>> {
            Box::pin(async move {
                let (commands, _) = mpsc::channel(1);
                let (_, events) = mpsc::channel(1);
                let id = spec.agent_session_id.unwrap_or_else(|| spec.model.clone());
                let task = tokio::spawn(async {});
                Ok(Connection::new(commands, events, Some(id), task, CancellationToken::new()))
            })
        }
    }

    fn runtimes(processes: ProcessUse, limit: usize) -> Runtimes {
        let capabilities = Capabilities { processes, ..Capabilities::default() };
        let runtimes = Runtimes::new(vec![Arc::new(Prompt { capabilities }) as Arc<dyn Runtime>]);
        runtimes.limit_processes(limit);
        runtimes
    }

    /// A spec whose new session of the agent is called `name`.
    fn spec(owner: Owner, name: &str) -> StartSpec {
        StartSpec { owner, model: name.to_owned(), ..StartSpec::in_folder(Owner::Canary, Path::new("/")) }
    }

    fn session(number: u32) -> Owner {
        Owner::Session(SessionId::from_number(number))
    }

    async fn queued(pending: &mut PendingConnection) -> Option<String> {
        match poll!(Box::pin(pending.next())) {
            Poll::Ready(OpeningStep::Queued(position)) => Some(position.to_string()),
            Poll::Ready(OpeningStep::Done(_)) | Poll::Pending => None,
        }
    }

    #[tokio::test]
    async fn a_connection_holds_its_process_slot_until_it_is_closed() {
        let runtimes = runtimes(ProcessUse::PerSession, 1);
        let first = runtimes.open("prompt", spec(session(1), "a")).finish().await.expect("opened");
        assert!(first.holds_process());
        let mut second = runtimes.open("prompt", spec(Owner::Capture, "b"));
        let position = queued(&mut second).await.expect("in the queue");
        assert!(position.contains("one of 1 agent processes") && position.contains("position 1"), "{position}");
        assert!(queued(&mut second).await.is_none(), "a position is reported once");
        runtimes.process_wanted().await;
        first.close().await;
        assert!(second.finish().await.is_ok());
        assert_eq!(runtimes.process_figures(), (0, 0));
    }

    #[tokio::test]
    async fn whoever_gives_up_opening_leaves_the_queue() {
        let runtimes = runtimes(ProcessUse::PerSession, 1);
        let _first = runtimes.open("prompt", spec(session(1), "a")).finish().await.expect("opened");
        let mut second = runtimes.open("prompt", spec(session(2), "b"));
        assert!(queued(&mut second).await.is_some());
        assert_eq!(runtimes.process_figures(), (1, 1));
        drop(second);
        assert_eq!(runtimes.process_figures(), (1, 0));
    }

    #[tokio::test]
    async fn what_changes_in_the_queue_is_what_the_agent_starts_with() {
        let runtimes = runtimes(ProcessUse::PerSession, 1);
        let first = runtimes.open("prompt", spec(session(1), "a")).finish().await.expect("opened");
        let mut second = runtimes.open("prompt", spec(session(2), "b"));
        second.spec_mut().expect("in the queue").model = "changed".to_owned();
        first.close().await;
        let opened = second.finish().await.expect("opened");
        assert_eq!(opened.agent_session_id.as_deref(), Some("changed"));
    }

    #[tokio::test]
    async fn an_agents_session_has_one_connection_at_a_time_whoever_opens_it() {
        let runtimes = runtimes(ProcessUse::Shared, 0);
        let known = |owner| StartSpec { agent_session_id: Some("s".to_owned()), ..spec(owner, "") };
        let first = runtimes.open("prompt", known(session(7))).finish().await.expect("opened");
        let error = runtimes.open("prompt", known(Owner::Capture)).finish().await.err().expect("taken");
        assert!(error.to_string().contains("session-7") && error.to_string().contains("close it"), "{error}");
        // A new session of the agent is leased when its id is known.
        let second = runtimes.open("prompt", spec(session(8), "new")).finish().await.expect("opened");
        assert!(runtimes.open("prompt", spec(session(9), "new")).finish().await.is_err());
        first.close().await;
        drop(second);
        assert!(runtimes.open("prompt", known(Owner::Capture)).finish().await.is_ok());
        assert!(runtimes.open("prompt", spec(session(9), "new")).finish().await.is_ok());
    }

    #[tokio::test]
    async fn a_turns_process_is_asked_of_the_connection() {
        let runtimes = runtimes(ProcessUse::PerTurn, 1);
        let one = runtimes.open("prompt", spec(session(1), "a")).finish().await.expect("opened");
        let two = runtimes.open("prompt", spec(session(2), "b")).finish().await.expect("opened");
        assert!(!one.holds_process());
        let mut request = one.request_turn_slot().expect("a turn needs one");
        let SlotStep::Granted(slot) = request.next().await else { panic!("not granted") };
        let mut waiting = two.request_turn_slot().expect("a turn needs one");
        assert!(matches!(waiting.next().await, SlotStep::Queued(_)));
        drop(slot);
        assert!(matches!(waiting.next().await, SlotStep::Granted(_)));
        let shared = self::runtimes(ProcessUse::Shared, 1);
        let open = shared.open("prompt", spec(session(1), "a")).finish().await.expect("opened");
        assert!(open.request_turn_slot().is_none());
    }

    #[tokio::test]
    async fn an_unknown_runtime_is_an_error_that_names_those_there_are() {
        let error = runtimes(ProcessUse::None, 0).open("promt", spec(Owner::Job, "")).finish().await.err();
        assert!(error.is_some_and(|error| error.to_string().contains("prompt")));
    }
}

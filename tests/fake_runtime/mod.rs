//! The one fake runtime of tests and benchmarks: an agent inside the process that does what a closure says. For behaviour
//! that needs a clock or a moment of the test's own; everything else is tested on real programs.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use flightdeck::agent::{
    AgentCommand, AgentEvent, BoxFuture, Capabilities, Connection, Freshness, Liveness, Model, ModelList, Owner,
    Readiness, Runtime, StartError, StartSpec,
};

use tokio::sync::{mpsc, watch};
use tokio_util::sync::CancellationToken;

/// Commands or events that may wait in a connection.
pub const QUEUE: usize = 64;

/// The agent's end of a connection.
pub struct AgentSide {
    /// What the agent is asked to do.
    pub commands: mpsc::Receiver<AgentCommand>,
    /// What it reports.
    pub events: mpsc::Sender<AgentEvent>,
}

type Behaviour = Box<dyn Fn(AgentSide) -> BoxFuture<'static, ()> + Send + Sync>;

/// A runtime whose agent behaves as the test says.
pub struct FakeRuntime {
    name: &'static str,
    behaviour: Behaviour,
    /// What the runtime says it can do.
    pub capabilities: Capabilities,
    /// `None` for an agent that cannot be probed.
    pub liveness: Option<Arc<dyn Liveness>>,
    /// The version of its program. One that has a version can be asked to use a model at an address, as the canary does.
    pub version: Option<String>,
    /// The agent's own id for the session.
    pub agent_session_id: Option<String>,
    logins: watch::Sender<u32>,
    starts: AtomicUsize,
}

impl FakeRuntime {
    /// A runtime of that name. Each connection runs the behaviour from the start.
    pub fn new<F>(name: &'static str, behaviour: impl Fn(AgentSide) -> F + Send + Sync + 'static) -> Self
    where
        F: Future<Output = ()> + Send + 'static,
    {
        Self {
            name,
            behaviour: Box::new(move |side| Box::pin(behaviour(side))),
            capabilities: Capabilities::default(),
            liveness: None,
            version: None,
            agent_session_id: None,
            logins: watch::Sender::new(0),
            starts: AtomicUsize::new(0),
        }
    }

    /// The number of connections that were opened.
    pub fn starts(&self) -> usize {
        self.starts.load(Ordering::SeqCst)
    }

    /// Somebody logs in.
    pub fn log_in(&self) {
        self.logins.send_modify(|logins| *logins += 1);
    }
}

impl Runtime for FakeRuntime {
    fn name(&self) -> &str {
        self.name
    }

    fn capabilities(&self) -> &Capabilities {
        &self.capabilities
    }

    fn readiness(&self) -> BoxFuture<'_, Readiness> {
        Box::pin(async { Readiness::ready("") })
    }

    fn models(&self, _: Freshness) -> BoxFuture<'_, ModelList> {
        let model = Model::named("m", "m");
        Box::pin(async { ModelList::known(vec![model]) })
    }

    fn credentials_changed(&self) -> BoxFuture<'static, ()> {
        let mut logins = self.logins.subscribe();
        Box::pin(async move { logins.changed().await.expect("the runtime lives as long") })
    }

    fn version(&self) -> BoxFuture<'_, Option<String>> {
        Box::pin(async { self.version.clone() })
    }

    fn spec_for_model_at(&self, _: &str, folder: &Path) -> Option<StartSpec> {
        self.version.as_ref()?;
        Some(StartSpec::in_folder(Owner::Canary, folder))
    }

    fn start(&self, _: StartSpec) -> BoxFuture<'_, Result<Connection, StartError>> {
        self.starts.fetch_add(1, Ordering::SeqCst);
        let (sender, commands) = mpsc::channel(QUEUE);
        let (events, receiver) = mpsc::channel(QUEUE);
        let cancelled = CancellationToken::new();
        let (until, agent) = (cancelled.clone(), (self.behaviour)(AgentSide { commands, events }));
        let task = tokio::spawn(async move {
            let _: Option<()> = until.run_until_cancelled(agent).await;
        });
        let connection = Connection::new(sender, receiver, self.agent_session_id.clone(), task, cancelled);
        let connection = match &self.liveness {
            Some(liveness) => connection.with_liveness(Arc::clone(liveness)),
            None => connection,
        };
        Box::pin(async move { Ok(connection) })
    }
}

//! A session whose agent says what the test says, and shows the test what it was asked to do.

use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use flightdeck::agent::{AgentCommand, AgentEvent, Capabilities, Liveness, Runtime, Runtimes};
use flightdeck::session::{NewPrompt, NewSession, Session, SessionSettings, SessionUpdate, Sessions, SessionsParts};
use flightdeck::store::{DataFolder, Store, StoreSettings};
use serde_json::Value;
use tempfile::TempDir;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use crate::fake_runtime::{AgentSide, FakeRuntime};

/// A runtime with one agent at a time, whose strings the test holds.
pub struct Puppet {
    runtime: Arc<FakeRuntime>,
    voice: Arc<Mutex<Option<mpsc::Sender<AgentEvent>>>>,
    told: tokio::sync::Mutex<mpsc::UnboundedReceiver<AgentCommand>>,
}

impl Puppet {
    pub fn new(capabilities: Capabilities, liveness: Option<Arc<dyn Liveness>>) -> Arc<Self> {
        Self::with_session(capabilities, liveness, Some("puppet-session".to_owned()))
    }

    /// A puppet that gives its sessions this id, or none.
    pub fn with_session(
        capabilities: Capabilities,
        liveness: Option<Arc<dyn Liveness>>,
        agent_session_id: Option<String>,
    ) -> Arc<Self> {
        let (sender, told) = mpsc::unbounded_channel();
        let voice = Arc::new(Mutex::new(None));
        let of_connection = Arc::clone(&voice);
        let behaviour = move |AgentSide { mut commands, events }: AgentSide| {
            *of_connection.lock().expect("not poisoned") = Some(events);
            let sender = sender.clone();
            async move {
                while let Some(command) = commands.recv().await {
                    // A test that does not look at commands is no reason to stop.
                    let _ = sender.send(command);
                }
            }
        };
        let mut runtime = FakeRuntime::new("puppet", behaviour);
        (runtime.capabilities, runtime.liveness, runtime.agent_session_id) = (capabilities, liveness, agent_session_id);
        Arc::new(Self { runtime: Arc::new(runtime), voice, told: tokio::sync::Mutex::new(told) })
    }

    /// The runtime, to put into a registry.
    pub fn runtime(&self) -> Arc<dyn Runtime> {
        Arc::clone(&self.runtime) as Arc<dyn Runtime>
    }

    /// The agent's end of the latest connection.
    pub fn voice(&self) -> Option<mpsc::Sender<AgentEvent>> {
        self.voice.lock().expect("not poisoned").clone()
    }

    /// Connections that were opened.
    pub fn starts(&self) -> usize {
        self.runtime.starts()
    }

    /// Somebody logs in.
    pub fn log_in(&self) {
        self.runtime.log_in();
    }

    /// Whether nobody listens to the agent any more.
    pub fn is_let_go(&self) -> bool {
        self.voice().is_some_and(|voice| voice.is_closed())
    }

    /// Whether it was told something that the test has not looked at.
    pub fn has_been_told(&self) -> bool {
        self.told.try_lock().is_ok_and(|told| !told.is_empty())
    }

    /// Waits for the next thing that the agent is told.
    pub async fn told(&self) -> AgentCommand {
        self.told.lock().await.recv().await.expect("the sender lives as long")
    }

    /// Waits for a prompt and gives its text; everything else is out of place.
    pub async fn prompted(&self) -> String {
        match self.told().await {
            AgentCommand::Prompt { text, .. } => text,
            other => panic!("{other:?}"),
        }
    }
}

/// A session of a puppet.
pub struct PuppetSession {
    folder: TempDir,
    pub sessions: Sessions,
    pub session: Arc<Session>,
    pub puppet: Arc<Puppet>,
}

impl PuppetSession {
    pub async fn new(puppet: Arc<Puppet>, settings: SessionSettings) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let data = DataFolder::lock(folder.path()).expect("locked");
        let store = Store::open(&data, StoreSettings::default()).expect("opened");
        let sessions = Sessions::new(SessionsParts {
            store,
            runtimes: Runtimes::new(vec![puppet.runtime()]),
            settings,
            stopping: CancellationToken::new(),
        });
        let session = sessions.create(NewSession::default()).await.expect("created");
        let it = Self { folder, sessions, session, puppet };
        it.until(|_| it.puppet.voice().is_some()).await;
        it
    }

    /// The data folder.
    pub fn data(&self) -> &Path {
        self.folder.path()
    }

    pub async fn prompt(&self, text: &str) {
        self.prompt_with(NewPrompt { text: text.to_owned(), ..NewPrompt::default() }).await;
    }

    pub async fn prompt_with(&self, prompt: NewPrompt) {
        self.session.prompt(prompt).await.expect("accepted");
    }

    /// The agent speaks.
    pub async fn say(&self, event: AgentEvent) {
        self.puppet.voice().expect("connected").send(event).await.expect("heard");
    }

    pub async fn log(&self) -> Vec<Value> {
        let (mut responses, mut after) = (Vec::new(), 0);
        loop {
            let events = self.session.log().read_after(after, 1_000, 1 << 20).await.expect("read");
            let Some(last) = events.last() else { return responses };
            after = last.seq;
            responses.extend(events.iter().map(|event| serde_json::from_slice::<Value>(&event.body).expect("JSON")));
            responses.iter().for_each(super::assert_notice_is_known);
        }
    }

    /// The messages of all notices of a kind.
    pub async fn notices(&self, kind: &str) -> Vec<String> {
        let log = self.log().await;
        let of_kind = log.iter().filter(|response| response["kind"] == kind);
        of_kind.map(|response| response["message"].as_str().expect("text").to_owned()).collect()
    }

    /// Lets time pass until the log says so.
    pub async fn until(&self, condition: impl Fn(&[Value]) -> bool) {
        while !condition(&self.log().await) {
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    }

    pub async fn until_notices(&self, kind: &str, count: usize) {
        self.until(|log| log.iter().filter(|response| response["kind"] == kind).count() == count).await;
    }

    /// An answer of the actor: what came before it is done.
    pub async fn settled(&self) {
        self.session.update(SessionUpdate::default()).await.expect("done");
    }

    pub async fn end(self) {
        self.sessions.shut_down().await;
        self.sessions.store().close().await;
    }
}

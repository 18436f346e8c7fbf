//! A session whose agent says what the test says, and tells the test what it was told. For behaviour that needs a clock
//! or a moment of the test's own; everything else is tested on real programs.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use flightdeck::agent::{
    AgentCommand, AgentEvent, BoxFuture, Capabilities, Connection, Freshness, Liveness, Model, ModelList, Readiness,
    Runtime, Runtimes, StartError, StartSpec,
};
use flightdeck::session::{NewPrompt, NewSession, Session, SessionSettings, SessionUpdate, Sessions, SessionsParts};
use flightdeck::store::{DataFolder, Store, StoreSettings};
use serde_json::Value;
use tempfile::TempDir;
use tokio::sync::{mpsc, watch};
use tokio_util::sync::CancellationToken;

/// A runtime with one agent at a time.
pub struct Puppet {
    capabilities: Capabilities,
    /// `None` for an agent that nobody can look at.
    liveness: Option<Arc<dyn Liveness>>,
    voice: Mutex<Option<mpsc::Sender<AgentEvent>>>,
    told: (mpsc::UnboundedSender<AgentCommand>, tokio::sync::Mutex<mpsc::UnboundedReceiver<AgentCommand>>),
    logins: watch::Sender<u32>,
    starts: AtomicUsize,
}

impl Puppet {
    pub fn new(capabilities: Capabilities, liveness: Option<Arc<dyn Liveness>>) -> Arc<Self> {
        let (sender, receiver) = mpsc::unbounded_channel();
        Arc::new(Self {
            capabilities,
            liveness,
            voice: Mutex::new(None),
            told: (sender, tokio::sync::Mutex::new(receiver)),
            logins: watch::Sender::new(0),
            starts: AtomicUsize::new(0),
        })
    }

    /// Connections that were opened.
    pub fn starts(&self) -> usize {
        self.starts.load(Ordering::SeqCst)
    }

    /// Somebody logs in.
    pub fn log_in(&self) {
        self.logins.send_modify(|logins| *logins += 1);
    }

    /// Whether nobody listens to the agent any more.
    pub fn is_let_go(&self) -> bool {
        self.voice.lock().expect("not poisoned").as_ref().is_some_and(mpsc::Sender::is_closed)
    }

    /// Whether it was told something that the test has not looked at.
    pub fn has_been_told(&self) -> bool {
        self.told.1.try_lock().is_ok_and(|told| !told.is_empty())
    }

    /// Waits for the next thing that the agent is told.
    pub async fn told(&self) -> AgentCommand {
        self.told.1.lock().await.recv().await.expect("the sender lives as long")
    }

    /// Waits for a prompt and gives its text; everything else is out of place.
    pub async fn prompted(&self) -> String {
        match self.told().await {
            AgentCommand::Prompt { text, .. } => text,
            other => panic!("{other:?}"),
        }
    }
}

impl Runtime for Puppet {
    fn name(&self) -> &'static str {
        "puppet"
    }
    fn capabilities(&self) -> &Capabilities {
        &self.capabilities
    }
    fn readiness(&self) -> BoxFuture<'_, Readiness> {
        Box::pin(async { Readiness::ready("") })
    }
    fn models(&self, _: Freshness) -> BoxFuture<'_, ModelList> {
        let model = Model { name: "m".to_owned(), id: "m".to_owned(), multiplier: 1.0, hidden: false };
        Box::pin(async { ModelList::known(vec![model]) })
    }
    fn credentials_changed(&self) -> BoxFuture<'static, ()> {
        let mut logins = self.logins.subscribe();
        Box::pin(async move { logins.changed().await.expect("the runtime lives as long") })
    }
    fn start(&self, _: StartSpec) -> BoxFuture<'_, Result<Connection, StartError>> {
        let (voice, events) = mpsc::channel(64);
        let (commands, mut heard) = mpsc::channel::<AgentCommand>(64);
        *self.voice.lock().expect("not poisoned") = Some(voice);
        self.starts.fetch_add(1, Ordering::SeqCst);
        let (cancelled, told) = (CancellationToken::new(), self.told.0.clone());
        let until = cancelled.clone();
        let task = tokio::spawn(async move {
            let listening = async {
                while let Some(command) = heard.recv().await {
                    let _ = told.send(command);
                }
            };
            let _: Option<()> = until.run_until_cancelled(listening).await;
        });
        let connection = Connection::new(commands, events, Some("puppet-session".to_owned()), task, cancelled);
        let connection = match &self.liveness {
            Some(liveness) => connection.with_liveness(Arc::clone(liveness)),
            None => connection,
        };
        Box::pin(async move { Ok(connection) })
    }
}

/// A session of a puppet.
pub struct PuppetSession {
    _folder: TempDir,
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
            runtimes: Runtimes::new(vec![Arc::clone(&puppet) as Arc<dyn Runtime>]),
            settings,
            stopping: CancellationToken::new(),
        });
        let session = sessions.create(NewSession::default()).await.expect("created");
        let it = Self { _folder: folder, sessions, session, puppet };
        it.until(|_| it.puppet.voice.lock().expect("not poisoned").is_some()).await;
        it
    }

    pub async fn prompt(&self, text: &str) {
        self.prompt_with(NewPrompt { text: text.to_owned(), ..NewPrompt::default() }).await;
    }

    pub async fn prompt_with(&self, prompt: NewPrompt) {
        self.session.prompt(prompt).await.expect("accepted");
    }

    /// The agent speaks.
    pub async fn say(&self, event: AgentEvent) {
        let voice = self.puppet.voice.lock().expect("not poisoned").clone();
        voice.expect("connected").send(event).await.expect("heard");
    }

    pub async fn log(&self) -> Vec<Value> {
        let events = self.session.log().read_after(0, 1_000, 1 << 20).await.expect("read");
        events.iter().map(|event| serde_json::from_slice(&event.body).expect("JSON")).collect()
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

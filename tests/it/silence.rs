//! An agent that says nothing: looked at, told once, and never ended for silence alone. Time is the test's own here.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use flightdeck::agent::{
    AgentCommand, AgentEvent, BoxFuture, Capabilities, Connection, Freshness, Model, ModelList, Pulse, QuestionAnswer,
    Readiness, RequestAnswer, Runtime, Runtimes, StartError, StartSpec,
};
use flightdeck::model::{PromptVerdict, RequestBody};
use flightdeck::session::{NewPrompt, NewSession, RecoverySettings, Session, SessionSettings, Sessions, SessionsParts};
use flightdeck::store::{DataFolder, Store, StoreSettings};
use serde_json::Value;
use tempfile::TempDir;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

const LONG: Duration = Duration::from_hours(1);

/// What the test decides about the agent's life, and what was asked about it.
#[derive(Default)]
struct Life {
    lives: AtomicBool,
    looks: AtomicUsize,
    cut_offs: AtomicUsize,
}

impl Pulse for Life {
    fn feel(&self, within: Duration) -> BoxFuture<'_, bool> {
        Box::pin(async move {
            self.looks.fetch_add(1, Ordering::SeqCst);
            if !self.lives.load(Ordering::SeqCst) {
                tokio::time::sleep(within).await;
            }
            self.lives.load(Ordering::SeqCst)
        })
    }

    fn cut_off(&self) -> BoxFuture<'_, ()> {
        self.cut_offs.fetch_add(1, Ordering::SeqCst);
        Box::pin(async {})
    }
}

/// A runtime whose agent says what the test says.
struct Quiet {
    capabilities: Capabilities,
    /// `None` for an agent that nobody can look at.
    life: Option<Arc<Life>>,
    voice: Mutex<Option<mpsc::Sender<AgentEvent>>>,
    starts: AtomicUsize,
}

impl Runtime for Quiet {
    fn name(&self) -> &'static str {
        "quiet"
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
    fn start(&self, _: StartSpec) -> BoxFuture<'_, Result<Connection, StartError>> {
        let (voice, events) = mpsc::channel(64);
        let (commands, mut heard) = mpsc::channel::<AgentCommand>(64);
        *self.voice.lock().expect("not poisoned") = Some(voice);
        self.starts.fetch_add(1, Ordering::SeqCst);
        let cancelled = CancellationToken::new();
        let until = cancelled.clone();
        let task = tokio::spawn(async move {
            let _: Option<()> = until.run_until_cancelled(async { while heard.recv().await.is_some() {} }).await;
        });
        let connection = Connection::new(commands, events, None, task, cancelled);
        let connection = match &self.life {
            Some(life) => connection.with_pulse(Arc::clone(life) as Arc<dyn Pulse>),
            None => connection,
        };
        Box::pin(async move { Ok(connection) })
    }
}

/// A session in the middle of a turn.
struct InTurn {
    _folder: TempDir,
    sessions: Sessions,
    session: Arc<Session>,
    runtime: Arc<Quiet>,
    life: Arc<Life>,
}

impl InTurn {
    async fn begin(recovery: RecoverySettings, can_be_looked_at: bool) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let data = DataFolder::lock(folder.path()).expect("locked");
        let store = Store::open(&data, StoreSettings::default()).expect("opened");
        // Alive until the test says otherwise: time may pass while the session is made.
        let life = Arc::new(Life { lives: AtomicBool::new(true), ..Life::default() });
        let runtime = Arc::new(Quiet {
            capabilities: Capabilities::default(),
            life: can_be_looked_at.then(|| Arc::clone(&life)),
            voice: Mutex::new(None),
            starts: AtomicUsize::new(0),
        });
        let sessions = Sessions::new(SessionsParts {
            store,
            runtimes: Runtimes::new(vec![Arc::clone(&runtime) as Arc<dyn Runtime>]),
            settings: SessionSettings { recovery, unattended_timeout: 1_000 * LONG, ..SessionSettings::default() },
            stopping: CancellationToken::new(),
        });
        let session = sessions.create(NewSession::default()).await.expect("created");
        session.prompt(NewPrompt { text: "go".to_owned(), ..NewPrompt::default() }).await.expect("accepted");
        let turn = Self { _folder: folder, sessions, session, runtime, life };
        turn.until(|_| turn.runtime.voice.lock().expect("not poisoned").is_some()).await;
        turn
    }

    async fn say(&self, event: AgentEvent) {
        let voice = self.runtime.voice.lock().expect("not poisoned").clone();
        voice.expect("connected").send(event).await.expect("heard");
    }

    async fn log(&self) -> Vec<Value> {
        let events = self.session.log().read_after(0, 1_000, 1 << 20).await.expect("read");
        events.iter().map(|event| serde_json::from_slice(&event.body).expect("JSON")).collect()
    }

    async fn notices(&self) -> Vec<String> {
        let log = self.log().await;
        let hung = log.iter().filter(|response| response["kind"] == "hung");
        hung.map(|response| response["message"].as_str().expect("text").to_owned()).collect()
    }

    /// Lets time pass until the log says so.
    async fn until(&self, condition: impl Fn(&[Value]) -> bool) {
        while !condition(&self.log().await) {
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    }

    async fn until_notices(&self, count: usize) {
        self.until(|log| log.iter().filter(|response| response["kind"] == "hung").count() == count).await;
    }

    fn dies(&self) {
        self.life.lives.store(false, Ordering::SeqCst);
    }

    fn looks(&self) -> usize {
        self.life.looks.load(Ordering::SeqCst)
    }

    /// An hour passes, and whatever is due in it happens.
    async fn wait(&self) {
        tokio::time::sleep(LONG).await;
        // An answer of the actor: what came before it is done.
        self.session.update(flightdeck::session::SessionUpdate::default()).await.expect("done");
    }

    async fn end(self) {
        self.sessions.shut_down().await;
        self.sessions.store().close().await;
    }
}

#[tokio::test(start_paused = true)]
async fn no_sign_of_life_is_told_once_for_each_silence_and_ends_nothing() {
    let turn = InTurn::begin(RecoverySettings::default(), true).await;
    turn.dies();
    turn.until_notices(1).await;
    let message = turn.notices().await.remove(0);
    assert!(message.starts_with("No sign of life from the agent for 5 minutes: "), "{message}");
    turn.wait().await;
    assert_eq!(turn.notices().await.len(), 1, "once");
    turn.say(AgentEvent::TurnStarted { turn_id: "t".to_owned() }).await;
    turn.until_notices(2).await;
    turn.say(AgentEvent::Idle).await;
    assert_eq!(turn.session.outcome(1).await.expect("over").verdict, PromptVerdict::Succeeded);
    let looks = turn.looks();
    turn.wait().await;
    assert_eq!((turn.looks(), turn.notices().await.len()), (looks, 2), "without a turn nobody is waited for");
    assert_eq!(turn.life.cut_offs.load(Ordering::SeqCst), 0);
    assert_eq!(turn.runtime.starts.load(Ordering::SeqCst), 1);
    turn.end().await;
}

#[tokio::test(start_paused = true)]
async fn an_agent_that_lives_is_looked_at_again_and_again_and_nothing_is_said() {
    let turn = InTurn::begin(RecoverySettings { end_hung: true, ..RecoverySettings::default() }, true).await;
    turn.until(|_| turn.looks() >= 5).await;
    assert_eq!(turn.notices().await, Vec::<String>::new());
    assert_eq!(turn.life.cut_offs.load(Ordering::SeqCst), 0);
    turn.dies();
    turn.until_notices(1).await;
    turn.end().await;
}

#[tokio::test(start_paused = true)]
async fn whoever_waits_for_a_person_may_be_as_silent_as_it_likes() {
    let turn = InTurn::begin(RecoverySettings::default(), true).await;
    let body = RequestBody::question("Which?", None);
    turn.say(AgentEvent::RequestMade { agent_request_id: "q".to_owned(), body }).await;
    turn.until(|log| log.iter().any(|response| response["callback"] == "onQuestionAsked")).await;
    turn.dies();
    let looks = turn.looks();
    turn.wait().await;
    assert_eq!((turn.looks(), turn.notices().await), (looks, Vec::new()));
    let log = turn.log().await;
    let asked = log.iter().find(|response| response["callback"] == "onQuestionAsked").expect("one");
    let request = asked["requestId"].as_str().expect("an id");
    turn.session.answer(request, RequestAnswer::Question(QuestionAnswer::Nobody), "test").await.expect("answered");
    turn.until_notices(1).await;
    turn.end().await;
}

#[tokio::test(start_paused = true)]
async fn a_hung_agent_is_ended_and_started_anew_where_configured() {
    let turn = InTurn::begin(RecoverySettings { end_hung: true, ..RecoverySettings::default() }, true).await;
    turn.dies();
    assert_eq!(turn.session.outcome(1).await.expect("over").verdict, PromptVerdict::Failed);
    assert_eq!(turn.life.cut_offs.load(Ordering::SeqCst), 1);
    let log = turn.log().await;
    let error = log.iter().find_map(|response| response["sessionError"].as_str()).expect("one");
    assert!(error.contains("no sign of life for 5 minutes"), "{error}");
    turn.until(|_| turn.runtime.starts.load(Ordering::SeqCst) == 2).await;
    assert_eq!(turn.notices().await.len(), 1);
    turn.end().await;
}

#[tokio::test(start_paused = true)]
async fn where_nobody_can_look_or_nobody_wants_to_know_nothing_is_said() {
    let never = RecoverySettings { silence_notice: None, ..RecoverySettings::default() };
    for (recovery, can_be_looked_at) in [(RecoverySettings::default(), false), (never, true)] {
        let turn = InTurn::begin(RecoverySettings { end_hung: true, ..recovery }, can_be_looked_at).await;
        turn.dies();
        turn.wait().await;
        assert_eq!((turn.looks(), turn.notices().await), (0, Vec::new()));
        assert_eq!(turn.runtime.starts.load(Ordering::SeqCst), 1);
        turn.end().await;
    }
}

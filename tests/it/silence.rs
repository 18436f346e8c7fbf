//! An agent that says nothing: looked at, told once, and never ended for silence alone. Time is the test's own here.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use flightdeck::agent::{AgentEvent, BoxFuture, Capabilities, Liveness, QuestionAnswer, RequestAnswer};
use flightdeck::model::{Always, AnsweredBy, PromptId, PromptVerdict, RequestBody};
use flightdeck::session::{RecoverySettings, SessionSettings};

use crate::support::{Puppet, PuppetSession};

const LONG: Duration = Duration::from_hours(1);

/// What the test decides about the agent's life, and what was asked about it.
#[derive(Default)]
struct Life {
    lives: AtomicBool,
    looks: AtomicUsize,
    cut_offs: AtomicUsize,
}

impl Liveness for Life {
    fn probe(&self, within: Duration) -> BoxFuture<'_, bool> {
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

/// A session in the middle of a turn.
struct InTurn {
    it: PuppetSession,
    life: Arc<Life>,
}

impl InTurn {
    async fn begin(recovery: RecoverySettings, can_be_looked_at: bool) -> Self {
        // Alive until the test says otherwise: time may pass while the session is made.
        let life = Arc::new(Life { lives: AtomicBool::new(true), ..Life::default() });
        let liveness = can_be_looked_at.then(|| Arc::clone(&life) as Arc<dyn Liveness>);
        let settings = SessionSettings { recovery, unattended_timeout: 1_000 * LONG, ..SessionSettings::default() };
        let it = PuppetSession::new(Puppet::new(Capabilities::default(), liveness), settings).await;
        it.prompt("go").await;
        assert_eq!(it.puppet.prompted().await, "go");
        Self { it, life }
    }

    async fn notices(&self) -> Vec<String> {
        self.it.notices("hung").await
    }

    async fn until_notices(&self, count: usize) {
        self.it.until_notices("hung", count).await;
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
        self.it.settled().await;
    }

    async fn end(self) {
        self.it.end().await;
    }
}

#[tokio::test(start_paused = true)]
async fn no_sign_of_life_is_told_once_for_each_silence_and_ends_nothing() {
    let turn = InTurn::begin(RecoverySettings::default(), true).await;
    turn.dies();
    turn.until_notices(1).await;
    let message = turn.notices().await.remove(0);
    assert!(message.starts_with("The agent has been unresponsive for 5 minutes "), "{message}");
    turn.wait().await;
    assert_eq!(turn.notices().await.len(), 1, "once");
    turn.it.say(AgentEvent::TurnStarted { turn_id: "t".into() }).await;
    turn.until_notices(2).await;
    turn.it.say(AgentEvent::Idle).await;
    assert_eq!(
        turn.it.session.outcome(PromptId::from_number(1)).await.expect("over").verdict,
        PromptVerdict::Succeeded
    );
    let looks = turn.looks();
    turn.wait().await;
    assert_eq!((turn.looks(), turn.notices().await.len()), (looks, 2), "without a turn nobody is waited for");
    assert_eq!(turn.life.cut_offs.load(Ordering::SeqCst), 0);
    assert_eq!(turn.it.puppet.starts(), 1);
    turn.end().await;
}

#[tokio::test(start_paused = true)]
async fn an_agent_that_lives_is_looked_at_again_and_again_and_nothing_is_said() {
    let turn = InTurn::begin(RecoverySettings { end_hung: true, ..RecoverySettings::default() }, true).await;
    turn.it.until(|_| turn.looks() >= 5).await;
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
    turn.it.say(AgentEvent::RequestMade { agent_request_id: "q".to_owned(), body }).await;
    turn.it.until(|log| log.iter().any(|response| response["callback"] == "onQuestionAsked")).await;
    turn.dies();
    let looks = turn.looks();
    turn.wait().await;
    assert_eq!((turn.looks(), turn.notices().await), (looks, Vec::new()));
    let log = turn.it.log().await;
    let asked = log.iter().find(|response| response["callback"] == "onQuestionAsked").expect("one");
    let request = asked["requestId"].as_str().expect("an id");
    turn.it
        .session
        .answer(&request.into(), RequestAnswer::Question(QuestionAnswer::Nobody), Always::default(), AnsweredBy::Api)
        .await
        .expect("answered");
    turn.until_notices(1).await;
    turn.end().await;
}

#[tokio::test(start_paused = true)]
async fn a_hung_agent_is_ended_and_started_anew_where_configured() {
    let turn = InTurn::begin(RecoverySettings { end_hung: true, ..RecoverySettings::default() }, true).await;
    turn.dies();
    assert_eq!(turn.it.session.outcome(PromptId::from_number(1)).await.expect("over").verdict, PromptVerdict::Failed);
    assert_eq!(turn.life.cut_offs.load(Ordering::SeqCst), 1);
    let log = turn.it.log().await;
    let error = log.iter().find_map(|response| response["sessionError"].as_str()).expect("one");
    assert!(error.contains("was unresponsive for 5 minutes"), "{error}");
    turn.it.until(|_| turn.it.puppet.starts() == 2).await;
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
        assert_eq!(turn.it.puppet.starts(), 1);
        turn.end().await;
    }
}

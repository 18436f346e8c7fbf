//! A reader that stops for a while and is less than 16 MB behind the end of the log then gets every event, also the
//! deltas of a message that ended meanwhile and that the store has dropped.

use flightdeck::agent::{AgentEvent, BlockEnd, BlockStart, Capabilities};
use flightdeck::model::{BlockKey, BlockKind, Seq};
use flightdeck::session::SessionSettings;

use crate::support::{Puppet, PuppetSession};

const DELTAS: usize = 20;

async fn session() -> PuppetSession {
    let it = PuppetSession::new(Puppet::new(Capabilities::default(), None), SessionSettings::default()).await;
    it.prompt("go").await;
    it.say(AgentEvent::BlockStarted(BlockStart::Message { id: "m".to_owned(), parent: None })).await;
    it
}

async fn say_deltas(it: &PuppetSession, text: &str, count: usize) {
    for _ in 0..count {
        let key = BlockKey::new(BlockKind::Message, "m");
        it.say(AgentEvent::BlockDelta { key, delta: text.to_owned() }).await;
    }
}

async fn end_message(it: &PuppetSession, content: String) {
    it.say(AgentEvent::BlockEnded(BlockEnd::Message { id: "m".to_owned(), content })).await;
    it.say(AgentEvent::Idle).await;
}

/// The next events, one at a time, up to and with the first one that says this.
async fn read_until(it: &PuppetSession, mut after: Seq, what: &str) -> (Seq, usize) {
    let mut deltas = 0;
    let mut head = it.session.log().watch();
    loop {
        head.borrow_and_update();
        let events = it.session.log().read_after(after, 1, 1).await.expect("read");
        let Some(event) = events.first() else {
            head.changed().await.expect("open");
            continue;
        };
        assert_eq!(event.seq, after + 1, "no event is skipped");
        after = event.seq;
        let json: serde_json::Value = serde_json::from_slice(&event.body).expect("JSON");
        deltas += usize::from(json["callback"] == "onMessage");
        if json["callback"] == what {
            return (after, deltas);
        }
    }
}

#[tokio::test]
async fn a_reader_paused_before_the_end_of_a_long_message_gets_every_delta() {
    let it = session().await;
    let viewer = it.session.log().attach(0, 1).expect("room");
    let text = "x".repeat(1_000_000);
    let (mut after, _) = read_until(&it, 0, "onStartMessage").await;
    for _ in 0..DELTAS / 2 {
        say_deltas(&it, &text, 1).await;
        (after, _) = read_until(&it, after, "onMessage").await;
        viewer.has_read(after);
    }
    say_deltas(&it, &text, DELTAS / 2).await;
    // The end alone is larger than the window.
    end_message(&it, text.repeat(DELTAS)).await;
    let mut head = it.session.log().watch();
    let last = after + DELTAS as u64 / 2 + 3;
    head.wait_for(|head| head.committed >= last).await.expect("open");
    let (_, deltas) = read_until(&it, after, "onIdle").await;
    assert_eq!(deltas, DELTAS / 2);
    it.end().await;
}

#[tokio::test]
async fn a_reader_that_is_paused_while_the_session_is_closed_gets_every_delta() {
    let it = session().await;
    let viewer = it.session.log().attach(0, 1).expect("room");
    say_deltas(&it, "tick ", DELTAS).await;
    end_message(&it, "tick ".repeat(DELTAS)).await;
    let (last, _) = read_until(&it, 0, "onIdle").await;
    it.session.close().await.expect("closed");
    let (_, deltas) = read_until(&it, 0, "onIdle").await;
    assert_eq!(deltas, DELTAS, "the reader is attached and has not said that it has them");
    viewer.has_read(last);
    it.session.reopen().await.expect("reopened");
    it.session.close().await.expect("closed");
    let next = it.session.log().read_after(0, 1_000, 1 << 20).await.expect("read");
    let deltas = next.iter().filter(|event| event.body.starts_with(br#"{"callback":"onMessage""#)).count();
    assert_eq!(deltas, 0, "every reader had them, so they are neither in memory nor in the store");
    it.end().await;
}

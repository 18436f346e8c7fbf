//! Sessions that nobody uses are removed from memory, and are the same when they come back.

use std::sync::{Arc, Weak};
use std::time::Duration;

use flightdeck::agent::{AgentEvent, Capabilities, Runtimes};
use flightdeck::model::{BlockKey, BlockKind, Seq};
use flightdeck::session::{LiveError, NewPrompt, NewSession, Session, SessionSettings, Sessions, SessionsParts};
use flightdeck::store::{DataFolder, Store, StoreSettings};
use tempfile::TempDir;
use tokio::time::{Instant, sleep};
use tokio_util::sync::CancellationToken;

use crate::support::Puppet;

const SOON: Duration = Duration::from_mins(1);
const LONG: Duration = Duration::from_mins(15);

/// A server's insides, on a data folder that outlives them.
fn open(folder: &TempDir, puppet: &Puppet) -> Sessions {
    let data = DataFolder::lock(folder.path()).expect("locked");
    let store = Store::open(&data, StoreSettings::default()).expect("opened");
    let sessions = Sessions::new(SessionsParts {
        store,
        runtimes: Runtimes::new(vec![puppet.runtime()]),
        settings: SessionSettings::default(),
        stopping: CancellationToken::new(),
    });
    sessions.start_housekeeping();
    sessions
}

async fn close(sessions: Sessions) {
    sessions.shut_down().await;
    sessions.store().close().await;
}

fn puppet() -> Arc<Puppet> {
    Puppet::new(Capabilities::default(), None)
}

fn prompt(text: &str) -> NewPrompt {
    NewPrompt { text: text.to_owned(), ..NewPrompt::default() }
}

/// A turn that says one word.
async fn turn(session: &Session, puppet: &Puppet, text: &str) {
    let accepted = session.prompt(prompt(text)).await.expect("accepted");
    assert_eq!(puppet.prompted().await, text);
    let voice = puppet.voice().expect("connected");
    let delta = "yes".to_owned();
    let said = AgentEvent::BlockDelta { key: BlockKey::new(BlockKind::Message, "m"), delta };
    for event in [said, AgentEvent::Idle] {
        voice.send(event).await.expect("heard");
    }
    session.outcome(accepted.prompt).await.expect("over");
}

async fn read_to_the_end(session: &Arc<Session>, token: &str) -> Result<Vec<Seq>, LiveError> {
    let mut read = Vec::new();
    loop {
        match session.live_batch(token, None).await {
            Ok(delivery) => {
                delivery.delivered();
                read.extend(delivery.events.iter().map(|event| event.seq));
            }
            Err(LiveError::Timeout | LiveError::Closed) => return Ok(read),
            Err(other) => return Err(other),
        }
    }
}

/// Nobody uses the session from here on.
fn leave(session: Arc<Session>) -> Weak<Session> {
    let left = Arc::downgrade(&session);
    drop(session);
    left
}

/// Waits for the store's thread. The paused clock runs on by itself while a test waits, except for a blocking task.
async fn store_is_done(sessions: &Sessions) {
    let (done, waits) = std::sync::mpsc::channel::<()>();
    let blocking = tokio::task::spawn_blocking(move || waits.recv().is_err());
    sessions.store().flush().await.expect("written");
    drop(done);
    assert!(blocking.await.expect("ended"));
}

async fn assert_unloaded_soon(sessions: &Sessions, left: Weak<Session>) {
    let since = Instant::now();
    while left.strong_count() > 0 {
        assert!(since.elapsed() < SOON, "it is still in memory");
        sleep(Duration::from_secs(1)).await;
        store_is_done(sessions).await;
    }
}

async fn assert_stays(left: &Weak<Session>) {
    sleep(LONG).await;
    assert!(left.strong_count() > 0, "it was removed from memory");
}

#[tokio::test(start_paused = true)]
async fn a_closed_session_is_unloaded_soon_after_its_last_reader_left() {
    let (folder, puppet) = (tempfile::tempdir().expect("a folder"), puppet());
    let sessions = open(&folder, &puppet);
    let session = sessions.create(NewSession::default()).await.expect("created");
    let id = session.id();
    turn(&session, &puppet, "first").await;
    session.close().await.expect("closed");
    let read = read_to_the_end(&session, "reader").await.expect("read");
    let last = session.log().head().committed;
    assert_eq!(read.last(), Some(&last));

    let reader = session.log().attach(0, usize::MAX);
    let left = leave(session);
    assert_stays(&left).await;
    drop(reader);
    assert_unloaded_soon(&sessions, left).await;

    let session = sessions.get(id).await.expect("loaded again");
    assert!(matches!(read_to_the_end(&session, "reader").await, Err(LiveError::NotFound)), "it was told of the close");
    session.reopen().await.expect("open");
    turn(&session, &puppet, "second").await;
    let read = read_to_the_end(&session, "reader").await.expect("it may continue");
    assert_eq!(read.first(), Some(&(last + 1)), "it reads only what is new");
    close(sessions).await;
}

#[tokio::test(start_paused = true)]
async fn an_open_session_without_an_agent_is_unloaded_and_continues_where_it_was() {
    let (folder, puppet) = (tempfile::tempdir().expect("a folder"), puppet());
    let sessions = open(&folder, &puppet);
    let session = sessions.create(NewSession::default()).await.expect("created");
    let id = session.id();
    turn(&session, &puppet, "first").await;
    let left = leave(session);
    assert_stays(&left).await;
    close(sessions).await;

    let sessions = open(&folder, &puppet);
    let session = sessions.get(id).await.expect("loaded");
    read_to_the_end(&session, "reader").await.expect("read");
    let last = session.log().head().committed;
    assert_unloaded_soon(&sessions, leave(session)).await;

    let session = sessions.get(id).await.expect("loaded again");
    assert_eq!(session.log().head().committed, last, "coming back adds nothing to the log");
    turn(&session, &puppet, "second").await;
    let read = read_to_the_end(&session, "reader").await.expect("read");
    assert_eq!(read.first(), Some(&(last + 1)), "it reads only what is new");
    close(sessions).await;
}

#[tokio::test(start_paused = true)]
async fn a_session_whose_queue_waits_for_the_next_prompt_stays() {
    let (folder, puppet) = (tempfile::tempdir().expect("a folder"), puppet());
    let sessions = open(&folder, &puppet);
    let session = sessions.create(NewSession::default()).await.expect("created");
    let id = session.id();
    for text in ["runs", "waits"] {
        session.prompt(prompt(text)).await.expect("accepted");
    }
    assert_eq!(puppet.prompted().await, "runs");
    drop(session);
    close(sessions).await;

    let sessions = open(&folder, &puppet);
    assert_stays(&leave(sessions.get(id).await.expect("loaded"))).await;
    close(sessions).await;
}

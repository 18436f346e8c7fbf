//! Any interleaving of appends, readers and restarts: what each reader got, put together, equals the store, in order,
//! nothing twice. A reader that stays attached gets every event, deltas of ended blocks included.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use flightdeck::agent::{AgentEvent, BlockEnd, BlockStart, Capabilities, Runtimes};
use flightdeck::model::{BlockKey, BlockKind, SessionId};
use flightdeck::session::{
    NewPrompt, NewSession, RecoverySettings, Session, SessionSettings, Sessions, SessionsParts, ViewerGuard,
};
use flightdeck::store::{DataFolder, EventPage, Store, StoreSettings, StoredEvent};
use proptest::prelude::*;
use tokio_util::sync::CancellationToken;

use crate::support::Puppet;

const BLOCKS: u8 = 3;
const READERS: usize = 3;

/// One thing that happens.
#[derive(Clone, Debug)]
enum Step {
    Prompt,
    /// Deltas of a block, which is started by the first one.
    Say(u8, u8),
    EndBlock(u8),
    EndTurn,
    /// A reader takes what there is, at most that many events.
    Read(usize, usize),
    /// A token takes a batch.
    Poll(usize),
    /// The session is closed and opened again; readers stay.
    Reopen,
    /// A clean end and a new start.
    Restart,
    /// The actors are gone without a word; what the store has is what there is.
    Crash,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        3 => Just(Step::Prompt),
        8 => (0..BLOCKS, 1..40_u8).prop_map(|(block, count)| Step::Say(block, count)),
        3 => (0..BLOCKS).prop_map(Step::EndBlock),
        2 => Just(Step::EndTurn),
        6 => (0..READERS, 1..60_usize).prop_map(|(reader, most)| Step::Read(reader, most)),
        3 => (0..READERS).prop_map(Step::Poll),
        1 => Just(Step::Reopen),
        1 => Just(Step::Restart),
        1 => Just(Step::Crash),
    ];
    prop::collection::vec(step, 1..60)
}

/// A server's insides, between two restarts.
struct Run {
    sessions: Sessions,
    puppet: Arc<Puppet>,
    session: Arc<Session>,
    stopping: CancellationToken,
    /// Reader 0 is attached, from this number on.
    viewer: ViewerGuard,
    attached_after: u64,
}

impl Run {
    async fn begin(folder: &DataFolder, id: Option<SessionId>) -> Self {
        let store = Store::open(folder, StoreSettings::default()).expect("opened");
        let puppet = Puppet::with_session(Capabilities::default(), None, None);
        let stopping = CancellationToken::new();
        let sessions = Sessions::new(SessionsParts {
            store,
            runtimes: Runtimes::new(vec![puppet.runtime()]),
            settings: settings(),
            stopping: stopping.clone(),
        });
        sessions.restore().await.expect("brought back");
        let session = match id {
            Some(id) => sessions.get(id).await.expect("there"),
            None => sessions.create(NewSession::default()).await.expect("created"),
        };
        let attached_after = session.log().head().committed;
        let viewer = session.log().attach(attached_after, READERS).expect("room");
        Self { sessions, puppet, session, stopping, viewer, attached_after }
    }

    async fn say(&self, event: AgentEvent) {
        if let Some(voice) = self.puppet.voice() {
            // The agent may have been cut off by a crash that is yet to be noticed.
            let _ = voice.send(event).await;
        }
    }

    async fn end(self, clean: bool) {
        if clean {
            self.stopping.cancel();
            self.sessions.shut_down().await;
        }
        self.sessions.store().close().await;
    }
}

fn settings() -> SessionSettings {
    let at_once = Duration::from_millis(1);
    let recovery = RecoverySettings { first_delay: at_once, longest_delay: at_once, ..RecoverySettings::default() };
    SessionSettings { recovery, queued_prompts: 1_000, ..SessionSettings::default() }
}

/// What one reader got, over all restarts.
#[derive(Default)]
struct Reader {
    events: Vec<StoredEvent>,
}

impl Reader {
    fn position(&self) -> u64 {
        self.events.last().map_or(0, |event| event.seq)
    }

    /// Reads to the end; an attached reader has missed nothing since the number at which it was attached.
    async fn read_all(&mut self, session: &Session, attached_after: u64) {
        loop {
            let before = self.events.len();
            self.read(session, 1000).await;
            if self.events.len() == before {
                break;
            }
        }
        let since: Vec<u64> = self.events.iter().map(|event| event.seq).filter(|seq| *seq > attached_after).collect();
        let expected: Vec<u64> = (attached_after + 1..=self.position()).collect();
        assert_eq!(since, expected, "an attached reader gets every event");
    }

    async fn read(&mut self, session: &Session, most: usize) {
        let events = session.log().read_after(self.position(), most, 1 << 20).await.expect("read");
        self.events.extend(events);
    }
}

/// Blocks as a reader puts them together: deltas append, an end replaces.
fn blocks(events: &[StoredEvent]) -> BTreeMap<String, String> {
    let mut blocks = BTreeMap::new();
    for event in events {
        let json: serde_json::Value = serde_json::from_slice(&event.body).expect("JSON");
        let Some(id) = json["messageId"].as_str() else { continue };
        let text: &mut String = blocks.entry(id.to_owned()).or_default();
        if let Some(delta) = json["delta"].as_str() {
            text.push_str(delta);
        }
        if let Some(content) = json["completeContent"].as_str() {
            content.clone_into(text);
        }
    }
    blocks
}

async fn play(steps: Vec<Step>) {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = DataFolder::lock(folder.path()).expect("locked");
    let mut run = Run::begin(&folder, None).await;
    let id = run.session.id();
    let mut readers: [Reader; READERS] = Default::default();
    let mut polled: [Vec<u64>; READERS] = Default::default();
    let mut said: BTreeMap<u8, String> = BTreeMap::new();
    let mut generation = 0;
    let mut crashes = 0;
    for step in steps {
        match step {
            Step::Prompt => {
                let prompt = NewPrompt { text: "go".to_owned(), ..NewPrompt::default() };
                run.session.prompt(prompt).await.expect("accepted");
            }
            Step::Say(block, count) => {
                for number in 0..count {
                    let key = BlockKey::new(BlockKind::Message, format!("{generation}-{block}"));
                    let delta = format!("{number} ");
                    said.entry(block).or_default().push_str(&delta);
                    if said.len().is_multiple_of(2) {
                        run.say(AgentEvent::BlockStarted(BlockStart::Message { id: key.id.clone(), parent: None }))
                            .await;
                    }
                    run.say(AgentEvent::BlockDelta { key, delta }).await;
                }
            }
            Step::EndBlock(block) => {
                let content = said.remove(&block).unwrap_or_default();
                run.say(AgentEvent::BlockEnded(BlockEnd::Message { id: format!("{generation}-{block}"), content }))
                    .await;
                generation += 1;
                said.clear();
            }
            Step::EndTurn => {
                run.say(AgentEvent::Idle).await;
                generation += 1;
                said.clear();
            }
            Step::Read(reader, most) => {
                readers[reader].read(&run.session, most).await;
                if reader == 0 {
                    run.viewer.has_read(readers[0].position().max(run.attached_after));
                }
            }
            Step::Reopen => {
                run.session.close().await.expect("closed");
                run.session.reopen().await.expect("reopened");
                said.clear();
                generation += 1;
            }
            Step::Poll(reader) => {
                if run.session.log().head().committed > polled[reader].last().copied().unwrap_or(0) {
                    let delivery =
                        run.session.live_batch(&format!("token-{reader}-{crashes}"), None).await.expect("something");
                    delivery.delivered();
                    polled[reader].extend(delivery.events.iter().map(|event| event.seq));
                }
            }
            Step::Restart | Step::Crash => {
                let clean = matches!(step, Step::Restart);
                readers[0].read_all(&run.session, run.attached_after).await;
                run.end(clean).await;
                if !clean {
                    // Places since the last save are lost with a crash: readers start over, with tokens of their own.
                    polled = Default::default();
                    crashes += 1;
                }
                run = Run::begin(&folder, Some(id)).await;
                said.clear();
                generation += 1;
            }
        }
    }
    readers[0].read_all(&run.session, run.attached_after).await;
    run.end(true).await;
    check(&folder, id, &mut readers, &polled).await;
}

async fn check(folder: &DataFolder, id: SessionId, readers: &mut [Reader], polled: &[Vec<u64>]) {
    let run = Run::begin(folder, Some(id)).await;
    run.sessions.store().settle().await.expect("settled");
    let page = EventPage { after: 0, before: None, limit: 1_000_000, max_bytes: usize::MAX };
    let (stored, _) = run.sessions.store().events(id, page).await.expect("read");
    assert!(stored.windows(2).all(|pair| pair[0].seq < pair[1].seq));
    let by_seq: BTreeMap<u64, &StoredEvent> = stored.iter().map(|event| (event.seq, event)).collect();
    for reader in readers {
        loop {
            let before = reader.events.len();
            reader.read(&run.session, 1000).await;
            if reader.events.len() == before {
                break;
            }
        }
        assert!(reader.events.windows(2).all(|pair| pair[0].seq < pair[1].seq), "in order, nothing twice");
        assert_eq!(blocks(&reader.events), blocks(&stored), "the same blocks as the store");
        let got: BTreeMap<u64, &StoredEvent> = reader.events.iter().map(|event| (event.seq, event)).collect();
        for (seq, event) in &by_seq {
            assert_eq!(got.get(seq).map(|got| &got.body), Some(&event.body), "nothing of the store is missing");
        }
        for (seq, event) in &got {
            let is_delta = String::from_utf8_lossy(&event.body).contains("\"delta\"");
            assert!(by_seq.contains_key(seq) || is_delta, "what is not in the store any more was a delta");
        }
    }
    for seqs in polled {
        assert!(seqs.windows(2).all(|pair| pair[0] < pair[1]), "a token gets nothing twice");
    }
    run.end(true).await;
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_readers_got_put_together_equals_the_store(steps in steps()) {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().expect("threads");
        runtime.block_on(play(steps));
    }
}

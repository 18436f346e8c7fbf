//! Kills at random points under load: what every viewer saw, what was accepted and what was answered is in the store.
//!
//! `cargo xtask chaos 1000` runs it with that many kills and prints what it compared. `CHAOS_SEED` repeats a run's choices;
//! the moments of the kills still differ, because they depend on the machine.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use hyper::Method;
use parking_lot::Mutex;
use serde_json::{Value, json};

use crate::support::{Server, TestSession, send_signal};

const KILLS: usize = 3;
const SESSIONS: usize = 4;
/// A kill comes after so many events at most; the load of a round has more.
const MOST_EVENTS: usize = 6_000;
const PIECES: [&str; 3] = ["onMessage", "onReasoning", "onToolExecution"];

/// What viewers have seen of one session, by number.
type Seen = Arc<Mutex<BTreeMap<u64, String>>>;

/// A small generator: the same seed makes the same choices.
struct Choices(u64);

impl Choices {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % limit as u64).expect("small")
    }
}

#[derive(Default)]
struct Figures {
    events: usize,
    prompts: usize,
    answers: usize,
    pending: usize,
}

impl Figures {
    /// Compares what is known from outside with the store, after a restart.
    async fn compare(&mut self, session: &TestSession, seen: &Seen, prompts: Vec<&str>, answers: Vec<(&str, &str)>) {
        let log: BTreeMap<u64, Value> = session.log().await.into_iter().collect();
        for (seq, data) in seen.lock().iter() {
            let was: Value = serde_json::from_str(data).expect("JSON");
            // The pieces of a block are removed when its end carries the whole.
            let is_piece = was["callback"].as_str().is_some_and(|callback| PIECES.contains(&callback));
            match log.get(seq) {
                Some(stored) => assert_eq!(*stored, was, "{} {seq} has changed", session.id),
                None if is_piece => {}
                None => panic!("{} {seq} is lost: {was}", session.id),
            }
            self.events += 1;
        }
        for prompt in prompts {
            let is_it = |event: &&Value| event["callback"] == "onUserPrompt" && event["promptId"] == prompt;
            assert_eq!(log.values().filter(is_it).count(), 1, "{} {prompt}", session.id);
            self.prompts += 1;
        }
        for (request, decision) in answers {
            let is_it = |event: &&Value| event["callback"] == "onPermissionAnswered" && event["requestId"] == request;
            let stored = log.values().find(is_it).map(|event| &event["decision"]);
            assert_eq!(stored, Some(&json!(decision)), "{} {request}", session.id);
            self.answers += 1;
        }
        self.pending += session.get("").await.json()["requests"].as_array().map_or(0, Vec::len);
    }
}

fn number(name: &str) -> Option<usize> {
    std::env::var(name).ok()?.parse().ok()
}

/// Reads a session from where the last viewer was, until the server is killed.
fn watch(session: TestSession, seen: Seen, count: Arc<AtomicUsize>) -> tokio::task::JoinHandle<()> {
    tokio::spawn(async move {
        let after = seen.lock().keys().next_back().copied().unwrap_or(0);
        let mut stream = session.events_after(after).await;
        while let Some(event) = stream.next().await {
            let seq = event.id.expect("a number");
            assert!(seen.lock().insert(seq, event.data).is_none(), "{seq} came twice");
            count.fetch_add(1, Ordering::Relaxed);
        }
    })
}

/// Sends a prompt with a key. Gives its id if the server accepted it before it was killed.
async fn send(session: &TestSession, key: &str, text: &str) -> Option<String> {
    let keyed = session.http.header("idempotency-key", key).header("content-type", "application/json");
    let reply = keyed.try_send(Method::POST, &session.path("/prompt"), json!({ "text": text }).to_string()).await?;
    assert_eq!(reply.status, 200, "{}", reply.text());
    Some(reply.json()["promptId"].as_str().expect("an id").to_owned())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn kills_at_random_points_lose_nothing() {
    let kills = number("CHAOS_KILLS").unwrap_or(KILLS);
    let seed = number("CHAOS_SEED").unwrap_or(1);
    let mut choices = Choices(seed as u64 + 1);
    let mut figures = Figures::default();
    let mut server = Server::start().await;
    let mut sessions: Vec<(TestSession, Seen)> = Vec::new();
    let mut accepted: BTreeMap<(usize, String), String> = BTreeMap::new();
    for round in 0..kills {
        // New sessions from time to time, so that logs stay short enough to compare.
        if round % 25 == 0 {
            sessions.clear();
            accepted.clear();
            for _ in 0..SESSIONS {
                sessions.push((server.session().await, Seen::default()));
            }
        }
        let count = Arc::new(AtomicUsize::new(0));
        let viewers: Vec<_> = sessions
            .iter()
            .map(|(session, seen)| watch(session.seen_by(server.http()), Arc::clone(seen), Arc::clone(&count)))
            .collect();
        let mut answered: BTreeMap<(usize, String), &str> = BTreeMap::new();
        let deadline = choices.below(MOST_EVENTS);
        let load = async {
            // Gone when the server has been killed.
            for (index, (session, _)) in sessions.iter().enumerate() {
                let session = session.seen_by(server.http());
                let details = session.http.try_send(Method::GET, &session.path(""), "").await?.json();
                for request in details["requests"].as_array().expect("requests") {
                    let id = request["requestId"].as_str().expect("an id").to_owned();
                    let decision = if choices.below(2) == 0 { "allow-once" } else { "deny" };
                    let http = session.http.header("content-type", "application/json");
                    let (path, body) = (session.path(&format!("/permission/{id}")), json!({ "decision": decision }));
                    let reply = http.try_send(Method::POST, &path, body.to_string()).await?;
                    assert_eq!(reply.status, 200, "{}", reply.text());
                    answered.insert((index, id), decision);
                }
                let text = ["many 4000 0 40", "many 8000 0 10", "tool 5000", "reason", "permission"][choices.below(5)];
                for (number, text) in [text, "many 4000 0 20"].into_iter().enumerate() {
                    let key = format!("{round}-{number}");
                    let prompt = send(&session, &key, text).await?;
                    accepted.insert((index, key), prompt);
                }
            }
            Some(())
        };
        let (http, process) = (server.http(), server.process_id());
        let kill = async {
            // A session that waits for a person produces nothing, so the kill also comes when all of them are quiet.
            let (mut before, mut quiet) = (0, 0);
            while before < deadline && quiet < 300 {
                http.get("/api/test").await;
                let now = count.load(Ordering::Relaxed);
                quiet = if now == before { quiet + 1 } else { 0 };
                before = now;
            }
            send_signal("KILL", process);
        };
        tokio::join!(load, kill);
        server.kill().await;
        for viewer in viewers {
            viewer.await.expect("no event came twice");
        }
        server = server.start_again().await;
        for (index, (session, seen)) in sessions.iter().enumerate() {
            let session = session.seen_by(server.http());
            let prompts = accepted.iter().filter(|((of, _), _)| *of == index).map(|(_, prompt)| prompt.as_str());
            let answers = answered.iter().filter(|((of, _), _)| *of == index);
            let answers = answers.map(|((_, request), decision)| (request.as_str(), *decision));
            figures.compare(&session, seen, prompts.collect(), answers.collect()).await;
        }
    }
    let Figures { events, prompts, answers, pending } = figures;
    assert!(events > 0 && prompts > 0, "something was compared");
    println!(
        "{kills} kills, seed {seed}: {events} events that viewers saw, {prompts} accepted prompts and {answers} answers \
         compared; {pending} times a request was still open after a kill; nothing lost, changed or repeated"
    );
}

//! The agent's own record of a session is damaged, cut off or gone: the session goes on and says so.

use std::path::{Path, PathBuf};

use serde_json::Value;

use super::support::{Deck, errors, notices};
use crate::support::{TestSession, a_moment, children_of, send_signal};

/// The files with the agent's records of sessions.
fn records(deck: &Deck) -> Vec<PathBuf> {
    let mut files = Vec::new();
    let mut folders =
        vec![deck.server.folder().join("copilot/session-state"), deck.server.folder().join("claude/projects")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "jsonl") {
                files.push(path);
            }
        }
    }
    files
}

fn record(deck: &Deck) -> PathBuf {
    let files = records(deck);
    assert_eq!(files.len(), 1, "{files:?}");
    files[0].clone()
}

fn garbage(record: &Path) {
    std::fs::write(record, "\u{0}not what it was\u{1}\n".repeat(50)).expect("written");
}

/// Everything after the first turn becomes unreadable.
fn half_garbage(record: &Path, second_prompt: &str) {
    let text = std::fs::read_to_string(record).expect("text");
    let cut = text.find(second_prompt).expect("the second prompt");
    let start = text[..cut].rfind('\n').expect("an earlier line") + 1;
    let rest = "\u{0}garbage\u{1}\n".repeat(20);
    std::fs::write(record, format!("{}{rest}", &text[..start])).expect("written");
}

fn remove(record: &Path) {
    // Copilot has a folder for each session.
    if record.ends_with("events.jsonl") {
        std::fs::remove_dir_all(record.parent().expect("a folder")).expect("removed");
    } else {
        std::fs::remove_file(record).expect("removed");
    }
}

/// The agent's id of the session that a record belongs to.
fn session_of(record: &Path) -> String {
    let name = if record.ends_with("events.jsonl") { record.parent().expect("a folder") } else { record };
    name.file_stem().expect("a name").to_string_lossy().into_owned()
}

/// The notices of lost sessions, with all that they say.
async fn losses(session: &TestSession) -> Vec<String> {
    let log = session.log().await;
    let is_loss = |response: &&Value| response["kind"] == "fresh-session";
    log.iter().map(|(_, response)| response).filter(is_loss).map(Value::to_string).collect()
}

/// The text of the last request to the model.
fn asked(deck: &Deck) -> String {
    deck.model.requests().last().expect("one").to_string()
}

/// A session with one turn, whose record is then damaged, while the server runs or is stopped.
async fn check_lost(deck: Deck, restart: bool, damage: impl Fn(&Path), reason: &str) {
    let session = deck.session("allow-all").await;
    assert_eq!(session.ask("@@echo remember-me").await["verdict"], "succeeded");
    let record = record(&deck);
    let before = session_of(&record);
    damage(&record);
    let mut deck = if restart { deck.restarted().await } else { deck };
    let session = session.seen_by(deck.server.http());
    let outcome = session.ask("@@echo go-on").await;
    assert_eq!((&outcome["verdict"], &outcome["text"]), (&Value::from("succeeded"), &Value::from("ECHO[go-on]")));
    let told = losses(&session).await;
    assert_eq!(told.len(), 1, "{told:?}");
    assert!(told[0].contains(reason) && told[0].contains("your history is intact"), "{told:?}");
    let lost = session.get("").await.json()["lostSession"].clone();
    assert!(lost["seq"].is_u64() && told[0].contains(lost["message"].as_str().expect("words")), "{lost}");
    assert!(notices(&session, "incomplete").await.is_empty());
    assert!(errors(&session).await.is_empty(), "the prompt was kept: {:?}", errors(&session).await);
    let prompt = asked(&deck);
    assert!(prompt.contains("could not be restored") && prompt.contains("remember-me"), "{prompt}");
    assert_eq!(prompt.matches("@@echo go-on").count(), 1, "the summary ends before the prompt that follows it");
    assert!(records(&deck).iter().any(|record| session_of(record) != before), "under an id of its own");
    assert_eq!(session.ask("@@echo later").await["text"], "ECHO[later]");
    assert!(asked(&deck).contains("go-on"), "the new session goes on");
    assert_eq!(notices(&session, "fresh-session").await.len(), 1, "once for each loss");
    assert!(deck.server.stop().await);
    let logged = deck.server.stderr().await;
    assert!(logged.contains(&before) && logged.contains("lost"), "{logged}");
}

#[tokio::test]
async fn a_record_of_garbage_starts_a_new_session_with_a_notice_and_a_summary() {
    for restart in [false, true] {
        check_lost(Deck::copilot().await, restart, garbage, "is damaged").await;
        check_lost(Deck::claude().await, restart, garbage, "is damaged").await;
    }
}

#[tokio::test]
async fn a_record_that_is_gone_starts_a_new_session_with_a_notice_and_a_summary() {
    for restart in [false, true] {
        check_lost(Deck::copilot().await, restart, remove, "no longer has the session").await;
        check_lost(Deck::claude().await, restart, remove, "no longer has the session").await;
    }
}

#[tokio::test]
async fn a_record_that_the_program_itself_refuses_starts_a_new_session() {
    // It needs the first line.
    let damage = |record: &Path| {
        let text = std::fs::read_to_string(record).expect("text");
        let (_, rest) = text.split_once('\n').expect("lines");
        std::fs::write(record, format!("garbage\n{rest}")).expect("written");
    };
    check_lost(Deck::copilot().await, false, damage, "Session file is corrupted").await;
}

#[tokio::test]
async fn a_record_in_the_old_form_is_there_and_the_program_decides() {
    let to_old_form = |record: &Path| {
        let folder = record.parent().expect("a folder");
        std::fs::rename(record, folder.with_extension("jsonl")).expect("moved");
        std::fs::remove_dir_all(folder).expect("removed");
    };
    check_lost(Deck::copilot().await, true, to_old_form, "legacy").await;
}

#[tokio::test]
async fn a_record_that_is_half_garbage_is_resumed_as_far_as_it_goes_and_a_notice_says_so() {
    for restart in [false, true] {
        for deck in [Deck::copilot().await, Deck::claude().await] {
            let session = deck.session("allow-all").await;
            session.ask("@@echo first").await;
            session.ask("@@echo second").await;
            half_garbage(&record(&deck), "@@echo second");
            let deck = if restart { deck.restarted().await } else { deck };
            let session = session.seen_by(deck.server.http());
            assert_eq!(session.ask("@@echo third").await["text"], "ECHO[third]");
            let told = notices(&session, "incomplete").await;
            assert_eq!(told.len(), 1, "{told:?}");
            let prompt = asked(&deck);
            assert!(prompt.contains("@@echo first") && !prompt.contains("@@echo second"), "{prompt}");
            assert!(notices(&session, "fresh-session").await.is_empty());
            assert_eq!(session.ask("@@echo fourth").await["text"], "ECHO[fourth]");
            assert_eq!(notices(&session, "incomplete").await.len(), 1, "once");
        }
    }
}

#[tokio::test]
async fn a_turn_that_was_killed_leaves_an_incomplete_record_and_a_notice_after_the_restart() {
    for deck in [Deck::copilot().await, Deck::claude().await] {
        let session = deck.session("allow-all").await;
        session.ask("@@echo first").await;
        session.prompt("@@slow 1000 20").await;
        session.events_after(0).await.until(|event| event.data.contains("tick3")).await;
        // The record is written a moment after the prompt is taken.
        while !std::fs::read_to_string(record(&deck)).expect("text").contains("@@slow") {
            a_moment().await;
        }
        let children = children_of(deck.server.process_id());
        assert_eq!(children.len(), 1, "{children:?}");
        send_signal("KILL", children[0]);
        session.events_after(0).await.until(|event| event.data.contains("sessionError")).await;
        let deck = deck.restarted().await;
        let session = session.seen_by(deck.server.http());
        assert_eq!(session.ask("@@echo again").await["text"], "ECHO[again]");
        let told = notices(&session, "incomplete").await;
        assert_eq!(told.len(), 1, "{told:?}");
        assert!(asked(&deck).contains("@@echo first"), "it was resumed");
    }
}

//! What a person sees and types at a terminal.

use super::{jobs, json_of, server, until_waiting, with_folder};
use crate::support::{Server, Terminal};

/// `flightdeck jobs …` at a terminal, in the server's work folder.
fn at_terminal(server: &Server, arguments: &[&str]) -> Terminal {
    Terminal::start(server, &with_folder(arguments))
}

#[tokio::test]
async fn a_gate_is_asked_and_approved_at_the_terminal() {
    let server = server().await;
    let mut terminal = at_terminal(&server, &["run", "gated"]);
    terminal.until("[a]pprove").await;
    for part in ["\u{1b}[32m✓\u{1b}[0m 0 greet", "Go on?", "Look at **this**.", "Digest: "] {
        assert!(terminal.seen.contains(part), "{part}: {}", terminal.seen);
    }
    terminal.press("what\n").await;
    terminal.until("[a]pprove").await;
    terminal.press("a\n").await;
    let (code, seen) = terminal.ended().await;
    assert_eq!(code, Some(0), "{seen}");
    assert!(seen.contains("gate-1 approved by api") && seen.contains("Succeeded"), "{seen}");
}

#[tokio::test]
async fn a_rejection_asks_for_a_note() {
    let server = server().await;
    let mut terminal = at_terminal(&server, &["run", "gated"]);
    terminal.until("[a]pprove").await;
    terminal.press("r\n").await;
    terminal.until("Note for the tasks that follow").await;
    terminal.press("not like this\n").await;
    let (code, seen) = terminal.ended().await;
    assert_eq!(code, Some(1), "{seen}");
    assert!(seen.contains("gate-1 rejected by api: not like this"), "{seen}");
}

#[tokio::test]
async fn detaching_leaves_the_gate_open_and_an_answer_elsewhere_ends_the_question() {
    let server = server().await;
    let mut terminal = at_terminal(&server, &["run", "gated"]);
    terminal.until("[a]pprove").await;
    terminal.press("d\n").await;
    let (code, seen) = terminal.ended().await;
    assert_eq!(code, Some(130), "{seen}");
    assert!(seen.contains("Detached; job-1 continues"), "{seen}");
    assert_eq!(json_of(&jobs(&server, &["status", "1", "--json"]).await)["waiting"][0]["waitingId"], "gate-1");

    let mut terminal = at_terminal(&server, &["run", "gated"]);
    terminal.until("[a]pprove").await;
    assert_eq!(jobs(&server, &["approve", "2", "--yes"]).await.code, Some(0));
    let (code, seen) = terminal.ended().await;
    assert_eq!(code, Some(0), "{seen}");
}

#[tokio::test]
async fn a_decision_is_confirmed_and_only_yes_counts() {
    let server = server().await;
    jobs(&server, &["run", "gated", "--detach"]).await;
    until_waiting(&server, "job-1").await;
    for (answer, code) in [("\n", 1), ("n\n", 1), ("y\n", 0)] {
        let mut terminal = at_terminal(&server, &["approve", "1"]);
        terminal.until("Approve this? [y/N]").await;
        terminal.press(answer).await;
        let (ended, seen) = terminal.ended().await;
        assert_eq!(ended, Some(code), "{answer:?}: {seen}");
    }
}

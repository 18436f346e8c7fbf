//! `flightdeck run` at a terminal: what is asked, how it looks, and Ctrl+C.

use super::turn;
use crate::support::{Server, Terminal, send_signal};

#[tokio::test]
async fn a_permission_is_asked_shown_as_a_whole_and_allowed() {
    let server = Server::start().await;
    let mut terminal = Terminal::start(&server, &turn(&["permission"]));
    terminal.until_seen("[v]iew: ").await;
    terminal.press("y\n").await;
    terminal.until("Type a, A, d").await;
    terminal.press("v\n").await;
    terminal.until("[v]iew: ").await;
    terminal.press("a\n").await;
    let (code, seen) = terminal.ended().await;
    assert_eq!(code, Some(0), "{seen}");
    assert!(seen.contains("allowed once") && seen.contains("You allowed it"), "{seen}");
}

#[tokio::test]
async fn a_permission_is_denied_with_a_reason() {
    let server = Server::start().await;
    let mut terminal = Terminal::start(&server, &turn(&["permission"]));
    terminal.until_seen("[v]iew: ").await;
    terminal.press("d not like this\n").await;
    let (code, seen) = terminal.ended().await;
    assert_eq!(code, Some(3), "{seen}");
    assert!(seen.contains("not like this") && seen.contains("You denied it"), "{seen}");
}

#[tokio::test]
async fn a_question_is_answered_at_the_terminal() {
    let server = Server::start().await;
    let mut terminal = Terminal::start(&server, &turn(&["question"]));
    terminal.until_seen("Answer").await;
    terminal.press("my own words\n").await;
    let (code, seen) = terminal.ended().await;
    assert_eq!(code, Some(0), "{seen}");
    assert!(seen.contains("received your answer: my own words"), "{seen}");
}

#[tokio::test]
async fn a_request_that_is_answered_elsewhere_is_no_longer_asked() {
    let server = Server::start().await;
    let mut terminal = Terminal::start(&server, &turn(&["permission"]));
    terminal.until_seen("[v]iew: ").await;
    assert_eq!(server.run(&["deny", "1"]).await.code, Some(0));
    let (code, seen) = terminal.ended().await;
    assert_eq!(code, Some(3), "{seen}");
    assert!(seen.contains("denied\u{1b}[0m by api"), "{seen}");
}

#[tokio::test]
async fn an_answer_is_rendered_on_a_terminal_unless_colours_are_unwanted() {
    let server = Server::start().await;
    let (code, seen) = Terminal::start(&server, &turn(&["markdown"])).ended().await;
    assert_eq!(code, Some(0), "{seen}");
    assert!(seen.contains("\u{1b}[1m") && seen.contains("\u{1b}[36m"), "{seen:?}");
    let plain = Server::builder().variable("NO_COLOR", "1").start().await;
    let (_, seen) = Terminal::start_with_variables(&plain, &turn(&["markdown"]), &[("NO_COLOR", "1")]).ended().await;
    assert!(!seen.contains('\u{1b}'), "{seen:?}");
}

#[tokio::test]
async fn ctrl_c_interrupts_the_turn() {
    let server = Server::start().await;
    let mut terminal = Terminal::start(&server, &turn(&["many 1000000 200 10"]));
    terminal.until_seen("000000001").await;
    terminal.press("\u{3}").await;
    let (code, seen) = terminal.ended().await;
    assert_eq!(code, Some(130), "{seen}");
    assert!(seen.contains("Interrupting"), "{seen}");
    let details = server.http().get("/api/copilot/session/session-1").await.json();
    assert_eq!(details["state"], "ready");
}

#[cfg(unix)]
#[tokio::test]
async fn a_second_ctrl_c_detaches_even_if_the_server_does_not_respond() {
    let server = Server::start().await;
    let mut terminal = Terminal::start(&server, &turn(&["many 1000000 200 10"]));
    terminal.until_seen("000000001").await;
    send_signal("STOP", server.process_id());
    terminal.press("\u{3}").await;
    terminal.until_seen("Ctrl+C again detaches").await;
    terminal.press("\u{3}").await;
    let (code, seen) = terminal.ended().await;
    send_signal("CONT", server.process_id());
    assert_eq!(code, Some(130), "{seen}");
    assert!(seen.contains("Detached; session-1 continues") && seen.contains("flightdeck attach 1"), "{seen}");
}

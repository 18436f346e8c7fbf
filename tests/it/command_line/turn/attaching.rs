//! `flightdeck attach` at a terminal.

use crate::support::{Server, Terminal, TestSession};

/// A terminal that shows a request of its session.
async fn attached_to_a_request() -> (Server, TestSession, Terminal) {
    let server = Server::start().await;
    let session = server.session().await;
    session.prompt("permission").await;
    session.events_after(0).await.until_callback("onPermissionRequested").await;
    let mut terminal = Terminal::start(&server, &["attach"]);
    terminal.until_seen("[v]iew").await;
    (server, session, terminal)
}

#[tokio::test]
async fn a_session_is_followed_prompted_and_left() {
    let server = Server::start().await;
    let session = server.session().await;
    session.ask("something before").await;
    let mut terminal = Terminal::start(&server, &["attach", "1"]);
    terminal.until_seen("read your prompt: something before").await;
    terminal.press("typed here\r").await;
    terminal.until_seen("read your prompt: typed here").await;
    terminal.press("/mode deny\r").await;
    terminal.until_seen("The permission mode is now deny.").await;
    terminal.press("/nonsense\r").await;
    terminal.until_seen("Unknown command /nonsense").await;
    terminal.press("/detach\r").await;
    let (code, seen) = terminal.ended().await;
    assert_eq!(code, Some(0), "{seen}");
    assert!(seen.contains("Detached; session-1 continues"), "{seen}");
    assert_eq!(session.ask("still open").await["verdict"], "succeeded");
}

#[tokio::test]
async fn what_is_pending_is_shown_and_answered() {
    let (_server, _session, mut terminal) = attached_to_a_request().await;
    terminal.press("maybe\r").await;
    terminal.until_seen("Type a, A, d").await;
    terminal.press("a\r").await;
    terminal.until_seen("You allowed it").await;
    // A request that appears while somebody is there.
    terminal.press("question\r").await;
    terminal.until_seen("Answer").await;
    terminal.press("blue\r").await;
    terminal.until_seen("received your answer: blue").await;
    terminal.press("\u{4}").await;
    let (code, seen) = terminal.ended().await;
    assert_eq!(code, Some(0), "{seen}");
}

#[tokio::test]
async fn a_line_that_is_begun_while_a_request_is_asked_again_is_its_answer() {
    let (_server, session, mut terminal) = attached_to_a_request().await;
    terminal.press("maybe\rallow").await;
    terminal.until_seen("Type a, A, d").await;
    terminal.press("\r/detach\r").await;
    let (_, seen) = terminal.ended().await;
    assert!(!seen.contains("Not sent"), "{seen}");
    session.events_after(0).await.until_callback("onPermissionAnswered").await;
}

#[tokio::test]
async fn output_does_not_disturb_the_line_that_is_typed() {
    let server = Server::start().await;
    let session = server.session().await;
    session.ask("hello").await;
    let mut terminal = Terminal::start(&server, &["attach", "1"]);
    terminal.until_seen("what I can show.").await;
    terminal.press("half a").await;
    terminal.until_seen("half a").await;
    session.ask("from elsewhere").await;
    terminal.until_seen("read your prompt: from elsewhere").await;
    terminal.press(" line\\\rand more\r").await;
    terminal.until_seen("read your prompt: half a line").await;
    terminal.press("/detach\r").await;
    let (_, seen) = terminal.ended().await;
    let log = session.log().await;
    let prompts: Vec<&str> = log.iter().filter_map(|(_, event)| event["text"].as_str()).collect();
    assert_eq!(prompts, ["hello", "from elsewhere", "half a line\nand more"], "{seen}");
}

#[tokio::test]
async fn pasted_lines_are_one_prompt() {
    let server = Server::start().await;
    let session = server.session().await;
    let mut terminal = Terminal::start(&server, &["attach", "1"]);
    terminal.until_seen("> ").await;
    terminal.press("\u{1b}[200~first line\nsecond line\u{1b}[201~").await;
    terminal.until_seen("second line").await;
    terminal.press("\r").await;
    terminal.until_seen("read your prompt: first line").await;
    terminal.press("/detach\r").await;
    let (_, seen) = terminal.ended().await;
    let log = session.log().await;
    let prompts: Vec<&str> = log.iter().filter_map(|(_, event)| event["text"].as_str()).collect();
    assert_eq!(prompts, ["first line\nsecond line"], "{seen}");
}

#[tokio::test]
async fn a_line_that_was_begun_before_a_request_is_no_answer_to_it() {
    let server = Server::start().await;
    let session = server.session().await;
    session.ask("hello").await;
    let mut terminal = Terminal::start(&server, &["attach", "1"]);
    terminal.until_seen("what I can show.").await;
    terminal.press("allow").await;
    terminal.until_seen("allow").await;
    session.prompt("permission").await;
    terminal.until_seen("[v]iew").await;
    terminal.press("\r").await;
    terminal.until_seen("you began this line before").await;
    terminal.press("d\r").await;
    terminal.until_seen("You denied it").await;
    terminal.press("/detach\r").await;
    terminal.ended().await;
}

#[tokio::test]
async fn a_terminal_continues_where_it_left_off() {
    let server = Server::start().await;
    let session = server.session().await;
    session.ask("first words").await;
    // One shell, so that both commands are at the same terminal.
    let binary = env!("CARGO_BIN_EXE_flightdeck");
    let attach = format!("{binary} --data-dir '{}' attach 1", server.data().display());
    let mut terminal = Terminal::start_program(&server, &["sh", "-c", &format!("{attach}; echo between; {attach}")]);
    terminal.until_seen("read your prompt: first words").await;
    terminal.press("/detach\r").await;
    terminal.until_seen("between").await;
    terminal.until("/help lists commands").await;
    session.ask("second words").await;
    terminal.until_seen("read your prompt: second words").await;
    terminal.press("/detach\r").await;
    let (_, seen) = terminal.ended().await;
    let (_, second) = seen.split_once("between").expect("it was seen");
    let kept = std::fs::read_to_string(server.data().join("terminals.json"));
    assert!(!second.contains("read your prompt: first words"), "{seen}\n{kept:?}\n{:?}", session.log().await);
}

#[tokio::test]
async fn leaving_while_text_appears_is_no_error_and_keeps_the_place() {
    let server = Server::start().await;
    let session = server.session().await;
    session.ask("blocks 200").await;
    let binary = env!("CARGO_BIN_EXE_flightdeck");
    let attach = format!("{binary} --data-dir '{}' attach 1", server.data().display());
    let command = format!("{attach}; echo \"the end: $?\"");
    let mut terminal = Terminal::start_program(&server, &["sh", "-c", &command]);
    // It is there before the first line of the transcript is.
    terminal.press("/detach\r").await;
    let (_, seen) = terminal.ended().await;
    assert!(seen.contains("Detached; session-1 continues") && seen.contains("the end: 0"), "{seen}");
    assert!(server.data().join("terminals.json").exists(), "{seen}");
}

#[tokio::test]
async fn a_closed_session_ends_the_command_and_the_terminal_is_as_before() {
    let server = Server::start().await;
    let session = server.session().await;
    session.ask("hello").await;
    let binary = env!("CARGO_BIN_EXE_flightdeck");
    let attach = format!("{binary} --data-dir '{}' attach 1", server.data().display());
    let mut terminal = Terminal::start_program(&server, &["sh", "-c", &format!("{attach}; stty -a")]);
    terminal.until_seen("/help lists commands").await;
    assert_eq!(server.run(&["sessions", "close", "1"]).await.code, Some(0));
    let (_, seen) = terminal.ended().await;
    assert!(seen.contains("session-1 is closed") && seen.contains("sessions reopen 1"), "{seen}");
    assert!(seen.contains(" icanon") && seen.contains(" echo "), "the terminal stays changed: {seen}");
}

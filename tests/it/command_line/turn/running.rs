//! `flightdeck run` without a terminal: what is printed where, and the exit codes.

use serde_json::json;
use tokio::io::AsyncReadExt as _;

use super::{json_lines, piped, turn};
use crate::support::{Running, Server, TestSession, eventually, send_signal};

#[tokio::test]
async fn the_answer_goes_to_standard_output_and_everything_else_to_standard_error() {
    let server = Server::start().await;
    let ended = server.run(&turn(&["something", "odd"])).await;
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    assert_eq!(
        ended.stdout,
        "The demo agent (no AI) read your prompt: something odd\n\nSend `help` to see what it can show.\n"
    );
    assert!(ended.stderr.contains("flightdeck run -s 1"), "{}", ended.stderr);
    let ended = server.run(&turn(&["tool"])).await;
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    let tools: Vec<&str> = ended.stderr.lines().filter(|line| line.starts_with('●')).collect();
    assert_eq!(tools.len(), 1, "{}", ended.stderr);
    assert!(!ended.stdout.contains('●') && !ended.stdout.contains('\u{1b}'), "{}", ended.stdout);
}

#[tokio::test]
async fn piped_input_and_files_belong_to_the_prompt() {
    let server = Server::start().await;
    std::fs::write(server.folder().join("more.txt"), "from a file\n").expect("written");
    let ended = piped(&server, &turn(&["first", "-f", "more.txt"]), "and a pipe\n").await;
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    assert!(ended.stdout.contains("prompt: first\n\nfrom a file\n\nand a pipe\n"), "{}", ended.stdout);
    std::fs::write(server.folder().join("dot.png"), [0x89, 0x50, 0x4e, 0x47, 0xff]).expect("written");
    let ended = server.run(&turn(&["look", "-f", "dot.png"])).await;
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
}

#[tokio::test]
async fn a_turn_that_fails_is_denied_or_has_no_budget_has_its_own_exit_code() {
    let server = Server::start().await;
    let failed = server.run(&turn(&["error", "no luck"])).await;
    assert_eq!(failed.code, Some(1), "{}", failed.stderr);
    assert!(failed.stderr.contains("no luck"), "{}", failed.stderr);
    let denied = server.run(&turn(&["permission"])).await;
    assert_eq!(denied.code, Some(3), "{}", denied.stderr);
    assert!(denied.stderr.contains("nobody is at a terminal"), "{}", denied.stderr);
    assert!(denied.stdout.contains("You denied it"), "{}", denied.stdout);
    let by_mode = server.run(&turn(&["--mode", "deny", "permission"])).await;
    assert_eq!(by_mode.code, Some(3), "{}", by_mode.stderr);
    let allowed = server.run(&turn(&["--mode", "allow-all", "permission"])).await;
    assert_eq!(allowed.code, Some(0), "{}", allowed.stderr);
    let question = server.run(&turn(&["question"])).await;
    assert!(question.stdout.contains("got no answer"), "{}", question.stdout);

    let body = json!({ "runtime": "demo", "budget": { "tokens": 10, "refuse": true } });
    let session = TestSession::start_with(server.http(), body).await;
    session.ask("usage 100").await;
    let spent = server.run(&["run", "-s", &session.id, "hello"]).await;
    assert_eq!((spent.code, spent.stdout.as_str()), (Some(4), ""), "{}", spent.stderr);
}

#[tokio::test]
async fn a_rule_allows_without_asking() {
    let server = Server::start().await;
    let tool = server.run(&turn(&["--json", "--mode", "deny", "permission"])).await;
    let asked = json_lines(&tool.stdout);
    assert_eq!(asked.last().expect("a summary")["exitCode"], 3, "{}", tool.stdout);
    let allowed = server.run(&turn(&["--mode", "deny", "--allow", "*", "permission"])).await;
    assert_eq!(allowed.code, Some(0), "{}", allowed.stderr);
}

#[tokio::test]
async fn what_cannot_be_started_is_an_error_of_usage() {
    let server = Server::start().await;
    for (arguments, word) in [
        (&["run"][..], "the prompt is empty"),
        (&["run", "-s", "99", "x"], "there is no session-99"),
        (&["run", "-s", "no such title", "x"], "no such title"),
        (&["run", "-c", "-C", "work", "x"], "leave out -c"),
        (&["run", "-C", "no-such-folder", "x"], "no-such-folder"),
        (&["run", "-f", "no-such-file", "x"], "no-such-file"),
        (&["run", "--runtime", "no-such", "x"], "no-such"),
        (&["run", "--mode", "maybe", "x"], "maybe"),
        (&["run", "-s", "1", "--mode", "deny", "x"], "cannot be used with"),
        (&["run", "--allow", ":", "x"], "expected a tool"),
    ] {
        let ended = server.run(arguments).await;
        assert_eq!((ended.code, ended.stdout.as_str()), (Some(2), ""), "{arguments:?}: {}", ended.stderr);
        assert!(ended.stderr.contains(word), "{arguments:?}: {}", ended.stderr);
    }
}

#[tokio::test]
async fn a_session_continues_by_its_id_its_title_or_its_folder() {
    let server = Server::start().await;
    assert_eq!(server.run(&turn(&["Fix the build"])).await.code, Some(0));
    for arguments in [
        &["run", "-s", "1", "x"][..],
        &["run", "-s", "session-1", "x"],
        &["run", "-s", "fix the", "x"],
        &["run", "-c", "-C", "work", "x"],
    ] {
        let ended = server.run(arguments).await;
        assert_eq!(ended.code, Some(0), "{arguments:?}: {}", ended.stderr);
    }
    let listed = server.http().get("/api/copilot/session").await.json();
    assert_eq!(listed["sessions"].as_array().map(Vec::len), Some(1), "{listed}");
}

#[tokio::test]
async fn with_json_every_event_is_a_line() {
    let server = Server::start().await;
    let ended = server.run(&turn(&["--json", "hello"])).await;
    let lines = json_lines(&ended.stdout);
    assert_eq!(lines[0], json!({ "sessionId": "session-1", "promptId": "prompt-1" }));
    let numbers: Vec<u64> = lines.iter().filter_map(|line| line["seq"].as_u64()).collect();
    assert!(numbers.len() > 3 && numbers.is_sorted(), "{numbers:?}");
    assert!(lines.iter().any(|line| line["response"]["callback"] == "onIdle"), "{}", ended.stdout);
    let last = lines.last().expect("a line");
    assert_eq!((&last["verdict"], &last["exitCode"]), (&json!("succeeded"), &json!(0)));
}

#[tokio::test]
async fn detaching_prints_the_id_and_leaves_the_turn_running() {
    let server = Server::start().await;
    let ended = server.run(&turn(&["--detach", "many 1000000 200 10"])).await;
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(0), "session-1\n"), "{}", ended.stderr);
    assert!(ended.stderr.contains("flightdeck attach 1"), "{}", ended.stderr);
    let session = TestSession { http: server.http(), id: "session-1".to_owned() };
    // The command does not wait for the beginning of the turn.
    session.events_after(0).await.until_callback("onMessage").await;
    assert_eq!(session.state().await, "working");
}

/// A long turn whose first words have arrived.
async fn long_turn(server: &Server) -> Running {
    let mut running = Running::start(server, &turn(&["--json", "many 1000000 200 10"]));
    while !running.printed.contains("onMessage") {
        assert!(running.printed_line().await, "{}", running.printed);
    }
    running
}

#[cfg(unix)]
#[tokio::test]
async fn an_interrupt_ends_the_turn_and_a_signal_to_end_leaves_it() {
    let server = Server::start().await;
    let running = long_turn(&server).await;
    send_signal("INT", running.child.id().expect("running"));
    let ended = running.ended().await;
    assert_eq!(ended.code, Some(130), "{}", ended.stderr);
    assert!(ended.stderr.contains("Interrupting"), "{}", ended.stderr);
    let state = |id: &str| format!("/api/copilot/session/{id}");
    assert_eq!(server.http().get(&state("session-1")).await.json()["state"], "ready");

    let running = long_turn(&server).await;
    send_signal("TERM", running.child.id().expect("running"));
    let ended = running.ended().await;
    assert_eq!(ended.code, Some(130), "{}", ended.stderr);
    assert!(ended.stderr.contains("Detached; session-2 continues") && ended.stderr.contains("flightdeck attach 2"));
    assert_eq!(server.http().get(&state("session-2")).await.json()["state"], "working");
}

#[cfg(unix)]
#[tokio::test]
async fn an_interrupt_before_the_turn_begins_cancels_the_prompt_and_nothing_else() {
    let server = Server::start().await;
    let session = server.session().await;
    session.prompt("many 1000000 200 10").await;
    session.events_after(0).await.until_callback("onMessage").await;
    let running = Running::start(&server, &["run", "-s", "1", "hello"]);
    eventually("the prompt is queued", async || (session.queued().await.len() == 1).then_some(())).await;
    send_signal("INT", running.child.id().expect("running"));
    let ended = running.ended().await;
    assert_eq!(ended.code, Some(130), "{}", ended.stderr);
    assert!(ended.stderr.contains("The prompt was not sent"), "{}", ended.stderr);
    assert!(session.queued().await.is_empty());
    assert_eq!(session.state().await, "working", "the turn that runs is somebody else's");
}

#[tokio::test]
async fn a_reader_that_goes_away_ends_the_command_quietly_and_not_the_turn() {
    let server = Server::start().await;
    let mut command = server.builder_again().command(server.folder());
    let mut child = command.args(turn(&["many 1000000 200 10"])).spawn().expect("the binary starts");
    let mut stdout = child.stdout.take().expect("piped");
    stdout.read_u8().await.expect("a first letter");
    drop(stdout);
    let output = child.wait_with_output().await.expect("ended");
    assert_eq!(output.status.code(), Some(0));
    let stderr = String::from_utf8(output.stderr).expect("UTF-8");
    assert!(!stderr.contains("panicked") && !stderr.contains("pipe"), "{stderr}");
    let details = server.http().get("/api/copilot/session/session-1").await.json();
    assert_eq!(details["state"], "working");
}

#[tokio::test]
async fn a_turn_is_followed_across_a_restart_of_the_server() {
    let server = Server::start().await;
    let mut running = long_turn(&server).await;
    let server = server.kill_and_restart().await;
    running.until("Lost the connection").await;
    running.until(&format!("Connected to {} again", server.url)).await;
    let ended = running.ended().await;
    // The restart cut the turn off, and its outcome says so.
    assert_eq!(ended.code, Some(130), "{}", ended.stderr);
    let lines = json_lines(&ended.stdout);
    let numbers: Vec<u64> = lines.iter().filter_map(|line| line["seq"].as_u64()).collect();
    assert!(numbers.is_sorted() && numbers.windows(2).all(|pair| pair[0] < pair[1]), "an event is repeated");
    assert_eq!(lines.last().expect("a line")["verdict"], "interrupted");
}

//! `flightdeck logs`: the transcript as text.

use super::json_lines;
use crate::support::{Running, Server};

#[tokio::test]
async fn the_transcript_has_prompts_tools_and_answers() {
    let server = Server::start().await;
    let session = server.session().await;
    session.ask("tool").await;
    session.ask("error no luck").await;
    let ended = server.run(&["logs", "1"]).await;
    assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""));
    for part in ["> tool\n", "● ", "> error no luck\n", "✗ "] {
        assert!(ended.stdout.contains(part), "{part}: {}", ended.stdout);
    }
    let json = json_lines(&server.run(&["logs", "session-1", "--json"]).await.stdout);
    assert!(json.iter().all(|line| line["seq"].is_u64() && line["time"].is_string()), "{json:?}");
    let last = json.last().and_then(|line| line["seq"].as_u64()).expect("a number");
    let rest = server.run(&["logs", "1", "--json", "--after", &(last - 1).to_string()]).await;
    assert_eq!(json_lines(&rest.stdout).len(), 1, "{}", rest.stdout);
    let unknown = server.run(&["logs", "7"]).await;
    assert!(!unknown.success && unknown.stderr.contains("there is no session-7"), "{}", unknown.stderr);
}

#[tokio::test]
async fn following_ends_when_the_session_is_closed() {
    let server = Server::start().await;
    let session = server.session().await;
    let mut following = Running::start(&server, &["logs", "-f", "1"]);
    session.ask("something").await;
    while !following.printed.contains("read your prompt: something") {
        assert!(following.printed_line().await, "{}", following.printed);
    }
    assert_eq!(server.run(&["sessions", "close", "1"]).await.code, Some(0));
    let ended = following.ended().await;
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
}

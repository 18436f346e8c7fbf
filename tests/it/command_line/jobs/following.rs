//! Following a job across restarts of the server, and what its sessions ask.

use super::{jobs, running, server};

#[tokio::test]
async fn following_survives_a_killed_server_and_another_port() {
    let server = server().await;
    let mut following = running(&server, &["run", "gated"]);
    following.until("To answer: ").await;
    let mut log = running(&server, &["logs", "-f", "1"]);
    assert!(log.printed_line().await, "it has read something");
    let server = server.kill_and_restart().await;
    following.until(&format!("Connected to {} again", server.url)).await;
    log.until("Connected to ").await;
    assert!(following.seen.contains("Lost the connection to the server"), "{}", following.seen);
    assert_eq!(jobs(&server, &["approve", "1", "--yes"]).await.code, Some(0));
    let ended = following.ended().await;
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(0), "Succeeded\n"), "{}", ended.stderr);
    let started = ended.stderr.matches("  0 greet  started as").count();
    assert_eq!(started, 1, "nothing is shown twice: {}", ended.stderr);
    let log = log.ended().await;
    assert_eq!(log.code, Some(0));
    assert_eq!(log.stdout, jobs(&server, &["logs", "1"]).await.stdout, "no gap and no repeat");
}

#[tokio::test]
async fn a_request_of_a_session_is_announced_with_where_to_answer() {
    let server = server().await;
    let mut following = running(&server, &["run", "ask"]);
    following.until("needs your input").await;
    let address = format!("{}/?session=session-1", server.url);
    assert!(following.seen.contains(&address) && following.seen.contains("0 asking"), "{}", following.seen);
    jobs(&server, &["stop", "1"]).await;
    assert_eq!(following.ended().await.code, Some(3));
}

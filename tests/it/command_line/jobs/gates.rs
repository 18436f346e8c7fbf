//! Gates: `jobs approve` and `jobs reject`.

use std::process::Command;

use serde_json::{Value, json};

use super::{check_failed, jobs, json_of, running, server, until_waiting};
use crate::support::Server;

async fn waiting(server: &Server, name: &str) -> Value {
    let started = json_of(&jobs(server, &["run", name, "--detach", "--json"]).await);
    until_waiting(server, started["jobId"].as_str().expect("an id")).await
}

#[tokio::test]
async fn a_gate_is_approved_from_another_command() {
    let server = server().await;
    let mut following = running(&server, &["run", "gated"]);
    following.until("To answer: `flightdeck jobs approve 1`").await;
    for word in ["gate-1 waits for a decision: Go on?", "Look at **this**.", "✓ 0 greet", "Digest: "] {
        assert!(following.seen.contains(word), "{word}: {}", following.seen);
    }
    let asked = jobs(&server, &["approve", "1"]).await;
    check_failed(&asked, 1, &["gate-1: Go on?", "nobody can be asked here", "--digest "]);
    let status = jobs(&server, &["status", "1"]).await.stdout;
    assert!(status.contains("? 1 gate: Go on?") && status.contains("jobs reject 1 -m NOTE"), "{status}");
    assert!(jobs(&server, &[]).await.stdout.contains("Waiting for you"));

    let approved = jobs(&server, &["approve", "1", "--yes", "-m", "fine"]).await;
    assert_eq!(
        (approved.code, approved.stdout.as_str()),
        (Some(0), "Approved gate-1 of job-1.\n"),
        "{}",
        approved.stderr
    );
    let ended = following.ended().await;
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(0), "Succeeded\n"), "{}", ended.stderr);
    assert!(ended.stderr.contains("gate-1 approved by api: fine"), "{}", ended.stderr);
    check_failed(&jobs(&server, &["approve", "1", "--yes"]).await, 1, &["waits for no decision", "Succeeded"]);
}

#[tokio::test]
async fn a_rejected_gate_fails_the_job() {
    let server = server().await;
    let job = waiting(&server, "gated").await;
    let digest = job["waiting"][0]["digest"].as_str().expect("a digest");
    let rejected = jobs(&server, &["reject", "1", "-m", "not yet", "--digest", digest, "--json"]).await;
    let expected = json!({ "jobId": "job-1", "waitingId": "gate-1", "approved": false, "digest": digest });
    assert_eq!(json_of(&rejected), expected);
    let followed = jobs(&server, &["logs", "1", "-f"]).await;
    assert!(followed.stdout.contains("gate-1 rejected by api: not yet"), "{}", followed.stdout);
    let status = jobs(&server, &["status", "1"]).await.stdout;
    assert!(status.contains("Failed") && status.contains("rejected by api: not yet"), "{status}");
}

#[tokio::test]
async fn what_changed_since_it_was_shown_is_shown_again_and_not_approved() {
    let server = server().await;
    let git = Command::new("git").args(["init", "-q"]).current_dir(server.work()).status().expect("git runs");
    assert!(git.success());
    let job = waiting(&server, "gated").await;
    let digest = job["waiting"][0]["digest"].as_str().expect("a digest");
    std::fs::write(server.work().join("surprise.txt"), "new").expect("written");
    let stale = jobs(&server, &["approve", "1", "--digest", digest]).await;
    check_failed(&stale, 1, &["has changed", "It shows this now:", "surprise.txt"]);
    assert_eq!(json_of(&jobs(&server, &["status", "1", "--json"]).await)["status"], "Running");
    assert_eq!(jobs(&server, &["approve", "1", "--yes"]).await.code, Some(0));
}

#[tokio::test]
async fn one_of_several_gates_is_chosen_by_its_id() {
    let server = server().await;
    let mut following = running(&server, &["run", "two"]);
    following.until("gate-1: ").await;
    following.until("gate-2: ").await;
    let several = jobs(&server, &["approve", "1", "--yes"]).await;
    check_failed(&several, 1, &["--gate ID", "gate-1: ", "gate-2: "]);
    let unknown = jobs(&server, &["approve", "1", "--yes", "--gate", "gate-7"]).await;
    check_failed(&unknown, 1, &["gate-7", "gate-1: "]);
    assert!(jobs(&server, &["status", "1"]).await.stdout.contains("jobs approve 1 --gate gate-2"));
    for id in ["gate-1", "gate-2"] {
        assert_eq!(jobs(&server, &["approve", "1", "--yes", "--gate", id]).await.code, Some(0));
    }
    assert_eq!(following.ended().await.code, Some(0));
}

//! `jobs run`, `stop` and `retry`.

use std::process::Stdio;

use serde_json::json;
use tokio::io::AsyncWriteExt as _;

use super::{check_failed, jobs, json_of, running, server, with_folder};
use crate::support::{Server, send_signal};

async fn sessions(server: &Server) -> usize {
    server.http().get("/api/copilot/session").await.json()["sessions"].as_array().expect("a list").len()
}

#[tokio::test]
async fn a_job_is_followed_and_its_end_is_the_exit_code() {
    let server = server().await;
    let good = jobs(&server, &["run", "hello"]).await;
    assert_eq!((good.code, good.stdout.as_str()), (Some(0), "Succeeded\n"), "{}", good.stderr);
    for word in ["Started job-1 (hello) in ", "0 greet  started as task-", "[TASK SUCCEEDED]", "job  succeeded"] {
        assert!(good.stderr.contains(word), "{word}: {}", good.stderr);
    }
    assert!(!good.stderr.contains('\u{1b}'), "no colours: {}", good.stderr);

    let bad = jobs(&server, &["run", "fail"]).await;
    assert_eq!((bad.code, bad.stdout.as_str()), (Some(1), "Failed\n"), "{}", bad.stderr);
    assert!(bad.stderr.contains("1 broken  not done"), "{}", bad.stderr);

    let json = jobs(&server, &["run", "hello", "--json"]).await;
    let said = json_of(&json);
    assert_eq!((&said["jobId"], &said["status"], json.code), (&json!("job-3"), &json!("Succeeded"), Some(0)));
}

#[tokio::test]
async fn what_cannot_be_started_is_refused_with_the_usage_code() {
    let server = server().await;
    for (arguments, words) in [
        (&["run", "helo"][..], &["there is no job \"helo\"", "hello"][..]),
        (&["run", "say"], &["needs user input", "-f FILE"]),
        (&["run", "hello", "some", "input"], &["takes no user input"]),
        (&["run", "hello", "--model", "coding=x"], &["no model category \"coding\"", "driving"]),
        (&["run", "hello", "--model", "coding"], &["such as coding=gpt-5"]),
        (&["run", "hello", "--dry", "--detach"], &["--dry", "--detach"]),
    ] {
        let ended = jobs(&server, arguments).await;
        let words: Vec<String> = words.iter().map(|word| word.to_lowercase()).collect();
        assert_eq!((ended.code, ended.stdout.as_str()), (Some(2), ""), "{arguments:?}: {}", ended.stderr);
        for word in words {
            assert!(ended.stderr.to_lowercase().contains(&word), "{arguments:?} {word}: {}", ended.stderr);
        }
    }
    let nowhere = server.run(&["jobs", "run", "hello", "-C", "nowhere"]).await;
    check_failed(&nowhere, 2, &["cannot use the folder"]);
    assert_eq!(server.http().get("/api/jobs").await.json()["jobs"], json!([]));
}

#[tokio::test]
async fn a_dry_run_shows_everything_and_starts_nothing() {
    let server = server().await;
    let dry = jobs(&server, &["run", "say", "--dry", "good", "morning"]).await;
    assert_eq!((dry.code, dry.stderr.as_str()), (Some(0), ""));
    for part in [
        "Job say",
        "Steps:\n  0 say",
        "  prompt:\n    hello good morning",
        "permissions: read and write files",
        "Nothing was started.",
    ] {
        assert!(dry.stdout.contains(part), "{part}: {}", dry.stdout);
    }
    let gated = jobs(&server, &["run", "gated", "--dry"]).await.stdout;
    assert!(
        gated.contains("Steps:\n  0 greet\n  1 gate: Go on?\n  2 greet") && gated.contains("Look at **this**."),
        "{gated}"
    );
    assert!(jobs(&server, &["run", "fail", "--dry"]).await.stdout.contains("must exit with 0: false"));
    let json = json_of(&jobs(&server, &["run", "gated", "--dry", "--json"]).await);
    assert_eq!((&json["jobName"], &json["work"]["kind"]), (&json!("gated"), &json!("Seq")));
    assert_eq!(server.http().get("/api/jobs").await.json()["jobs"], json!([]));
    assert_eq!(sessions(&server).await, 0);
}

#[tokio::test]
async fn input_comes_from_arguments_a_file_or_standard_input() {
    let server = server().await;
    std::fs::write(server.folder().join("input.txt"), "from a file\n").expect("written");
    let started = [
        (&["run", "say", "from", "arguments"][..], "from arguments"),
        (&["run", "say", "-f", "input.txt"], "from a file"),
        (&["run", "say", "both:", "-f", "input.txt"], "both:\n\nfrom a file"),
    ];
    for (arguments, _) in &started {
        assert_eq!(jobs(&server, arguments).await.code, Some(0));
    }
    let piped = [(&["run", "say"][..], "from a pipe"), (&["run", "say", "see:", "-f", "-"], "see:\n\nfrom a pipe")];
    for (arguments, _) in &piped {
        let mut command = server.builder_again().command(server.folder());
        let mut child = command.args(with_folder(arguments)).stdin(Stdio::piped()).spawn().expect("starts");
        child.stdin.take().expect("piped").write_all(b"from a pipe\n").await.expect("written");
        let output = child.wait_with_output().await.expect("ended");
        assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    }
    let listed = server.http().get("/api/jobs").await.json();
    let given: Vec<&str> =
        listed["jobs"].as_array().expect("a list").iter().rev().filter_map(|job| job["userInput"].as_str()).collect();
    let expected: Vec<&str> = started.iter().chain(&piped).map(|(_, input)| *input).collect();
    assert_eq!(given, expected);

    // A job without input does not read a standard input that never ends.
    let mut command = server.builder_again().command(server.folder());
    let mut child = command.args(with_folder(&["run", "hello"])).stdin(Stdio::piped()).spawn().expect("starts");
    let open = child.stdin.take().expect("piped");
    assert_eq!(child.wait().await.expect("ended").code(), Some(0));
    drop(open);
}

#[tokio::test]
async fn a_detached_job_continues_and_can_be_stopped() {
    let server = server().await;
    let detached = jobs(&server, &["run", "slow", "--detach"]).await;
    assert_eq!((detached.code, detached.stdout.as_str()), (Some(0), "job-1\n"));
    assert!(
        detached.stderr.contains("jobs logs -f 1") && detached.stderr.contains("jobs stop 1"),
        "{}",
        detached.stderr
    );
    let stopped = jobs(&server, &["stop", "1"]).await;
    assert_eq!((stopped.code, stopped.stdout.contains("Stopped job-1")), (Some(0), true), "{}", stopped.stderr);
    let again = jobs(&server, &["stop", "job-1", "--json"]).await;
    assert_eq!(json_of(&again), json!({ "jobId": "job-1", "status": "Canceled" }));
    assert_eq!(jobs(&server, &["stop", "1"]).await.stdout, "job-1 was already over: Canceled.\n");
    let json = json_of(&jobs(&server, &["run", "hello", "--detach", "--json"]).await);
    assert_eq!(json, json!({ "jobId": "job-2" }));
    for command in ["stop", "status", "approve", "reject", "retry", "logs"] {
        check_failed(&jobs(&server, &[command, "9"]).await, 1, &["there is no job-9", "jobs list --all"]);
        assert_eq!(jobs(&server, &[command, "job-x"]).await.code, Some(2));
    }
}

#[tokio::test]
async fn a_job_that_somebody_stops_ends_its_follower_with_3() {
    let server = server().await;
    let mut following = running(&server, &["run", "slow"]);
    following.until("started as task-1").await;
    jobs(&server, &["stop", "1"]).await;
    let ended = following.ended().await;
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(3), "Canceled\n"), "{}", ended.stderr);
}

#[cfg(unix)]
#[tokio::test]
async fn ctrl_c_detaches_and_the_job_continues() {
    let server = server().await;
    let mut following = running(&server, &["run", "slow"]);
    following.until("started as task-1").await;
    send_signal("INT", following.child.id().expect("running"));
    let ended = following.ended().await;
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(130), ""));
    for word in ["Detached; job-1 continues", "jobs logs -f 1", "jobs stop 1"] {
        assert!(ended.stderr.contains(word), "{word}: {}", ended.stderr);
    }
    assert_eq!(json_of(&jobs(&server, &["status", "1", "--json"]).await)["status"], "Running");
    jobs(&server, &["stop", "1"]).await;
}

#[tokio::test]
async fn a_failed_job_is_retried_from_its_failed_step() {
    let server = server().await;
    assert_eq!(jobs(&server, &["run", "fix"]).await.code, Some(1));
    std::fs::write(server.work().join("fixed"), "").expect("written");
    let retried = jobs(&server, &["retry", "1", "--follow"]).await;
    assert_eq!((retried.code, retried.stdout.as_str()), (Some(0), "Succeeded\n"), "{}", retried.stderr);
    assert!(retried.stderr.contains("1 fixable  started as"), "{}", retried.stderr);
    assert!(!retried.stderr.contains("0 greet  started"), "what succeeded is not done again: {}", retried.stderr);
    check_failed(&jobs(&server, &["retry", "1"]).await, 1, &["succeeded", "start it again"]);

    std::fs::remove_file(server.work().join("fixed")).expect("removed");
    jobs(&server, &["run", "fix"]).await;
    let json = json_of(&jobs(&server, &["retry", "2", "--json"]).await);
    assert_eq!(json, json!({ "jobId": "job-2", "status": "Running" }));
}

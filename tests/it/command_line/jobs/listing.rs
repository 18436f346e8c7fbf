//! `jobs list`, `status` and `logs`.

use serde_json::{Value, json};

use super::{check_failed, jobs, json_of, server};
use crate::support::Server;

#[tokio::test]
async fn the_jobs_of_the_folder_and_those_that_ran_are_listed() {
    let server = server().await;
    for arguments in [&[][..], &["list"]] {
        let listed = jobs(&server, arguments).await;
        assert_eq!((listed.code, listed.stderr.as_str()), (Some(0), ""));
        let lines: Vec<&str> = listed.stdout.lines().collect();
        assert!(lines[0].starts_with("Jobs that you can start in ") && lines[0].ends_with("work:"), "{lines:?}");
        assert_eq!(lines[1].split_whitespace().collect::<Vec<_>>(), ["NAME", "INPUT", "STEPS"]);
        assert!(lines[2].starts_with("hello"), "the grid's order: {lines:?}");
        assert!(lines.iter().any(|line| line.starts_with("say ") && line.contains("required")), "{lines:?}");
        assert!(lines.iter().any(|line| line.contains("2 tasks, 1 gate")), "{lines:?}");
        assert!(!listed.stdout.contains("Running and recent"), "{}", listed.stdout);
    }
    jobs(&server, &["run", "hello"]).await;
    jobs(&server, &["run", "fail"]).await;
    let listed = jobs(&server, &["list"]).await.stdout;
    let (_, recent) = listed.split_once("Running and recent jobs:\n").expect("a second table");
    let ids: Vec<&str> = recent.lines().skip(1).filter_map(|line| line.split_whitespace().next()).collect();
    assert_eq!(ids, ["job-2", "job-1"], "newest first");

    let json = json_of(&jobs(&server, &["list", "--json"]).await);
    assert_eq!(json["available"][0], json!({ "jobName": "hello", "requireUserInput": false, "tasks": 1, "gates": 0 }));
    assert_eq!((&json["jobs"][0]["jobId"], &json["entry"]["source"]), (&json!("job-2"), &json!("configuration")));
    let named = |json: &Value| {
        json["jobs"].as_array().expect("a list").iter().map(|job| job["jobId"].clone()).collect::<Vec<_>>()
    };
    assert_eq!(named(&json_of(&jobs(&server, &["list", "--all", "--json"]).await)), ["job-2", "job-1"]);
    assert_eq!(named(&json_of(&jobs(&server, &["list", "--status", "failed", "--json"]).await)), ["job-2"]);
    assert_eq!(jobs(&server, &["list", "--status", "Running"]).await.stdout, "No jobs.\n");
    let wrong = jobs(&server, &["list", "--status", "done"]).await;
    check_failed(&wrong, 2, &["Running, Succeeded, Failed, Canceled"]);
}

#[tokio::test]
async fn a_job_is_shown_with_its_history() {
    let server = server().await;
    assert_eq!(jobs(&server, &["status"]).await.stdout, "No job is running.\n");
    assert_eq!(json_of(&jobs(&server, &["status", "--json"]).await), json!({ "jobs": [] }));
    jobs(&server, &["run", "fail"]).await;
    let status = jobs(&server, &["status", "1"]).await;
    assert_eq!((status.code, status.stderr.as_str()), (Some(0), ""));
    for part in ["job-1  fail  Failed\n", "✓ 0 greet  ", "✗ 1 broken  ", "[TASK FAILED]", "[CRITERIA]", "Started:  20"]
    {
        assert!(status.stdout.contains(part), "{part}: {}", status.stdout);
    }
    let json = json_of(&jobs(&server, &["status", "job-1", "--json"]).await);
    assert_eq!((&json["jobName"], &json["works"][1]["status"]), (&json!("fail"), &json!("Failed")));
    jobs(&server, &["run", "slow", "--detach"]).await;
    let running = jobs(&server, &["status"]).await.stdout;
    assert!(running.contains("job-2") && !running.contains("job-1"), "{running}");
    jobs(&server, &["stop", "2"]).await;
}

#[tokio::test]
async fn the_log_is_printed_line_by_line_and_followed_to_the_end() {
    let server = server().await;
    jobs(&server, &["run", "fail"]).await;
    let log = jobs(&server, &["logs", "1"]).await;
    assert_eq!((log.code, log.stderr.as_str()), (Some(0), ""));
    let lines: Vec<&str> = log.stdout.lines().collect();
    assert!(lines[0].starts_with("20") && lines[0].ends_with("Z  job  started"), "{lines:?}");
    assert!(lines.iter().any(|line| line.contains("  1 broken  command exited with 1")), "{lines:?}");
    assert_eq!(lines.last().and_then(|line| line.split_once("  ")).map(|(_, what)| what), Some("job  failed"));
    assert_eq!(jobs(&server, &["logs", "1", "-f"]).await.stdout, log.stdout, "a job that is over ends at once");
    let events: Vec<Value> = jobs(&server, &["logs", "1", "--json"])
        .await
        .stdout
        .lines()
        .map(|line| serde_json::from_str(line).expect("JSON on each line"))
        .collect();
    assert_eq!(events.len(), lines.len());
    assert_eq!((&events[0]["seq"], &events[0]["event"]["callback"]), (&json!(1), &json!("jobStarted")));
}

#[tokio::test]
async fn without_a_server_every_command_says_how_to_start_one() {
    let folder = tempfile::tempdir().expect("a folder");
    for arguments in [
        &["list"][..],
        &["run", "hello"],
        &["status"],
        &["status", "1"],
        &["stop", "1"],
        &["approve", "1"],
        &["reject", "1"],
        &["retry", "1"],
        &["logs", "1"],
        &["logs", "-f", "1"],
        &["trust"],
    ] {
        let arguments: Vec<&str> = ["jobs"].iter().chain(arguments).copied().collect();
        let ended = Server::builder().run(folder.path(), &arguments).await;
        check_failed(&ended, 1, &["no server is running", "start one with `flightdeck serve`"]);
    }
    assert!(!folder.path().join("data").exists(), "asking makes nothing");
}

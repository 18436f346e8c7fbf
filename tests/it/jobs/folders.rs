//! A working directory that goes away: the job fails with a clear reason, and does not hang.

use serde_json::json;

use super::{ENDLESS, TestJob, checked, demo, gate, reference, seq, server, with};
use crate::support::TestSession;

#[tokio::test]
async fn a_folder_that_is_gone_before_the_next_session_fails_the_job() {
    let works = json!({ "job": seq(&[gate("Go?"), reference("greet")]) });
    let server = server(json!({ "greet": demo("hello") }), works).await;
    let folder = server.folder().join("goes");
    std::fs::create_dir(&folder).expect("made");
    let job = TestJob::start_with(&server, json!({ "jobName": "job", "workingDirectory": folder })).await;
    let waiting = job.waits().await;
    std::fs::remove_dir(&folder).expect("removed");
    job.approve(&waiting).await;
    let details = job.end_as("Failed").await;
    let error = details["error"].as_str().expect("an error");
    assert!(error.contains("greet") && error.contains("goes"), "{error}");
    // Once it is there again, the job can go on.
    std::fs::create_dir(&folder).expect("made");
    assert_eq!(job.post("/retry").await.status, 200);
    job.end_as("Succeeded").await;
}

#[tokio::test]
async fn a_folder_that_is_gone_before_a_check_fails_the_check() {
    let asking = with(checked(demo("permission"), "true", 1), "permissions", json!({ "mode": "ask" }));
    let server = server(json!({ "asking": asking }), json!({ "job": reference("asking") })).await;
    let folder = server.folder().join("goes");
    std::fs::create_dir(&folder).expect("made");
    let job = TestJob::start_with(&server, json!({ "jobName": "job", "workingDirectory": folder })).await;
    let session = job.until_callback("taskSessionStarted").await["sessionId"].as_str().expect("an id").to_owned();
    let session = TestSession { http: server.http(), id: session };
    let asked = session.events_after(0).await.until_callback("onPermissionRequested").await;
    let request = asked.last().expect("one").json()["requestId"].as_str().expect("an id").to_owned();
    std::fs::remove_dir(&folder).expect("removed");
    // For the second turn, too.
    session.post(&format!("/permission/{request}"), json!({ "decision": "allow-always" })).await;
    job.end_as("Failed").await;
    let decisions = job.decisions().await;
    assert!(decisions.iter().any(|text| text.contains("the working directory is gone")), "{decisions:#?}");
}

#[tokio::test]
async fn a_folder_that_is_gone_at_a_restart_does_not_keep_the_server_from_starting() {
    let works = json!({ "job": seq(&[reference("long"), reference("long")]) });
    let server = server(json!({ "long": demo(ENDLESS) }), works).await;
    let folder = server.folder().join("goes");
    std::fs::create_dir(&folder).expect("made");
    let job = TestJob::start_with(&server, json!({ "jobName": "job", "workingDirectory": folder })).await;
    job.until_it_talks().await;
    std::fs::remove_dir(&folder).expect("removed");
    let server = server.kill_and_restart().await;
    let job = job.seen_by(&server);
    let details = job.end_as("Failed").await;
    assert!(details["error"].as_str().expect("an error").contains("goes"), "{details:#}");
}

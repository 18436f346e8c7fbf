//! Stops: at once, twice, of what is over, of a task.

use serde_json::{Value, json};

use super::{ENDLESS, TestJob, demo, of_kind, par, portal, portal_start, reference, seq, server};
use crate::support::{Server, eventually};

async fn endless() -> Server {
    let tasks = json!({ "greet": demo("hello"), "endless": demo(ENDLESS) });
    let works = json!({
        "greeting": reference("greet"),
        "endless": par(&[reference("endless"), reference("endless"), reference("greet")]),
        "then": seq(&[par(&[reference("endless"), reference("greet")]), reference("greet")]),
    });
    server(tasks, works).await
}

/// Waits until no session of a job is open.
async fn all_closed(server: &Server) {
    let http = server.http();
    eventually("the sessions to be closed", async || {
        let sessions = http.get("/api/copilot/session?limit=1000").await.json()["sessions"].clone();
        let is_closed = |session: &Value| session["state"] == "closed";
        sessions.as_array().expect("sessions").iter().all(is_closed).then_some(())
    })
    .await;
}

#[tokio::test]
async fn a_stop_at_once_cancels_and_nothing_follows() {
    let server = endless().await;
    for _ in 0..5 {
        let id = portal_start(&server, "endless", &server.work()).await;
        assert_eq!(portal(&server.http(), &format!("job/{id}/stop"), "").await, json!({ "result": "Closed" }));
        let job = TestJob::known(&server, &id);
        let details = job.end_as("Canceled").await;
        assert!(details["endTime"].is_string(), "{details}");
        let read = portal(&server.http(), &format!("job/{id}/live/t"), "").await;
        let last = read["responses"].as_array().and_then(|all| all.last()).cloned();
        assert_eq!(last, Some(json!({ "callback": "jobCanceled" })));
    }
    all_closed(&server).await;
    for number in 1..=5 {
        let log = TestJob::known(&server, &format!("job-{number}")).log().await;
        assert_eq!(log.last(), Some(&json!({ "callback": "jobCanceled" })), "nothing follows");
    }
}

#[tokio::test]
async fn a_stop_in_the_middle_closes_the_sessions_and_the_works_are_canceled() {
    let server = endless().await;
    let job = TestJob::start(&server, "then").await;
    job.until(|record| record["callback"] == "workStopped").await;
    let both = tokio::join!(job.post("/stop"), job.post("/stop"));
    assert_eq!((both.0.json(), both.1.json()), (json!({ "status": "Canceled" }), json!({ "status": "Canceled" })));
    let details = job.end_as("Canceled").await;
    let states: Vec<&Value> = details["works"].as_array().expect("works").iter().map(|work| &work["status"]).collect();
    assert_eq!(states, ["Canceled", "Succeeded"], "{details:#}");
    all_closed(&server).await;
    let log = job.log().await;
    assert_eq!(of_kind(&log, "jobCanceled").len(), 1, "two stops are one");
    assert_eq!(log.last(), Some(&json!({ "callback": "jobCanceled" })));
}

#[tokio::test]
async fn a_job_waits_for_room_and_a_stop_ends_the_waiting() {
    let server = super::builder().config(&format!("{}\n[limits]\nsessions = 1\n", super::CONFIG)).start().await;
    super::write_entry(
        &server,
        &super::entry("demo", json!({ "greet": demo("hello") }), json!({ "job": reference("greet") })),
    );
    let taken = server.session().await;
    let (stopped, goes_on) = (TestJob::start(&server, "job").await, TestJob::start(&server, "job").await);
    stopped.until_callback("workStarted").await;
    stopped.post("/stop").await;
    stopped.end_as("Canceled").await;
    portal(&server.http(), &format!("session/{}/stop", taken.id), "").await;
    goes_on.end_as("Succeeded").await;
    let sessions = server.http().get("/api/copilot/session").await.json()["sessions"].clone();
    let jobs: Vec<&Value> =
        sessions.as_array().expect("sessions").iter().map(|session| &session["job"]["jobId"]).collect();
    assert_eq!(jobs, [&json!(goes_on.id), &Value::Null], "nothing was opened for the job that was stopped");
}

#[tokio::test]
async fn a_stop_changes_nothing_of_what_is_over() {
    let server = endless().await;
    let job = TestJob::start(&server, "greeting").await;
    job.end_as("Succeeded").await;
    let log = job.log().await;
    assert_eq!(job.post("/stop").await.json(), json!({ "status": "Succeeded" }));
    assert_eq!(portal(&server.http(), &format!("job/{}/stop", job.id), "").await, json!({ "result": "Closed" }));
    assert_eq!(job.details().await["status"], "Succeeded");
    let server = server.restart().await;
    let job = job.seen_by(&server);
    assert_eq!(job.post("/stop").await.json(), json!({ "status": "Succeeded" }));
    assert_eq!(job.log().await, log);
}

#[tokio::test]
async fn a_stopped_task_fails_and_the_job_goes_by_that() {
    let server = endless().await;
    let job = TestJob::start(&server, "then").await;
    let task = job.until_callback("workStarted").await["taskId"].as_str().expect("an id").to_owned();
    let stop = format!("task/{task}/stop");
    assert_eq!(portal(&server.http(), &stop, "").await, json!({ "result": "Closed" }));
    job.end_as("Failed").await;
    assert_eq!(portal(&server.http(), &stop, "").await, json!({ "error": "TaskNotFound" }));
    let read = portal(&server.http(), &format!("task/{task}/live/t"), "").await;
    let responses = read["responses"].as_array().expect("responses");
    assert_eq!(responses.last(), Some(&json!({ "callback": "taskFailed" })));
    let reasons: Vec<&str> = responses.iter().filter_map(|response| response["reason"].as_str()).collect();
    assert!(reasons.iter().any(|reason| reason.starts_with("[OPERATION] ")), "{reasons:?}");
    assert!(!super::starts(&job.log().await).contains_key(&2), "what follows is not started");
    all_closed(&server).await;
}

#[tokio::test]
async fn a_task_in_somebodys_session_cannot_be_stopped_and_leaves_the_session_open() {
    let server = endless().await;
    let session = server.session().await;
    let task = portal(&server.http(), &format!("task/start/endless/session/{}", session.id), "").await;
    let task = task["taskId"].as_str().expect("an id").to_owned();
    session.events_after(0).await.until_callback("onMessage").await;
    let stop = format!("task/{task}/stop");
    assert_eq!(portal(&server.http(), &stop, "").await, json!({ "error": "TaskCannotClose" }));
    session.post("/interrupt", json!({})).await;
    let last = eventually("the end of the task", async || {
        let read = portal(&server.http(), &format!("task/{task}/live"), "").await;
        (read["callback"] == "taskFailed").then_some(read)
    })
    .await;
    assert_eq!(last, json!({ "callback": "taskFailed" }));
    assert_eq!(portal(&server.http(), &stop, "").await, json!({ "error": "TaskNotFound" }));
    assert_eq!(session.ask("hello").await["verdict"], "succeeded");
}

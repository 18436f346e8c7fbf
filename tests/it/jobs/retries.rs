//! A job that is over after a restart: it can be read, and retried if it did not succeed.

use serde_json::{Value, json};

use super::{TestJob, checked, demo, of_kind, par, portal, reference, seq, server, starts};

#[tokio::test]
async fn a_finished_job_can_be_read_after_a_restart() {
    let server = server(json!({ "greet": demo("hello") }), json!({ "greeting": reference("greet") })).await;
    let job = TestJob::start(&server, "greeting").await;
    let details = job.end_as("Succeeded").await;
    let (log, status) = (job.log().await, portal(&server.http(), &format!("job/{}/status", job.id), "").await);
    let server = server.kill_and_restart().await;
    let job = job.seen_by(&server);
    assert_eq!(job.details().await, details);
    assert_eq!(job.log().await, log);
    assert_eq!(portal(&server.http(), &format!("job/{}/status", job.id), "").await, status);
    assert_eq!(server.http().get("/api/jobs").await.json()["jobs"][0]["jobId"], json!(job.id));
    assert_eq!(job.post("/retry").await.error(409), "JobSucceeded");
    let next = TestJob::start(&server, "greeting").await;
    assert_eq!(next.id, "job-2", "ids go on");
    let [old, new] = [
        &log,
        &next.end().await["works"][0]["attempts"][0]["taskId"].as_str().map(|_| next.log()).expect("a task").await,
    ]
    .map(|log| of_kind(log, "workStarted")[0]["taskId"].clone());
    assert_ne!(old, new);
}

#[tokio::test]
async fn a_retry_continues_with_what_failed_also_after_a_restart() {
    let tasks = json!({ "greet": demo("hello"), "check": checked(demo("hello"), "test -e good", 0) });
    let works = json!({ "job": seq(&[reference("greet"), par(&[reference("greet"), reference("check")]), reference("greet")]) });
    let server = server(tasks, works).await;
    let job = TestJob::start(&server, "job").await;
    job.end_as("Failed").await;
    let token = format!("job/{}/live/reader", job.id);
    let first = portal(&server.http(), &token, "").await;
    assert_eq!(portal(&server.http(), &token, "").await, json!({ "error": "JobsClosed" }));
    assert_eq!(job.post("/retry").await.json(), json!({ "status": "Running" }));
    job.end_as("Failed").await;
    let server = server.restart().await;
    let job = job.seen_by(&server);
    assert_eq!(job.details().await["status"], "Failed");
    std::fs::write(server.work().join("good"), "").expect("written");
    assert_eq!(job.post("/retry").await.json(), json!({ "status": "Running" }));
    let details = job.end_as("Succeeded").await;
    let log = job.log().await;
    assert_eq!(starts(&log).into_iter().collect::<Vec<_>>(), [(0, 1), (1, 1), (2, 3), (3, 1)]);
    assert_eq!(of_kind(&log, "jobRetried").len(), 2);
    assert_eq!(details["works"][2]["attempts"].as_array().expect("attempts").len(), 3);
    assert_eq!(details["error"], json!(null));
    let rest = portal(&server.http(), &token, "").await;
    let names: Vec<_> =
        rest["responses"].as_array().expect("more").iter().map(|response| response["callback"].clone()).collect();
    assert_eq!(names.first(), Some(&json!("workStarted")), "a reader reads on behind {first}");
    assert_eq!(names.last(), Some(&json!("jobSucceeded")));
    assert_eq!(job.post("/retry").await.error(409), "JobSucceeded");
}

#[tokio::test]
async fn a_job_that_runs_cannot_be_retried() {
    let server = server(json!({ "endless": demo(super::ENDLESS) }), json!({ "endless": reference("endless") })).await;
    let job = TestJob::start(&server, "endless").await;
    assert_eq!(job.post("/retry").await.error(409), "JobNotStopped");
    job.post("/stop").await;
    let both = tokio::join!(job.post("/retry"), job.post("/retry"));
    let statuses = [both.0.status.as_u16(), both.1.status.as_u16()];
    assert!(statuses == [200, 409] || statuses == [409, 200], "one of two: {statuses:?}");
    job.until(|record| record["callback"] == "jobRetried").await;
    job.post("/stop").await;
    let log = job.log().await;
    assert_eq!(starts(&log).get(&0), Some(&2));
    assert_eq!(log.last(), Some(&json!({ "callback": "jobCanceled" })));
}

#[tokio::test]
async fn retries_at_the_moment_of_the_end_never_settle_a_job_that_goes_on() {
    // Fails at once until it may begin, and then does not end.
    let work = seq(&[reference("check"), reference("endless")]);
    let tasks = json!({ "check": checked(demo("hello"), "test -e good", 0), "endless": demo(super::ENDLESS) });
    let server = server(tasks, json!({ "job": work })).await;
    let job = TestJob::start(&server, "job").await;
    for round in 1..=20 {
        // As soon as the end is written, while the old run is still putting its things away.
        let mut ends = 0;
        let is_end = |record: &Value| {
            ends += usize::from(record["callback"] == "jobFailed");
            ends == round
        };
        job.until(is_end).await;
        if round == 20 {
            std::fs::write(server.work().join("good"), "").expect("written");
        }
        assert_eq!(job.post("/retry").await.json(), json!({ "status": "Running" }));
    }
    job.until(|record| record["workId"] == 1).await;
    let server = server.kill_and_restart().await;
    let job = job.seen_by(&server);
    assert_eq!(job.details().await["status"], "Running", "it is continued");
    assert_eq!(job.post("/stop").await.status, 200);
    assert_eq!(job.end().await["status"], "Canceled");
}

//! `live` and `live/{token}` of jobs and tasks: order, ends, parallel calls, tokens that come late.

use serde_json::{Value, json};

use super::{ENDLESS, TestJob, demo, portal, portal_start, reference, seq, server};
use crate::support::{Http, Server};

async fn finished() -> (Server, TestJob, String) {
    let server =
        server(json!({ "greet": demo("hello") }), json!({ "twice": seq(&[reference("greet"), reference("greet")]) }))
            .await;
    let id = portal_start(&server, "twice", &server.work()).await;
    let job = TestJob::known(&server, &id);
    job.end_as("Succeeded").await;
    let task = job.until_callback("workStarted").await["taskId"].as_str().expect("an id").to_owned();
    (server, job, task)
}

/// Reads one response at a time, until an error, which is the last one.
async fn drain(http: &Http, path: &str) -> Vec<Value> {
    let mut responses = Vec::new();
    loop {
        let response = portal(http, path, "").await;
        let is_end = response["error"].is_string();
        responses.push(response);
        if is_end {
            return responses;
        }
    }
}

/// What a token reads, until an error, which is the last one.
async fn drain_token(http: &Http, path: &str) -> Vec<Value> {
    let mut responses = Vec::new();
    loop {
        let mut reply = portal(http, path, "").await;
        if reply["error"].is_string() {
            responses.push(reply);
            return responses;
        }
        responses.append(reply["responses"].as_array_mut().expect("responses"));
    }
}

#[tokio::test]
async fn the_end_of_a_job_is_said_once_and_then_it_is_not_found() {
    let (server, job, task) = finished().await;
    let http = server.http();
    for (path, closed, not_found) in [
        (format!("job/{}/live", job.id), "JobsClosed", "JobNotFound"),
        (format!("task/{task}/live"), "TaskClosed", "TaskNotFound"),
    ] {
        let shared = drain(&http, &path).await;
        assert_eq!(shared.last(), Some(&json!({ "error": closed })));
        assert_eq!(portal(&http, &path, "").await, json!({ "error": not_found }));
        assert_eq!(portal(&http, &path, "").await, json!({ "error": not_found }));
        for token in ["one", "two"] {
            let path = format!("{path}/{token}");
            assert_eq!(drain_token(&http, &path).await, shared, "a token reads everything");
            assert_eq!(portal(&http, &path, "").await, json!({ "error": not_found }));
        }
    }
    let expected = ["workStarted", "workStopped", "workStarted", "workStopped", "jobSucceeded"];
    let read = drain_token(&http, &format!("job/{}/live/three", job.id)).await;
    let names: Vec<&Value> = read[..5].iter().map(|response| &response["callback"]).collect();
    assert_eq!(names, expected);
    let ahead = http.get(&format!("/api/copilot/job/{}/live/four?after=1000000", job.id)).await;
    assert_eq!(ahead.error(400), "CursorAhead");
}

#[tokio::test]
async fn the_end_is_not_said_again_after_a_restart() {
    let (server, job, task) = finished().await;
    let http = server.http();
    let token = format!("job/{}/live/one", job.id);
    drain_token(&http, &token).await;
    let shared = drain(&http, &format!("task/{task}/live")).await;
    let server = server.restart().await;
    let http = server.http();
    assert_eq!(portal(&http, &token, "").await, json!({ "error": "JobNotFound" }));
    assert_eq!(portal(&http, &format!("task/{task}/live"), "").await, json!({ "error": "TaskNotFound" }));
    assert_eq!(drain_token(&http, &format!("task/{task}/live/new")).await, shared, "within the time for it");
}

#[tokio::test]
async fn two_calls_at_once_are_one_too_many() {
    let server = server(json!({ "endless": demo(ENDLESS) }), json!({ "endless": reference("endless") })).await;
    let id = portal_start(&server, "endless", &server.work()).await;
    let job = TestJob::known(&server, &id);
    let task = job.until_callback("workStarted").await["taskId"].as_str().expect("an id").to_owned();
    job.until_callback("taskPromptSent").await;
    let paths = [format!("job/{id}/live/t"), format!("task/{task}/live/t")];
    let checks = paths.map(async |path| {
        let http = server.http();
        // Everything that is there.
        let batch = portal(&http, &path, "").await;
        assert!(batch["lastSeq"].as_u64() > Some(0), "{batch}");
        let (first, second) = tokio::join!(portal(&http, &path, ""), portal(&http, &path, ""));
        let errors = [&first["error"], &second["error"]];
        assert!(errors.contains(&&json!("ParallelCallNotSupported")), "{errors:?}");
        assert!(errors.contains(&&json!("HttpRequestTimeout")), "the other one waits: {errors:?}");
    });
    futures_util::future::join_all(checks).await;
    // Other tokens are other readers, and the stop ends those that wait.
    let http = server.http();
    let (live, token) = (format!("job/{id}/live"), format!("job/{id}/live/other"));
    portal(&http, &live, "").await;
    portal(&http, &token, "").await;
    let (one, batch, stopped) = tokio::join!(portal(&http, &live, ""), portal(&http, &token, ""), job.post("/stop"));
    assert_eq!(stopped.json(), json!({ "status": "Canceled" }));
    assert_eq!(one, json!({ "callback": "jobCanceled" }));
    assert_eq!(batch["responses"], json!([{ "callback": "jobCanceled" }]));
}

#[tokio::test]
async fn a_new_token_may_begin_later_than_at_the_beginning() {
    let (server, job, _) = finished().await;
    let path = format!("job/{}/live/t", job.id);
    let batch = portal(&server.http(), &format!("{path}?after=1"), "").await;
    assert!(batch["responses"].as_array().expect("responses").len() >= 4, "{batch}");
    assert_eq!(portal(&server.http(), &path, "").await, json!({ "error": "JobsClosed" }));
}

#[tokio::test]
async fn a_stream_resumes_by_number_and_ends_with_closed() {
    let (server, job, _) = finished().await;
    let mut stream = job.events().await;
    let all = stream.until(|event| event.event.as_deref() == Some("closed")).await;
    assert_eq!(stream.next().await, None);
    let numbers: Vec<u64> = all.iter().filter_map(|event| event.id).collect();
    assert!(numbers.windows(2).all(|pair| pair[0] <= pair[1]), "{numbers:?}");
    let middle = numbers[numbers.len() / 2];
    let server = server.restart().await;
    let http = server.http().header("last-event-id", &middle.to_string());
    let rest = http.events(&job.path("/events")).await.until(|event| event.event.as_deref() == Some("closed")).await;
    assert_eq!(rest[..], all[all.len() - rest.len()..]);
    assert_eq!(rest[0].id, Some(middle + 1));
    let last = numbers.last().expect("one");
    let done = server.http().header("last-event-id", &last.to_string()).get(&job.path("/events")).await;
    assert_eq!(done.status, 204);
    assert_eq!(server.http().get(&job.path("/events?after=100000")).await.error(400), "CursorAhead");
}

//! Requests about jobs that make no sense: refused with a reason, and nothing is done.

use serde_json::{Value, json};

use super::{ENDLESS, TestJob, demo, gate, reference, seq, server, with};
use crate::support::Server;

async fn small() -> Server {
    let echo = with(demo("Say $user-input"), "requireUserInput", json!(true));
    let tasks = json!({ "greet": demo("hello"), "endless": demo(ENDLESS), "echo": echo });
    let works = json!({
        "greeting": reference("greet"), "endless": reference("endless"), "echoing": reference("echo"),
        "gated": seq(&[reference("greet"), gate("Go?")]),
        "asking": seq(&[gate("Go?"), with(gate("Go?"), "prompt", json!(["Look at *this*.<script>go()</script>"]))]),
    });
    server(tasks, works).await
}

#[tokio::test]
async fn a_start_that_makes_no_sense_starts_nothing() {
    let server = small().await;
    let http = server.http();
    let folder = json!(server.work());
    let file = server.folder().join("jobs.json");
    let cases = [
        (json!({ "jobName": "nothing", "workingDirectory": folder }), 404, "JobNotFound"),
        (json!({ "jobName": "", "workingDirectory": folder }), 404, "JobNotFound"),
        (json!({ "jobName": "greeting", "workingDirectory": "" }), 400, "WorkingDirectoryNotExists"),
        (json!({ "jobName": "greeting", "workingDirectory": "work" }), 400, "WorkingDirectoryNotAbsolutePath"),
        (json!({ "jobName": "greeting", "workingDirectory": "/no/such" }), 400, "WorkingDirectoryNotExists"),
        (json!({ "jobName": "greeting", "workingDirectory": file }), 400, "WorkingDirectoryNotExists"),
        (json!({ "jobName": "greeting", "workingDirectory": folder, "userInput": "x" }), 400, "UserInputNotAllowed"),
        (json!({ "jobName": "echoing", "workingDirectory": folder }), 400, "UserInputRequired"),
        (json!({ "jobName": "echoing", "workingDirectory": folder, "userInput": " \n" }), 400, "UserInputRequired"),
        (
            json!({ "jobName": "greeting", "workingDirectory": folder, "models": { "x": "demo" } }),
            400,
            "ModelCategoryNotFound",
        ),
        (json!({ "jobName": "greeting", "workingDirectory": folder, "model": "demo" }), 400, "InvalidJson"),
        (json!({ "jobName": 1, "workingDirectory": folder }), 400, "InvalidJson"),
        (json!({ "workingDirectory": folder }), 400, "InvalidJson"),
        (json!([]), 400, "InvalidJson"),
    ];
    for (body, status, error) in cases {
        for is_dry in [false, true] {
            let mut body = body.clone();
            if is_dry && body.is_object() {
                body["dryRun"] = json!(true);
            }
            let reply = http.post_json("/api/jobs", &body).await;
            if is_dry && error.starts_with("UserInput") {
                assert_eq!(reply.status, 200, "{body}");
                assert!(reply.json()["warnings"][0].is_string(), "a preview says so: {}", reply.text());
            } else {
                assert_eq!(reply.error(status), error, "{body}");
            }
        }
    }
    let unknown = http.post_json("/api/jobs", &json!({ "jobName": "nothing", "workingDirectory": folder })).await;
    assert!(unknown.text().contains("greeting"), "it says what there is: {}", unknown.text());
    assert_eq!(http.get("/api/jobs").await.json(), json!({ "jobs": [] }));
    assert_eq!(http.get("/api/copilot/session").await.json()["sessions"], json!([]));
}

#[tokio::test]
async fn a_dry_run_shows_everything_and_starts_nothing() {
    let server = small().await;
    let body = json!({
        "jobName": "echoing", "workingDirectory": server.work(), "userInput": "$user-input & <b>", "dryRun": true,
    });
    let reply = server.http().post_json("/api/jobs", &body).await;
    assert_eq!(reply.status, 200, "{}", reply.text());
    let work = &reply.json()["works"][0];
    assert_eq!(
        (&work["taskName"], &work["prompt"], &work["mode"]),
        (&json!("echo"), &json!("Say $user-input & <b>"), &json!("single"))
    );
    assert_eq!(work["permissions"]["mode"], "folder");
    assert_eq!(server.http().get("/api/jobs").await.json(), json!({ "jobs": [] }));
}

#[tokio::test]
async fn a_dry_run_has_the_prompts_of_gates_as_safe_html_too() {
    let server = small().await;
    let body = json!({ "jobName": "asking", "workingDirectory": server.work(), "dryRun": true });
    let works = server.http().post_json("/api/jobs", &body).await.json()["works"].clone();
    assert_eq!(works[0]["promptHtml"], Value::Null, "without a prompt there is nothing to render");
    assert_eq!(works[1]["prompt"], "Look at *this*.<script>go()</script>");
    let html = works[1]["promptHtml"].as_str().expect("rendered");
    assert!(html.contains("<em>this</em>") && !html.contains("<script"), "{html}");
}

#[tokio::test]
async fn answers_and_queries_that_make_no_sense_are_refused() {
    let server = small().await;
    let job = TestJob::start(&server, "gated").await;
    let waiting = job.waits().await;
    let http = server.http();
    let (id, digest) = (&waiting["waitingId"], &waiting["digest"]);
    let cases = [
        (json!({}), 400, "InvalidJson"),
        (json!({ "waitingId": id }), 400, "InvalidJson"),
        (json!({ "waitingId": id, "digest": digest, "force": true }), 400, "InvalidJson"),
        (json!({ "waitingId": id, "digest": digest, "note": 3 }), 400, "InvalidJson"),
        (json!({ "waitingId": id, "digest": "" }), 409, "GateChanged"),
        (json!({ "waitingId": id, "digest": "0".repeat(64) }), 409, "GateChanged"),
        (json!({ "waitingId": "gate-99", "digest": digest }), 409, "GateClosed"),
        (json!({ "waitingId": "", "digest": digest }), 409, "GateClosed"),
    ];
    for (body, status, error) in cases {
        for verb in ["approve", "reject"] {
            assert_eq!(
                http.post_json(&job.path(&format!("/{verb}")), &body).await.error(status),
                error,
                "{verb} {body}"
            );
        }
    }
    assert_eq!(http.post(&job.path("/approve"), "{}").await.error(415), "UnsupportedMediaType");
    for (path, error) in [
        ("/api/jobs?status=Done", "InvalidStatus"),
        ("/api/jobs?before=x", "InvalidCursor"),
        ("/api/jobs?limit=x", "InvalidQuery"),
        ("/api/jobs?colour=red", "InvalidQuery"),
        ("/api/jobs/job-1/log?after=-1", "InvalidQuery"),
        ("/api/jobs/job-1/events?after=x", "InvalidQuery"),
        ("/api/jobs/entry?folder=x", "InvalidQuery"),
    ] {
        assert_eq!(http.get(path).await.error(400), error, "{path}");
    }
    assert_eq!(job.details().await["waiting"][0], waiting, "the gate waits as before");
    job.approve(&waiting).await;
    job.end_as("Succeeded").await;
}

#[tokio::test]
async fn a_start_that_is_repeated_with_its_key_is_one_start() {
    let server = small().await;
    let http = server.http().header("idempotency-key", "mine");
    let body = json!({ "jobName": "greeting", "workingDirectory": server.work() });
    let all = tokio::join!(http.post_json("/api/jobs", &body), http.post_json("/api/jobs", &body));
    assert_eq!(all.0.json(), all.1.json());
    let server = server.kill_and_restart().await;
    let http = server.http().header("idempotency-key", "mine");
    assert_eq!(http.post_json("/api/jobs", &body).await.json(), all.0.json());
    let other = json!({ "jobName": "endless", "workingDirectory": server.work() });
    assert_eq!(http.post_json("/api/jobs", &other).await.error(422), "IdempotencyKeyReused");
    TestJob::known(&server, "job-1").end_as("Succeeded").await;
    assert_eq!(server.http().get("/api/jobs").await.json()["jobs"].as_array().map(Vec::len), Some(1));
}

#[tokio::test]
async fn the_list_is_read_in_pages() {
    let server = small().await;
    for _ in 0..5 {
        TestJob::start(&server, "greeting").await.end_as("Succeeded").await;
    }
    let (mut ids, mut path) = (Vec::new(), "/api/jobs?limit=2".to_owned());
    loop {
        let page = server.http().get(&path).await.json();
        ids.extend(page["jobs"].as_array().expect("jobs").iter().map(|job| job["jobId"].clone()));
        match page["next"].as_str() {
            Some(next) => path = format!("/api/jobs?limit=2&before={next}"),
            None => break,
        }
    }
    let expected: Vec<Value> = (1..=5).rev().map(|number| json!(format!("job-{number}"))).collect();
    assert_eq!(ids, expected);
}

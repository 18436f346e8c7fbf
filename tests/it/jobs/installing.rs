//! `--test`: a server without an entry, and entries that are installed over HTTP.

use hyper::Method;
use serde_json::{Value, json};

use super::{TestJob, demo, entry, portal, reference};
use crate::support::Server;

async fn test_server() -> Server {
    let server = Server::builder().flags(&["--test"]).start().await;
    std::fs::create_dir(server.folder().join("test")).expect("made");
    server
}

fn write(server: &Server, name: &str, entry: &Value) -> String {
    let path = server.folder().join("test").join(name);
    std::fs::write(&path, entry.to_string()).expect("written");
    path.display().to_string()
}

fn plain() -> Value {
    entry("demo", json!({ "greet": demo("hello") }), json!({ "greeting": reference("greet") }))
}

async fn install(server: &Server, path: &str) -> Value {
    portal(&server.http(), "test/installJobsEntry", path).await
}

#[tokio::test]
async fn without_an_entry_what_needs_one_fails_and_the_rest_works() {
    let server = test_server().await;
    let http = server.http();
    let work = server.work().display().to_string();
    for method in [Method::GET, Method::POST] {
        for path in ["task", "job", "job/start/greeting", "task/start/greet/session/session-1"] {
            let reply = http.send(method.clone(), &format!("/api/copilot/{path}"), work.clone()).await;
            if path.starts_with("task/start") {
                assert_eq!(reply.json(), json!({ "error": "SessionNotFound" }), "{method} {path}");
            } else {
                assert_eq!(reply.error(500), "NoEntry", "{method} {path}");
            }
        }
        let ask = async |path: &str| http.send(method.clone(), &format!("/api/copilot/{path}"), "").await.json();
        assert_eq!(ask("job/running").await, json!({ "jobs": [] }));
        for path in ["job/job-1/status", "job/job-1/stop", "job/job-1/live", "job/job-1/live/token"] {
            assert_eq!(ask(path).await, json!({ "error": "JobNotFound" }), "{path}");
        }
        for path in ["task/task-1/stop", "task/task-1/live", "task/task-1/live/token"] {
            assert_eq!(ask(path).await, json!({ "error": "TaskNotFound" }), "{path}");
        }
    }
    let session = server.session().await;
    let reply = http.post(&format!("/api/copilot/task/start/greet/session/{}", session.id), "").await;
    assert_eq!(reply.error(500), "NoEntry");
    assert_eq!(http.get("/api/jobs/entry").await.json()["source"], "none");
    let body = json!({ "jobName": "greeting", "workingDirectory": server.work() });
    assert_eq!(http.post_json("/api/jobs", &body).await.error(409), "NoEntry");
}

#[tokio::test]
async fn only_a_file_below_the_test_folder_can_be_installed() {
    let server = test_server().await;
    let good = write(&server, "good.json", &plain());
    let outside = server.work().join("outside.json");
    std::fs::write(&outside, plain().to_string()).expect("written");
    std::os::unix::fs::symlink(&outside, server.folder().join("test/link.json")).expect("linked");
    let below = |name: &str| server.folder().join("test").join(name).display().to_string();
    let paths = [
        String::new(),
        "good.json".to_owned(),
        "test/good.json".to_owned(),
        below("missing.json"),
        below(""),
        below("../work/outside.json"),
        below("link.json"),
        outside.display().to_string(),
        "\0".to_owned(),
    ];
    for path in paths {
        let reply = install(&server, &path).await;
        assert_eq!(reply["result"], "InvalidatePath", "{path:?}: {reply}");
    }
    assert_eq!(server.http().get("/api/copilot/job").await.error(500), "NoEntry", "nothing was installed");
    assert_eq!(install(&server, &good).await, json!({ "result": "OK" }));
}

#[tokio::test]
async fn an_entry_with_errors_is_not_installed_and_the_first_error_is_said() {
    let server = test_server().await;
    let good = write(&server, "good.json", &plain());
    assert_eq!(install(&server, &good).await, json!({ "result": "OK" }));
    let without_driving = {
        let mut entry = plain();
        entry["models"] = json!({});
        entry["jobs"]["greeting"]["work"]["taskId"] = json!("nobody");
        entry
    };
    let unknown_task = {
        let mut entry = plain();
        entry["jobs"]["greeting"]["work"]["taskId"] = json!("nobody");
        entry
    };
    let unknown_model =
        entry("no-such-model", json!({ "greet": demo("hello") }), json!({ "greeting": reference("greet") }));
    let cases = [
        (without_driving, "entry.models.driving: Should exist."),
        (unknown_task, "entry.jobs[\"greeting\"].work.taskId: \"nobody\" is not a valid task name."),
        (unknown_model, "entry.models[\"driving\"] refers to model \"no-such-model\" which is not a valid model."),
        (json!({}), "entry"),
        (json!([]), "entry"),
    ];
    for (bad, message) in cases {
        let path = write(&server, "bad.json", &bad);
        let reply = install(&server, &path).await;
        assert_eq!(reply["result"], "InvalidateEntry", "{reply}");
        assert!(reply["error"].as_str().expect("text").starts_with(message), "{message}: {reply}");
    }
    std::fs::write(server.folder().join("test/bad.json"), b"\xff{").expect("written");
    let reply = install(&server, &server.folder().join("test/bad.json").display().to_string()).await;
    assert_eq!(reply["result"], "InvalidateEntry", "{reply}");
    let tasks = server.http().get("/api/copilot/task").await.json();
    assert_eq!(tasks, json!({ "tasks": [{ "name": "greet", "requireUserInput": false }] }), "the old one stays");
}

#[tokio::test]
async fn nothing_is_installed_while_a_session_of_this_run_is_open() {
    let server = test_server().await;
    let good = write(&server, "good.json", &plain());
    let session = server.session().await;
    assert_eq!(install(&server, &good).await["result"], "Rejected");
    portal(&server.http(), &format!("session/{}/stop", session.id), "").await;
    assert_eq!(install(&server, &good).await["result"], "OK");
    let job = TestJob::start(&server, "greeting").await;
    job.end_as("Succeeded").await;
    let open = server.session().await;
    assert_eq!(install(&server, &good).await["result"], "Rejected");
    // One that an earlier run opened does not count.
    let server = server.restart().await;
    assert_eq!(install(&server, &good).await["result"], "OK");
    assert_eq!(open.seen_by(server.http()).state().await, "ready");
}

#[tokio::test]
async fn without_the_flag_the_route_is_not_there() {
    let server = Server::start().await;
    let reply = server.http().post("/api/copilot/test/installJobsEntry", "/x").await;
    assert_eq!((reply.status.as_u16(), reply.json()), (404, json!({ "error": "Unknown API endpoint" })));
}

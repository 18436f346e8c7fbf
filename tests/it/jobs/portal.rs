//! The portal's routes of tasks and jobs.

use hyper::Method;
use serde_json::{Value, json};

use super::{ENDLESS, TestJob, checked, demo, gate, par, portal, portal_start, reference, seq, server, with};
use crate::support::Server;

async fn small_server() -> Server {
    let tasks = json!({
        "greet": demo("hello"),
        "fail": checked(demo("hello"), "exit 1", 0),
        "endless": demo(ENDLESS),
        "echo": with(demo("Say $user-input"), "requireUserInput", json!(true)),
    });
    let works = json!({
        "greeting": reference("greet"),
        "failing": seq(&[reference("greet"), reference("fail"), reference("greet")]),
        "endless": reference("endless"),
        "echoing": reference("echo"),
        "parallel": par(&[reference("greet"), reference("greet")]),
    });
    server(tasks, works).await
}

#[tokio::test]
async fn every_route_takes_get_and_post() {
    let server = small_server().await;
    let http = server.http();
    let work = server.work().display().to_string();
    for method in [Method::GET, Method::POST] {
        let ask = async |path: &str, body: &str| {
            let reply = http.send(method.clone(), &format!("/api/copilot/{path}"), body.to_owned()).await;
            assert_eq!(reply.status, 200, "{method} {path}: {}", reply.text());
            reply.json()
        };
        let tasks = ask("task", "").await;
        let offered = |name: &str, needs: bool| json!({ "name": name, "requireUserInput": needs });
        let expected =
            [offered("echo", true), offered("endless", false), offered("fail", false), offered("greet", false)];
        assert_eq!(tasks, json!({ "tasks": expected }));
        let jobs = ask("job", "").await;
        assert_eq!(jobs["grid"], json!([]));
        let greeting =
            json!({ "requireUserInput": false, "work": { "kind": "Ref", "workIdInJob": 0, "taskId": "greet" } });
        assert_eq!(jobs["jobs"]["greeting"], greeting);
        let node = json!({ "id": 0, "hint": ["TaskNode", 0], "label": "greet" });
        assert_eq!(jobs["chart"]["greeting"], json!({ "nodes": [node] }));

        let id = ask("job/start/greeting", &work).await["jobId"].as_str().expect("an id").to_owned();
        TestJob::known(&server, &id).end_as("Succeeded").await;
        let status = ask(&format!("job/{id}/status"), "").await;
        assert_eq!((&status["jobId"], &status["jobName"]), (&json!(id), &json!("greeting")));
        assert_eq!(status["status"], "Succeeded");
        assert_eq!(status["tasks"], json!([{ "workIdInJob": 0, "status": "Succeeded" }]), "no id of what is over");
        let started = status["startTime"].as_str().expect("text");
        assert!(started.contains('T') && started.ends_with('Z'), "{started}");
        let running = ask("job/running", "").await;
        let mut mine = status.clone();
        mine.as_object_mut().expect("an object").remove("tasks");
        assert!(running["jobs"].as_array().expect("jobs").contains(&mine), "{running}");

        let first = ask(&format!("job/{id}/live"), "").await;
        assert_eq!((&first["callback"], &first["workId"]), (&json!("workStarted"), &json!(0)));
        let task = first["taskId"].as_str().expect("an id").to_owned();
        let all = ask(&format!("job/{id}/live/viewer-{method}"), "").await;
        let expected = json!([
            { "callback": "workStarted", "workId": 0, "taskId": task },
            { "callback": "workStopped", "workId": 0, "succeeded": true },
            { "callback": "jobSucceeded" },
        ]);
        assert_eq!(all["responses"], expected);
        let first = ask(&format!("task/{task}/live"), "").await;
        assert_eq!(first["callback"], "taskSessionStarted");
        let all = ask(&format!("task/{task}/live/viewer-{method}"), "").await;
        let responses = all["responses"].as_array().expect("responses");
        assert_eq!(
            responses[0],
            json!({ "callback": "taskSessionStarted", "sessionId": first["sessionId"], "isDriving": true })
        );
        assert!(responses[1]["reason"].as_str().expect("text").starts_with("[SESSION STARTED] "), "{all}");
        assert!(responses[2]["reason"].as_str().expect("text").starts_with("[TASK SUCCEEDED] "), "{all}");
        let stopped = json!({ "callback": "taskSessionStopped", "sessionId": first["sessionId"], "succeeded": true });
        assert_eq!(responses[3..], [stopped, json!({ "callback": "taskSucceeded" })]);

        let endless = ask("job/start/endless", &work).await["jobId"].as_str().expect("an id").to_owned();
        assert_eq!(ask(&format!("job/{endless}/stop"), "").await, json!({ "result": "Closed" }));
        let endless = ask("job/start/endless", &work).await["jobId"].as_str().expect("an id").to_owned();
        let task = ask(&format!("job/{endless}/live"), "").await["taskId"].as_str().expect("an id").to_owned();
        assert_eq!(ask(&format!("task/{task}/stop"), "").await, json!({ "result": "Closed" }));
        TestJob::known(&server, &endless).end_as("Failed").await;

        let session = server.session().await;
        let started = ask(&format!("task/start/greet/session/{}", session.id), "").await;
        assert!(started["taskId"].as_str().is_some_and(|id| id.starts_with("task-")), "{started}");
    }
    let routes = ["job/start/greeting", "job/job-1/stop", "job/job-1/live", "task/task-1/stop", "task/task-1/live"];
    for route in routes {
        let reply = http.send(Method::HEAD, &format!("/api/copilot/{route}"), "").await;
        assert_eq!(reply.status, 405, "{route}: asking about it is not doing it");
    }
}

#[tokio::test]
async fn a_job_needs_a_name_that_is_there_and_a_folder_that_is_there() {
    let server = small_server().await;
    let work = server.work().display().to_string();
    let file = server.folder().join("jobs.json").display().to_string();
    let bodies = ["", "\n", "work", "./work", "/no/such/folder", &file, "\u{0}"];
    for body in bodies {
        let reply = portal(&server.http(), "job/start/greeting", body).await;
        assert_eq!(reply, json!({ "error": "JobNotFound" }), "{body:?}");
    }
    for name in ["nothing", "%20", "greeting%2F", "%E2%82%AC"] {
        let reply = portal(&server.http(), &format!("job/start/{name}"), &work).await;
        assert_eq!(reply, json!({ "error": "JobNotFound" }), "{name}");
    }
    assert_eq!(server.http().get("/api/jobs").await.json(), json!({ "jobs": [] }), "nothing was started");
    // The first line is the folder, the rest is for the job, which does not use it.
    let id = portal(&server.http(), "job/start/greeting", &format!("{work}\nsomething")).await;
    TestJob::known(&server, id["jobId"].as_str().expect("an id")).end_as("Succeeded").await;
}

#[tokio::test]
async fn input_that_a_portal_client_leaves_out_is_missing_in_the_prompt() {
    let server = small_server().await;
    let id = portal(&server.http(), "job/start/echoing", &server.work().display().to_string()).await;
    let job = TestJob::known(&server, id["jobId"].as_str().expect("an id"));
    job.end_as("Succeeded").await;
    assert_eq!(super::prompts(&job.log().await), ["Say <MISSING>"]);
}

#[tokio::test]
async fn user_input_reaches_the_agent_letter_for_letter() {
    let server = small_server().await;
    let input = "$user-input $task-model <b>bold</b> & \"quoted\"\n$reported-document\t</script> ${x} \u{1f600}\nend";
    let body = format!("{}\n{input}", server.work().display());
    let id = portal(&server.http(), "job/start/echoing", &body).await;
    let job = TestJob::known(&server, id["jobId"].as_str().expect("an id"));
    let details = job.end_as("Succeeded").await;
    assert_eq!(details["userInput"], input);
    assert_eq!(super::prompts(&job.log().await), [format!("Say {input}")]);
    let session = details["works"][0]["attempts"][0]["sessions"][0]["sessionId"].as_str().expect("an id").to_owned();
    let log = server.http().get(&format!("/api/copilot/session/{session}/log")).await.json();
    let generated = &log["events"][0]["response"];
    assert_eq!(
        (&generated["callback"], &generated["prompt"]),
        (&json!("onGeneratedUserPrompt"), &json!(format!("Say {input}")))
    );
    let listed = server.http().get("/api/copilot/session").await.json()["sessions"][0].clone();
    let mark = &listed["job"];
    assert_eq!((&mark["jobId"], &mark["taskName"], &mark["isDriving"]), (&json!(job.id), &json!("echo"), &json!(true)));
}

#[tokio::test]
async fn a_failed_work_ends_a_sequence_and_says_why() {
    let server = small_server().await;
    let id = portal_start(&server, "failing", &server.work()).await;
    let job = TestJob::known(&server, &id);
    job.end_as("Failed").await;
    let status = portal(&server.http(), &format!("job/{id}/status"), "").await;
    let expected = json!([{ "workIdInJob": 0, "status": "Succeeded" }, { "workIdInJob": 1, "status": "Failed" }]);
    assert_eq!(status["tasks"], expected);
    let decisions = job.decisions().await;
    let said = decisions.iter().find(|decision| decision.starts_with("[CRITERIA] ")).expect("a decision");
    assert!(said.contains("exited with 1, expected 0"), "{said}");
    let last = job.log().await.last().expect("a record").clone();
    assert_eq!(last, json!({ "callback": "jobFailed" }), "a task that fails is no error of the job");
}

#[tokio::test]
async fn jobs_that_run_are_listed_with_the_ids_of_their_tasks() {
    let server = small_server().await;
    let id = portal_start(&server, "endless", &server.work()).await;
    let job = TestJob::known(&server, &id);
    let task = job.until_callback("workStarted").await["taskId"].clone();
    let status = portal(&server.http(), &format!("job/{id}/status"), "").await;
    assert_eq!(status["tasks"], json!([{ "workIdInJob": 0, "taskId": task, "status": "Running" }]));
    let running = portal(&server.http(), "job/running", "").await;
    assert_eq!(running["jobs"][0]["status"], "Running");
    let own = server.http().get("/api/jobs?status=Running").await.json();
    assert_eq!(own["jobs"][0]["jobId"], json!(id));
    assert_eq!(server.http().get("/api/jobs?status=Succeeded").await.json()["jobs"], json!([]));
    portal(&server.http(), &format!("job/{id}/stop"), "").await;
    let status = portal(&server.http(), &format!("job/{id}/status"), "").await;
    assert_eq!(status["tasks"], json!([{ "workIdInJob": 0, "status": "Canceled" }]));
}

#[tokio::test]
async fn malformed_ids_name_nothing() {
    let server = small_server().await;
    let http = server.http();
    for id in ["job-0", "job-99", "job-01", "job--1", "Job-1", "1", "job-4294967296", "session-1", "%00", "job-1%20"] {
        for route in ["status", "stop", "live", "live/t"] {
            let reply = portal(&http, &format!("job/{id}/{route}"), "").await;
            assert_eq!(reply, json!({ "error": "JobNotFound" }), "{id} {route}");
        }
        for route in ["", "/log", "/events"] {
            assert_eq!(http.get(&format!("/api/jobs/{id}{route}")).await.error(404), "JobNotFound", "{id} {route}");
        }
        for route in ["stop", "retry"] {
            assert_eq!(
                http.post(&format!("/api/jobs/{id}/{route}"), "").await.error(404),
                "JobNotFound",
                "{id} {route}"
            );
        }
        for route in ["approve", "reject"] {
            let body = json!({ "waitingId": "gate-1", "digest": "" });
            let reply = http.post_json(&format!("/api/jobs/{id}/{route}"), &body).await;
            assert_eq!(reply.error(404), "JobNotFound", "{id} {route}");
        }
    }
    for id in ["task-0", "task-99", "task-", "task-1x", "job-1", "%F0%9F%98%80"] {
        for route in ["stop", "live", "live/t"] {
            let reply = portal(&http, &format!("task/{id}/{route}"), "").await;
            assert_eq!(reply, json!({ "error": "TaskNotFound" }), "{id} {route}");
        }
    }
    for id in ["session-0", "session-99", "x"] {
        let reply = portal(&http, &format!("task/start/greet/session/{id}"), "").await;
        assert_eq!(reply, json!({ "error": "SessionNotFound" }), "{id}");
    }
}

#[tokio::test]
async fn a_task_in_a_session_that_is_closed_or_with_a_name_that_is_not_there_is_refused() {
    let server = small_server().await;
    let http = server.http();
    let session = server.session().await;
    let reply = portal(&http, &format!("task/start/nothing/session/{}", session.id), "").await;
    assert!(reply["taskError"].as_str().expect("text").contains("greet"), "it says what there is: {reply}");
    portal(&http, &format!("session/{}/stop", session.id), "").await;
    let reply = portal(&http, &format!("task/start/greet/session/{}", session.id), "").await;
    assert_eq!(reply, json!({ "error": "SessionNotFound" }));
}

#[tokio::test]
async fn a_gate_is_no_task_of_the_portal() {
    let server =
        server(json!({ "greet": demo("hello") }), json!({ "gated": seq(&[reference("greet"), gate("Go?")]) })).await;
    let id = portal_start(&server, "gated", &server.work()).await;
    let job = TestJob::known(&server, &id);
    let waiting = job.waits().await;
    let status = portal(&server.http(), &format!("job/{id}/status"), "").await;
    assert_eq!(status["status"], "Running");
    assert_eq!(status["tasks"], json!([{ "workIdInJob": 0, "status": "Succeeded" }]));
    job.approve(&waiting).await;
    job.end_as("Succeeded").await;
    let all = portal(&server.http(), &format!("job/{id}/live/t"), "").await;
    let names: Vec<&Value> =
        all["responses"].as_array().expect("some").iter().map(|response| &response["callback"]).collect();
    assert_eq!(names, ["workStarted", "workStopped", "jobSucceeded"]);
}

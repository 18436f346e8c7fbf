//! Jobs on the real Copilot, with a scripted model behind it.

use serde_json::{Value, json};

use super::{
    CONFIG, TestJob, demo, entry, gate, of_kind, par, portal, prompts, reference, seq, starts, with, write_entry,
};
use crate::support::{CopilotServer, Program};

pub(super) const MODEL: &str = "scripted-model";
/// The demo agent, as the default runtime's clients name it.
const OTHER_MODEL: &str = "demo/demo";

/// A task of the default runtime.
pub(super) fn task(prompt: &str) -> Value {
    let mut task = demo(prompt);
    task.as_object_mut().expect("an object").remove("runtime");
    task
}

pub(super) async fn start(program: Program) -> CopilotServer {
    CopilotServer::start_with(program, CONFIG).await
}

fn yes(reason: &str) -> String {
    format!(r#"Does it hold? @@tool job_boolean_true {{"reason":"{reason}"}}"#)
}

fn no(reason: &str) -> String {
    format!(r#"Does it hold? @@tool job_boolean_false {{"reason":"{reason}"}}"#)
}

fn condition(text: &str, is_separate: bool) -> Value {
    json!({
        "condition": [text], "runConditionInSameSession": !is_separate, "failureAction": { "retryTimes": 0 },
    })
}

#[tokio::test]
async fn a_job_with_every_kind_of_work() {
    for program in Program::BOTH {
        let copilot = start(program).await;
        let work = copilot.server.work();
        let create = |name: &str| format!("@@create {}", work.join(name).display());
        let build = json!({
            "command": { "run": ["test", "-e", "built"] },
            "failureAction": { "retryTimes": 2, "additionalPrompt": [create("built")] },
        });
        let review = json!({
            "toolExecuted": ["job_prepare_document"],
            "condition": [format!("$reported-document: {}", yes("it is good"))],
            "failureAction": { "retryTimes": 0 },
        });
        let document = r#"@@tool job_prepare_document {"argument":"review.md\nand more"}"#;
        let tasks = json!({
            "plain": task("@@plain"),
            "build": with(task("Build it. @@plain"), "criteria", build),
            "review": with(task(document), "criteria", review),
            "judge": with(task("@@plain"), "criteria", condition(&no("not again"), true)),
            "rework": task(&format!("$gate-note\n{}", create("reworked"))),
        });
        let gate = with(with(gate("Good?"), "onReject", reference("rework")), "redoFrom", json!(1));
        let works = json!({ "job": seq(&[
            reference("build"),
            par(&[reference("review"), reference("review"), reference("review")]),
            gate,
            json!({
                "kind": "Loop", "preCondition": [true, reference("plain")], "postCondition": [true, reference("judge")],
                "body": reference("plain"),
            }),
            json!({ "kind": "Alt", "condition": reference("judge"), "falseWork": reference("plain") }),
        ]) });
        write_entry(&copilot.server, &entry(MODEL, tasks, works));
        let job = TestJob::start(&copilot.server, "job").await;
        let waiting = job.waits().await;
        assert_eq!(waiting["shown"]["works"].as_array().expect("works").len(), 4, "{program:?}: {waiting:#}");
        assert_eq!(job.answer("reject", &waiting, Some("shorter")).await.status, 200);
        let waiting = job.waits().await;
        job.approve(&waiting).await;
        let details = job.end_as("Succeeded").await;
        assert!(work.join("built").exists() && work.join("reworked").exists(), "{program:?}");
        let log = job.log().await;
        let expected = [(0, 1), (1, 2), (2, 2), (3, 2), (5, 1), (6, 1), (7, 1), (8, 1), (9, 1), (10, 1)];
        assert_eq!(starts(&log).into_iter().collect::<Vec<_>>(), expected, "{program:?}");
        let sent = prompts(&log);
        let retry = sent.iter().find(|prompt| prompt.contains("## You accidentally Stopped")).expect("a retry");
        assert!(retry.contains("`test -e built` exited with 1"), "the agent is told what failed: {retry}");
        assert!(sent.iter().any(|prompt| prompt.starts_with("review.md: Does it hold?")), "{sent:#?}");
        assert!(sent.iter().any(|prompt| prompt.starts_with("shorter\n")), "{sent:#?}");
        // The reviewers worked at the same time, each in a session of its own.
        let position = |callback: &str, place: usize| {
            let places = log.iter().enumerate().filter(|(_, record)| record["callback"] == callback);
            let of_reviewers =
                places.filter(|(_, record)| (1..=3).contains(&record["workId"].as_u64().unwrap_or_default()));
            of_reviewers.map(|(place, _)| place).nth(place).expect("there")
        };
        assert!(position("workStarted", 2) < position("workStopped", 0), "{program:?}");
        // A check of its own has a session of its own.
        let judge =
            &details["works"].as_array().expect("works").iter().find(|work| work["taskName"] == "judge").expect("ran")
                ["attempts"][0];
        let driving: Vec<&Value> =
            judge["sessions"].as_array().expect("sessions").iter().map(|session| &session["isDriving"]).collect();
        assert_eq!(driving, [false, true], "{judge:#}");
        assert!(judge["decisions"].to_string().contains("not again"), "{judge:#}");
        assert_eq!(judge["sessions"][0]["model"], MODEL);
        assert!(details["works"][0]["attempts"][0]["usage"]["inputTokens"].as_u64() > Some(0), "{details:#}");
    }
}

#[tokio::test]
async fn by_default_files_of_the_folder_may_be_changed_and_nothing_else() {
    for program in Program::BOTH {
        let copilot = start(program).await;
        let (work, outside) = (copilot.server.work(), copilot.server.folder().join("outside"));
        let shell = format!("touch {}", work.join("shell").display());
        let allowed = with(
            task(&format!("@@bash {shell}")),
            "permissions",
            json!({ "rules": [{ "tool": "shell", "prefix": "touch", "decision": "allow" }] }),
        );
        let tasks = json!({
            "inside": task(&format!("@@create {}", work.join("inside").display())),
            "outside": task(&format!("@@create {}", outside.display())),
            "shell": task(&format!("@@bash {shell}")),
            "allowed": allowed,
        });
        let all = [reference("inside"), reference("outside"), reference("shell")];
        write_entry(
            &copilot.server,
            &entry(MODEL, tasks, json!({ "job": seq(&all), "allowed": reference("allowed") })),
        );
        let job = TestJob::start(&copilot.server, "job").await;
        job.end_as("Succeeded").await;
        assert!(work.join("inside").exists(), "{program:?}");
        assert!(!outside.exists() && !work.join("shell").exists(), "{program:?}");
        let denied: Vec<String> =
            job.decisions().await.into_iter().filter(|text| text.starts_with("[OPERATION] Denied")).collect();
        assert_eq!(denied.len(), 2, "{program:?}: a person is told: {denied:#?}");
        TestJob::start(&copilot.server, "allowed").await.end_as("Succeeded").await;
        assert!(work.join("shell").exists(), "{program:?}: the task says so");
    }
}

#[tokio::test]
async fn what_must_hold_before_a_task_and_a_prerequisite_that_does_not() {
    let copilot = start(Program::Runtime).await;
    let missing = r#"@@tool job_prerequisite_failed {"reason":"there is no network"}"#;
    let create = json!({
        "toolExecuted": ["create"],
        "failureAction": { "retryTimes": 1, "additionalPrompt": [format!("@@create {}", copilot.server.work().join("made").display())] },
    });
    let tasks = json!({
        "unavailable": with(task("@@plain"), "availability", json!({ "condition": [no("nothing to do")] })),
        "available": with(task("@@plain"), "availability", json!({ "condition": [yes("there is work")] })),
        "silent": with(task("@@plain"), "criteria", condition("Call job_boolean_true. @@plain", false)),
        "missing": task(missing),
        "create": with(task("@@plain"), "criteria", create),
    });
    let names = ["unavailable", "available", "silent", "missing", "create"];
    let works: serde_json::Map<String, Value> =
        names.iter().map(|name| ((*name).to_owned(), reference(name))).collect();
    write_entry(&copilot.server, &entry(MODEL, tasks, Value::Object(works)));
    let run = async |name: &str, end: &str| {
        let job = TestJob::start(&copilot.server, name).await;
        job.end_as(end).await;
        (job.decisions().await, prompts(&job.log().await))
    };
    let (unavailable, available, silent, missing, create) = tokio::join!(
        run("unavailable", "Failed"),
        run("available", "Succeeded"),
        run("silent", "Failed"),
        run("missing", "Failed"),
        run("create", "Succeeded"),
    );
    assert_eq!(unavailable.1.len(), 1, "the work is not begun");
    assert_eq!(unavailable.0.len(), 2, "{unavailable:?}");
    assert!(
        unavailable.0[1].starts_with("[AVAILABILITY]") && unavailable.0[1].contains("nothing to do"),
        "{unavailable:?}"
    );
    assert_eq!(available.1.len(), 2, "{available:?}");
    assert!(silent.0.iter().any(|text| text.starts_with("[CRITERIA]") && text.contains("neither")), "{silent:?}");
    assert!(missing.0.iter().any(|text| text.contains("there is no network")), "{missing:?}");
    assert!(create.1[1].contains("## Required Tool Not Called: create"), "{create:?}");
}

#[tokio::test]
async fn a_crash_of_a_driving_session_is_tried_again_with_the_next_model() {
    for program in Program::BOTH {
        let copilot = start(program).await;
        let tasks = json!({
            "crash": task("@@crash 400"),
            "hopeless": task("@@error 400"),
            "work": with(task("@@crash 400"), "criteria", condition(&yes("done"), true)),
        });
        let works =
            json!({ "crash": reference("crash"), "hopeless": reference("hopeless"), "work": reference("work") });
        let mut entry = entry(MODEL, tasks, works);
        write_entry(&copilot.server, &entry);
        let hopeless = TestJob::start(&copilot.server, "hopeless").await;
        entry["drivingSessionRetries"] =
            json!([{ "modelId": MODEL, "retries": 1 }, { "modelId": OTHER_MODEL, "retries": 1 }]);
        write_entry(&copilot.server, &entry);
        let job = TestJob::start(&copilot.server, "crash").await;
        let details = job.end_as("Succeeded").await;
        let sessions = details["works"][0]["attempts"][0]["sessions"].as_array().expect("sessions");
        let models: Vec<&Value> = sessions.iter().map(|session| &session["model"]).collect();
        assert_eq!(models, [MODEL, "demo"], "{program:?}");
        assert_eq!(sessions[0]["succeeded"], false);
        let last = prompts(&job.log().await).pop().expect("sent");
        assert_eq!(last, "The session crashed, please redo and here is the last request:\n@@crash 400");
        // The work has attempts of its own, on the same model.
        let job = TestJob::start(&copilot.server, "work").await;
        let details = job.end_as("Succeeded").await;
        let sessions = details["works"][0]["attempts"][0]["sessions"].as_array().expect("sessions");
        let driving: Vec<(&Value, &Value)> =
            sessions.iter().map(|session| (&session["model"], &session["isDriving"])).collect();
        let model = json!(MODEL);
        assert_eq!(driving, [(&model, &json!(false)), (&model, &json!(false)), (&model, &json!(true))], "{program:?}");
        // When no attempt is left, the job cannot be done.
        let details = hopeless.end_as("Failed").await;
        assert!(details["error"].as_str().expect("an error").contains("hopeless"), "{details:#}");
        let log = hopeless.log().await;
        assert_eq!(prompts(&log).len(), 2, "{program:?}");
        let ends: Vec<&Value> = log[log.len() - 2..].iter().map(|record| &record["callback"]).collect();
        assert_eq!(ends, ["jobFailed", "jobError"]);
    }
}

#[tokio::test]
async fn a_task_in_a_users_session_checks_there_and_leaves_it_open() {
    for program in Program::BOTH {
        let copilot = start(program).await;
        let criteria = json!({
            "toolExecuted": ["job_prepare_document"],
            "condition": [yes("it is there")],
            "failureAction": { "retryTimes": 1, "additionalPrompt": [r#"@@tool job_prepare_document {"argument":"notes.md"}"#] },
        });
        let said = with(with(task("Say $user-input @@plain"), "requireUserInput", json!(true)), "criteria", criteria);
        let tasks = json!({ "document": said, "crash": task("@@error 400") });
        write_entry(&copilot.server, &entry(MODEL, tasks, json!({ "job": reference("crash") })));
        let session = copilot.session("ask").await;
        session.ask("@@plain").await;
        let http = copilot.server.http();
        let run = async |name: &str, input: &str| {
            let started = portal(&http, &format!("task/start/{name}/session/{}", session.id), input).await;
            let id = started["taskId"].as_str().unwrap_or_else(|| panic!("{started}")).to_owned();
            let mut responses = Vec::new();
            loop {
                let response = portal(&http, &format!("task/{id}/live"), "").await;
                if response["error"] == "TaskClosed" {
                    return responses;
                }
                if response["error"] != "HttpRequestTimeout" {
                    responses.push(response);
                }
            }
        };
        let responses = run("document", "$task-model & <i>").await;
        assert_eq!(responses.last(), Some(&json!({ "callback": "taskSucceeded" })), "{program:?} {responses:#?}");
        assert!(!responses.iter().any(|response| response["callback"] == "taskSessionStopped"), "{responses:#?}");
        let generated: Vec<Value> = session
            .log()
            .await
            .into_iter()
            .filter(|(_, response)| response["callback"] == "onGeneratedUserPrompt")
            .map(|(_, response)| response["prompt"].clone())
            .collect();
        assert_eq!(generated.len(), 4, "two tries and two checks: {generated:#?}");
        assert!(generated[0].as_str().expect("text").starts_with("Say $task-model & <i> "), "{generated:#?}");
        let responses = run("crash", "").await;
        let ends = &responses[responses.len() - 2..];
        assert_eq!(ends[0], json!({ "callback": "taskFailed" }), "{program:?} {responses:#?}");
        assert!(ends[1]["taskError"].is_string(), "{program:?} {responses:#?}");
        assert_eq!(session.ask("@@plain").await["verdict"], "succeeded", "{program:?}: the session stays");
    }
}

#[tokio::test]
async fn a_turn_that_takes_too_long_is_a_crash() {
    let copilot = start(Program::Runtime).await;
    let slow = with(task("@@slow 100000 20"), "timeout", json!("1s"));
    write_entry(&copilot.server, &entry(MODEL, json!({ "slow": slow }), json!({ "job": reference("slow") })));
    let job = TestJob::start(&copilot.server, "job").await;
    let details = job.end_as("Failed").await;
    assert!(details["error"].as_str().expect("an error").contains("longer than 1s"), "{details:#}");
    let crashed = of_kind(&job.log().await, "taskTurnEnded");
    assert_eq!(crashed.len(), 2, "as often as the entry says: {crashed:#?}");
}

//! `kill -9` of the server or of the real Copilot in the middle of a job: the same verdict, nothing finished is run again.

use serde_json::{Value, json};

use super::copilot::{MODEL, start, task};
use super::{TestJob, entry, of_kind, prompts, reference, seq, starts, with, write_entry};
use crate::copilot::{until_on_disk, until_recorded};
use crate::support::{CopilotServer, Program, id_in, send_signal};

/// A job whose second work runs a command that does not end the first time. Gives the job once the command runs.
async fn job_in_a_tool(copilot: &CopilotServer) -> TestJob {
    let once = copilot.server.work().join("once");
    let once = once.display();
    let long = task(&format!("@@bash test -e {once} || {{ echo $$ > {once} && exec sleep 1000; }}"));
    let long = with(long, "permissions", json!({ "mode": "allow-all" }));
    let tasks = json!({ "plain": task("@@plain"), "long": long });
    let work = seq(&[reference("plain"), reference("long"), reference("plain")]);
    write_entry(&copilot.server, &entry(MODEL, tasks, json!({ "job": work })));
    let job = TestJob::start(&copilot.server, "job").await;
    id_in(&copilot.server.work().join("once")).await;
    until_recorded(copilot, "\"tool.execution_start\"", 1).await;
    job
}

#[tokio::test]
async fn after_a_kill_of_the_server_the_agent_is_told_and_finishes() {
    for program in Program::BOTH {
        let copilot = start(program).await;
        let job = job_in_a_tool(&copilot).await;
        let CopilotServer { server, model } = copilot;
        let server = server.kill_and_restart().await;
        let job = job.seen_by(&server);
        job.end_as("Succeeded").await;
        let log = job.log().await;
        assert_eq!(starts(&log).into_iter().collect::<Vec<_>>(), [(0, 1), (1, 1), (2, 1)], "{program:?}");
        assert_eq!(of_kind(&log, "taskSessionStarted").len(), 3, "{program:?}: in the same session");
        let sent = prompts(&log);
        assert!(sent[2].starts_with("You were interrupted"), "{program:?}: {sent:#?}");
        let told = model.calls_with("You were interrupted");
        let conversation = told.first().expect("the agent was told").body["messages"].to_string();
        assert!(conversation.matches("@@bash").count() >= 2, "{program:?}: it knows what it was asked before");
    }
}

#[tokio::test]
async fn after_a_kill_of_the_agent_the_work_is_done_in_a_new_session() {
    for program in Program::BOTH {
        let copilot = start(program).await;
        let job = job_in_a_tool(&copilot).await;
        send_signal("KILL", copilot.program());
        job.end_as("Succeeded").await;
        let log = job.log().await;
        assert_eq!(starts(&log).into_iter().collect::<Vec<_>>(), [(0, 1), (1, 1), (2, 1)], "{program:?}");
        let ends: Vec<Value> = of_kind(&log, "taskTurnEnded").iter().map(|end| end["end"]["verdict"].clone()).collect();
        assert_eq!(ends, ["finished", "crashed", "finished", "finished"], "{program:?}");
        assert!(prompts(&log)[2].starts_with("The session crashed"), "{program:?}");
    }
}

#[tokio::test]
async fn a_prompt_that_was_accepted_before_the_agent_was_there_is_not_lost() {
    for program in Program::BOTH {
        let copilot = start(program).await;
        write_entry(
            &copilot.server,
            &entry(MODEL, json!({ "plain": task("@@plain") }), json!({ "job": reference("plain") })),
        );
        let CopilotServer { mut server, model } = copilot;
        let job = TestJob::start(&server, "job").await;
        let session = job.until_callback("taskSessionStarted").await["sessionId"].as_str().expect("an id").to_owned();
        let events = format!("/api/copilot/session/{session}/events");
        server.http().events(&events).await.until_callback("onGeneratedUserPrompt").await;
        server = server.kill_and_restart().await;
        let job = job.seen_by(&server);
        job.end_as("Succeeded").await;
        assert_eq!(starts(&job.log().await).get(&0), Some(&1), "{program:?}");
        drop(model);
    }
}

#[tokio::test]
async fn a_request_that_waits_in_the_inbox_can_be_answered_after_a_kill() {
    for program in Program::BOTH {
        let copilot = start(program).await;
        let asking = task(&format!("@@bash touch {}", copilot.server.work().join("allowed").display()));
        let asking = with(asking, "permissions", json!({ "mode": "ask" }));
        write_entry(&copilot.server, &entry(MODEL, json!({ "asking": asking }), json!({ "job": reference("asking") })));
        let job = TestJob::start(&copilot.server, "job").await;
        let pending = |data: &Value| data["pending"][0]["requestId"].is_string();
        copilot.server.http().events("/api/events").await.until(|event| pending(&event.json())).await;
        // A kill before that loses the agent's session, and the task begins again in another one.
        until_on_disk(&copilot, 1).await;
        let CopilotServer { server, model } = copilot;
        let server = server.kill_and_restart().await;
        let job = job.seen_by(&server);
        let asked = server.http().events("/api/events").await.until(|event| pending(&event.json())).await;
        let asked = asked.last().expect("one").json();
        let path = |what: &str| {
            let (session, request) = (
                asked["sessionId"].as_str().expect("an id"),
                asked["pending"][0]["requestId"].as_str().expect("an id"),
            );
            format!("/api/copilot/session/{session}/{what}/{request}")
        };
        let reply = server.http().post_json(&path("permission"), &json!({ "decision": "allow-once" })).await;
        assert_eq!(reply.status, 200, "{program:?}: {}", reply.text());
        job.end_as("Succeeded").await;
        assert!(server.work().join("allowed").exists(), "{program:?}");
        let log = job.log().await;
        assert_eq!(of_kind(&log, "taskSessionStarted").len(), 1, "{program:?}");
        assert_eq!(prompts(&log).len(), 1, "{program:?}: the turn went on");
        drop(model);
    }
}

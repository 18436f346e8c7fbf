//! `kill -9` of the server in the middle of a turn of a task: what happens next is up to the task.

use serde_json::{Value, json};

use super::{ENDLESS, TestJob, demo, of_kind, par, portal, prompts, reference, seq, server, starts, with};
use crate::support::{Server, TestSession, eventually};

/// A job whose second work is killed in the middle of its turn.
async fn killed_in_a_turn(on_interrupted: &str) -> (Server, TestJob, TestSession) {
    let tasks = json!({ "greet": demo("hello"), "long": with(demo(ENDLESS), "onInterrupted", json!(on_interrupted)) });
    let server =
        server(tasks, json!({ "job": seq(&[reference("greet"), reference("long"), reference("greet")]) })).await;
    let job = TestJob::start(&server, "job").await;
    job.until(|record| record["callback"] == "taskPromptSent" && record["text"] == ENDLESS).await;
    let session = of_kind(&job.log().await, "taskSessionStarted")[1]["sessionId"].as_str().expect("an id").to_owned();
    let session = TestSession { http: server.http(), id: session };
    session.events_after(0).await.until_callback("onMessage").await;
    let server = server.kill_and_restart().await;
    let (job, session) = (job.seen_by(&server), session.seen_by(server.http()));
    (server, job, session)
}

#[tokio::test]
async fn the_agent_continues_in_the_same_session_and_finished_works_are_not_run_again() {
    let (_server, job, session) = killed_in_a_turn("continue").await;
    job.until(|record| record["text"].as_str().is_some_and(|text| text.starts_with("You were interrupted"))).await;
    job.end_as("Succeeded").await;
    let log = job.log().await;
    assert_eq!(starts(&log).into_iter().collect::<Vec<_>>(), [(0, 1), (1, 1), (2, 1)]);
    let sent = prompts(&log);
    assert_eq!(sent.len(), 4, "{sent:?}");
    assert!(sent[2].starts_with("You were interrupted") && sent[2].ends_with(ENDLESS), "{}", sent[2]);
    let prompts_in_session =
        session.log().await.iter().filter(|(_, event)| event["callback"] == "onGeneratedUserPrompt").count();
    assert_eq!(prompts_in_session, 2, "in the same session");
    assert_eq!(of_kind(&log, "taskSessionStarted").len(), 3, "no other session was opened");
    let ends: Vec<Value> = of_kind(&log, "taskTurnEnded").iter().map(|end| end["end"]["verdict"].clone()).collect();
    assert_eq!(ends, ["finished", "interrupted", "finished", "finished"]);
    assert!(job.decisions().await.iter().any(|decision| decision.contains("The server was restarted")));
}

#[tokio::test]
async fn a_person_decides_whether_it_continues() {
    for (verb, end) in [("approve", "Succeeded"), ("reject", "Failed")] {
        let (server, job, _) = killed_in_a_turn("ask").await;
        let waiting = job.waits().await;
        assert_eq!((&waiting["kind"], &waiting["workId"]), (&json!("interrupted"), &json!(1)));
        assert!(waiting["title"].as_str().expect("text").contains("long"), "{waiting}");
        assert_eq!(job.details().await["works"][1]["status"], "Waiting");
        // It still waits after another kill, and only once.
        let server = server.kill_and_restart().await;
        let job = job.seen_by(&server);
        assert_eq!(job.waits().await["waitingId"], waiting["waitingId"]);
        assert_eq!(job.answer(verb, &waiting, None).await.status, 200, "{verb}");
        job.end_as(end).await;
        let log = job.log().await;
        assert_eq!(of_kind(&log, "waitingOpened").len(), 1);
        assert_eq!(starts(&log).get(&1), Some(&1));
        assert_eq!(starts(&log).contains_key(&2), verb == "approve");
    }
}

#[tokio::test]
async fn a_task_that_must_not_be_interrupted_fails() {
    let (_server, job, session) = killed_in_a_turn("fail").await;
    job.end_as("Failed").await;
    let decisions = job.decisions().await;
    let last = decisions.last().expect("one");
    assert!(last.starts_with("[TASK FAILED]") && last.contains("restarted"), "{last}");
    assert_eq!(prompts(&job.log().await).len(), 2, "nothing more was sent");
    assert_eq!(session.state().await, "closed");
}

#[tokio::test]
async fn a_clean_restart_in_the_middle_of_a_turn_is_an_interruption_too() {
    let server =
        server(json!({ "long": demo(ENDLESS) }), json!({ "job": par(&[reference("long"), reference("long")]) })).await;
    let job = TestJob::start(&server, "job").await;
    for number in [1, 2] {
        eventually("the sessions", async || {
            (of_kind(&job.log().await, "taskSessionStarted").len() >= number).then_some(())
        })
        .await;
        let session = TestSession { http: server.http(), id: format!("session-{number}") };
        session.events_after(0).await.until_callback("onMessage").await;
    }
    let server = server.restart().await;
    let job = job.seen_by(&server);
    job.end_as("Succeeded").await;
    let log = job.log().await;
    assert_eq!(starts(&log).into_iter().collect::<Vec<_>>(), [(0, 1), (1, 1)]);
    assert_eq!(of_kind(&log, "taskSessionStarted").len(), 2);
}

#[tokio::test]
async fn a_pending_request_of_a_task_survives_a_kill_and_its_turn_goes_on() {
    let asking = with(demo("permission"), "permissions", json!({ "mode": "ask" }));
    let server = server(json!({ "asking": asking }), json!({ "job": reference("asking") })).await;
    let job = TestJob::start(&server, "job").await;
    let session = job.until_callback("taskSessionStarted").await["sessionId"].as_str().expect("an id").to_owned();
    let session = TestSession { http: server.http(), id: session };
    let asked = session.events_after(0).await.until_callback("onPermissionRequested").await;
    let request = asked.last().expect("one").json()["requestId"].as_str().expect("an id").to_owned();
    let server = server.kill_and_restart().await;
    let (job, session) = (job.seen_by(&server), session.seen_by(server.http()));
    assert_eq!(session.state().await, "waiting");
    assert_eq!(job.details().await["status"], "Running");
    let reply = session.post(&format!("/permission/{request}"), json!({ "decision": "allow-once" })).await;
    assert_eq!(reply.status, 200, "{}", reply.text());
    job.end_as("Succeeded").await;
    assert_eq!(prompts(&job.log().await), ["permission"], "the turn went on, it did not begin again");
}

#[tokio::test]
async fn a_task_in_somebodys_session_continues_after_a_kill() {
    let server = server(json!({ "long": demo(ENDLESS) }), json!({ "job": reference("long") })).await;
    let session = server.session().await;
    let task = portal(&server.http(), &format!("task/start/long/session/{}", session.id), "").await;
    let task = task["taskId"].as_str().expect("an id").to_owned();
    session.events_after(0).await.until_callback("onMessage").await;
    let server = server.kill_and_restart().await;
    let mut last = Value::Null;
    loop {
        let read = portal(&server.http(), &format!("task/{task}/live"), "").await;
        if read == json!({ "error": "TaskClosed" }) {
            break;
        }
        last = read;
    }
    assert_eq!(last, json!({ "callback": "taskSucceeded" }));
    assert_eq!(session.seen_by(server.http()).ask("hello").await["verdict"], "succeeded", "the session stays open");
}

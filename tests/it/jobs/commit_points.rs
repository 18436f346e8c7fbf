//! The server is killed at every commit of a job with every kind of work, and the end is the same.

use serde_json::{Value, json};

use super::{TestJob, checked, demo, entry, gate, of_kind, par, reference, seq, starts, with, write_entry};
use crate::support::{EventStream, Server};

/// The first record of each commit. What follows from it at once is in the same commit.
const FIRST: [&str; 7] = [
    "jobStarted",
    "taskSessionStarted",
    "taskTurnEnded",
    "taskCommandEnded",
    "taskSessionStopped",
    "waitingOpened",
    "waitingAnswered",
];

fn every_kind() -> Value {
    let separate = |mut task: Value| {
        task["criteria"]["runConditionInSameSession"] = json!(false);
        task
    };
    // The first check fails, and the agent is asked again.
    let second_time = "test -e checked || { touch checked; exit 1; }";
    let tasks = json!({
        "plain": demo("hello"),
        "retried": checked(demo("tool"), second_time, 2),
        "separate": separate(checked(demo("hello"), "true", 0)),
        "no": checked(demo("hello"), "exit 1", 0),
        "asking": with(demo("reason"), "onInterrupted", json!("ask")),
    });
    let gate = with(with(gate("Go on?"), "onReject", reference("plain")), "redoFrom", json!(1));
    let work = seq(&[
        reference("retried"),
        par(&[reference("plain"), reference("separate")]),
        gate,
        json!({
            "kind": "Loop", "preCondition": [false, reference("no")], "postCondition": [true, reference("no")],
            "body": reference("plain"), "maxPasses": 2,
        }),
        json!({ "kind": "Alt", "condition": reference("no"), "trueWork": reference("plain"), "falseWork": reference("asking") }),
    ]);
    entry("demo", tasks, json!({ "job": work }))
}

async fn start() -> Server {
    let server = super::builder().start().await;
    write_entry(&server, &every_kind());
    server
}

/// The first gate is rejected and all others are approved; what was interrupted continues.
async fn answer(job: &TestJob) {
    for waiting in job.details().await["waiting"].as_array().expect("a list") {
        let answered = of_kind(&job.log().await, "waitingAnswered");
        let is_first =
            !answered.iter().any(|answer| answer["waitingId"].as_str().is_some_and(|id| id.starts_with("gate")));
        let verb = if waiting["kind"] == "gate" && is_first { "reject" } else { "approve" };
        let reply = job.answer(verb, waiting, Some("as expected")).await;
        assert_eq!(reply.status, 200, "{}", reply.text());
    }
}

/// Leads a job until that many commits are seen, or to its end. Returns whether the commits were seen.
async fn lead(job: &TestJob, mut events: EventStream, commits: usize) -> bool {
    let mut seen = 0;
    while let Some(event) = events.next().await {
        if event.event.as_deref() == Some("closed") {
            return false;
        }
        let callback = event.callback();
        seen += usize::from(FIRST.contains(&callback.as_str()));
        if seen == commits {
            return true;
        }
        if callback == "waitingOpened" {
            answer(job).await;
        }
    }
    panic!("the stream ended");
}

/// What must be the same: the verdict, how each work came out, run by run, and the answers of gates.
async fn essence(job: &TestJob) -> Value {
    let log = job.log().await;
    let mut works: Vec<(u64, bool)> = of_kind(&log, "workStopped")
        .iter()
        .map(|record| (record["workId"].as_u64().expect("a number"), record["succeeded"].as_bool().expect("a verdict")))
        .collect();
    works.sort_unstable();
    let is_gate = |record: &&Value| record["waitingId"].as_str().is_some_and(|id| id.starts_with("gate"));
    let answers: Vec<Value> =
        of_kind(&log, "waitingAnswered").iter().filter(is_gate).map(|record| record["approved"].clone()).collect();
    json!({ "end": log.last(), "works": works, "starts": starts(&log), "answers": answers })
}

/// One of `PARTS` tests, so that they run at the same time and each is quick.
async fn kill_at_every_commit(part: usize) {
    let mut server = start().await;
    let job = TestJob::start(&server, "job").await;
    assert!(!lead(&job, job.events().await, usize::MAX).await);
    let expected = essence(&job).await;
    assert_eq!(expected["end"], json!({ "callback": "jobSucceeded" }), "{:#?}", job.log().await);
    assert_eq!(expected["answers"], json!([false, true]));
    let log = job.log().await;
    let commits = FIRST.iter().map(|name| of_kind(&log, name).len()).sum::<usize>();
    assert!(commits >= 40, "{commits}");
    for at in (1..=commits).filter(|at| at % PARTS == part) {
        let _ = std::fs::remove_file(server.work().join("checked"));
        let job = TestJob::start(&server, "job").await;
        lead(&job, job.events().await, at).await;
        server = server.kill_and_restart().await;
        let job = job.seen_by(&server);
        lead(&job, job.events().await, usize::MAX).await;
        let found = essence(&job).await;
        assert_eq!(found, expected, "killed at commit {at}: {:#?}", job.log().await);
    }
}

const PARTS: usize = 3;

#[tokio::test]
async fn a_kill_at_every_third_commit_changes_nothing_of_the_end() {
    kill_at_every_commit(0).await;
}

#[tokio::test]
async fn a_kill_at_every_third_commit_from_the_first_on_changes_nothing_of_the_end() {
    kill_at_every_commit(1).await;
}

#[tokio::test]
async fn a_kill_at_every_third_commit_from_the_second_on_changes_nothing_of_the_end() {
    kill_at_every_commit(2).await;
}

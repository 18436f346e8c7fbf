//! Gates: shown, approved, rejected, changed while they wait, and never passed without an answer.

use serde_json::{Value, json};

use super::{TestJob, demo, gate, git, of_kind, prompts, reference, seq, server, starts, with};
use crate::support::{Server, page};

async fn gated() -> Server {
    let rework = demo("Rework: $gate-note");
    let tasks = json!({ "greet": demo("hello"), "again": demo("Again with $gate-note"), "rework": rework });
    let redoing = with(with(gate("Good?"), "onReject", reference("rework")), "redoFrom", json!(1));
    let works = json!({
        "plain": seq(&[reference("greet"), with(gate("Go on?"), "prompt", json!(["Look at it,", "then decide."])), reference("greet")]),
        "redoing": seq(&[reference("greet"), reference("again"), redoing, reference("greet")]),
        "asking": seq(&[reference("greet"), with(gate("Good?"), "onReject", reference("rework"))]),
    });
    server(tasks, works).await
}

fn repository(server: &Server) {
    let work = server.work();
    std::fs::write(work.join("file"), "one\n").expect("written");
    git(&work, &["init", "--quiet"]);
    git(&work, &["add", "."]);
    git(&work, &["commit", "--quiet", "--message", "first"]);
}

#[tokio::test]
async fn a_gate_shows_what_was_done_and_waits_until_it_is_approved() {
    let server = gated().await;
    repository(&server);
    std::fs::write(server.work().join("file"), "two\n").expect("written");
    std::fs::write(server.work().join("new"), "n\n").expect("written");
    let job = TestJob::start(&server, "plain").await;
    let waiting = job.waits().await;
    assert_eq!((&waiting["kind"], &waiting["workId"]), (&json!("gate"), &json!(1)));
    assert_eq!((&waiting["title"], &waiting["prompt"]), (&json!("Go on?"), &json!("Look at it,\nthen decide.")));
    let works = waiting["shown"]["works"].as_array().expect("works");
    assert_eq!((works.len(), &works[0]["taskName"], &works[0]["succeeded"]), (1, &json!("greet"), &json!(true)));
    assert!(works[0]["lastDecision"].as_str().expect("text").starts_with("[TASK SUCCEEDED]"), "{waiting}");
    let files = waiting["shown"]["changes"]["files"].as_array().expect("files");
    let names: Vec<&Value> = files.iter().map(|file| &file["path"]).collect();
    assert_eq!(names, ["file", "new"]);
    // It is in the inbox of every viewer.
    let mut inbox = server.http().events("/api/events").await;
    let entry = inbox.until(|event| event.json()["waiting"][0]["waitingId"] == waiting["waitingId"]).await;
    assert_eq!(entry.last().expect("one").json()["jobId"], json!(job.id));
    let page = page(&server).await;
    let body = json!({ "waitingId": waiting["waitingId"], "digest": waiting["digest"], "note": "fine" });
    let reply = page.post_json(&job.path("/approve"), &body).await;
    assert_eq!(reply.status, 200, "{}", reply.text());
    inbox.until(|event| event.json()["jobId"] == json!(job.id) && event.json()["waiting"] == json!([])).await;
    let details = job.end_as("Succeeded").await;
    let answered = &details["works"][1]["attempts"][0]["gate"]["answer"];
    assert_eq!(
        (&answered["approved"], &answered["note"], &answered["by"]),
        (&json!(true), &json!("fine"), &json!("page"))
    );
    let record = of_kind(&job.log().await, "waitingAnswered")[0].clone();
    assert_eq!(record["digest"], waiting["digest"], "the decision is for what was shown");
}

#[tokio::test]
async fn a_rejected_gate_fails_unless_it_says_what_to_do() {
    let server = gated().await;
    let job = TestJob::start(&server, "plain").await;
    let waiting = job.waits().await;
    assert_eq!(job.answer("reject", &waiting, Some("no")).await.status, 200);
    let details = job.end_as("Failed").await;
    assert_eq!(details["works"][1]["status"], "Failed");
    assert_eq!(starts(&job.log().await).into_iter().collect::<Vec<_>>(), [(0, 1)]);
}

#[tokio::test]
async fn a_rejection_with_a_note_does_the_work_again_and_asks_again() {
    let server = gated().await;
    let job = TestJob::start(&server, "redoing").await;
    let first = job.waits().await;
    let note = "use $user-input <b>less</b>\nplease";
    assert_eq!(job.answer("reject", &first, Some(note)).await.status, 200);
    let second = job.waits().await;
    assert_ne!(second["waitingId"], first["waitingId"]);
    job.approve(&second).await;
    let details = job.end_as("Succeeded").await;
    let log = job.log().await;
    assert_eq!(starts(&log).into_iter().collect::<Vec<_>>(), [(0, 1), (1, 2), (3, 1), (4, 1)]);
    let expected = [
        "hello".to_owned(),
        "Again with <MISSING>".to_owned(),
        format!("Rework: {note}"),
        format!("Again with {note}"),
        "hello".to_owned(),
    ];
    assert_eq!(prompts(&log), expected);
    assert_eq!(details["works"][2]["attempts"].as_array().expect("attempts").len(), 2);
    let job = TestJob::start(&server, "asking").await;
    let first = job.waits().await;
    assert_eq!(job.answer("reject", &first, None).await.status, 200);
    let second = job.waits().await;
    job.approve(&second).await;
    job.end_as("Succeeded").await;
    assert_eq!(prompts(&job.log().await), ["hello", "Rework: <MISSING>"]);
}

#[tokio::test]
async fn an_answer_is_refused_when_a_file_has_changed_since() {
    let server = gated().await;
    repository(&server);
    let job = TestJob::start(&server, "plain").await;
    let waiting = job.waits().await;
    std::fs::write(server.work().join("file"), "changed meanwhile\n").expect("written");
    assert_eq!(job.answer("approve", &waiting, None).await.error(409), "GateChanged");
    let again = job.details().await["waiting"][0].clone();
    assert_eq!(again["waitingId"], waiting["waitingId"], "the same gate");
    assert_ne!(again["digest"], waiting["digest"], "shows something else");
    assert_eq!(again["shown"]["changes"]["files"][0]["path"], "file");
    // The same change of the same length in the same file is another change, and a stale answer is refused.
    std::fs::write(server.work().join("file"), "changed meanwhilf\n").expect("written");
    assert_eq!(job.answer("reject", &again, None).await.error(409), "GateChanged");
    assert_eq!(job.answer("approve", &waiting, None).await.error(409), "GateChanged");
    assert_eq!(job.answer("approve", &again, None).await.error(409), "GateChanged");
    let newest = job.details().await["waiting"][0].clone();
    job.approve(&newest).await;
    job.end_as("Succeeded").await;
    assert_eq!(of_kind(&job.log().await, "waitingAnswered").len(), 1);
}

#[tokio::test]
async fn a_gate_is_answered_once() {
    let server = gated().await;
    let job = TestJob::start(&server, "plain").await;
    let waiting = job.waits().await;
    let all = tokio::join!(
        job.answer("approve", &waiting, None),
        job.answer("reject", &waiting, None),
        job.answer("approve", &waiting, None),
    );
    let statuses = [all.0.status.as_u16(), all.1.status.as_u16(), all.2.status.as_u16()];
    assert_eq!(statuses.iter().filter(|status| **status == 200).count(), 1, "{statuses:?}");
    assert_eq!(statuses.iter().filter(|status| **status == 409).count(), 2, "{statuses:?}");
    job.end().await;
    let late = job.answer("approve", &waiting, None).await;
    assert_eq!(late.error(409), "GateClosed");
    assert!(late.json()["message"].as_str().expect("text").contains("by api"), "by whom: {}", late.text());
    assert_eq!(of_kind(&job.log().await, "waitingAnswered").len(), 1);
    let server = server.restart().await;
    let late = job.seen_by(&server).answer("approve", &waiting, None).await;
    assert_eq!(late.error(409), "GateClosed");
    let unknown = json!({ "waitingId": "gate-77", "digest": waiting["digest"] });
    assert_eq!(job.seen_by(&server).answer("reject", &unknown, None).await.error(409), "GateClosed");
}

#[tokio::test]
async fn a_stopped_job_has_no_gate_and_a_retry_asks_again() {
    let server = gated().await;
    let job = TestJob::start(&server, "plain").await;
    let waiting = job.waits().await;
    job.post("/stop").await;
    assert_eq!(job.answer("approve", &waiting, None).await.error(409), "GateClosed");
    assert_eq!(job.end_as("Canceled").await["waiting"], json!([]));
    assert_eq!(job.post("/retry").await.json(), json!({ "status": "Running" }));
    assert_eq!(job.answer("approve", &waiting, None).await.error(409), "GateClosed", "it asks again");
    let again = job.waits().await;
    assert_ne!(again["waitingId"], waiting["waitingId"]);
    job.approve(&again).await;
    job.end_as("Succeeded").await;
    assert_eq!(starts(&job.log().await).into_iter().collect::<Vec<_>>(), [(0, 1), (2, 1)]);
}

#[tokio::test]
async fn a_gate_waits_through_kills() {
    let server = gated().await;
    let job = TestJob::start(&server, "plain").await;
    let waiting = job.waits().await;
    let server = server.kill_and_restart().await;
    let server = server.kill_and_restart().await;
    let job = job.seen_by(&server);
    assert_eq!(job.details().await["waiting"], json!([waiting]), "nothing of it has changed");
    job.approve(&waiting).await;
    let server = server.kill_and_restart().await;
    let job = job.seen_by(&server);
    job.end_as("Succeeded").await;
    let log = job.log().await;
    assert_eq!(of_kind(&log, "waitingOpened").len(), 1);
    assert_eq!(starts(&log).into_iter().collect::<Vec<_>>(), [(0, 1), (2, 1)]);
}

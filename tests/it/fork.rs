//! Forks: a new session that continues another one from the end of a turn.

use serde_json::{Value, json};

use crate::support::{Server, TestSession};

/// Forks a session and returns the new one.
async fn fork(session: &TestSession, after: Value) -> TestSession {
    let reply = session.post("/fork", after).await;
    assert_eq!(reply.status, 201, "{}", reply.text());
    let id = reply.json()["sessionId"].as_str().expect("an id").to_owned();
    TestSession { id, ..session.seen_by(session.http.clone()) }
}

fn callbacks<'a>(log: &'a [(u64, Value)], name: &'a str) -> impl Iterator<Item = &'a Value> {
    log.iter().map(|(_, response)| response).filter(move |response| response["callback"] == name)
}

#[tokio::test]
async fn a_fork_has_the_log_up_to_the_turn_and_goes_on_by_itself() {
    let server = Server::start().await;
    let source = server.session().await;
    for prompt in ["hello", "tool 400000", "markdown"] {
        source.ask(prompt).await;
    }
    let before = source.log().await;
    let fork = fork(&source, json!({ "promptId": "prompt-2" })).await;
    let copy = fork.log().await;
    let (notice, copied) = copy.split_last().expect("a log");
    assert_eq!(copied, &before[..copied.len()], "numbers and contents are the same");
    assert_eq!(copied.last().expect("one").1["callback"], "onIdle");
    assert_eq!((&notice.1["kind"], callbacks(&copy, "onUserPrompt").count()), (&json!("forked"), 2));
    assert_eq!(source.log().await, before, "the source is not changed");

    let end = callbacks(&copy, "onEndToolExecution").next().expect("a tool call");
    let blob = end["result"]["contentBlob"].as_str().expect("a large output");
    assert_eq!(fork.get(&format!("/blob/{blob}")).await.body.len(), 400_000, "large outputs belong to both");
    let seq = copied.iter().find(|(_, response)| response == end).expect("its event").0;
    let html = fork.get(&format!("/block/{seq}.html")).await;
    assert!(html.text().contains("data-language=\"bash\""), "the end finds its start: {}", html.text());

    let outcome = fork.ask("hello").await;
    assert_eq!((&outcome["promptId"], &outcome["verdict"]), (&json!("prompt-3"), &json!("succeeded")));
    assert_eq!(fork.get("/outline").await.json()["prompts"].as_array().map(Vec::len), Some(3));
    assert_eq!(fork.get("").await.json()["usage"]["numTurns"], Value::Null, "usage starts at zero");
}

#[tokio::test]
async fn a_fork_is_there_after_a_kill_and_failed_prompts_can_be_asked_again_in_it() {
    let server = Server::start().await;
    let source = server.session().await;
    source.ask("error no disk").await;
    source.ask("hello").await;
    let fork = fork(&source, json!({ "seq": 1 })).await;
    let before = fork.log().await;
    let server = server.kill_and_restart().await;
    let fork = fork.seen_by(server.http());
    assert_eq!(fork.log().await, before);
    let again = fork.post("/ask-again", json!({ "promptId": "prompt-1", "wait": true })).await.json();
    assert_eq!((&again["promptId"], &again["verdict"]), (&json!("prompt-2"), &json!("failed")));
}

#[tokio::test]
async fn what_was_open_at_the_end_of_the_turn_is_left_out() {
    let server = Server::start().await;
    let source = server.session().await;
    source.prompt("many 100000 1000").await;
    source.prompt("hello").await;
    source.events_after(0).await.until_callback("onMessage").await;
    assert_eq!(source.post("/fork", json!({ "promptId": "prompt-1" })).await.error(409), "TurnNotOver");
    assert_eq!(source.post("/fork", json!({ "promptId": "prompt-2" })).await.error(409), "TurnNotOver");
    source.post("/interrupt", json!({})).await;
    source.events_after(0).await.until(|event| event.json()["turnId"] == "turn-2").await;
    let fork = fork(&source, json!({ "promptId": "prompt-1" })).await;
    let log = fork.log().await;
    let prompts: Vec<&Value> = callbacks(&log, "onUserPrompt").map(|prompt| &prompt["promptId"]).collect();
    assert_eq!(prompts, ["prompt-1"], "the queued prompt belongs to the source alone");
    assert_eq!(fork.get("").await.json()["queuedPrompts"], json!([]));
    assert_eq!(fork.ask("hello").await["verdict"], "succeeded");
}

#[tokio::test]
async fn a_repetition_with_the_same_key_is_the_same_fork_and_mistakes_are_named() {
    let server = Server::start().await;
    let source = server.session().await;
    source.ask("hello").await;
    source.ask("hello").await;
    let keyed = source.seen_by(source.http.header("idempotency-key", "k"));
    let one = keyed.post("/fork", json!({ "promptId": "prompt-1" })).await;
    let two = keyed.post("/fork", json!({ "promptId": "prompt-1" })).await;
    assert_eq!((one.json(), one.status), (two.json(), two.status));
    assert_eq!(keyed.post("/fork", json!({ "promptId": "prompt-2" })).await.error(422), "IdempotencyKeyReused");
    assert_eq!(source.post("/fork", json!({ "promptId": "prompt-7" })).await.error(404), "PromptNotFound");
    assert_eq!(source.post("/fork", json!({ "seq": 9_999 })).await.error(404), "EventNotFound");
    for wrong in [json!({}), json!({ "seq": 1, "promptId": "prompt-1" })] {
        assert_eq!(source.post("/fork", wrong).await.error(400), "InvalidBody");
    }
    assert_eq!(source.post("/fork", json!({ "prompt": 1 })).await.error(400), "InvalidJson");
}

#[tokio::test]
async fn the_outline_has_every_prompt_with_its_first_line_and_verdict() {
    let server = Server::start().await;
    let session = server.session().await;
    assert_eq!(session.get("/outline").await.json(), json!({ "prompts": [], "truncated": false }));
    session.ask("\n  hello there\nand more").await;
    session.ask("error no disk").await;
    session.prompt("permission").await;
    session.events_after(0).await.until_callback("onPermissionRequested").await;
    let outline = session.get("/outline").await.json();
    let prompts = outline["prompts"].as_array().expect("a list");
    let told: Vec<_> = prompts.iter().map(|prompt| (&prompt["line"], &prompt["verdict"], &prompt["byTask"])).collect();
    let no = json!(false);
    assert_eq!(
        told,
        [
            (&json!("hello there"), &json!("succeeded"), &no),
            (&json!("error no disk"), &json!("failed"), &no),
            (&json!("permission"), &Value::Null, &no),
        ]
    );
    let log = session.log().await;
    for prompt in prompts {
        let event = log.iter().find(|(seq, _)| Some(*seq) == prompt["seq"].as_u64()).expect("its event");
        assert_eq!(event.1["promptId"], prompt["promptId"]);
    }
}

#[tokio::test]
async fn times_of_a_batch_are_those_of_the_log_and_come_only_when_wanted() {
    let server = Server::start().await;
    let session = server.session().await;
    session.ask("hello").await;
    let batch = session.get("/live/one?times=true").await.json();
    let times: Vec<i64> = batch["times"].as_array().expect("times").iter().filter_map(Value::as_i64).collect();
    assert_eq!(times.len(), batch["responses"].as_array().expect("responses").len());
    let log = session.get("/log").await.json();
    let first: jiff::Timestamp = log["events"][0]["time"].as_str().expect("a time").parse().expect("RFC 3339");
    assert_eq!(times[0], first.as_millisecond());
    assert!(times.is_sorted());
    assert_eq!(session.get("/live/two").await.json()["times"], Value::Null);
}

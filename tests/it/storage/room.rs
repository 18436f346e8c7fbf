//! No room left: prompts are refused with the reason, what was accepted is kept, and it goes on by itself.

use hyper::Method;
use serde_json::{Value, json};
use tokio::process::Command;

use crate::support::{Reply, Server, TestSession, a_moment, callbacks};

const SMALL_DATABASE: &str = "[limits]\ndatabase_bytes = 1000000";

/// A refusal for want of room, in words that say what to do.
fn check_no_room(reply: &Reply) {
    let name = reply.error(507);
    assert!(matches!(name.as_str(), "StorageFull" | "StorageFailed"), "{name}");
    assert!(reply.text().contains("disk"), "{}", reply.text());
}

/// A database without room.
struct Full {
    /// The prompts that were accepted before.
    accepted: Vec<String>,
    /// What the server said about itself then. A turn that still runs may find room for something small at any time.
    health: Value,
}

/// Prompts until one is refused for want of room and the server says that it has none.
async fn fill(server: &Server, session: &TestSession) -> Full {
    let mut accepted = Vec::new();
    loop {
        let text = format!("{} {}", accepted.len(), "x".repeat(30_000));
        let reply = session.post("/prompt", json!({ "text": text })).await;
        match reply.status.as_u16() {
            200 => accepted.push(text),
            // As many wait as may: a turn has to end first.
            429 => {}
            _ => {
                check_no_room(&reply);
                let health = health(server).await;
                if health["status"] == "degraded" {
                    return Full { accepted, health };
                }
            }
        }
    }
}

/// Waits for turns with large outputs until one has no room for its end.
async fn fill_in_mid_turn(session: &TestSession) -> usize {
    for number in 1.. {
        let reply = session.post("/prompt", json!({ "text": "tool 200000", "wait": true })).await;
        if reply.status != 200 {
            check_no_room(&reply);
            return number;
        }
    }
    0
}

async fn health(server: &Server) -> Value {
    server.http().get("/api/health").await.json()
}

/// Waits until a prompt is accepted again, then checks that all is well.
async fn wait_until_it_works(server: &Server, session: &TestSession) {
    while session.post("/prompt", json!({ "text": "hello" })).await.status != 200 {
        a_moment().await;
    }
    assert_eq!(session.ask("hello").await["verdict"], "succeeded");
    let health = health(server).await;
    assert_eq!((&health["status"], &health["storage"]["takesWrites"]), (&json!("ok"), &json!(true)), "{health}");
}

/// Every prompt is in the log once, in order.
fn check_prompts(log: &[(u64, Value)], accepted: &[String]) {
    let prompts: Vec<&str> = log
        .iter()
        .filter(|(_, response)| response["callback"] == "onUserPrompt")
        .filter_map(|(_, response)| response["text"].as_str())
        .collect();
    assert_eq!(prompts.len(), accepted.len());
    assert!(prompts.iter().zip(accepted).all(|(logged, sent)| logged == sent));
}

/// Every turn that began has ended, and the log has no numbers twice.
fn check_complete(log: &[(u64, Value)]) {
    assert!(log.windows(2).all(|pair| pair[0].0 < pair[1].0), "numbers go up");
    let names = callbacks(log);
    let count = |wanted: &str| names.iter().filter(|name| *name == wanted).count();
    assert_eq!(count("onAgentStart"), count("onAgentEnd"));
    assert_eq!(count("onAgentEnd"), count("onIdle"));
    assert_eq!(count("onStartMessage"), count("onEndMessage"));
    assert_eq!(count("onStartToolExecution"), count("onEndToolExecution"));
    assert_eq!(names.last().map(String::as_str), Some("onIdle"));
}

#[tokio::test]
async fn a_database_at_its_limit_refuses_prompts_until_a_session_is_deleted() {
    let server = Server::builder().config(SMALL_DATABASE).start().await;
    let (large, small) = (server.session().await, server.session().await);
    small.ask("hello").await;
    let Full { accepted, health } = fill(&server, &large).await;
    assert!(accepted.len() > 5, "{}", accepted.len());
    assert_eq!((&health["status"], &health["storage"]["takesWrites"]), (&json!("degraded"), &json!(false)), "{health}");
    assert!(
        health["storage"]["reason"].as_str().is_some_and(|reason| reason.contains("limits.database_bytes")),
        "{health}"
    );
    assert_eq!(server.stranger().get("/api/health").await.json(), json!({ "status": "ok", "service": "flightdeck" }));
    check_prompts(&large.log().await, &accepted);
    check_complete(&small.log().await);

    assert_eq!(server.http().send(Method::DELETE, &large.path(""), "").await.status, 204);
    wait_until_it_works(&server, &small).await;
    check_complete(&small.log().await);
}

#[tokio::test]
async fn running_turns_are_ended_in_a_full_database_and_a_deleted_session_makes_room_for_their_ends() {
    let server = Server::builder().config(SMALL_DATABASE).start().await;
    let (large, session) = (server.session().await, server.session().await);
    let (running, other) = (server.session().await, server.session().await);
    for _ in 0..3 {
        large.ask("tool 200000").await;
    }
    running.prompt("many 1000000 200 10").await;
    let mut events = running.events_after(0).await;
    events.until_callback("onMessage").await;
    let prompts = fill_in_mid_turn(&session).await;
    assert_eq!(health(&server).await["status"], "degraded");
    check_no_room(&other.post("/prompt", json!({ "text": "hello" })).await);
    // What fills the database is events alone, so they have to be dropped before anything else can be written.
    assert_eq!(server.http().send(Method::DELETE, &large.path(""), "").await.status, 204);
    wait_until_it_works(&server, &other).await;

    let ended = events.until_callback("onIdle").await;
    let notice = ended.iter().find(|event| event.json()["kind"] == "interrupted").expect("a notice").json();
    assert!(notice["message"].as_str().is_some_and(|message| message.contains("no room left")), "{notice}");
    check_complete(&running.log().await);
    assert_eq!(session.ask("hello").await["verdict"], "succeeded");
    let log = session.log().await;
    check_complete(&log);
    let logged = callbacks(&log).iter().filter(|name| *name == "onUserPrompt").count();
    assert!((prompts..=prompts + 1).contains(&logged), "all but the refused one, if it was the prompt: {logged}");
}

#[tokio::test]
async fn a_server_whose_database_is_at_its_limit_starts_again_with_everything_in_it() {
    let server = Server::builder().config(SMALL_DATABASE).start().await;
    let session = server.session().await;
    let accepted = fill(&server, &session).await.accepted;
    let server = server.kill_and_restart().await;
    let session = session.seen_by(server.http());
    check_prompts(&session.log().await, &accepted);
    let other = server.session().await;
    assert_eq!(server.http().send(Method::DELETE, &session.path(""), "").await.status, 204);
    wait_until_it_works(&server, &other).await;
}

#[tokio::test]
async fn a_larger_limit_takes_effect_at_the_next_start() {
    let server = Server::builder().config(SMALL_DATABASE).start().await;
    let session = server.session().await;
    let accepted = fill(&server, &session).await.accepted;
    let server = server.restart_as(Server::builder()).await;
    let session = session.seen_by(server.http());
    check_prompts(&session.log().await, &accepted);
    wait_until_it_works(&server, &session).await;
    check_complete(&session.log().await);
}

/// The file-size limit stands for a full disk: writes beyond it fail until it is lifted. In blocks of 512 bytes.
#[cfg(target_os = "linux")]
const LIMITED: [&str; 3] = ["sh", "-c", "trap '' XFSZ; ulimit -S -f 2000; exec \"$0\" \"$@\""];

#[tokio::test]
#[cfg(target_os = "linux")]
async fn an_answer_on_a_full_disk_is_refused_with_the_reason() {
    let server = Server::builder().wrapped_in(&LIMITED).start().await;
    let (large, waiting) = (server.session().await, server.session().await);
    let request = waiting.prompt_and_get_request("permission").await;
    fill(&server, &large).await;
    let reply = waiting.post(&format!("/permission/{request}"), json!({ "decision": "deny" })).await;
    match reply.status.as_u16() {
        // A small commit may have found room, and then says who closed the request.
        409 => assert!(reply.text().contains("storage"), "{}", reply.text()),
        _ => check_no_room(&reply),
    }
}

#[tokio::test]
#[cfg(target_os = "linux")]
async fn a_full_disk_refuses_prompts_and_the_server_goes_on_by_itself_once_there_is_room() {
    let server = Server::builder().wrapped_in(&LIMITED).start().await;
    let session = server.session().await;
    let accepted = fill(&server, &session).await.accepted;
    assert!(accepted.len() > 3, "{}", accepted.len());
    check_no_room(&session.post("/prompt", json!({ "text": format!("still {}", "x".repeat(30_000)) })).await);
    check_prompts(&session.log().await, &accepted);

    let process = server.process_id().to_string();
    let lifted = Command::new("prlimit").args(["--fsize=unlimited:", "--pid", &process]).status().await;
    assert!(lifted.expect("prlimit runs").success());
    wait_until_it_works(&server, &session).await;
    let log = session.log().await;
    check_complete(&log);
    let server = server.restart().await;
    assert_eq!(session.seen_by(server.http()).log().await, log, "nothing was damaged");
}

#[tokio::test]
async fn an_answer_that_comes_while_there_is_no_room_gets_the_reason() {
    let server = Server::builder().config(SMALL_DATABASE).start().await;
    let (large, asking) = (server.session().await, server.session().await);
    let request = asking.prompt_and_get_request("permission").await;
    fill(&server, &large).await;
    let answer = json!({ "decision": "deny" });
    let reply = asking.post(&format!("/permission/{request}"), answer.clone()).await;
    // A full database may still have room for a line or two: then the turn's end and its reason are stored already.
    if reply.status == 409 {
        assert!(reply.text().contains("by storage"), "{}", reply.text());
    } else {
        check_no_room(&reply);
    }
    assert_eq!(server.http().send(Method::DELETE, &large.path(""), "").await.status, 204);
    wait_until_it_works(&server, &asking).await;
    assert_eq!(asking.post(&format!("/permission/{request}"), answer).await.error(409), "AlreadyAnswered");
}

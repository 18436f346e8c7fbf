//! The limit on processes: a line, positions, and idle agents that make room.

use serde_json::json;

use super::fake::{Fake, errors, notices};
use crate::support::children_of;

#[tokio::test]
async fn sessions_stand_in_line_for_processes_and_idle_ones_make_room() {
    let fake = Fake::start_with(&[], "[limits]\nagent_processes = 1").await;
    let first = fake.session().await;
    first.ask("@@echo one").await;
    first.prompt("@@hang").await;
    first.events_after(0).await.until(|event| event.data.contains("hanging")).await;
    let (second, third) = (fake.session().await, fake.session().await);
    second.prompt("@@echo second").await;
    let mut of_second = second.events_after(0).await;
    let told = of_second.until(|event| event.json()["state"] == "starting").await;
    let detail = told.last().expect("one").json()["detail"].as_str().expect("why").to_owned();
    assert!(detail.contains("one of 1 agent processes") && detail.contains("position 1"), "{detail}");
    third.prompt("@@echo third").await;
    let mut of_third = third.events_after(0).await;
    of_third.until(|event| event.data.contains("position 2")).await;
    let figures = fake.server.http().get("/metrics").await.text().to_owned();
    assert!(figures.contains("flightdeck_agent_slots_held 1\n"), "{figures}");
    assert!(figures.contains("flightdeck_agent_slots_awaited 2\n"), "{figures}");
    assert_eq!(children_of(fake.server.process_id()).len(), 1);

    assert_eq!(first.post("/interrupt", json!({})).await.status, 202);
    let answered = of_second.until_callback("onIdle").await;
    assert!(answered.iter().any(|event| event.data.contains("ECHO[second]")), "{answered:?}");
    let answered = of_third.until_callback("onIdle").await;
    assert!(answered.iter().any(|event| event.data.contains("ECHO[third]")), "{answered:?}");
    assert_eq!(first.ask("@@history").await["text"], "turns: 3", "it has made room, and is back");
    for session in [&first, &second, &third] {
        assert_eq!(errors(session).await, Vec::<String>::new());
        assert_eq!(notices(session, "fresh-session").await, Vec::<String>::new());
    }
}

#[tokio::test]
async fn who_is_closed_in_line_leaves_it_and_an_agent_that_does_not_start_keeps_no_place() {
    let more = "[acp.gone]\ncommand = \"/no/such/agent\"\n[limits]\nagent_processes = 1";
    let fake = Fake::start_with(&[], more).await;
    let body = json!({ "runtime": "acp:gone" });
    let gone = crate::support::TestSession::start_with(fake.server.http(), body).await;
    assert_eq!(gone.ask("x").await["verdict"], "failed");
    let first = fake.session().await;
    first.prompt("@@hang").await;
    first.events_after(0).await.until(|event| event.data.contains("hanging")).await;
    let (second, third) = (fake.session().await, fake.session().await);
    second.prompt("@@echo second").await;
    third.prompt("@@echo third").await;
    let mut of_third = third.events_after(0).await;
    of_third.until(|event| event.data.contains("position 2")).await;
    assert_eq!(second.post("/stop", json!({})).await.status, 200);
    of_third.until(|event| event.data.contains("position 1")).await;
    first.post("/interrupt", json!({})).await;
    let answered = of_third.until_callback("onIdle").await;
    assert!(answered.iter().any(|event| event.data.contains("ECHO[third]")), "{answered:?}");
}

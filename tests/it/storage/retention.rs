//! Old sessions are forgotten only where the configuration says so, and only closed ones.

use crate::support::{Server, TestSession, a_moment};

async fn close(session: &TestSession) {
    assert_eq!(session.http.post(&session.path("/stop"), "").await.json()["result"], "Closed");
}

/// Waits until a session is neither found nor listed. Its end comes first, the deletion of its record a moment later.
async fn wait_until_forgotten(server: &Server, id: &str) {
    let http = server.http();
    while http.get(&format!("/api/copilot/session/{id}")).await.status != 404 {
        a_moment().await;
    }
    while http.get("/api/copilot/session").await.text().contains(&format!("\"{id}\"")) {
        a_moment().await;
    }
}

#[tokio::test]
async fn sessions_closed_longer_ago_than_the_largest_age_are_forgotten_at_the_next_start() {
    let server = Server::start().await;
    let (closed, open) = (server.session().await, server.session().await);
    closed.ask("tool 400000").await;
    open.ask("hello").await;
    close(&closed).await;
    let server = server.restart_as(Server::builder().config("[retention]\nmax_age = \"1ms\"")).await;
    wait_until_forgotten(&server, &closed.id).await;
    let list = server.http().get("/api/copilot/session").await.json();
    let ids: Vec<&str> =
        list["sessions"].as_array().expect("a list").iter().filter_map(|entry| entry["sessionId"].as_str()).collect();
    assert_eq!(ids, [open.id.as_str()], "an open session is never forgotten");
    let open = open.seen_by(server.http());
    assert_eq!(open.ask("hello").await["verdict"], "succeeded");
    assert_eq!(server.session().await.id, "session-3", "its id is not given again");
}

#[tokio::test]
async fn the_sessions_closed_first_are_forgotten_while_the_database_is_too_large() {
    let server = Server::start().await;
    let sessions = [server.session().await, server.session().await, server.session().await];
    for session in &sessions {
        for _ in 0..3 {
            session.ask("tool 200000").await;
        }
    }
    close(&sessions[1]).await;
    // Its deltas come one after the other, so the next close has a later time.
    sessions[2].ask("hello").await;
    close(&sessions[0]).await;
    let server = server.restart_as(Server::builder().config("[retention]\nmax_bytes = 1600000")).await;
    wait_until_forgotten(&server, &sessions[1].id).await;
    let server = server.restart_as(Server::builder().config("[retention]\nmax_bytes = 1600000")).await;
    // The first round of the run before is over; it had no reason to forget a second one.
    for kept in [&sessions[0], &sessions[2]] {
        assert_eq!(server.http().get(&kept.path("")).await.status, 200, "{}", kept.id);
    }
}

#[tokio::test]
async fn nothing_is_forgotten_by_default_nor_before_its_time() {
    let server = Server::start().await;
    let session = server.session().await;
    session.ask("hello").await;
    close(&session).await;
    // A server that ends has made its first round, so after the second start the first round is over.
    let server = server.restart().await.restart().await;
    assert_eq!(server.http().get(&session.path("/log")).await.status, 200);
    let server = server.restart_as(Server::builder().config("[retention]\nmax_age = \"30d\"")).await;
    let server = server.restart().await;
    let session = session.seen_by(server.http());
    assert_eq!(session.state().await, "closed");
    assert!(!session.log().await.is_empty());
}

//! Routes about the server, pages, history, figures.

use hyper::Method;
use serde_json::{Value, json};

use crate::support::{Server, callbacks};

#[tokio::test]
async fn the_portals_server_routes_take_get_and_post_alike() {
    let server = Server::start().await;
    let http = server.http();
    for method in [Method::GET, Method::POST] {
        let ask = async |path: &str| http.send(method.clone(), path, "").await.json();
        assert_eq!(ask("/api/test").await, json!({ "message": "Hello, world!" }));
        assert_eq!(ask("/api/config").await["repoRoot"], json!(server.folder().canonicalize().expect("there")));
        assert_eq!(
            ask("/api/copilot/models").await["models"][0]["id"],
            "demo",
            "nothing else is ready, so ids are plain"
        );
    }
    assert_eq!(http.send(Method::DELETE, "/api/test", "").await.error(405), "MethodNotAllowed");
    assert_eq!(http.send(Method::HEAD, "/api/stop", "").await.status, 405, "asking about it is not doing it");
}

#[tokio::test]
async fn the_repository_root_is_the_nearest_folder_with_git() {
    let folder = tempfile::tempdir().expect("a folder");
    let root = folder.path().canonicalize().expect("there");
    std::fs::create_dir_all(root.join(".git")).expect("made");
    std::fs::create_dir_all(root.join("outer/work")).expect("made");
    // The server is started in a folder below the one that holds .git.
    let inner = tempfile::tempdir_in(root.join("outer")).expect("a folder");
    let server = Server::builder().start_in(inner).await;
    assert_eq!(server.http().get("/api/config").await.json()["repoRoot"], json!(root));
    assert_eq!(server.http().get("/api/config").await.json()["defaultModel"], json!(null));
}

#[tokio::test]
async fn what_is_not_there_is_said_so() {
    let server = Server::start().await;
    let http = server.http();
    let unknown = http.get("/api/no/such").await;
    assert_eq!((unknown.status.as_u16(), unknown.json()), (404, json!({ "error": "Unknown API endpoint" })));
    let page = http.get("/no-such.html").await;
    assert_eq!((page.status.as_u16(), page.text()), (404, "Not Found"));
    assert_eq!(http.get("/").await.body, http.get("/index.html").await.body);
    for page in ["/index.html", "/test.html", "/index.css", "/index.js", "/favicon.svg", "/favicon.ico"] {
        assert_eq!(http.get(page).await.status, 200, "{page}");
    }
}

#[tokio::test]
async fn model_ids_may_contain_slashes_and_are_percent_decoded() {
    let server = Server::start().await;
    for id in ["demo", "demo/demo", "demo%2Fdemo-slow", "%64emo"] {
        let reply = server.http().post(&format!("/api/copilot/session/start/{id}"), "").await;
        assert!(reply.json()["sessionId"].is_string(), "{id}: {}", reply.text());
    }
    for id in ["gpt-5.2", "other/demo", "demo/demo/demo"] {
        let reply = server.http().post(&format!("/api/copilot/session/start/{id}"), "").await;
        assert_eq!(reply.json(), json!({ "error": "ModelIdNotFound" }), "{id}");
    }
}

#[tokio::test]
async fn history_is_paged_forwards_and_backwards() {
    let server = Server::start().await;
    let session = server.session().await;
    for _ in 0..3 {
        session.ask("reason").await;
    }
    let whole = session.log().await;
    let page = async |query: &str| session.get(&format!("/log?{query}")).await.json();
    let seqs = |page: &Value| -> Vec<u64> {
        page["events"]
            .as_array()
            .expect("events")
            .iter()
            .map(|event| event["seq"].as_u64().expect("a number"))
            .collect()
    };
    let (mut forwards, mut query) = (Vec::new(), "limit=4".to_owned());
    loop {
        let page = page(&query).await;
        forwards.extend(seqs(&page));
        match page["next"].as_u64() {
            Some(next) => query = format!("limit=4&after={next}"),
            None => break,
        }
    }
    assert_eq!(forwards, whole.iter().map(|(seq, _)| *seq).collect::<Vec<_>>());
    let last = *forwards.last().expect("one");
    let (mut backwards, mut query) = (Vec::new(), format!("limit=5&before={}", last + 1));
    loop {
        let page = page(&query).await;
        backwards.splice(0..0, seqs(&page));
        match page["next"].as_u64() {
            Some(next) => query = format!("limit=5&before={next}"),
            None => break,
        }
    }
    assert_eq!(backwards, forwards);
    let first = &page("limit=1").await["events"][0];
    assert!(first["time"].as_str().expect("a time").ends_with('Z'), "{first}");
}

#[tokio::test]
async fn health_says_more_to_those_who_are_let_in() {
    let server = Server::start().await;
    assert_eq!(server.stranger().get("/api/health").await.json(), json!({ "status": "ok", "service": "flightdeck" }));
    let health = server.http().get("/api/health").await.json();
    assert_eq!((&health["status"], &health["storage"]["takesWrites"]), (&json!("ok"), &json!(true)));
}

#[tokio::test]
async fn figures_are_counted_by_matched_route_and_by_state() {
    let server = Server::start().await;
    let session = server.session().await;
    session.ask("hello").await;
    session.prompt_and_get_request("question").await;
    session.prompt("hello").await;
    let closed = server.session().await;
    closed.post("/stop", json!({})).await;
    let _viewer = session.events_after(0).await;
    let text = server.http().get("/metrics").await.text().to_owned();
    let value = |start: &str| -> f64 {
        let line = text.lines().find(|line| line.starts_with(start)).unwrap_or_else(|| panic!("{start} in {text}"));
        line.rsplit(' ').next().expect("a value").parse().expect("a number")
    };
    assert!((value("flightdeck_sessions{state=\"waiting\"}") - 1.0).abs() < 0.1);
    assert!((value("flightdeck_sessions{state=\"closed\"}") - 1.0).abs() < 0.1);
    assert!((value("flightdeck_readers") - 1.0).abs() < 0.1);
    assert!((value("flightdeck_queued_prompts") - 1.0).abs() < 0.1);
    assert!(value("flightdeck_events_total") >= 20.0);
    assert!(value("flightdeck_commit_seconds_count") >= 2.0);
    assert!(value("flightdeck_write_queue_length") >= 0.0);
    let route =
        "flightdeck_http_requests_total{method=\"POST\",route=\"/api/copilot/session/{id}/prompt\",status=\"200\"}";
    assert!((value(route) - 3.0).abs() < 0.1);
    assert!(!text.contains("session-1"), "ids would make endless series");
}

#[tokio::test]
async fn many_sessions_work_at_once_and_keep_their_logs_apart() {
    let server = Server::start().await;
    let sessions = futures_util::future::join_all((0..20).map(|_| server.session())).await;
    let outcomes = futures_util::future::join_all(sessions.iter().map(|session| session.ask("many 200 0 5"))).await;
    assert!(outcomes.iter().all(|outcome| outcome["verdict"] == "succeeded"));
    for session in &sessions {
        let log = session.log().await;
        assert_eq!(callbacks(&log).len(), 7, "{}", session.id);
        assert_eq!(log[0].0, 1);
    }
}

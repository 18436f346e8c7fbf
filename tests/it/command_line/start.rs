//! Starting: the first lines, the port, the addresses, and the note that other programs find the server by.

use std::fs;
use std::net::TcpListener;

use serde_json::{Value, json};

use crate::support::{Http, Server, free_port};

fn note(server: &Server) -> Value {
    let text = fs::read_to_string(server.data().join("server.json")).expect("a note");
    serde_json::from_str(&text).expect("JSON")
}

#[tokio::test]
async fn the_first_line_is_the_address_then_come_the_login_link_and_how_to_stop() {
    let server = Server::start().await;
    assert_eq!(server.url, format!("http://localhost:{}", server.port()));
    assert_ne!(server.port(), 0);
    let (before, link) = server.greeting[0].split_once(&server.url).expect("a link to this server");
    assert!(before.starts_with("Log in") && link.starts_with("/login?code="), "{:?}", server.greeting);
    assert!(server.greeting[1].contains("Ctrl+C") && server.greeting[1].contains("flightdeck stop"));
    assert_eq!(server.http().get("/api/test").await.json(), json!({ "message": "Hello, world!" }));
}

#[tokio::test]
async fn the_port_is_taken_from_a_flag_a_bare_number_a_variable_or_a_file() {
    let port = free_port();
    let text = port.to_string();
    for builder in [
        Server::builder().port_arguments(&["--port", &text]),
        Server::builder().port_arguments(&[&text]),
        Server::builder().port_arguments(&["serve", "--port", &text]),
        Server::builder().port_arguments(&["serve", &text]),
        Server::builder().port_arguments(&[]).variable("FLIGHTDECK_SERVER_PORT", &text),
        Server::builder().port_arguments(&[]).config(&format!("[server]\nport = {port}")),
        Server::builder().port_arguments(&["--port", &text]).variable("FLIGHTDECK_SERVER_PORT", "1"),
    ] {
        let mut server = builder.clone().start().await;
        assert_eq!(server.url, format!("http://localhost:{port}"), "{builder:?}");
        assert_eq!(server.http().get("/api/test").await.status, 200);
        assert!(server.stop().await);
    }
}

#[tokio::test]
async fn a_port_that_is_none_is_refused_before_anything_is_made() {
    let folder = tempfile::tempdir().expect("a folder");
    for arguments in
        [&["--port", "65536"][..], &["--port", "-1"], &["--port", "http"], &["70000"], &["80", "--port", "81"]]
    {
        let ended = Server::builder().run(folder.path(), arguments).await;
        assert!(!ended.success, "{arguments:?}");
        assert!(ended.stderr.to_lowercase().contains("port"), "{}", ended.stderr);
    }
    assert!(!folder.path().join("data").exists());
}

#[tokio::test]
async fn both_loopback_addresses_answer() {
    let server = Server::start().await;
    let authorization = format!("Bearer {}", server.token());
    let mut authorities = vec![format!("127.0.0.1:{}", server.port())];
    if TcpListener::bind("[::1]:0").is_ok() {
        authorities.push(format!("[::1]:{}", server.port()));
    }
    for authority in authorities {
        let http = Http::new(&format!("http://{authority}")).header("authorization", &authorization);
        assert_eq!(http.get("/api/test").await.json(), json!({ "message": "Hello, world!" }), "{authority}");
    }
}

#[tokio::test]
async fn the_note_names_address_and_process_and_goes_away_at_a_clean_end() {
    let mut server = Server::start().await;
    assert_eq!(note(&server), json!({ "pid": server.process_id(), "url": server.url }));
    assert!(server.stop().await);
    assert!(!server.data().join("server.json").exists());
    let mut server = server.start_again().await;
    assert_eq!(note(&server), json!({ "pid": server.process_id(), "url": server.url }));
    assert!(server.signal("TERM").await);
    assert!(!server.data().join("server.json").exists());
}

#[tokio::test]
async fn two_servers_on_two_data_folders_run_side_by_side() {
    let (one, two) = (Server::start().await, Server::start().await);
    assert_ne!(one.port(), two.port());
    assert_ne!(one.token(), two.token());
    let (first, second) = (one.session().await, two.session().await);
    assert_eq!(first.id, second.id, "each counts for itself");
    first.ask("hello").await;
    assert_eq!(second.get("").await.json()["lastSeq"], 0);
    let wrong = Http::new(&two.url).header("authorization", &format!("Bearer {}", one.token()));
    assert_eq!(wrong.get("/api/test").await.status, 401, "the token of one is none for the other");
    let mut one = one;
    assert!(one.stop().await);
    assert_eq!(second.ask("hello").await["verdict"], "succeeded");
}

#[tokio::test]
async fn with_json_the_announcement_is_one_line_that_programs_can_read() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut command = Server::builder().command(folder.path());
    let mut child = command.args(["--port", "0", "--json"]).spawn().expect("started");
    let mut lines = tokio::io::AsyncBufReadExt::lines(tokio::io::BufReader::new(child.stdout.take().expect("piped")));
    let line = lines.next_line().await.expect("readable").expect("a line");
    let said: Value = serde_json::from_str(&line).expect("JSON");
    let url = said["url"].as_str().expect("an address");
    assert_eq!(said["pid"], child.id().expect("running"));
    assert!(said["loginUrl"].as_str().is_some_and(|link| link.starts_with(&format!("{url}/login?code="))), "{said}");
    assert_eq!(Http::new(url).get("/api/health").await.status, 200);
    child.kill().await.expect("killed");
}

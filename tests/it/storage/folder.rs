//! The data folder: one server at a time, and only where it can be written.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::{Duration, SystemTime};

use hyper::Method;
use serde_json::json;
use tokio::net::TcpListener;

use super::check_works;
use crate::support::{Ended, Server, ServerBuilder, a_moment, free_port};

/// It ended without having announced anything, and says all of this.
fn check_refused(ended: &Ended, words: &[&str]) {
    assert!(!ended.success, "{}", ended.stdout);
    assert_eq!(ended.stdout, "");
    for word in words {
        assert!(ended.stderr.contains(word), "{word}: {}", ended.stderr);
    }
    assert!(!ended.stderr.contains("panicked"), "{}", ended.stderr);
}

#[tokio::test]
async fn a_second_server_on_the_same_data_is_refused_with_the_firsts_address_and_process() {
    let server = Server::start().await;
    let note = fs::read_to_string(server.data().join("server.json")).expect("a note");
    let token = server.token();
    let ended = Server::builder().run(server.folder(), &["--port", "0"]).await;
    let process = format!("process {}", server.process_id());
    check_refused(&ended, &[&server.url, &process, "flightdeck open", "flightdeck stop", "--data-dir"]);

    assert_eq!(fs::read_to_string(server.data().join("server.json")).expect("a note"), note);
    assert_eq!(server.token(), token);
    check_works(&server).await;
}

#[tokio::test]
async fn what_a_killed_server_leaves_behind_keeps_nobody_out() {
    let mut server = Server::start().await;
    check_works(&server).await;
    server.kill().await;
    assert!(server.data().join("server.json").exists() && server.data().join("flightdeck.lock").exists());
    let server = server.start_again().await;
    check_works(&server).await;
    assert_eq!(server.http().get("/api/copilot/session").await.json()["sessions"].as_array().map(Vec::len), Some(2));
}

#[tokio::test]
async fn a_second_server_on_the_same_port_is_told_of_the_first() {
    let server = Server::start().await;
    let elsewhere = tempfile::tempdir().expect("a folder");
    let port = server.port().to_string();
    for arguments in [&["--port", &port][..], &[&port], &["serve", "--port", &port]] {
        let ended = Server::builder().run(elsewhere.path(), arguments).await;
        check_refused(&ended, &[&server.url, "another Flightdeck server", "--port"]);
    }
    assert!(!elsewhere.path().join("data/flightdeck.db").exists(), "it made no database");
    check_works(&server).await;
}

#[tokio::test]
async fn a_port_that_another_program_has_is_named() {
    let port = free_port();
    let other = TcpListener::bind(("127.0.0.1", port)).await.expect("bound");
    tokio::spawn(async move { while other.accept().await.is_ok() {} });
    let folder = tempfile::tempdir().expect("a folder");
    let ended = Server::builder().run(folder.path(), &["--port", &port.to_string()]).await;
    check_refused(&ended, &[&format!("port {port} is already in use by another program"), "--port"]);
}

#[tokio::test]
async fn files_that_are_not_ours_are_tolerated_and_left_alone() {
    let folder = tempfile::tempdir().expect("a folder");
    let data = folder.path().join("data");
    let long_ago = SystemTime::now() - Duration::from_hours(1000);
    let hash = "0123456789abcdef".repeat(4);
    let old_blob = format!("blobs/01/{hash}");
    let names =
        ["notes.txt", "flightdeck.db.bak", "photos/cat.jpg", "blobs/README", "blobs/01/cat.jpg", "blobs/cats/cat.jpg"];
    for name in names.into_iter().chain([old_blob.as_str()]) {
        let path = data.join(name);
        fs::create_dir_all(path.parent().expect("a folder")).expect("made");
        fs::write(&path, name).expect("written");
        fs::File::options().append(true).open(&path).expect("there").set_modified(long_ago).expect("set");
    }
    let server = Server::builder().start_in(folder).await;
    let session = server.session().await;
    session.ask("tool 400000").await;
    assert_eq!(session.http.send(Method::DELETE, &session.path(""), "").await.status, 204);
    assert!(!data.join(&old_blob).exists(), "a blob of ours that no session uses is removed");
    for name in names {
        assert_eq!(fs::read_to_string(data.join(name)).expect("still there"), name);
    }
    let server = server.restart().await;
    check_works(&server).await;
    for name in names {
        assert_eq!(fs::read_to_string(data.join(name)).expect("still there"), name);
    }
}

#[tokio::test]
async fn a_data_folder_that_cannot_be_made_is_named() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("file");
    fs::write(&file, "kept").expect("written");
    for path in [file.clone(), file.join("below"), file.join("far/below")] {
        let ended = Server::builder().data_folder(&path).run(folder.path(), &["--port", "0"]).await;
        check_refused(&ended, &[path.to_str().expect("UTF-8"), "--data-dir", "you may write to"]);
    }
    assert_eq!(fs::read_to_string(&file).expect("readable"), "kept");
}

/// The builder, for a user to whom the modes of files apply. Root is not one.
fn as_ordinary_user(folder: &Path) -> ServerBuilder {
    let id = std::process::Command::new("id").arg("-u").output().expect("id runs").stdout;
    if id != b"0\n" {
        return Server::builder();
    }
    fs::set_permissions(folder, fs::Permissions::from_mode(0o755)).expect("set");
    let program = folder.join("flightdeck");
    fs::copy(env!("CARGO_BIN_EXE_flightdeck"), &program).expect("copied");
    let wrapper = ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups"];
    Server::builder().program(&program).wrapped_in(&wrapper)
}

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("set");
}

#[tokio::test]
async fn a_data_folder_that_cannot_be_written_is_named() {
    let folder = tempfile::tempdir().expect("a folder");
    let data = folder.path().join("data");
    let builder = as_ordinary_user(folder.path());
    fs::create_dir(&data).expect("made");
    set_mode(&data, 0o555);
    let ended = builder.run(folder.path(), &["--port", "0"]).await;
    check_refused(&ended, &[data.to_str().expect("UTF-8"), "cannot be written", "--data-dir"]);
    assert_eq!(fs::read_dir(&data).expect("readable").count(), 0);
    set_mode(&data, 0o755);
}

#[tokio::test]
async fn a_database_that_cannot_be_written_is_refused_and_left_as_it_was() {
    let mut server = Server::start().await;
    check_works(&server).await;
    assert!(server.stop().await);
    let (data, database) = (server.data(), server.data().join("flightdeck.db"));
    let before = fs::read(&database).expect("readable");
    let builder = as_ordinary_user(server.folder());
    set_mode(&data, 0o755);
    set_mode(&data.join("flightdeck.lock"), 0o666);
    for mode in [0o444, 0o000] {
        set_mode(&database, mode);
        let ended = builder.run(server.folder(), &["--port", "0"]).await;
        check_refused(&ended, &["the database cannot be written", "check who owns the data folder"]);
        set_mode(&database, 0o600);
        assert_eq!(fs::read(&database).expect("readable"), before);
    }
    let server = server.start_again().await;
    check_works(&server).await;
}

#[tokio::test]
async fn a_second_server_is_refused_even_if_somebody_deleted_the_lock_file() {
    let server = Server::start().await;
    fs::remove_file(server.data().join("flightdeck.lock")).expect("removed");
    let ended = Server::builder().run(server.folder(), &["--port", "0"]).await;
    check_refused(&ended, &[&server.url, "--data-dir"]);
    check_works(&server).await;
}

#[tokio::test]
async fn a_server_whose_data_folder_is_deleted_refuses_prompts_and_says_so() {
    let server = Server::start().await;
    let session = server.session().await;
    session.ask("hello").await;
    // The token is read from the folder, so before it is gone.
    let http = server.http();
    let aside = server.folder().join("aside");
    fs::rename(server.data(), &aside).expect("moved");
    let health = http.get("/api/health").await.json();
    assert_eq!((&health["status"], &health["storage"]["takesWrites"]), (&json!("degraded"), &json!(false)), "{health}");
    let reason = health["storage"]["reason"].as_str().expect("a reason");
    assert!(reason.contains("deleted, moved or replaced"), "{reason}");
    let refused = session.post("/prompt", json!({ "text": "hello" })).await;
    assert_eq!(refused.error(507), "StorageFailed");
    fs::rename(&aside, server.data()).expect("moved back");
    while session.post("/prompt", json!({ "text": "hello" })).await.status != 200 {
        a_moment().await;
    }
    assert_eq!(http.get("/api/health").await.json()["status"], "ok");
}

/// Files that the server writes at its start cannot be written, as on a full disk.
#[tokio::test]
async fn a_server_that_cannot_write_its_small_files_starts_again_after_a_crash() {
    let mut server = Server::start().await;
    check_works(&server).await;
    let token = server.token();
    server.kill().await;
    for name in ["token.new", "server.json.new"] {
        fs::create_dir(server.data().join(name)).expect("made");
    }
    let server = server.start_again().await;
    assert_eq!(server.token(), token);
    check_works(&server).await;
}

//! `GET /api/folders`.

use std::fs::create_dir_all;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;
use std::path::Path;

use serde_json::{Value, json};

use crate::support::{Reply, Server};

async fn folders(server: &Server, path: &str, more: &str) -> Reply {
    let query: String = form_urlencoded::Serializer::new(String::new()).append_pair("path", path).finish();
    server.http().get(&format!("/api/folders?{query}{more}")).await
}

fn names(reply: &Reply) -> Vec<String> {
    assert_eq!(reply.status, 200, "{}", reply.text());
    let json = reply.json();
    let list = json["folders"].as_array().expect("a list");
    list.iter().map(|folder| folder["name"].as_str().expect("a name").to_owned()).collect()
}

#[tokio::test]
async fn a_folder_lists_its_folders_sorted_and_hides_hidden_ones() {
    let server = Server::start().await;
    let work = server.work().canonicalize().expect("there");
    for name in ["b", "a/.git", "C", ".hidden", "with \"<b>\n'quotes'"] {
        create_dir_all(work.join(name)).expect("made");
    }
    create_dir_all(work.join(std::ffi::OsStr::from_bytes(b"not-utf8-\xff"))).expect("made");
    std::fs::write(work.join("a-file"), "").expect("written");
    symlink(work.join("b"), work.join("d-link")).expect("linked");
    symlink("/nowhere", work.join("broken-link")).expect("linked");

    let reply = folders(&server, work.to_str().expect("UTF-8"), "").await;
    assert_eq!(names(&reply), ["a", "b", "C", "d-link", "with \"<b>\n'quotes'"]);
    let json = reply.json();
    assert_eq!((&json["path"], &json["parent"]), (&json!(work), &json!(work.parent())));
    assert_eq!(json["truncated"], false);
    assert_eq!(json["folders"][0], json!({ "name": "a", "path": work.join("a"), "repository": true }));
    assert_eq!(json["folders"][1]["repository"], false);
    assert_eq!(names(&folders(&server, work.to_str().expect("UTF-8"), "&hidden=true").await)[0], ".hidden");
    let inside = format!("{}/./a/../b/", work.display());
    assert_eq!(folders(&server, &inside, "").await.json()["parent"], json!(work), "dots lead where they lead");
}

#[tokio::test]
async fn without_a_path_it_begins_with_the_repository_root_and_the_root_has_no_parent() {
    let server = Server::start().await;
    let first = server.http().get("/api/folders").await.json();
    assert_eq!(first["path"], json!(server.folder().canonicalize().expect("there")));
    let root = folders(&server, "/", "").await.json();
    assert_eq!((&root["path"], &root["parent"]), (&json!("/"), &Value::Null));
}

#[tokio::test]
async fn folders_of_earlier_sessions_come_newest_first_and_only_while_they_are_there() {
    let server = Server::start().await;
    let work = server.work().canonicalize().expect("there");
    for name in ["one", "two", "gone", "one"] {
        create_dir_all(work.join(name)).expect("made");
        super::session_in(&server, &work.join(name)).await;
    }
    std::fs::remove_dir(work.join("gone")).expect("removed");
    let recent = server.http().get("/api/folders").await.json()["recent"].clone();
    assert_eq!(recent, json!([work.join("one"), work.join("two")]));
}

#[tokio::test]
async fn what_is_no_folder_says_why() {
    let server = Server::start().await;
    let file = server.folder().join("a-file");
    std::fs::write(&file, "").expect("written");
    for path in ["", "relative", "./x", "~", "C:relative"] {
        assert_eq!(folders(&server, path, "").await.error(400), "WorkingDirectoryNotAbsolutePath", "{path:?}");
    }
    let long = format!("/{}", "x".repeat(5_000));
    for path in ["/no/such/folder", file.to_str().expect("UTF-8"), "/\0", "/etc/\0/..", &long, "/proc/self/fd/999/x"] {
        assert_eq!(folders(&server, path, "").await.error(404), "WorkingDirectoryNotExists", "{path:?}");
    }
    for query in ["?hidden=maybe", "?path=/&path=/", "?paths=/", "?path=/&x=1"] {
        assert_eq!(server.http().get(&format!("/api/folders{query}")).await.error(400), "InvalidQuery", "{query}");
    }
    assert_eq!(server.http().post("/api/folders", "").await.error(405), "MethodNotAllowed");
}

/// A server whose only root is `roots`, and folders around it.
async fn server_with_a_root() -> Server {
    let folder = tempfile::tempdir().expect("a folder");
    let at = |name: &str| folder.path().join(name);
    for name in ["roots/inside/deep", "roots-besides", "outside/secret"] {
        create_dir_all(at(name)).expect("made");
    }
    symlink(at("outside"), at("roots/leads-out")).expect("linked");
    symlink(at("roots/inside"), at("roots/leads-in")).expect("linked");
    symlink(at("roots/inside"), at("outside/leads-in")).expect("linked");
    let config = format!("[sessions]\nroots = ['{}']", at("roots").display());
    Server::builder().config(&config).start_in(folder).await
}

#[tokio::test]
async fn with_roots_nothing_outside_of_them_is_listed_whatever_links_say() {
    let server = server_with_a_root().await;
    let at = |name: &str| server.folder().canonicalize().expect("there").join(name);
    let listed = async |path: &Path| folders(&server, path.to_str().expect("UTF-8"), "").await;
    let root = listed(&at("roots")).await;
    assert_eq!(names(&root), ["inside", "leads-in"], "a link that leads out is not offered");
    assert_eq!(root.json()["parent"], Value::Null);
    assert_eq!(listed(&at("roots/inside")).await.json()["parent"], json!(at("roots")));
    assert_eq!(listed(&at("outside/leads-in")).await.json()["path"], json!(at("roots/inside")));
    for name in [
        "outside",
        "outside/secret",
        "roots/leads-out",
        "roots/leads-out/secret",
        "roots/..",
        "roots-besides",
        "roots/inside/../../outside",
    ] {
        assert_eq!(listed(&at(name)).await.error(403), "WorkingDirectoryNotAllowed", "{name}");
    }
    assert_eq!(folders(&server, "/", "").await.error(403), "WorkingDirectoryNotAllowed");
    let first = server.http().get("/api/folders").await.json();
    assert_eq!(first["path"], json!(at("roots")), "the server's own folder is outside, so the first root");
}

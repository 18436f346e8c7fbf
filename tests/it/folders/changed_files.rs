//! `GET …/changes/file`.

use std::os::unix::fs::symlink;

use serde_json::Value;

use super::{changed_file, changes, files, git, repository, session_in};
use crate::support::{Server, TestSession};

async fn diff(session: &TestSession, path: &str) -> Value {
    let reply = changed_file(session, path).await;
    assert_eq!(reply.status, 200, "{path}: {}", reply.text());
    reply.json()
}

fn check(diff: &Value, there: &[&str]) {
    let html = diff["html"].as_str().expect("text");
    for part in there {
        assert!(html.contains(part), "{part} is missing in {html}");
    }
}

#[tokio::test]
async fn a_change_is_a_diff() {
    let server = Server::start().await;
    let folder = repository(&server, "project");
    std::fs::write(folder.join("src/main.rs"), "fn main() {\n    one();\n    zwei();\n}\n").expect("written");
    git(&folder, &["mv", "README.md", "READ ME.md"]);
    std::fs::write(folder.join("READ ME.md"), "# Read me\nmore\n").expect("written");
    std::fs::write(folder.join("new"), "a\nb<c>\n").expect("written");
    std::fs::write(folder.join("binary"), b"a\0b").expect("written");
    let session = session_in(&server, &folder).await;
    let changed = diff(&session, "src/main.rs").await;
    assert_eq!((&changed["path"], &changed["truncated"]), (&Value::from("src/main.rs"), &Value::from(false)));
    check(
        &changed,
        &[
            "<div class=\"diff\"><div class=\"diff-file\">src/main.rs</div>",
            "<tr class=\"diff-line diff-removed\"><td class=\"diff-number\">3</td><td class=\"diff-number\"></td>\
             <td class=\"diff-text\">    <span class=\"diff-word\">two</span>();</td></tr>",
        ],
    );
    check(&diff(&session, "new").await, &["<div class=\"diff-file\">new</div>", "b&lt;c&gt;", "New file"]);
    check(&diff(&session, "binary").await, &["A new binary file."]);
    check(&diff(&session, "READ ME.md").await, &["README.md → READ ME.md", "Renamed", ">more</td>"]);
    std::fs::remove_file(folder.join("src/main.rs")).expect("removed");
    check(&diff(&session, "src/main.rs").await, &["Deleted", "diff-removed"]);
}

#[tokio::test]
async fn only_listed_paths_lead_anywhere() {
    let server = Server::start().await;
    let folder = repository(&server, "project");
    std::fs::write(folder.parent().expect("one").join("outside"), "secret").expect("written");
    std::fs::create_dir(folder.join("new")).expect("made");
    std::fs::write(folder.join("new/file"), "x\n").expect("written");
    symlink("/etc/passwd", folder.join("link")).expect("linked");
    symlink(folder.parent().expect("one"), folder.join("link-to-folder")).expect("linked");
    let session = session_in(&server, &folder).await;
    let absolute = folder.join("new/file").display().to_string();
    for path in [
        "../outside",
        "new/../../outside",
        "/etc/passwd",
        absolute.as_str(),
        ".git/config",
        "README.md",
        "./new/file",
        "new//file",
        "new",
        "new/",
        "",
        ".",
        "link-to-folder/outside",
        "new/file\0",
        ":/new/file",
        ":(top)new/file",
        "*",
        "NEW/FILE",
        "-",
        "--no-index",
    ] {
        assert_eq!(changed_file(&session, path).await.error(404), "ChangeNotFound", "{path:?}");
    }
    check(&diff(&session, "link").await, &["A symbolic link to /etc/passwd."]);
    check(&diff(&session, "link-to-folder").await, &["A symbolic link to "]);
    let html = diff(&session, "link").await["html"].as_str().expect("text").to_owned();
    assert!(!html.contains("root:"), "{html}");
}

#[tokio::test]
async fn a_huge_change_is_cut_and_says_so() {
    let server = Server::start().await;
    let folder = repository(&server, "project");
    std::fs::write(folder.join("README.md"), "a line that is there many times\n".repeat(200_000)).expect("written");
    std::fs::write(folder.join("new"), "another line of that kind\n".repeat(200_000)).expect("written");
    std::fs::write(folder.join("one-line"), "x".repeat(5_000_000)).expect("written");
    let session = session_in(&server, &folder).await;
    for path in ["README.md", "new", "one-line"] {
        let diff = diff(&session, path).await;
        assert_eq!(diff["truncated"], true, "{path}");
        check(&diff, &["class=\"render-note\""]);
        assert!(diff["html"].as_str().expect("text").len() < 8_000_000, "{path}");
    }
}

#[tokio::test]
async fn a_repository_in_the_repository_is_named_and_not_entered() {
    let server = Server::start().await;
    let folder = repository(&server, "project");
    repository(&server, "project/nested");
    let session = session_in(&server, &folder).await;
    let list = changes(&session).await;
    assert_eq!(files(&list), [("nested/".to_owned(), "untracked".to_owned())]);
    check(&diff(&session, "nested/").await, &["A nested repository"]);
}

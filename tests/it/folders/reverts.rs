//! `POST …/changes/revert` and `POST …/changes/undo`.

use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::{begin_turn, changes, changes_in, end_turn, files, get_with, git, repository, session_in};
use crate::support::{Reply, Server, TestSession};

/// Reverts a file, or a hunk of it, as it is now.
async fn revert(session: &TestSession, path: &str, hunk: Option<usize>) -> Reply {
    let file = get_with(session, "file", &[("path", path)]).await.json();
    revert_as(session, path, hunk, &file["state"]).await
}

async fn revert_as(session: &TestSession, path: &str, hunk: Option<usize>, state: &Value) -> Reply {
    let mut body = json!({ "path": path, "state": state });
    if let Some(hunk) = hunk {
        body["hunk"] = json!(hunk);
    }
    session.post("/changes/revert", body).await
}

async fn undo(session: &TestSession, revert: &Value) -> Reply {
    session.post("/changes/undo", json!({ "revert": revert })).await
}

fn text(path: PathBuf) -> Option<String> {
    std::fs::read_to_string(path).ok()
}

fn mode(path: &Path) -> u32 {
    std::fs::metadata(path).expect("there").permissions().mode() & 0o777
}

#[tokio::test]
async fn every_kind_of_change_is_reverted_and_the_revert_undone() {
    let server = Server::start().await;
    let folder = repository(&server, "project");
    for name in ["deleted", "renamed", "mode", "to-link", "in/a/folder"] {
        std::fs::create_dir_all(folder.join(name).parent().expect("one")).expect("made");
        std::fs::write(folder.join(name), format!("{name}\nwith\nsome\nlines\n")).expect("written");
    }
    std::fs::write(folder.join("picture"), b"\x89PNG\0one").expect("written");
    symlink("renamed", folder.join("link")).expect("linked");
    git(&folder, &["add", "."]);
    git(&folder, &["commit", "--quiet", "--message", "more"]);
    let session = session_in(&server, &folder).await;
    std::fs::remove_file(folder.join("deleted")).expect("removed");
    std::fs::remove_dir_all(folder.join("in")).expect("removed");
    git(&folder, &["mv", "renamed", "other name"]);
    std::fs::set_permissions(folder.join("mode"), std::fs::Permissions::from_mode(0o750)).expect("set");
    std::fs::write(folder.join("picture"), b"\x89PNG\0two").expect("written");
    std::fs::remove_file(folder.join("link")).expect("removed");
    symlink("/etc/passwd", folder.join("link")).expect("linked");
    std::fs::remove_file(folder.join("to-link")).expect("removed");
    symlink("mode", folder.join("to-link")).expect("linked");
    std::fs::create_dir(folder.join("below")).expect("made");
    std::fs::write(folder.join("below/untracked"), "new\n").expect("written");
    std::fs::write(folder.join("staged"), "staged\n").expect("written");
    git(&folder, &["add", "staged"]);
    let index = std::fs::read(folder.join(".git/index")).expect("read");
    let before = changes(&session).await;
    assert_eq!(files(&before).len(), 9, "{before}");

    let mut numbers = Vec::new();
    for (path, _) in files(&before) {
        let reply = revert(&session, &path, None).await;
        assert_eq!(reply.status, 200, "{path}: {}", reply.text());
        numbers.push(reply.json()["revert"].clone());
    }
    assert_eq!(files(&changes(&session).await), [], "everything is as it was");
    assert_eq!(std::fs::read(folder.join(".git/index")).expect("read"), index, "the index is not ours");
    assert_eq!(text(folder.join("in/a/folder")).as_deref(), Some("in/a/folder\nwith\nsome\nlines\n"));
    assert_eq!(mode(&folder.join("mode")), 0o640, "only what git knows of the mode");
    assert_eq!(folder.join("link").read_link().expect("a link"), Path::new("renamed"));
    assert!(!folder.join("below").exists() && !folder.join("staged").exists() && !folder.join("other name").exists());
    assert_eq!(text(folder.join("renamed")).as_deref(), Some("renamed\nwith\nsome\nlines\n"));

    let kept = changes(&session).await["reverted"].clone();
    assert_eq!(kept.as_array().map(Vec::len), Some(9), "{kept}");
    let server = server.restart().await;
    let session = session.seen_by(server.http());
    assert_eq!(changes(&session).await["reverted"], kept, "after a restart too");
    for number in numbers.iter().rev() {
        let reply = undo(&session, number).await;
        assert_eq!(reply.status, 200, "{number}: {}", reply.text());
    }
    let after = changes(&session).await;
    assert_eq!((&after["files"], &after["reverted"]), (&before["files"], &json!([])));
    assert_eq!(mode(&folder.join("mode")), 0o750);
    assert_eq!(undo(&session, &numbers[0]).await.error(404), "RevertNotFound");
}

#[tokio::test]
async fn one_hunk_is_reverted_and_line_endings_stay() {
    let server = Server::start().await;
    let folder = repository(&server, "project");
    git(&folder, &["config", "core.autocrlf", "true"]);
    let lines: Vec<String> = (1..=40).map(|number| format!("line {number}\r\n")).collect();
    std::fs::write(folder.join("long"), lines.concat()).expect("written");
    git(&folder, &["add", "long"]);
    git(&folder, &["commit", "--quiet", "--message", "long"]);
    let mut changed = lines.clone();
    changed[1] = "second\r\n".to_owned();
    changed.remove(20);
    changed.push("end without a newline".to_owned());
    std::fs::write(folder.join("long"), changed.concat()).expect("written");
    let session = session_in(&server, &folder).await;
    let file = get_with(&session, "file", &[("path", "long")]).await.json();
    assert_eq!((&file["hunks"], file["html"].as_str().expect("text").matches("diff-hunk").count()), (&json!(true), 3));
    let reply = revert(&session, "long", Some(1)).await;
    assert_eq!(reply.status, 200, "{}", reply.text());
    assert_eq!(reply.json()["hunk"], 1);
    let mut expected = changed.clone();
    expected.insert(20, lines[20].clone());
    assert_eq!(text(folder.join("long")), Some(expected.concat()));
    assert_eq!(revert_as(&session, "long", Some(0), &file["state"]).await.error(409), "FileChanged");
    revert(&session, "long", Some(1)).await;
    expected.pop();
    assert_eq!(text(folder.join("long")), Some(expected.concat()), "the end of the file");
    revert(&session, "long", None).await;
    assert_eq!(text(folder.join("long")), Some(lines.concat()), "with its own line endings");
    std::fs::write(folder.join("new"), "new\n").expect("written");
    assert_eq!(revert(&session, "new", Some(0)).await.error(409), "NotRevertible");
    std::fs::write(folder.join("long"), "short\r\n").expect("written");
    assert_eq!(revert(&session, "long", Some(7)).await.error(409), "NotRevertible");
}

#[tokio::test]
async fn a_file_keeps_its_line_endings_where_git_would_write_others() {
    let server = Server::start().await;
    let folder = repository(&server, "project");
    let lines: Vec<String> = (1..=40).map(|number| format!("line {number}\n")).collect();
    let path = folder.join("long");
    std::fs::write(&path, lines.concat()).expect("written");
    git(&folder, &["add", "long"]);
    git(&folder, &["commit", "--quiet", "--message", "long"]);
    git(&folder, &["config", "core.autocrlf", "true"]);
    let mut changed = lines.clone();
    changed[1] = "second\n".to_owned();
    changed[30] = "another\n".to_owned();
    std::fs::write(&path, changed.concat()).expect("written");
    let session = session_in(&server, &folder).await;
    assert_eq!(revert(&session, "long", Some(1)).await.status, 200);
    changed[30].clone_from(&lines[30]);
    assert_eq!(text(path.clone()), Some(changed.concat()), "one hunk");
    assert_eq!(revert(&session, "long", None).await.status, 200);
    assert_eq!(text(path.clone()), Some(lines.concat()), "the file");
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).expect("set");
    assert_eq!(revert(&session, "long", None).await.status, 200);
    assert_eq!(text(path.clone()), Some(lines.concat()), "a mode");
    std::fs::rename(&path, folder.join("other")).expect("renamed");
    assert_eq!(revert(&session, "other", None).await.status, 200);
    assert_eq!(text(path.clone()), Some(lines.concat()), "a name");
    std::fs::remove_file(&path).expect("removed");
    assert_eq!(revert(&session, "long", None).await.status, 200);
    assert_eq!(
        text(path),
        Some(lines.concat().replace('\n', "\r\n")),
        "as git writes it where there is nothing to follow"
    );
}

#[tokio::test]
async fn what_changed_since_it_was_shown_is_neither_reverted_nor_undone() {
    let server = Server::start().await;
    let folder = repository(&server, "project");
    let readme = folder.join("README.md");
    std::fs::write(&readme, "# First\n").expect("written");
    let session = session_in(&server, &folder).await;
    let state = get_with(&session, "file", &[("path", "README.md")]).await.json()["state"].clone();
    std::fs::write(&readme, "# Second\n").expect("written");
    assert_eq!(revert_as(&session, "README.md", None, &state).await.error(409), "FileChanged");
    assert_eq!(revert_as(&session, "no-such", None, &state).await.error(409), "FileChanged");
    assert_eq!(text(readme.clone()).as_deref(), Some("# Second\n"));
    let number = revert(&session, "README.md", None).await.json()["revert"].clone();
    assert_eq!(text(readme.clone()).as_deref(), Some("# Read me\n"));
    std::fs::write(&readme, "# Third\n").expect("written");
    assert_eq!(undo(&session, &number).await.error(409), "FileChanged");
    assert_eq!(text(readme.clone()).as_deref(), Some("# Third\n"));
    std::fs::write(&readme, "# Read me\n").expect("written");
    assert_eq!(undo(&session, &number).await.status, 200);
    assert_eq!(text(readme).as_deref(), Some("# Second\n"));
}

#[tokio::test]
async fn a_turn_is_reverted_only_while_nothing_came_after_it() {
    let server = Server::start().await;
    let folder = repository(&server, "project");
    std::fs::write(folder.join("README.md"), "# Mine\n").expect("written");
    let session = session_in(&server, &folder).await;
    let request = begin_turn(&session).await;
    std::fs::write(folder.join("README.md"), "# The turn's\n").expect("written");
    std::fs::write(folder.join("other"), "one\n").expect("written");
    end_turn(&session, &request).await;
    let scope = [("scope", "turn"), ("turn", "turn-1")];
    let state = async |path: &str| {
        let parameters = [&scope[..], &[("path", path)]].concat();
        get_with(&session, "file", &parameters).await.json()["state"].clone()
    };
    let body =
        async |path: &str| json!({ "scope": "turn", "turn": "turn-1", "path": path, "state": state(path).await });
    assert_eq!(session.post("/changes/revert", body("README.md").await).await.status, 200);
    assert_eq!(text(folder.join("README.md")).as_deref(), Some("# Mine\n"), "as it was when the turn began");
    std::fs::write(folder.join("other"), "one\nlater\n").expect("written");
    assert_eq!(session.post("/changes/revert", body("other").await).await.error(409), "FileChanged");
    assert_eq!(text(folder.join("other")).as_deref(), Some("one\nlater\n"));
    assert_eq!(files(&changes_in(&session, "scope=session").await), [("other".to_owned(), "added".to_owned())]);
}

#[tokio::test]
async fn what_cannot_be_reverted_is_refused_with_a_reason() {
    let server = Server::start().await;
    let folder = repository(&server, "project");
    git(&folder, &["config", "filter.stored.clean", "cat"]);
    std::fs::write(folder.join(".gitattributes"), "*.md filter=stored\n").expect("written");
    std::fs::write(folder.join("README.md"), "# Changed\n").expect("written");
    repository(&server, "project/nested");
    std::fs::File::create(folder.join("huge")).and_then(|file| file.set_len(20 * 1024 * 1024)).expect("made");
    let session = session_in(&server, &folder).await;
    for (path, why) in
        [("nested/", "another repository"), ("huge", "too large"), ("README.md", "the filter \"stored\"")]
    {
        let file = get_with(&session, "file", &[("path", path)]).await.json();
        assert!(file["notRevertible"].as_str().is_some_and(|reason| reason.contains(why)), "{file}");
        assert!(file.get("state").is_none() && file["hunks"] == json!(false), "{file}");
        let state = &changes(&session).await["files"]
            .as_array()
            .expect("a list")
            .iter()
            .find(|file| file["path"] == path)
            .expect("listed")["state"]
            .clone();
        assert_eq!(revert_as(&session, path, None, state).await.error(409), "NotRevertible", "{path}");
    }
    assert_eq!(text(folder.join("README.md")).as_deref(), Some("# Changed\n"));
    let empty = session.post("/changes/revert", json!({ "path": "README.md" })).await;
    assert_eq!(empty.error(400), "InvalidJson");
}

#[tokio::test]
async fn a_revert_needs_the_scope_approve() {
    let server = Server::start().await;
    let folder = repository(&server, "project");
    std::fs::write(folder.join("README.md"), "# Changed\n").expect("written");
    let session = session_in(&server, &folder).await;
    let token = async |scopes: Value| {
        let body = json!({ "name": "test", "scopes": scopes });
        let reply = server.http().post_json("/api/tokens", &body).await.json();
        let secret = reply["secret"].as_str().expect("a token").to_owned();
        session.seen_by(server.stranger().header("authorization", &format!("Bearer {secret}")))
    };
    let prompting = token(json!(["view", "prompt"])).await;
    assert_eq!(revert(&prompting, "README.md", None).await.status, 403);
    assert_eq!(undo(&prompting, &json!(1)).await.status, 403);
    assert_eq!(text(folder.join("README.md")).as_deref(), Some("# Changed\n"));
    let approving = token(json!(["view", "approve"])).await;
    assert_eq!(revert(&approving, "README.md", None).await.status, 200);
}

#[tokio::test]
async fn a_link_in_the_way_leads_nowhere() {
    let server = Server::start().await;
    let folder = repository(&server, "project");
    let outside = folder.parent().expect("one").join("outside");
    std::fs::create_dir(&outside).expect("made");
    std::fs::remove_dir_all(folder.join("src")).expect("removed");
    symlink(&outside, folder.join("src")).expect("linked");
    let session = session_in(&server, &folder).await;
    let expected = [("src", "untracked"), ("src/main.rs", "deleted")];
    assert_eq!(files(&changes(&session).await), expected.map(|(path, status)| (path.to_owned(), status.to_owned())));
    assert_eq!(revert(&session, "src/main.rs", None).await.error(409), "NotRevertible");
    assert_eq!(std::fs::read_dir(&outside).expect("there").count(), 0);
    assert_eq!(revert(&session, "src", None).await.status, 200, "the link itself can go");
    assert_eq!(revert(&session, "src/main.rs", None).await.status, 200);
    assert!(folder.join("src/main.rs").exists() && outside.exists());
}

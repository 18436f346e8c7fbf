//! `GET …/changes` for a session and for a turn.

use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

use serde_json::{Value, json};

use super::{begin_turn, changes, changes_in, end_turn, files, get_with, git, repository, session_in};
use crate::support::{Server, TestSession, a_moment};

fn write(folder: &Path, name: &str, text: &str) {
    std::fs::write(folder.join(name), text).expect("written");
}

fn pairs(expected: &[(&str, &str)]) -> Vec<(String, String)> {
    expected.iter().map(|(path, status)| ((*path).to_owned(), (*status).to_owned())).collect()
}

async fn html(session: &TestSession, scope: &[(&str, &str)], path: &str) -> String {
    let reply = get_with(session, "file", &[scope, &[("path", path)]].concat()).await;
    assert_eq!(reply.status, 200, "{path}: {}", reply.text());
    reply.json()["html"].as_str().expect("text").to_owned()
}

#[tokio::test]
async fn each_turn_has_its_own_changes_and_the_session_all_of_them() {
    let server = Server::start().await;
    let folder = repository(&server, "project");
    write(&folder, "mine", "before the session\n");
    let session = session_in(&server, &folder).await;
    let nothing = changes_in(&session, "scope=session").await;
    assert_eq!((&nothing["files"], &nothing["turns"]), (&json!([]), &json!([])));
    assert!(nothing["message"].as_str().is_some_and(|message| message.contains("No turn")), "{nothing}");

    let request = begin_turn(&session).await;
    write(&folder, "README.md", "# Read me\nby the first turn\n");
    let running = changes_in(&session, "scope=turn&turn=turn-1").await;
    assert_eq!(files(&running), pairs(&[("README.md", "modified")]), "while it runs, until now");
    assert!(running["until"].is_null() && running["since"].is_string(), "{running}");
    end_turn(&session, &request).await;
    write(&folder, "mine", "between the turns\n");
    let request = begin_turn(&session).await;
    write(&folder, "README.md", "# Read me\nby the second turn\n");
    write(&folder, "new", "new\n");
    end_turn(&session, &request).await;
    // After the turns; also a commit changes nothing about what they did.
    git(&folder, &["add", "."]);
    git(&folder, &["commit", "--quiet", "--message", "second"]);
    write(&folder, "src/main.rs", "fn main() {}\n");

    let first = changes_in(&session, "scope=turn&turn=turn-1").await;
    assert_eq!(files(&first), pairs(&[("README.md", "modified")]));
    assert!(html(&session, &[("scope", "turn"), ("turn", "turn-1")], "README.md").await.contains("by the first turn"));
    let second = changes_in(&session, "scope=turn&turn=turn-2").await;
    assert_eq!(files(&second), pairs(&[("README.md", "modified"), ("new", "added")]));
    let whole = html(&session, &[("scope", "turn"), ("turn", "turn-2")], "README.md").await;
    assert!(whole.contains("first") && whole.contains("second") && !whole.contains("main"), "{whole}");
    let all = changes_in(&session, "scope=session").await;
    let expected = [("README.md", "modified"), ("mine", "modified"), ("new", "added"), ("src/main.rs", "modified")];
    assert_eq!(files(&all), pairs(&expected));
    assert_eq!(files(&changes(&session).await), pairs(&[("src/main.rs", "modified")]));
    let turns: Vec<(&Value, &Value)> =
        all["turns"].as_array().expect("a list").iter().map(|turn| (&turn["turn"], &turn["prompt"])).collect();
    assert_eq!(turns, [(&json!("turn-1"), &json!("permission")), (&json!("turn-2"), &json!("permission"))]);

    for (query, status, error) in [
        ("scope=turn&turn=turn-9", 404, "TurnNotFound"),
        ("scope=turn", 400, "InvalidScope"),
        ("turn=turn-1", 400, "InvalidScope"),
        ("scope=day", 400, "InvalidQuery"),
    ] {
        assert_eq!(session.get(&format!("/changes?{query}")).await.error(status), error, "{query}");
    }
}

#[tokio::test]
async fn every_kind_of_file_is_right_in_a_turn() {
    let server = Server::start().await;
    let folder = repository(&server, "project");
    for name in ["deleted", "renamed", "mode", "to-link"] {
        write(&folder, name, &format!("{name}\nwith\nsome\nlines\n"));
    }
    std::fs::write(folder.join("picture"), b"\x89PNG\0one").expect("written");
    symlink("renamed", folder.join("link")).expect("linked");
    write(&folder, ".gitignore", "ignored\n");
    git(&folder, &["add", "."]);
    git(&folder, &["commit", "--quiet", "--message", "more"]);
    write(&folder, "untracked", "one\n");
    let huge = std::fs::File::create(folder.join("huge")).expect("made");
    huge.set_len(20 * 1024 * 1024).expect("grown");
    let session = session_in(&server, &folder).await;
    let request = begin_turn(&session).await;

    std::fs::remove_file(folder.join("deleted")).expect("removed");
    std::fs::rename(folder.join("renamed"), folder.join("other name")).expect("renamed");
    std::fs::set_permissions(folder.join("mode"), std::fs::Permissions::from_mode(0o755)).expect("set");
    std::fs::write(folder.join("picture"), b"\x89PNG\0two").expect("written");
    std::fs::remove_file(folder.join("link")).expect("removed");
    symlink("/etc/passwd", folder.join("link")).expect("linked");
    std::fs::remove_file(folder.join("to-link")).expect("removed");
    symlink("mode", folder.join("to-link")).expect("linked");
    write(&folder, "untracked", "two\n");
    write(&folder, "ignored", "ignored\n");
    std::fs::write(folder.join(std::ffi::OsStr::from_bytes(b"odd-\xff")), "odd\n").expect("written");
    std::fs::write(folder.join("latin"), b"gr\xfc\xdfe\n").expect("written");
    huge.set_len(21 * 1024 * 1024).expect("grown");
    std::fs::remove_dir_all(folder.join("src")).expect("removed");
    write(&folder, "src", "a file in place of a folder\n");
    repository(&server, "project/nested");
    end_turn(&session, &request).await;
    write(&folder, "later", "after the turn\n");

    let list = changes_in(&session, "scope=turn&turn=turn-1").await;
    let expected = [
        ("deleted", "deleted"),
        ("huge", "modified"),
        ("latin", "added"),
        ("link", "modified"),
        ("mode", "modified"),
        ("nested", "added"),
        ("odd-\u{fffd}", "added"),
        ("other name", "renamed"),
        ("picture", "modified"),
        ("src", "added"),
        ("src/main.rs", "deleted"),
        ("to-link", "modified"),
        ("untracked", "modified"),
    ];
    assert_eq!(files(&list), pairs(&expected), "{list}");
    for (path, text) in [
        ("deleted", "Deleted"),
        ("huge", "Too large to compare"),
        ("link", "/etc/passwd"),
        ("mode", "Mode changed"),
        ("nested", "Subproject commit"),
        ("odd-\u{fffd}", "odd"),
        ("other name", "renamed → other name"),
        ("picture", "Binary file"),
        ("src", "a file in place"),
        ("untracked", "two"),
    ] {
        let html = html(&session, &[("scope", "turn"), ("turn", "turn-1")], path).await;
        assert!(html.contains(text) && !html.contains("root:"), "{path}: {html}");
    }
    let instead = html(&session, &[("scope", "turn"), ("turn", "turn-1")], "src").await;
    assert!(!instead.contains("fn main"), "only the file that took the folder's place: {instead}");
}

#[tokio::test]
async fn nothing_is_written_in_the_repository() {
    let server = Server::start().await;
    let folder = repository(&server, "project");
    write(&folder, "new", "new\n");
    let session = session_in(&server, &folder).await;
    let everything = || {
        let mut found = Vec::new();
        let mut folders = vec![folder.join(".git")];
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(folder).expect("readable").flatten() {
                if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                    folders.push(entry.path());
                } else {
                    found.push((entry.path(), std::fs::read(entry.path()).expect("read")));
                }
            }
        }
        found.sort();
        found
    };
    let before = everything();
    let request = begin_turn(&session).await;
    write(&folder, "README.md", "changed\n");
    end_turn(&session, &request).await;
    assert_eq!(files(&changes_in(&session, "scope=turn&turn=turn-1").await).len(), 1);
    assert_eq!(get_with(&session, "patch", &[]).await.status, 200);
    assert_eq!(everything(), before);
}

#[tokio::test]
async fn without_a_repository_a_turn_says_why_it_has_no_changes() {
    let server = Server::start().await;
    let folder = server.work().canonicalize().expect("there");
    let session = session_in(&server, &folder).await;
    let request = begin_turn(&session).await;
    end_turn(&session, &request).await;
    for scope in ["scope=session", "scope=turn&turn=turn-1"] {
        let list = changes_in(&session, scope).await;
        assert!(list["repository"].is_null(), "{list}");
        assert!(list["message"].as_str().is_some_and(|text| text.contains("not in a git repository")), "{list}");
    }
    let skipped = &changes_in(&session, "scope=session").await["turns"][0]["skipped"];
    assert!(skipped.as_str().is_some_and(|reason| reason.contains("git repository")), "{skipped}");
}

#[tokio::test]
async fn too_many_changes_are_a_reason_to_take_no_snapshot() {
    let server = Server::start().await;
    let folder = repository(&server, "project");
    std::fs::create_dir(folder.join("many")).expect("made");
    for number in 0..10_001 {
        std::fs::write(folder.join(format!("many/{number}")), "").expect("written");
    }
    let session = session_in(&server, &folder).await;
    let request = begin_turn(&session).await;
    end_turn(&session, &request).await;
    let list = changes_in(&session, "scope=session").await;
    assert!(list["message"].as_str().is_some_and(|text| text.contains("more than 10000 files")), "{list}");
    let commit = changes(&session).await;
    assert_eq!((commit["files"].as_array().map(Vec::len), &commit["truncated"]), (Some(2_000), &json!(true)));
    assert!(commit["message"].is_string() && commit["view"].is_null(), "it is listed without a snapshot");
    let file = get_with(&session, "file", &[("path", "many/1")]).await.json();
    assert!(file["notRevertible"].is_string() && file.get("state").is_none(), "{file}");
    assert_eq!(get_with(&session, "patch", &[]).await.error(409), "TooManyChanges");
}

#[tokio::test]
async fn snapshots_survive_a_restart_and_a_kill_ends_the_turn() {
    let server = Server::start().await;
    let folder = repository(&server, "project");
    let session = session_in(&server, &folder).await;
    let request = begin_turn(&session).await;
    write(&folder, "README.md", "by the first turn\n");
    end_turn(&session, &request).await;
    let server = server.restart().await;
    let session = session.seen_by(server.http());
    assert_eq!(files(&changes_in(&session, "scope=turn&turn=turn-1").await), pairs(&[("README.md", "modified")]));
    let request = session.prompt_and_get_request("permission").await;
    changes_in(&session, "scope=session").await;
    write(&folder, "new", "by the second turn\n");
    let server = server.kill_and_restart().await;
    let session = session.seen_by(server.http());
    session.post("/interrupt", json!({})).await;
    drop(request);
    let list = changes_in(&session, "scope=turn&turn=turn-2").await;
    assert_eq!(files(&list), pairs(&[("new", "added")]), "{list}");
}

#[tokio::test]
async fn everything_is_deleted_with_the_session() {
    let server = Server::start().await;
    let folder = repository(&server, "project");
    let session = session_in(&server, &folder).await;
    let request = begin_turn(&session).await;
    end_turn(&session, &request).await;
    let kept = server.data().join("changes").join(&session.id);
    assert!(kept.join("turns.json").exists() && kept.join("snapshots/objects").is_dir());
    assert_eq!(server.http().delete(&session.path("")).await.status, 204);
    while kept.exists() {
        a_moment().await;
    }
    // What is left of a session that was deleted while nobody looked goes at the next start.
    std::fs::create_dir_all(server.data().join("changes/session-99/snapshots")).expect("made");
    let server = server.restart().await;
    while server.data().join("changes/session-99").exists() {
        a_moment().await;
    }
}

#[tokio::test]
async fn another_session_in_the_folder_is_named() {
    let server = Server::start().await;
    let folder = repository(&server, "project");
    let (session, other) = (session_in(&server, &folder).await, session_in(&server, &folder).await);
    let elsewhere = session_in(&server, &repository(&server, "elsewhere")).await;
    let request = begin_turn(&session).await;
    other.ask("hello").await;
    elsewhere.ask("hello").await;
    end_turn(&session, &request).await;
    let later = session_in(&server, &folder).await;
    later.ask("hello").await;
    let list = changes_in(&session, "scope=turn&turn=turn-1").await;
    let names: Vec<&Value> =
        list["sharedWith"].as_array().expect("a list").iter().map(|one| &one["sessionId"]).collect();
    assert_eq!(names, [&json!(other.id)]);
    assert_eq!(changes(&session).await["sharedWith"], json!([]));
}

/// Bytes that cannot be compressed.
fn noise(length: usize, seed: u32) -> Vec<u8> {
    let states =
        std::iter::successors(Some(seed), |state| Some(state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223)));
    states.map(|state| state.to_be_bytes()[0]).take(length).collect()
}

#[tokio::test]
async fn the_snapshots_of_all_sessions_have_a_limit_and_can_be_turned_off() {
    let server = Server::builder().config("[limits]\nsnapshot_bytes = 300000\n").start().await;
    let mut sessions = Vec::new();
    for (name, seed) in [("one", 1), ("two", 2)] {
        let folder = repository(&server, name);
        let session = session_in(&server, &folder).await;
        let request = begin_turn(&session).await;
        std::fs::write(folder.join("noise"), noise(200_000, seed)).expect("written");
        end_turn(&session, &request).await;
        let turn = changes_in(&session, "scope=turn&turn=turn-1").await;
        assert_eq!(files(&turn), pairs(&[("noise", "added")]), "{name}: {turn}");
        sessions.push((session, folder));
    }
    let gone = changes_in(&sessions[0].0, "scope=turn&turn=turn-1").await;
    let message = gone["message"].as_str().expect("a reason");
    assert!(message.contains("deleted to make room (`limits.snapshot_bytes`)"), "{gone}");
    let kept = changes_in(&sessions[1].0, "scope=turn&turn=turn-1").await;
    assert_eq!(files(&kept), pairs(&[("noise", "added")]), "the newest stays: {kept}");

    let off = server.http().patch_json("/api/settings", &json!({ "changes": { "limits.snapshot_bytes": 0 } })).await;
    assert_eq!(off.status, 200, "{}", off.text());
    let (session, folder) = &sessions[1];
    let request = begin_turn(session).await;
    write(folder, "later", "later\n");
    end_turn(session, &request).await;
    let later = changes_in(session, "scope=turn&turn=turn-2").await;
    assert!(later["message"].as_str().is_some_and(|message| message.contains("turned off")), "{later}");
}

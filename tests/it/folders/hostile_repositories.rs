//! Repositories that want programs run: a look at what changed runs none of them.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::json;

use super::{begin_turn, changed_file, changes, changes_in, end_turn, files, get_with, git, repository, session_in};
use crate::support::Server;

/// A script that leaves a mark and fails.
fn trap(folder: &Path, name: &str) -> PathBuf {
    let script = folder.join(format!("{name}.sh"));
    let mark = folder.join(format!("{name}-ran"));
    std::fs::write(&script, format!("#!/bin/sh\n: > '{}'\nexit 1\n", mark.display())).expect("written");
    std::fs::set_permissions(&script, std::fs::Permissions::from_mode(0o755)).expect("set");
    script
}

fn marks(folder: &Path) -> Vec<String> {
    let mut marks: Vec<String> = std::fs::read_dir(folder)
        .expect("readable")
        .map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned())
        .filter(|name| name.ends_with("-ran"))
        .collect();
    marks.sort();
    marks
}

/// git as anybody would call it, which is what the traps wait for.
fn careless(folder: &Path, arguments: &[&str]) {
    let mut command = Command::new("git");
    command.args(arguments).current_dir(folder).env("HOME", "/nonexistent").env("GIT_CONFIG_NOSYSTEM", "1");
    let _ = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status().expect("git runs");
}

#[tokio::test]
async fn no_program_that_a_repository_names_is_run() {
    let server = Server::start().await;
    let traps = server.folder().join("traps");
    std::fs::create_dir(&traps).expect("made");
    let folder = repository(&server, "project");
    let path = |name: &str| trap(&traps, name).display().to_string();

    let hooks = traps.join("hooks");
    std::fs::create_dir(&hooks).expect("made");
    std::fs::rename(path("post-index-change"), hooks.join("post-index-change")).expect("moved");
    std::fs::write(folder.join(".gitattributes"), "*.rs filter=clean diff=driver\n*.md filter=process diff=text\n")
        .expect("written");
    git(&folder, &["add", "."]);
    git(&folder, &["commit", "--quiet", "--message", "attributes"]);
    for (key, value) in [
        ("core.fsmonitor", path("fsmonitor")),
        ("core.hooksPath", hooks.display().to_string()),
        ("core.pager", path("pager")),
        ("core.sshCommand", path("ssh")),
        ("core.askPass", path("askpass")),
        ("diff.external", path("external")),
        ("diff.driver.command", path("driver")),
        ("diff.text.textconv", path("textconv")),
        ("filter.clean.clean", path("clean")),
        ("filter.clean.smudge", path("smudge")),
        ("filter.clean.required", "true".to_owned()),
        ("filter.process.process", path("process")),
        ("filter.process.required", "true".to_owned()),
        ("credential.helper", path("credential")),
        ("interactive.diffFilter", path("diff-filter")),
        ("color.ui", "always".to_owned()),
        ("diff.noprefix", "true".to_owned()),
        ("diff.mnemonicPrefix", "true".to_owned()),
        ("status.showUntrackedFiles", "no".to_owned()),
        ("diff.wsErrorHighlight", "all".to_owned()),
        ("diff.relative", "true".to_owned()),
    ] {
        git(&folder, &["config", key, &value]);
    }
    std::fs::write(folder.join("src/main.rs"), "fn main() {\n    changed();\n}\n").expect("written");
    std::fs::write(folder.join("README.md"), "# Changed\n").expect("written");
    std::fs::write(folder.join("new"), "new\n").expect("written");

    let session = session_in(&server, &folder).await;
    let list = changes(&session).await;
    let expected = [("README.md", "modified"), ("new", "untracked"), ("src/main.rs", "modified")];
    assert_eq!(files(&list), expected.map(|(path, status)| (path.to_owned(), status.to_owned())));
    for path in ["src/main.rs", "README.md", "new"] {
        let html = changed_file(&session, path).await.json()["html"].as_str().expect("text").to_owned();
        assert!(html.contains("diff-added") && html.contains(&format!(">{path}</div>")), "{html}");
        assert!(!html.contains("U+001B"), "no colours: {html}");
    }
    assert_eq!(marks(&traps), Vec::<String>::new(), "nothing ran");

    // Nor do snapshots, patches and reverts run anything.
    let request = begin_turn(&session).await;
    std::fs::write(folder.join("src/main.rs"), "fn main() {\n    changed_again();\n}\n").expect("written");
    std::fs::write(folder.join("new"), "newer\n").expect("written");
    std::fs::write(folder.join("latin"), b"gr\xfc\xdfe\n").expect("written");
    end_turn(&session, &request).await;
    let turn = changes_in(&session, "scope=turn&turn=turn-1").await;
    let expected = [("latin", "added"), ("new", "modified"), ("src/main.rs", "modified")];
    assert_eq!(files(&turn), expected.map(|(path, status)| (path.to_owned(), status.to_owned())));
    let reply = get_with(&session, "patch", &[]).await;
    assert!(reply.json()["patch"].as_str().is_some_and(|text| text.contains("changed_again")), "{}", reply.text());
    // The list has the state also of a file that cannot be reverted.
    let listed = changes(&session).await["files"].as_array().expect("a list").clone();
    for (path, status) in [("new", 200), ("latin", 200), ("src/main.rs", 409)] {
        let state = &listed.iter().find(|file| file["path"] == path).expect(path)["state"];
        let reply = session.post("/changes/revert", json!({ "path": path, "state": state })).await;
        assert_eq!(reply.status, status, "{path}: {}", reply.text());
    }
    for revert in [1, 2] {
        assert_eq!(session.post("/changes/undo", json!({ "revert": revert })).await.status, 200);
    }
    assert_eq!(marks(&traps), Vec::<String>::new(), "nothing ran");

    // The traps work: git by itself falls into them, into one after the other.
    careless(&folder, &["status"]);
    for section in ["filter.process", "filter.clean"] {
        careless(&folder, &["diff", "--no-ext-diff"]);
        git(&folder, &["config", "--remove-section", section]);
    }
    careless(&folder, &["diff"]);
    git(&folder, &["config", "--unset", "diff.external"]);
    careless(&folder, &["diff", "--", "src/main.rs"]);
    careless(&folder, &["diff", "--", "README.md"]);
    careless(&folder, &["add", "."]);
    let fallen = marks(&traps);
    for name in ["clean", "driver", "external", "fsmonitor", "post-index-change", "process", "textconv"] {
        assert!(fallen.iter().any(|mark| mark == &format!("{name}-ran")), "{name} is not in {fallen:?}");
    }
}

#[tokio::test]
async fn a_filter_that_cannot_be_switched_off_is_a_reason_not_to_look() {
    let server = Server::start().await;
    let traps = server.folder().join("traps");
    std::fs::create_dir(&traps).expect("made");
    let folder = repository(&server, "project");
    std::fs::write(folder.join(".gitattributes"), "* filter=a=b\n").expect("written");
    let section = format!("[filter \"a=b\"]\n\tclean = {}\n", trap(&traps, "clean").display());
    let configuration = std::fs::read_to_string(folder.join(".git/config")).expect("read");
    std::fs::write(folder.join(".git/config"), configuration + &section).expect("written");
    std::fs::write(folder.join("README.md"), "# Changed\n").expect("written");
    let session = session_in(&server, &folder).await;
    let list = changes(&session).await;
    assert!(list["message"].as_str().is_some_and(|message| message.contains("cannot be turned off")), "{list}");
    assert_eq!(changed_file(&session, "README.md").await.error(409), "GitRefused");
    assert_eq!(marks(&traps), Vec::<String>::new());
    careless(&folder, &["diff"]);
    assert_eq!(marks(&traps), ["clean-ran"], "the trap works");
}

#[tokio::test]
async fn submodules_are_compared_but_not_entered() {
    let server = Server::start().await;
    let traps = server.folder().join("traps");
    std::fs::create_dir(&traps).expect("made");
    let (folder, library) = (repository(&server, "project"), repository(&server, "library"));
    git(&folder, &["submodule", "--quiet", "add", &library.display().to_string(), "library"]);
    git(&folder, &["commit", "--quiet", "--message", "with a library"]);
    let inside = folder.join("library");
    git(&inside, &["config", "core.fsmonitor", &trap(&traps, "fsmonitor").display().to_string()]);
    std::fs::write(inside.join("README.md"), "# Changed\n").expect("written");
    let session = session_in(&server, &folder).await;
    assert_eq!(files(&changes(&session).await), []);
    assert_eq!(marks(&traps), Vec::<String>::new());
    careless(&folder, &["status"]);
    assert_eq!(marks(&traps), ["fsmonitor-ran"], "the trap works");
    git(&inside, &["-c", "core.fsmonitor=false", "commit", "--quiet", "--all", "--message", "changed"]);
    assert_eq!(files(&changes(&session).await), [("library".to_owned(), "modified".to_owned())]);
    let html = changed_file(&session, "library").await.json()["html"].as_str().expect("text").to_owned();
    assert!(html.contains("Subproject commit"), "{html}");
}

#[tokio::test]
async fn a_repository_cannot_point_elsewhere() {
    let server = Server::start().await;
    let elsewhere = server.folder().canonicalize().expect("there").join("elsewhere");
    std::fs::create_dir(&elsewhere).expect("made");
    std::fs::write(elsewhere.join("secret"), "secret\n").expect("written");
    let folder = repository(&server, "project");
    git(&folder, &["config", "core.worktree", &elsewhere.display().to_string()]);
    let session = session_in(&server, &folder).await;
    let list = changes(&session).await;
    assert_eq!((list["repository"].is_null(), files(&list).len()), (true, 0), "{list}");
    assert_ne!(changed_file(&session, "secret").await.status, 200);

    // A folder that looks like the inside of a repository is none.
    let bare = server.folder().canonicalize().expect("there").join("bare");
    std::fs::create_dir(&bare).expect("made");
    git(&bare, &["init", "--quiet", "--bare"]);
    let traps = server.folder().join("traps");
    std::fs::create_dir(&traps).expect("made");
    git(&bare, &["config", "core.bare", "false"]);
    git(&bare, &["config", "core.worktree", "."]);
    git(&bare, &["config", "core.fsmonitor", &trap(&traps, "fsmonitor").display().to_string()]);
    let session = session_in(&server, &bare).await;
    let list = changes(&session).await;
    assert!(list["repository"].is_null() && list["message"].is_string(), "{list}");
    assert_eq!(marks(&traps), Vec::<String>::new());
}

#[tokio::test]
async fn a_part_that_was_never_fetched_is_not_fetched_now() {
    let server = Server::start().await;
    let traps = server.folder().join("traps");
    std::fs::create_dir(&traps).expect("made");
    let (folder, origin) = (repository(&server, "project"), repository(&server, "origin"));
    git(&folder, &["remote", "add", "origin", &origin.display().to_string()]);
    git(&folder, &["config", "remote.origin.promisor", "true"]);
    git(&folder, &["config", "extensions.partialClone", "origin"]);
    git(&folder, &["config", "remote.origin.uploadpack", &trap(&traps, "uploadpack").display().to_string()]);
    let blob = git(&folder, &["rev-parse", "HEAD:README.md"]).trim().to_owned();
    std::fs::remove_file(folder.join(".git/objects").join(&blob[..2]).join(&blob[2..])).expect("removed");
    std::fs::write(folder.join("README.md"), "# Changed\n").expect("written");
    let session = session_in(&server, &folder).await;
    let list = changes(&session).await;
    assert!(list["message"].is_string() || !files(&list).is_empty(), "{list}");
    let _ = changed_file(&session, "README.md").await;
    assert_eq!(marks(&traps), Vec::<String>::new());
    careless(&folder, &["-c", "protocol.file.allow=always", "diff"]);
    assert_eq!(marks(&traps), ["uploadpack-ran"], "the trap works");
}

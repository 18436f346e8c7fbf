//! `GET …/changes/patch`: what it returns can be applied.

use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

use super::{begin_turn, changes, end_turn, get_with, git, repository, session_in};
use crate::support::{Server, TestSession};

async fn patch(session: &TestSession, parameters: &[(&str, &str)]) -> (String, Vec<String>) {
    let reply = get_with(session, "patch", parameters).await;
    assert_eq!(reply.status, 200, "{}", reply.text());
    let body = reply.json();
    let left_out = body["leftOut"].as_array().expect("a list");
    let names = left_out.iter().map(|file| file["path"].as_str().expect("text").to_owned()).collect();
    (body["patch"].as_str().expect("text").to_owned(), names)
}

/// Applies a patch in a clone of the last commit, which then has the same content.
fn apply(folder: &Path, clone: &Path, patch: &str) {
    let source = folder.display().to_string();
    let target = clone.display().to_string();
    git(folder, &["clone", "--quiet", &source, &target]);
    std::fs::write(clone.join(".git/the.patch"), patch).expect("written");
    git(clone, &["apply", "--whitespace=nowarn", ".git/the.patch"]);
}

fn tree(folder: &Path) -> String {
    git(folder, &["add", "--all"]);
    git(folder, &["write-tree"])
}

#[tokio::test]
async fn a_patch_of_everything_makes_a_clone_the_same() {
    let server = Server::start().await;
    let folder = repository(&server, "project");
    for name in ["deleted", "renamed", "mode", "no-newline"] {
        std::fs::write(folder.join(name), format!("{name}\nwith\nsome\nlines\n")).expect("written");
    }
    std::fs::write(folder.join("picture"), b"\x89PNG\0one").expect("written");
    std::fs::write(folder.join("latin"), b"gr\xfc\xdfe\n").expect("written");
    git(&folder, &["add", "."]);
    git(&folder, &["commit", "--quiet", "--message", "more"]);
    std::fs::remove_file(folder.join("deleted")).expect("removed");
    std::fs::rename(folder.join("renamed"), folder.join("a \"new\"\tname ß")).expect("renamed");
    std::fs::set_permissions(folder.join("mode"), std::fs::Permissions::from_mode(0o755)).expect("set");
    std::fs::write(folder.join("no-newline"), "no-newline\nwith\nsome").expect("written");
    std::fs::write(folder.join("picture"), b"\x89PNG\0two").expect("written");
    std::fs::write(folder.join("latin"), b"gr\xfc\xdfe\nund mehr\n").expect("written");
    std::fs::write(folder.join("crlf"), "one\r\ntwo\r\n").expect("written");
    std::fs::write(folder.join(std::ffi::OsStr::from_bytes(b"odd-\xff")), "odd\n").expect("written");
    std::fs::write(folder.join("empty"), "").expect("written");
    symlink("/etc/passwd", folder.join("link")).expect("linked");
    let session = session_in(&server, &folder).await;
    let (text, left_out) = patch(&session, &[]).await;
    assert_eq!(left_out, Vec::<String>::new());
    let clone = folder.parent().expect("one").join("clone");
    apply(&folder, &clone, &text);
    assert_eq!(tree(&clone), tree(&folder));
}

#[tokio::test]
async fn a_patch_of_one_file_or_one_turn_has_only_that() {
    let server = Server::start().await;
    let folder = repository(&server, "project");
    let session = session_in(&server, &folder).await;
    let request = begin_turn(&session).await;
    std::fs::write(folder.join("README.md"), "# By the turn\n").expect("written");
    std::fs::write(folder.join("new"), "new\n").expect("written");
    end_turn(&session, &request).await;
    std::fs::write(folder.join("src/main.rs"), "fn main() {}\n").expect("written");
    let (one, _) = patch(&session, &[("path", "new")]).await;
    let clone = folder.parent().expect("one").join("one");
    apply(&folder, &clone, &one);
    assert_eq!(git(&clone, &["status", "--porcelain"]), "?? new\n");
    let (turn, _) = patch(&session, &[("scope", "turn"), ("turn", "turn-1")]).await;
    let clone = folder.parent().expect("one").join("turn");
    apply(&folder, &clone, &turn);
    assert_eq!(git(&clone, &["status", "--porcelain"]), " M README.md\n?? new\n");
    assert_eq!(get_with(&session, "patch", &[("path", "src")]).await.error(404), "ChangeNotFound");
}

#[tokio::test]
async fn what_cannot_be_in_a_patch_is_named() {
    let server = Server::start().await;
    let folder = repository(&server, "project");
    std::fs::write(folder.join("README.md"), "# Changed\n").expect("written");
    repository(&server, "project/nested");
    std::fs::File::create(folder.join("huge")).and_then(|file| file.set_len(20 * 1024 * 1024)).expect("made");
    let session = session_in(&server, &folder).await;
    assert_eq!(changes(&session).await["files"].as_array().map(Vec::len), Some(3));
    let (text, left_out) = patch(&session, &[]).await;
    assert_eq!(left_out, ["huge", "nested/"]);
    let clone = folder.parent().expect("one").join("clone");
    apply(&folder, &clone, &text);
    assert_eq!(git(&clone, &["status", "--porcelain"]), " M README.md\n");
}

//! `GET …/changes`.

use std::os::unix::ffi::OsStrExt;

use serde_json::{Value, json};

use super::{changed_file, changes, files, git, repository, session_in};
use crate::support::Server;

#[tokio::test]
async fn every_kind_of_change_is_listed_with_its_lines() {
    let server = Server::start().await;
    let folder = repository(&server, "project");
    for name in ["deleted", "renamed", "staged"] {
        std::fs::write(folder.join(name), format!("{name}\nwith\nsome\nlines\n")).expect("written");
    }
    std::fs::write(folder.join("picture"), b"\x89PNG\0one").expect("written");
    std::fs::write(folder.join(".gitignore"), "ignored\n").expect("written");
    git(&folder, &["add", "."]);
    git(&folder, &["commit", "--quiet", "--message", "second"]);

    std::fs::write(folder.join("src/main.rs"), "fn main() {\n    one();\n    drei();\n    four();\n}\n")
        .expect("written");
    std::fs::remove_file(folder.join("deleted")).expect("removed");
    git(&folder, &["mv", "renamed", "other name"]);
    std::fs::write(folder.join("staged"), "changed\n").expect("written");
    std::fs::write(folder.join("added"), "a\nb\n").expect("written");
    git(&folder, &["add", "staged", "added"]);
    std::fs::write(folder.join("picture"), b"\x89PNG\0two").expect("written");
    std::fs::write(folder.join("ignored"), "").expect("written");
    std::fs::create_dir(folder.join("new")).expect("made");
    std::fs::write(folder.join("new/file"), "1\n2\n3\n").expect("written");
    std::fs::write(folder.join("new/picture"), b"\0").expect("written");

    let session = session_in(&server, &folder.join("src")).await;
    let list = changes(&session).await;
    assert_eq!(list["repository"], json!(folder));
    assert_eq!((&list["branch"], &list["truncated"], list.get("message")), (&json!("main"), &json!(false), None));
    let expected = [
        ("added", "added", json!(2), json!(0)),
        ("deleted", "deleted", json!(0), json!(4)),
        ("new/file", "untracked", json!(3), json!(0)),
        ("new/picture", "untracked", Value::Null, Value::Null),
        ("other name", "renamed", json!(0), json!(0)),
        ("picture", "modified", Value::Null, Value::Null),
        ("src/main.rs", "modified", json!(2), json!(1)),
        ("staged", "modified", json!(1), json!(4)),
    ];
    let expected: Vec<Value> = expected
        .into_iter()
        .map(|(path, status, added, removed)| json!({ "path": path, "status": status, "added": added, "removed": removed }))
        .collect();
    let mut files = list["files"].as_array().expect("a list").clone();
    for file in &mut files {
        let fields = file.as_object_mut().expect("a file");
        assert!(fields.remove("state").is_some_and(|state| state.is_string()), "{list}");
        let old_path = fields.remove("oldPath");
        assert_eq!(old_path, (fields["status"] == "renamed").then(|| json!("renamed")));
    }
    assert_eq!(files, expected);
}

#[tokio::test]
async fn nothing_is_written_and_a_clean_repository_has_no_changes() {
    let server = Server::start().await;
    let folder = repository(&server, "project");
    let session = session_in(&server, &folder).await;
    // Its index is out of date: git would like to refresh it.
    let readme = std::fs::File::options().write(true).open(folder.join("README.md")).expect("opened");
    readme.set_modified(std::time::SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(1)).expect("touched");
    let before = std::fs::read(folder.join(".git/index")).expect("read");
    assert_eq!(files(&changes(&session).await), []);
    assert_eq!(std::fs::read(folder.join(".git/index")).expect("read"), before);
    git(&folder, &["checkout", "--quiet", "--detach"]);
    assert_eq!(changes(&session).await["branch"], Value::Null);
}

#[tokio::test]
async fn a_repository_without_a_commit_lists_what_is_there() {
    let server = Server::start().await;
    let folder = server.folder().canonicalize().expect("there").join("fresh");
    std::fs::create_dir(&folder).expect("made");
    git(&folder, &["init", "--quiet"]);
    std::fs::write(folder.join("staged"), "a\nb\n").expect("written");
    git(&folder, &["add", "staged"]);
    std::fs::write(folder.join("other"), "c\n").expect("written");
    let session = session_in(&server, &folder).await;
    let list = changes(&session).await;
    let expected = [("other", "untracked"), ("staged", "added")];
    assert_eq!(files(&list), expected.map(|(path, status)| (path.to_owned(), status.to_owned())));
    assert_eq!(list["files"][1]["added"], 2);
    let diff = changed_file(&session, "staged").await.json();
    assert_eq!(diff["html"].as_str().expect("text").matches("diff-added").count(), 2, "{diff}");
}

#[tokio::test]
async fn where_there_is_nothing_to_compare_with_a_person_is_told() {
    let server = Server::start().await;
    let work = server.work().canonicalize().expect("there");
    std::fs::create_dir(work.join("goes")).expect("made");
    let (plain, goes, none) =
        (session_in(&server, &work).await, session_in(&server, &work.join("goes")).await, server.session().await);
    std::fs::remove_dir(work.join("goes")).expect("removed");
    for (session, words) in
        [(&plain, "not in a git repository"), (&goes, "does not exist"), (&none, "no working directory")]
    {
        let list = changes(session).await;
        assert_eq!((&list["repository"], &list["files"]), (&Value::Null, &json!([])));
        assert!(list["message"].as_str().is_some_and(|message| message.contains(words)), "{list}");
    }
    assert_eq!(changed_file(&plain, "x").await.error(409), "NoRepository");
    for session in [&goes, &none] {
        assert_eq!(changed_file(session, "x").await.error(404), "ChangeNotFound");
    }
    let nobody = server.http().get("/api/copilot/session/session-99/changes").await;
    assert_eq!(nobody.error(404), "SessionNotFound");
    assert_eq!(plain.get("/changes?x=1").await.error(400), "InvalidQuery");
    assert_eq!(plain.get("/changes/file").await.error(400), "InvalidQuery");
}

#[tokio::test]
async fn without_git_on_the_machine_a_person_is_told_to_install_it() {
    let server = Server::builder().variable("PATH", "/nonexistent:relative").start().await;
    let folder = repository(&server, "project");
    let session = session_in(&server, &folder).await;
    let list = changes(&session).await;
    assert!(list["message"].as_str().is_some_and(|message| message.contains("install git")), "{list}");
    assert_eq!(changed_file(&session, "README.md").await.error(409), "GitNotFound");
}

#[tokio::test]
async fn a_repository_that_is_broken_or_locked_says_what_git_says() {
    let server = Server::start().await;
    let folder = repository(&server, "project");
    let session = session_in(&server, &folder).await;
    std::fs::write(folder.join(".git/index.lock"), "").expect("written");
    std::fs::write(folder.join("README.md"), "changed\n").expect("written");
    assert_eq!(files(&changes(&session).await).len(), 1, "somebody else's lock does not matter to a reader");
    std::fs::write(folder.join(".git/index"), "rubbish").expect("written");
    let list = changes(&session).await;
    assert!(list["message"].as_str().is_some_and(|message| message.contains("cannot read")), "{list}");
}

#[tokio::test]
async fn names_of_files_may_be_anything() {
    let server = Server::start().await;
    let folder = repository(&server, "project");
    let names = [
        "-dash",
        "--output=x",
        "a\nb",
        "q\"uo'te",
        "<script>alert(1)<script>",
        " blank ",
        ":(top)x",
        "*",
        "\u{202e}txt",
        "ß\u{1f600}",
    ];
    for name in names {
        std::fs::write(folder.join(name), "new\n").expect("written");
    }
    let odd = std::ffi::OsStr::from_bytes(b"not-utf8-\xff");
    std::fs::write(folder.join(odd), "odd one\n").expect("written");
    let session = session_in(&server, &folder).await;
    let check = async |status: &str| {
        let list = changes(&session).await;
        assert_eq!(list["files"].as_array().map(Vec::len), Some(names.len() + 1), "{list}");
        for name in names.into_iter().chain(["not-utf8-\u{fffd}"]) {
            assert!(files(&list).contains(&(name.to_owned(), status.to_owned())), "{name:?} in {list}");
            let reply = changed_file(&session, name).await;
            assert_eq!(reply.status, 200, "{name:?}: {}", reply.text());
            let diff = reply.json();
            assert_eq!(diff["path"], name);
            let html = diff["html"].as_str().expect("text");
            assert!(
                html.contains("<tr class=\"diff-line diff-added\">") && !html.contains("<script"),
                "{name:?}: {html}"
            );
        }
    };
    check("untracked").await;
    git(&folder, &["add", "--all"]);
    check("added").await;
    assert!(!folder.join("x").exists(), "no name was taken for an option");
}

#[tokio::test]
async fn a_long_list_is_cut() {
    let server = Server::start().await;
    let folder = repository(&server, "project");
    for number in 0..2_100 {
        std::fs::write(folder.join(format!("file{number:04}")), "x\n").expect("written");
    }
    let session = session_in(&server, &folder).await;
    let list = changes(&session).await;
    assert_eq!(list["truncated"], true);
    assert_eq!(list["files"].as_array().map(Vec::len), Some(2_000));
    assert_eq!((&list["files"][0]["added"], &list["files"][1_999]["added"]), (&json!(1), &json!(1)));
}

#[tokio::test]
async fn with_roots_a_repository_around_them_shows_only_what_is_inside() {
    let folder = tempfile::tempdir().expect("a folder");
    let config = format!("[sessions]\nroots = ['{}']", folder.path().join("project/src").display());
    let server = Server::builder().config(&config).start_in(folder).await;
    let project = repository(&server, "project");
    std::fs::write(project.join("src/main.rs"), "changed\n").expect("written");
    std::fs::write(project.join("README.md"), "secret\n").expect("written");
    std::fs::write(project.join("untracked-secret"), "secret\n").expect("written");
    let session = session_in(&server, &project.join("src")).await;
    let list = changes(&session).await;
    assert_eq!(files(&list), [("src/main.rs".to_owned(), "modified".to_owned())]);
    for outside in ["README.md", "untracked-secret", "src/../README.md"] {
        assert_eq!(changed_file(&session, outside).await.error(404), "ChangeNotFound", "{outside}");
    }
    assert_eq!(changed_file(&session, "src/main.rs").await.status, 200);
}

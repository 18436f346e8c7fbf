//! `flightdeck backup` and `flightdeck restore`: a live server under load, damage, and a full disk.

use std::path::Path;

use serde_json::Value;

use crate::support::{Server, ServerBuilder, TestSession};

fn entries(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> = std::fs::read_dir(folder)
        .expect("readable")
        .map(|entry| entry.expect("readable").file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}

/// A server with a conversation and a large output.
async fn used_server() -> (Server, TestSession) {
    let server = Server::start().await;
    let session = server.session().await;
    session.ask("hello").await;
    session.ask("tool 400000").await;
    (server, session)
}

fn blob_of(log: &[(u64, Value)]) -> String {
    let blob = log.iter().find_map(|(_, event)| event["result"]["contentBlob"].as_str());
    blob.expect("a large output").to_owned()
}

/// The settings of a server with another data folder.
fn elsewhere(folder: &Path) -> ServerBuilder {
    Server::builder().data_folder(folder)
}

#[tokio::test]
async fn a_backup_of_a_busy_server_is_restored_with_everything() {
    let (server, session) = used_server().await;
    let before = session.log().await;
    let busy = server.session().await;
    busy.prompt("many 500000 2000 100").await;
    busy.events_after(0).await.until_callback("onMessage").await;
    let ended = server.run(&["backup", "all.tar"]).await;
    assert!(ended.success, "{}", ended.stderr);
    assert!(ended.stdout.contains("Wrote and verified") && ended.stdout.contains("1 large output"), "{}", ended.stdout);
    let left = entries(server.folder());
    assert!(!left.iter().any(|name| name.starts_with(".flightdeck-backup")), "{left:?}");
    assert_eq!(busy.state().await, "working", "the turn was not disturbed");
    let again = server.run(&["backup", "all.tar"]).await;
    assert!(!again.success && again.stderr.contains("--force"), "{}", again.stderr);
    let listed =
        std::process::Command::new("tar").arg("tf").arg(server.folder().join("all.tar")).output().expect("tar");
    let listed = String::from_utf8(listed.stdout).expect("UTF-8");
    assert!(listed.contains("flightdeck.db") && listed.contains("SHA256SUMS"), "{listed}");
    assert!(!listed.lines().any(|line| line == "token"), "{listed}");

    let root = tempfile::tempdir().expect("a folder");
    let data = root.path().join("restored");
    let file = server.folder().join("all.tar").to_string_lossy().into_owned();
    let checked = elsewhere(&data).run(root.path(), &["restore", &file, "--check"]).await;
    assert!(checked.success && checked.stdout.contains("is intact"), "{}", checked.stderr);
    assert!(!data.exists(), "a check restores nothing");
    let restored = elsewhere(&data).run(root.path(), &["restore", &file]).await;
    assert!(restored.success, "{}", restored.stderr);
    assert_eq!(entries(root.path()), ["home", "restored"], "nothing else is left");
    let copy = elsewhere(&data).start_in(root).await;
    assert_ne!(copy.token(), server.token(), "a token of its own");
    let same = session.seen_by(copy.http());
    assert_eq!(same.log().await, before);
    let blob = same.get(&format!("/blob/{}", blob_of(&before))).await;
    assert_eq!((blob.status.as_u16(), blob.body.len()), (200, 400_000));
    let after = same.ask("still there").await;
    assert_eq!(after["verdict"], "succeeded");
    let numbers: Vec<u64> = same.log().await.iter().map(|(number, _)| *number).collect();
    assert!(numbers.windows(2).all(|pair| pair[0] < pair[1]), "{numbers:?}");
}

#[tokio::test]
async fn a_restore_replaces_a_folder_only_by_force_and_keeps_the_old_one() {
    let (mut server, session) = used_server().await;
    assert!(server.run(&["backup", "one.tar"]).await.success);
    session.ask("after the backup").await;
    let running = server.run(&["restore", "one.tar", "--force"]).await;
    assert!(!running.success && running.stderr.contains("already running"), "{}", running.stderr);
    let token = server.token();
    assert!(server.stop().await);
    let unforced = server.run(&["restore", "one.tar"]).await;
    assert!(!unforced.success && unforced.stderr.contains("--force"), "{}", unforced.stderr);
    let forced = server.run(&["restore", "one.tar", "--force"]).await;
    assert!(forced.success, "{}", forced.stderr);
    let aside = entries(server.folder()).into_iter().find(|name| name.starts_with("data.before-restore-"));
    let aside = server.folder().join(aside.expect("the old folder"));
    assert!(
        aside.join("flightdeck.db").is_file() && forced.stderr.contains(&*aside.to_string_lossy()),
        "{}",
        forced.stderr
    );
    let server = server.start_again().await;
    assert_eq!(server.token(), token, "programs that hold it keep working");
    let log = session.seen_by(server.http()).log().await;
    assert!(!log.iter().any(|(_, event)| event["text"] == "after the backup"), "it is as it was then");
}

#[tokio::test]
async fn a_backup_without_a_server_is_possible_and_an_empty_folder_is_nothing_to_back_up() {
    let (mut server, _) = used_server().await;
    assert!(server.stop().await);
    assert!(server.run(&["backup", "rest.tar"]).await.success);
    let root = tempfile::tempdir().expect("a folder");
    let nothing = elsewhere(&root.path().join("none")).run(root.path(), &["backup", "x.tar"]).await;
    assert!(!nothing.success && nothing.stderr.contains("nothing to back up"), "{}", nothing.stderr);
    let nowhere = server.run(&["backup", "no/such/folder/x.tar"]).await;
    assert!(!nowhere.success && nowhere.stderr.contains("does not exist"), "{}", nowhere.stderr);
}

#[tokio::test]
async fn a_damaged_backup_is_refused_and_changes_nothing() {
    let (server, _) = used_server().await;
    assert!(server.run(&["backup", "good.tar"]).await.success);
    let good = std::fs::read(server.folder().join("good.tar")).expect("readable");
    let mut changed = good.clone();
    let middle = changed.len() / 2;
    changed[middle] ^= 1;
    let root = tempfile::tempdir().expect("a folder");
    let data = root.path().join("restored");
    for (name, content) in
        [("changed", changed.as_slice()), ("cut", &good[..middle]), ("empty", &[]), ("other", b"hello")]
    {
        let file = root.path().join(name);
        std::fs::write(&file, content).expect("written");
        let ended = elsewhere(&data).run(root.path(), &["restore", name]).await;
        assert!(!ended.success && ended.stderr.contains("cannot be used"), "{name}: {}", ended.stderr);
        assert!(!data.exists(), "{name}");
        std::fs::remove_file(&file).expect("removed");
    }
    assert_eq!(entries(root.path()), ["home"]);
}

#[cfg(unix)]
#[tokio::test]
async fn a_full_disk_is_reported_and_leaves_no_file() {
    let (server, _) = used_server().await;
    let target = server.folder().join("target");
    std::fs::create_dir(&target).expect("made");
    // The size of files is limited: first the copy of the database meets the limit, then the archive. The units are of
    // 512 bytes, and the large output alone is larger than the second limit minus the database.
    let database = std::fs::metadata(server.data().join("flightdeck.db")).expect("there").len();
    for limit in [64, database / 512 + 400] {
        let limited = format!("trap '' XFSZ; ulimit -f {limit}; exec \"$@\"");
        let builder = server.builder_again().wrapped_in(&["sh", "-c", &limited, "sh"]);
        let ended = builder.run(server.folder(), &["backup", "target/all.tar"]).await;
        assert!(!ended.success, "{limit}: {}", ended.stdout);
        assert!(ended.stderr.contains("no backup was written"), "{limit}: {}", ended.stderr);
        assert!(!ended.stderr.contains("panicked"), "{}", ended.stderr);
        assert_eq!(entries(&target), Vec::<String>::new(), "{limit}");
    }
    assert!(server.run(&["backup", "target/all.tar"]).await.success, "there is room again");
}

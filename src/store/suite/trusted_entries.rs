//! What must hold for trusted entries.

use std::path::PathBuf;

use super::sessions::odd_folder;
use super::{Ending, Medium};
use crate::model::Timestamp;
use crate::store::{Store, TrustedEntry};

fn entry(path: impl Into<PathBuf>, hash: &str, trusted_at: i64) -> TrustedEntry {
    TrustedEntry { path: path.into(), hash: hash.to_owned(), trusted_at: Timestamp::from_millis(trusted_at) }
}

async fn trust(store: &Store, TrustedEntry { path, hash, trusted_at }: TrustedEntry) {
    store.trust_entry(path, hash, trusted_at).await.expect("trusted");
}

async fn is_trusted(store: &Store, path: &str, hash: &str) -> bool {
    store.is_trusted_entry(path.into(), hash.to_owned()).await.expect("read")
}

pub(super) async fn an_entry_is_trusted_with_one_hash(medium: &Medium) {
    let store = medium.open();
    assert!(!is_trusted(&store, "/a/jobs.json", "1").await);
    for new in [entry("/a/jobs.json", "1", 1), entry("/a-b/jobs.json", "1", 2), entry(odd_folder(), "3", 3)] {
        trust(&store, new).await;
    }
    assert!(is_trusted(&store, "/a/jobs.json", "1").await);
    assert!(!is_trusted(&store, "/a/jobs.json", "2").await);
    assert!(!is_trusted(&store, "/b/jobs.json", "1").await);
    trust(&store, entry("/a/jobs.json", "2", 4)).await;
    assert!(is_trusted(&store, "/a/jobs.json", "2").await);
    assert!(!is_trusted(&store, "/a/jobs.json", "1").await, "a new hash replaces the old one");
    assert!(store.is_trusted_entry(odd_folder(), "3".to_owned()).await.expect("read"));
    let all = [entry("/a/jobs.json", "2", 4), entry("/a-b/jobs.json", "1", 2), entry(odd_folder(), "3", 3)];
    assert_eq!(store.trusted_entries().await.expect("read"), all);
    let forget = async |path: PathBuf| store.forget_trusted_entry(path).await.expect("answered");
    assert!(forget("/a/jobs.json".into()).await);
    assert!(!forget("/a/jobs.json".into()).await);
    assert_eq!(store.trusted_entries().await.expect("read"), all[1..]);
    store.close().await;
}

pub(super) async fn trust_and_its_end_survive_a_power_cut(medium: &Medium) {
    let store = medium.open();
    let synced = store.statistics().synced_commits.get();
    trust(&store, entry("/a", "1", 1)).await;
    trust(&store, entry("/b", "1", 1)).await;
    assert!(store.forget_trusted_entry("/a".into()).await.expect("answered"));
    if let Medium::Sqlite { .. } = medium {
        assert_eq!(store.statistics().synced_commits.get(), synced + 3, "each commit waited for the disk");
    }
    let store = medium.restart(store, Ending::PowerCut).await;
    assert_eq!(store.trusted_entries().await.expect("read"), [entry("/b", "1", 1)]);
    store.close().await;
}

//! What must hold after a power cut, which may lose the last commits: no number or key that a client has seen is used
//! again.

use super::{Ending, Medium, accepted, changes, ended, events, new_record, new_session};
use crate::model::StreamId;
use crate::store::{Creation, CreationKey};

pub(super) async fn numbers_of_events_never_repeat(medium: &Medium) {
    let mut store = medium.open();
    let session = new_session(&store).await;
    for stream in [StreamId::Session(session), StreamId::Job(crate::model::JobId::from_number(1))] {
        store.append_checked(events(stream, 1..=3)).await.expect("appended");
        let mut seen = 3;
        for ending in [Ending::Crash, Ending::PowerCut, Ending::PowerCut, Ending::Clean] {
            store = medium.restart(store, ending).await;
            let next = store.next_seq(stream).await.expect("read");
            assert!(next > seen, "{stream} {ending:?}: {next} after {seen}");
            if ending != Ending::PowerCut {
                assert_eq!(next, seen + 1, "{stream} {ending:?}: nothing is skipped");
            }
            store.append_checked(events(stream, next..=next)).await.expect("appended");
            seen = next;
        }
    }
    let loaded = store.load_session(session).await.expect("read").expect("there");
    assert_eq!(loaded.next_seq, store.next_seq(session).await.expect("read"));
    store.close().await;
}

pub(super) async fn numbers_of_prompts_never_repeat(medium: &Medium) {
    let mut store = medium.open();
    let session = new_session(&store).await;
    let mut prompt = 1;
    for ending in [Ending::Clean, Ending::Crash, Ending::PowerCut, Ending::PowerCut, Ending::Clean] {
        store.append_checked(changes(session, vec![accepted(prompt, None)])).await.expect("appended");
        store = medium.restart(store, ending).await;
        let next = store.load_session(session).await.expect("read").expect("there").next_prompt.number();
        assert!(next > prompt, "{ending:?}: {next} after {prompt}");
        if ending != Ending::PowerCut {
            assert_eq!(next, prompt + 1, "{ending:?}: nothing is skipped");
        }
        prompt = next;
    }
    store.close().await;
}

pub(super) async fn numbers_of_outcomes_never_repeat(medium: &Medium) {
    let mut store = medium.open();
    let session = new_session(&store).await;
    let mut seen = 0;
    for (number, ending) in (1..).zip([Ending::Crash, Ending::PowerCut, Ending::PowerCut, Ending::Clean]) {
        let number = number * 1_000;
        store.append_checked(changes(session, vec![accepted(number, None), ended(number)])).await.expect("appended");
        let newest = *store.newest_outcome().borrow();
        assert!(newest > seen, "{newest} after {seen}");
        seen = newest;
        store = medium.restart(store, ending).await;
        assert!(*store.newest_outcome().borrow() >= seen);
    }
    store.close().await;
}

pub(super) async fn keys_hold(medium: &Medium) {
    let store = medium.open();
    let mut record = new_record();
    record.key = Some(CreationKey { key: "k".to_owned(), fingerprint: "f".to_owned() });
    let created = store.create_session(record.clone()).await.expect("created");
    let Creation::New(session) = created else { panic!("{created:?}") };
    let synced = store.statistics().synced_commits.get();
    store.append_checked(changes(session, vec![accepted(1, Some("p"))])).await.expect("appended");
    if let Medium::Sqlite { .. } = medium {
        assert!(store.statistics().synced_commits.get() > synced, "the commit waited for the disk");
    }
    let store = medium.restart(store, Ending::PowerCut).await;
    let prompt = store.prompt_by_key(session, "p".to_owned()).await.expect("read").expect("there");
    assert_eq!(prompt.number, 1);
    assert_eq!(store.create_session(record).await.expect("answered"), Creation::Known(session));
    store.close().await;
}

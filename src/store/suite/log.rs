//! What a log must do.

use super::{Medium, changes, ended_block, events, new_session, observe, seqs};
use crate::model::{SessionState, StreamId};
use crate::store::{Change, EventPage, StoreError};

pub(super) async fn a_log_is_read_in_pages_in_both_directions(medium: &Medium) {
    let store = medium.open();
    let (session, other) = (new_session(&store).await, new_session(&store).await);
    store.append(events(session, 1..=9));
    store.append(events(other, 1..=3));
    store.flush().await.expect("flushed");
    let read = async |page: EventPage| {
        let (events, more) = store.events(session, page).await.expect("read");
        (events.iter().map(|event| event.seq).collect::<Vec<_>>(), more)
    };
    let page = |after, before, limit| EventPage { after, before, limit, max_bytes: usize::MAX };
    assert_eq!(read(page(0, None, 4)).await, (vec![1, 2, 3, 4], true));
    assert_eq!(read(page(4, None, 100)).await, (vec![5, 6, 7, 8, 9], false));
    assert_eq!(read(page(0, Some(8), 3)).await, (vec![5, 6, 7], true));
    assert_eq!(read(page(0, Some(3), 3)).await, (vec![1, 2], false));
    let tiny = EventPage { max_bytes: 2, ..page(0, None, 100) };
    assert_eq!(read(tiny).await, (vec![1, 2], true), "by bytes");
    assert_eq!(read(EventPage { max_bytes: 0, ..page(0, None, 100) }).await, (vec![1], true), "never none");
    assert_eq!(store.event(session, 7).await.expect("read").map(|event| event.body), Some("7".into()));
    assert_eq!(store.event(session, 10).await.expect("read"), None);
    store.close().await;
}

pub(super) async fn deltas_of_an_ended_block_are_gone_and_its_end_leads_to_its_start(medium: &Medium) {
    let store = medium.open();
    let session = new_session(&store).await;
    let mut first = events(session, 1..=6);
    // Two blocks, one inside the other: 1 has the deltas 2, 4 and 5, and 3 has none.
    for delta in [1, 3, 4] {
        first.events[delta].block = Some(1);
    }
    store.append(first);
    let mut second = events(session, 7..=8);
    second.ended_blocks = vec![ended_block(1, 7, 3), ended_block(3, 8, 0)];
    store.append(second);
    store.flush().await.expect("flushed");
    assert_eq!(seqs(&store, session).await, [1, 3, 6, 7, 8]);
    let start = async |end| store.block_start(session, end).await.expect("read").map(|event| event.seq);
    assert_eq!((start(7).await, start(8).await), (Some(1), Some(3)));
    assert_eq!((start(6).await, start(99).await), (None, None));
    store.settle().await.expect("settled");
    assert_eq!(seqs(&store, session).await, [1, 3, 6, 7, 8], "ends stay");
    store.close().await;
}

pub(super) async fn prompts_are_found_in_a_log(medium: &Medium) {
    let store = medium.open();
    let (session, other) = (new_session(&store).await, new_session(&store).await);
    let mut append = events(session, 1..=5);
    append.events[1].body = r#"{"callback":"onUserPrompt","promptId":"prompt-1","text":"t","queued":false}"#.into();
    append.events[2].body = r#"{"callback":"onUserPromptOfALaterVersion"}"#.into();
    append.events[4].body = r#"{"callback":"onGeneratedUserPrompt","prompt":"p"}"#.into();
    store.append(append);
    store.append(events(other, 1..=3));
    store.flush().await.expect("flushed");
    let found = store.prompt_events(session).await.expect("read");
    assert_eq!(found.iter().map(|event| event.seq).collect::<Vec<_>>(), [2, 5]);
    assert_eq!(store.prompt_events(other).await.expect("read"), []);
    store.close().await;
}

pub(super) async fn subscribers_hear_of_every_commit_to_their_stream(medium: &Medium) {
    let store = medium.open();
    let (session, other) = (new_session(&store).await, new_session(&store).await);
    let (first, second, elsewhere) = (observe(&store, session), observe(&store, session), observe(&store, other));
    store.append_checked(events(session, 1..=2)).await.expect("appended");
    drop(second);
    store.append_checked(events(session, 3..=3)).await.expect("appended");
    // Changes alone have no number to announce.
    store.append_checked(changes(session, vec![Change::State(SessionState::Ready, None)])).await.expect("appended");
    assert_eq!(*first.committed.lock().expect("heard"), [2, 3]);
    assert!(elsewhere.committed.lock().expect("heard").is_empty());
    store.close().await;
}

pub(super) async fn a_rejected_append_takes_no_other_with_it(medium: &Medium) {
    let store = medium.open();
    let (session, other) = (new_session(&store).await, new_session(&store).await);
    store.append_checked(events(session, 1..=3)).await.expect("appended");
    let heard = observe(&store, session);
    // Sent together, so that they may share a transaction: a number that is in use, and two valid ones.
    store.append(events(session, 3..=4));
    store.append(events(other, 1..=1));
    let checked = store.append_checked(events(other, 2..=2)).await;
    checked.expect("an innocent append is committed");
    assert_eq!(seqs(&store, session).await, [1, 2, 3], "nothing of the rejected append is there");
    assert_eq!(seqs(&store, other).await, [1, 2]);
    assert_eq!(heard.rejected.lock().expect("heard").len(), 1);
    let again = store.append_checked(events(session, 2..=2)).await;
    assert!(matches!(again, Err(StoreError::Statement(_))), "{again:?}");
    store.close().await;
}

pub(super) async fn a_job_has_a_log_like_a_session(medium: &Medium) {
    let store = medium.open();
    let session = new_session(&store).await;
    let job = StreamId::Job(crate::model::JobId::from_number(session.number()));
    let heard = observe(&store, job);
    assert_eq!(store.next_seq(job).await.expect("read"), 1);
    store.append_checked(events(session, 1..=1)).await.expect("appended");
    store.append_checked(events(job, 1..=4)).await.expect("appended");
    assert_eq!(*heard.committed.lock().expect("heard"), [4]);
    assert_eq!((seqs(&store, session).await.len(), seqs(&store, job).await.len()), (1, 4), "not mixed up");
    assert_eq!(store.next_seq(job).await.expect("read"), 5);
    store.delete_session(session).await.expect("deleted");
    assert_eq!(seqs(&store, job).await.len(), 4, "a job outlives the session of the same number");
    store.close().await;
}

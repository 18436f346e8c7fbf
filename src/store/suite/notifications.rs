//! What must hold for happenings and deliveries.

use super::{Ending, Medium, changes, new_session};
use crate::model::{
    AnsweredBy, Happening, HappeningKind, OpenRequest, RequestBody, RequestId, RequestOutcome, SessionId, TaskId,
    Timestamp,
};
use crate::store::{Change, DeliveryProgress, DeliveryState, NewDelivery, Store, StoredDelivery};

fn happening(key: &str, kind: HappeningKind) -> Change {
    Change::Happened(Happening {
        key: key.to_owned(),
        kind,
        reason: "permission".to_owned(),
        text: "rm".to_owned(),
        duration_ms: Some(5),
    })
}

fn progress(state: DeliveryState, at: i64) -> DeliveryProgress {
    DeliveryProgress { state, attempts: 0, at: Timestamp::from_millis(at), error: None }
}

fn delivery(target: &str, state: DeliveryState, at: i64) -> NewDelivery {
    let (title, folder) = ("title".to_owned(), "/work".to_owned());
    NewDelivery { target: target.to_owned(), title, folder, progress: progress(state, at) }
}

async fn happen(store: &Store, session: SessionId, key: &str, kind: HappeningKind) {
    store.append_checked(changes(session, vec![happening(key, kind)])).await.expect("appended");
}

/// Plans the deliveries of the oldest happening.
async fn plan(store: &Store, deliveries: Vec<NewDelivery>) {
    let oldest = store.happenings(1).await.expect("read").remove(0);
    store.plan_deliveries(oldest.id, deliveries).await.expect("planned");
}

async fn states(store: &Store) -> Vec<(String, DeliveryState)> {
    let all: Vec<StoredDelivery> = store.deliveries(None, 99).await.expect("read");
    all.into_iter().rev().map(|stored| (stored.happening.key, stored.delivery.progress.state)).collect()
}

pub(super) async fn a_happening_is_there_until_its_deliveries_are_planned(medium: &Medium) {
    let store = medium.open();
    let session = new_session(&store).await;
    let mut count = store.happening_count();
    happen(&store, session, "prompt-1", HappeningKind::Finished).await;
    assert!(count.has_changed().expect("open"), "who waits for it hears of it");
    count.borrow_and_update();
    store.append_checked(changes(session, Vec::new())).await.expect("appended");
    assert!(!count.has_changed().expect("open"));
    let store = medium.restart(store, Ending::Crash).await;
    let found = store.happenings(9).await.expect("read");
    assert_eq!((found.len(), found[0].subject.to_string()), (1, session.to_string()));
    assert_eq!((found[0].happening.key.as_str(), found[0].happening.duration_ms), ("prompt-1", Some(5)));
    plan(&store, vec![delivery("a", DeliveryState::Pending, 1), delivery("b", DeliveryState::Seen, 1)]).await;
    let store = medium.restart(store, Ending::Crash).await;
    assert_eq!(store.happenings(9).await.expect("read"), []);
    assert_eq!(store.open_deliveries("a", 9).await.expect("read").len(), 1);
    assert_eq!(store.open_deliveries("b", 9).await.expect("read").len(), 0);
    // The same one again, because a gate shows something else now.
    happen(&store, session, "prompt-1", HappeningKind::Finished).await;
    plan(&store, vec![delivery("a", DeliveryState::Pending, 1)]).await;
    assert_eq!(store.open_deliveries("a", 9).await.expect("read").len(), 1, "nobody is told twice");
    store.close().await;
}

pub(super) async fn deliveries_are_sent_in_order_until_they_end(medium: &Medium) {
    let store = medium.open();
    let session = new_session(&store).await;
    for (key, at) in [("prompt-1", 30), ("prompt-2", 10), ("prompt-3", 20)] {
        happen(&store, session, key, HappeningKind::Failed).await;
        plan(&store, vec![delivery("a", DeliveryState::Pending, at)]).await;
    }
    let due = store.open_deliveries("a", 2).await.expect("read");
    let keys: Vec<&str> = due.iter().map(|stored| stored.happening.key.as_str()).collect();
    assert_eq!(keys, ["prompt-2", "prompt-3"]);
    assert_eq!(store.targets_with_open_deliveries().await.expect("read"), ["a"]);
    let failed = DeliveryProgress {
        attempts: 1,
        error: Some("token=hunter2 is wrong".to_owned()),
        ..progress(DeliveryState::Pending, 40)
    };
    store.record_deliveries(vec![due[0].id], failed).await.expect("recorded");
    store.record_deliveries(vec![due[1].id], progress(DeliveryState::Delivered, 21)).await.expect("recorded");
    let store = medium.restart(store, Ending::Crash).await;
    let due = store.open_deliveries("a", 9).await.expect("read");
    let keys: Vec<&str> = due.iter().map(|stored| stored.happening.key.as_str()).collect();
    assert_eq!(keys, ["prompt-1", "prompt-2"]);
    assert_eq!(due[1].delivery.progress.error.as_deref(), Some("token=[redacted] is wrong"));
    store.expire_deliveries(Timestamp::from_millis(i64::MAX)).await.expect("expired");
    assert_eq!(states(&store).await.len(), 2, "what is open stays");
    assert_eq!(store.deliveries(Some(due[1].id), 9).await.expect("read").len(), 1, "in pages");
    store.close().await;
}

pub(super) async fn what_was_asked_for_and_is_done_is_not_sent(medium: &Medium) {
    use DeliveryState::{Delivered, Pending, Superseded};
    let store = medium.open();
    let session = new_session(&store).await;
    let request_id = RequestId::of_event(1);
    let request = OpenRequest {
        request_id: request_id.clone(),
        agent_request_id: "a".to_owned(),
        asked_at: None,
        body: RequestBody::question("?", None),
    };
    let key = request_id.as_str().to_owned();
    let open = vec![Change::RequestOpened(request), happening(&key, HappeningKind::NeedsYou)];
    store.append_checked(changes(session, open)).await.expect("appended");
    plan(&store, vec![delivery("a", Pending, 1)]).await;
    happen(&store, session, "gate-1", HappeningKind::NeedsYou).await;
    let (outcome, by) = (RequestOutcome::Answered, AnsweredBy::Api);
    let close = vec![Change::RequestClosed { request_id, outcome, by }, Change::HappeningOver("gate-1".to_owned())];
    store.append_checked(changes(session, close)).await.expect("appended");
    assert_eq!(store.happenings(9).await.expect("read"), [], "it is not even planned");
    assert_eq!(states(&store).await, [(key.clone(), Superseded)]);
    let id = store.deliveries(None, 9).await.expect("read")[0].id;
    store.record_deliveries(vec![id], progress(Pending, 9)).await.expect("recorded");
    assert_eq!(states(&store).await, [(key.clone(), Superseded)], "it has ended");
    store.record_deliveries(vec![id], progress(Delivered, 9)).await.expect("recorded");
    assert_eq!(states(&store).await, [(key, Delivered)], "it had been on its way");
    store.close().await;
}

pub(super) async fn a_task_reports_nothing_of_its_own(medium: &Medium) {
    let store = medium.open();
    let misplaced = changes(TaskId::from_number(1), vec![happening("x", HappeningKind::Failed)]);
    assert!(store.append_checked(misplaced).await.is_err());
    assert_eq!(store.happenings(9).await.expect("read"), []);
    store.close().await;
}

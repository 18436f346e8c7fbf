//! What must hold for the log of captured calls.

use super::{Ending, Medium};
use crate::model::{Timestamp, Usage};
use crate::store::{CaptureCall, CaptureCallId, CaptureUsage, Store};

fn call(at: i64, usage: Usage) -> CaptureCall {
    CaptureCall {
        at: Timestamp::from_millis(at),
        token_id: "token-1".to_owned(),
        dialect: "messages".to_owned(),
        model: "gpt-5.2".to_owned(),
        mode: "held".to_owned(),
        tools: 3,
        outcome: "tool-calls".to_owned(),
        error: None,
        usage,
        duration_ms: 1_200,
    }
}

async fn page(store: &Store, before: Option<CaptureCallId>, limit: usize) -> (Vec<CaptureCallId>, Vec<CaptureCall>) {
    let calls = store.capture_calls(before, limit).await.expect("read");
    calls.into_iter().map(|stored| (stored.id, stored.call)).unzip()
}

pub(super) async fn captured_calls_are_listed_newest_first_in_pages(medium: &Medium) {
    let store = medium.open();
    let known = Usage { input_tokens: Some(7), premium_requests: Some(0.5), ..Usage::default() };
    let failed = CaptureCall { error: Some("the key [redacted] is wrong".to_owned()), ..call(2, Usage::default()) };
    let calls = [call(1, known), failed, call(3, Usage::default())];
    for call in &calls {
        // Whatever an error says, a secret in it is not stored.
        let error = call.error.as_ref().map(|error| error.replace("[redacted]", "fdk_0123456789abcdef"));
        store.add_capture_call(CaptureCall { error, ..call.clone() });
    }
    store.flush().await.expect("written");
    let store = medium.restart(store, Ending::Crash).await;
    let (ids, all) = page(&store, None, 9).await;
    assert_eq!(all, [calls[2].clone(), calls[1].clone(), calls[0].clone()]);
    assert!(ids[0] > ids[1] && ids[1] > ids[2], "{ids:?}");
    assert_eq!(page(&store, None, 2).await.0, ids[..2]);
    assert_eq!(page(&store, Some(ids[1]), 2).await.0, ids[2..]);
    assert_eq!(page(&store, Some(ids[2]), 2).await.0, [0; 0]);
    assert_eq!(page(&store, Some(CaptureCallId::MAX), 9).await.0, ids);
    let sums = store.capture_usage().await.expect("read");
    let known = Usage { input_tokens: Some(7), premium_requests: Some(0.5), ..Usage::default() };
    assert_eq!(
        sums,
        [CaptureUsage { token_id: "token-1".to_owned(), calls: 3, usage: known }],
        "unknown stays unknown"
    );
    store.close().await;
}

pub(super) async fn old_captured_calls_are_deleted_and_their_numbers_are_not_given_again(medium: &Medium) {
    let store = medium.open();
    // More than one transaction deletes.
    for at in 0..5_000 {
        store.add_capture_call(call(at, Usage::default()));
    }
    store.flush().await.expect("written");
    store.expire_capture_calls(Timestamp::from_millis(4_998)).await.expect("expired");
    let (ids, left) = page(&store, None, 9).await;
    let times: Vec<i64> = left.iter().map(|call| call.at.as_millis()).collect();
    assert_eq!(times, [4_999, 4_998]);
    store.expire_capture_calls(Timestamp::from_millis(i64::MAX)).await.expect("expired");
    assert_eq!(page(&store, None, 9).await.0, [0; 0]);
    store.add_capture_call(call(9, Usage::default()));
    store.flush().await.expect("written");
    assert!(page(&store, None, 9).await.0[0] > ids[0], "a cursor stays true");
    store.close().await;
}

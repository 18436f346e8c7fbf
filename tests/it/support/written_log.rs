//! Logs that no agent of ours would write, put into the store of a server while it is down.

use std::collections::HashMap;

use flightdeck::model::{Seq, SessionId, Timestamp};
use flightdeck::store::{Append, Change, DataFolder, EndedBlock, EventRow, Store, StoreSettings};
use serde_json::Value;

use super::{Server, TestSession};

/// Events, and files that they refer to.
#[derive(Default)]
pub struct WrittenLog {
    /// JSON, in order.
    pub events: Vec<String>,
    /// Content and media type.
    pub blobs: Vec<(Vec<u8>, String)>,
}

/// Appends to a session's log. Returns the restarted server and the numbers of the events.
pub async fn write_log(mut server: Server, session: &TestSession, log: WrittenLog) -> (Server, Vec<Seq>) {
    assert!(server.stop().await);
    let id: SessionId = session.id.parse().expect("an id");
    let folder = DataFolder::lock(&server.data()).expect("locked");
    let store = Store::open(&folder, StoreSettings::default()).expect("opened");
    let mut changes = Vec::new();
    for (data, mime) in log.blobs {
        let size = data.len() as u64;
        let hash = store.put_blob(data).await.expect("written");
        changes.push(Change::BlobUsed { hash, mime, size });
    }
    let first = store.load_session(id).await.expect("read").expect("there").next_seq;
    let time = Timestamp::from_millis(0);
    let events: Vec<EventRow> =
        (first..).zip(log.events).map(|(seq, body)| EventRow { seq, time, block: None, body: body.into() }).collect();
    let seqs = events.iter().map(|event| event.seq).collect();
    let ended_blocks = tool_calls(&events);
    let append = Append { stream: id.into(), time, events, ended_blocks, changes };
    store.append_checked(append).await.expect("appended");
    store.close().await;
    drop((store, folder));
    (server.start_again().await, seqs)
}

/// Tool calls that start and end in these events.
fn tool_calls(events: &[EventRow]) -> Vec<EndedBlock> {
    let mut starts: HashMap<String, Seq> = HashMap::new();
    let mut ended = Vec::new();
    for event in events {
        let response: Value = serde_json::from_slice(&event.body).unwrap_or_default();
        let call = response["toolCallId"].as_str().unwrap_or_default().to_owned();
        match response["callback"].as_str() {
            Some("onStartToolExecution") => drop(starts.insert(call, event.seq)),
            Some("onEndToolExecution") => {
                let start = starts.remove(&call);
                ended.extend(start.map(|start| EndedBlock { start, end: event.seq, deltas: 0 }));
            }
            _ => {}
        }
    }
    ended
}

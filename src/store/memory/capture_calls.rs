//! The log of captured calls.

use super::Memory;
use crate::model::Timestamp;
use crate::store::{Answer, CaptureCall, CaptureCallId, CaptureRecords, StoredCaptureCall};

impl CaptureRecords for Memory {
    fn add_capture_call(&self, call: CaptureCall) {
        drop(self.write(|state| {
            state.last_capture_call += 1;
            state.capture_calls.insert(state.last_capture_call, call);
        }));
    }

    fn capture_calls(&self, before: Option<CaptureCallId>, limit: usize) -> Answer<'_, Vec<StoredCaptureCall>> {
        self.read(|state| {
            let calls = state.capture_calls.range(..before.unwrap_or(CaptureCallId::MAX)).rev().take(limit);
            calls.map(|(id, call)| StoredCaptureCall { id: *id, call: call.clone() }).collect()
        })
    }

    fn expire_capture_calls(&self, before: Timestamp) -> Answer<'_, ()> {
        self.write(|state| state.capture_calls.retain(|_, call| call.at >= before))
    }
}

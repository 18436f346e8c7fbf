//! The log of captured calls.

use std::collections::BTreeMap;

use super::Memory;
use crate::model::{Timestamp, Usage};
use crate::store::{Answer, CaptureCall, CaptureCallId, CaptureRecords, CaptureUsage, StoredCaptureCall};

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

    fn capture_usage(&self) -> Answer<'_, Vec<CaptureUsage>> {
        self.read(|state| {
            let mut all: BTreeMap<String, CaptureUsage> = BTreeMap::new();
            for call in state.capture_calls.values() {
                let (token_id, usage) = (call.token_id.clone(), Usage::default());
                let sum = all.entry(token_id.clone()).or_insert(CaptureUsage { token_id, calls: 0, usage });
                sum.calls += 1;
                sum.usage.add(&Usage { model: None, code_changes: None, ..call.usage.clone() });
            }
            all.into_values().collect()
        })
    }

    fn expire_capture_calls(&self, before: Timestamp) -> Answer<'_, ()> {
        self.write(|state| state.capture_calls.retain(|_, call| call.at >= before))
    }
}

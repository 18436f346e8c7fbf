//! The last requests to the model, for tests and checks of what an agent sent.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use parking_lot::Mutex;
use serde_json::Value;

/// How many requests are kept.
const MOST_REQUESTS: usize = 1_000;
/// How many bytes of bodies are kept.
const MOST_BYTES: usize = 64 * 1024 * 1024;

/// A request to the model.
#[derive(Clone, Debug, Default)]
pub struct ModelCall {
    /// Its body.
    pub body: Value,
    /// Its header `x-initiator`: whether the agent counts it as the user's or as its own.
    pub initiator: Option<String>,
    pub(super) was_cut_off: Arc<AtomicBool>,
}

impl ModelCall {
    /// Whether the agent closed the connection before the answer was complete.
    pub fn was_cut_off(&self) -> bool {
        self.was_cut_off.load(Ordering::Relaxed)
    }
}

/// The last requests, and the number of all requests.
#[derive(Debug, Default)]
pub(super) struct RequestLog {
    kept: Mutex<Kept>,
}

#[derive(Debug, Default)]
struct Kept {
    total: usize,
    bytes: usize,
    requests: VecDeque<(usize, ModelCall)>,
}

impl RequestLog {
    /// Adds a request with a body of that size. Returns its number, starting at 1.
    pub fn add(&self, request: ModelCall, bytes: usize) -> usize {
        let mut kept = self.kept.lock();
        kept.total += 1;
        kept.bytes += bytes;
        kept.requests.push_back((bytes, request));
        while kept.requests.len() > MOST_REQUESTS || (kept.bytes > MOST_BYTES && kept.requests.len() > 1) {
            if let Some((bytes, _)) = kept.requests.pop_front() {
                kept.bytes -= bytes;
            }
        }
        kept.total
    }

    /// The requests that are kept, oldest first.
    pub fn all(&self) -> Vec<ModelCall> {
        self.matching(|_| true)
    }

    /// Those that fulfil a condition. Only they are copied, because bodies are large.
    pub fn matching(&self, is_wanted: impl Fn(&ModelCall) -> bool) -> Vec<ModelCall> {
        let kept = self.kept.lock();
        kept.requests.iter().map(|(_, request)| request).filter(|request| is_wanted(request)).cloned().collect()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn call(body: Value) -> ModelCall {
        ModelCall { body, ..ModelCall::default() }
    }

    #[test]
    fn only_the_last_requests_are_kept_and_all_are_counted() {
        let log = RequestLog::default();
        for number in 1..=MOST_REQUESTS + 5 {
            assert_eq!(log.add(call(json!(number)), 10), number);
        }
        let bodies = || log.all().into_iter().map(|call| call.body).collect::<Vec<_>>();
        let all = bodies();
        assert_eq!((all.len(), &all[0]), (MOST_REQUESTS, &json!(6)));
        log.add(call(json!("large")), MOST_BYTES + 1);
        assert_eq!(bodies(), [json!("large")], "the bytes are bounded too");
        log.add(call(json!("next")), 1);
        assert_eq!(bodies(), [json!("next")]);
    }
}

//! The one clock of sessions.

use std::time::{SystemTime, UNIX_EPOCH};

use crate::model::Timestamp;

/// This moment.
pub fn now() -> Timestamp {
    let since_epoch = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Timestamp::from_millis(i64::try_from(since_epoch.as_millis()).unwrap_or(i64::MAX))
}

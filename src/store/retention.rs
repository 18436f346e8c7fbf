//! Which old sessions are forgotten. Only closed sessions are ever forgotten.

use std::time::Duration;

/// What is kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Retention {
    /// Sessions closed longer ago than this are forgotten.
    pub max_age: Option<Duration>,
    /// While the database holds more than this, the sessions closed longest ago are forgotten.
    pub max_bytes: Option<u64>,
}

//! Which old sessions are deleted. Only closed sessions are ever deleted.

use std::time::Duration;

/// What is kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Retention {
    /// Sessions closed longer ago than this are deleted.
    pub max_age: Option<Duration>,
    /// While the database is larger than this, the sessions closed longest ago are deleted.
    pub max_bytes: Option<u64>,
}

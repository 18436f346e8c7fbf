//! Counters of the store, for the metrics page.

use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::{Histogram, exponential_buckets};

/// Counters of the writer; cheap clones share the figures.
#[derive(Clone, Debug)]
pub struct StoreStatistics {
    /// Events committed.
    pub events: Counter,
    /// Seconds per commit.
    pub commit_seconds: Histogram,
    /// Commits that waited for the disk, so that they survive a power cut.
    pub synced_commits: Counter,
    /// Jobs queued for the writer.
    pub queue: Gauge,
    /// Transactions that failed.
    pub failures: Counter,
}

impl Default for StoreStatistics {
    fn default() -> Self {
        Self {
            events: Counter::default(),
            commit_seconds: Histogram::new(exponential_buckets(0.000_02, 2.0, 16)),
            synced_commits: Counter::default(),
            queue: Gauge::default(),
            failures: Counter::default(),
        }
    }
}

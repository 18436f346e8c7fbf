//! Counters of notifications, for the metrics page.

use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;

/// To whom, and what became of it.
#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
pub struct DeliveryLabels {
    /// The name of the target.
    pub target: String,
    /// `delivered`, `retried` or `given-up`.
    pub outcome: &'static str,
}

/// Counters of notifications; cheap clones share the figures.
#[derive(Clone, Debug, Default)]
pub struct NotifyStatistics {
    /// Attempts to send, by outcome.
    pub attempts: Family<DeliveryLabels, Counter>,
}

impl NotifyStatistics {
    pub(super) fn count(&self, target: &str, outcome: &'static str) {
        self.attempts.get_or_create(&DeliveryLabels { target: target.to_owned(), outcome }).inc();
    }
}

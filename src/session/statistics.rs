//! Counters of sessions, for the metrics page.

use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::histogram::{Histogram, exponential_buckets};

use crate::model::PromptVerdict;

/// How turns end.
#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
pub struct TurnLabels {
    /// The runtime.
    pub runtime: String,
    /// `succeeded`, `failed` or `interrupted`.
    pub outcome: &'static str,
}

/// Whose turns.
#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
pub struct RuntimeLabels {
    /// The runtime.
    pub runtime: String,
}

/// Counters of all sessions; cheap clones share the figures.
#[derive(Clone, Debug)]
pub struct SessionStatistics {
    /// Turns that ended, by how.
    pub turns: Family<TurnLabels, Counter>,
    /// Seconds per turn.
    pub turn_seconds: Family<RuntimeLabels, Histogram, fn() -> Histogram>,
}

impl Default for SessionStatistics {
    fn default() -> Self {
        // From a tenth of a second to more than an hour.
        let buckets: fn() -> Histogram = || Histogram::new(exponential_buckets(0.1, 2.5, 12));
        Self { turns: Family::default(), turn_seconds: Family::new_with_constructor(buckets) }
    }
}

/// The word for an outcome.
pub(super) fn outcome_word(verdict: PromptVerdict) -> &'static str {
    match verdict {
        PromptVerdict::Succeeded => "succeeded",
        PromptVerdict::Failed => "failed",
        PromptVerdict::Interrupted => "interrupted",
        PromptVerdict::Dropped => "dropped",
    }
}

//! Counters of jobs, for the metrics page.

use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;

/// How something ended.
#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
pub struct OutcomeLabels {
    /// `succeeded`, `failed` or, for jobs, `canceled`.
    pub outcome: &'static str,
}

/// Counters of all jobs; cheap clones share the figures.
#[derive(Clone, Debug, Default)]
pub struct JobStatistics {
    /// Jobs that ended.
    pub jobs: Family<OutcomeLabels, Counter>,
    /// Works of jobs that ended.
    pub works: Family<OutcomeLabels, Counter>,
}

impl JobStatistics {
    pub(super) fn job_ended(&self, outcome: &'static str) {
        self.jobs.get_or_create(&OutcomeLabels { outcome }).inc();
    }

    pub(super) fn work_ended(&self, succeeded: bool) {
        let outcome = if succeeded { "succeeded" } else { "failed" };
        self.works.get_or_create(&OutcomeLabels { outcome }).inc();
    }
}

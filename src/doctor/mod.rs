//! Preflight: what could be wrong with this machine, its agents and our own folder, each in a line with the fix.
//!
//! What must always hold here: a check changes nothing that a person would miss, ends in bounded time, and says what to
//! do. The permission canary is the one check that runs an agent: on a model of our own, in a folder of its own.

mod canary;
mod machine;

use std::path::Path;

pub use canary::{CanaryOutcome, sing};

use crate::agent::{Quarantine, Runtimes};
use crate::model::{Check, CheckVerdict};
use crate::store::Store;

/// What is examined.
pub struct Patient<'a> {
    /// Where everything is kept.
    pub data_folder: &'a Path,
    /// The database.
    pub store: &'a Store,
    /// The agents.
    pub runtimes: &'a Runtimes,
    /// Where versions that fail the canary are locked out.
    pub quarantine: &'a Quarantine,
    /// Where the scripted model is that the canary needs; without one it does not sing.
    pub model_url: Option<String>,
}

/// Every check, the machine's first.
pub async fn examine(patient: &Patient<'_>) -> Vec<Check> {
    let mut checks = vec![
        machine::folder_check(patient.data_folder).await,
        machine::database_check(patient.store).await,
        machine::space_check(patient.data_folder),
        machine::git_check().await,
        machine::orphan_check(patient.data_folder).await,
    ];
    for runtime in patient.runtimes.iter() {
        let found = runtime.preflight().await;
        let broken = found.iter().any(|check| check.verdict == CheckVerdict::Failure);
        checks.extend(found);
        if let Some(model) = patient.model_url.as_deref().filter(|_| !broken) {
            checks.extend(canary::check(runtime.as_ref(), model, patient.quarantine).await);
        }
    }
    let processes = patient.runtimes.processes().await;
    checks.extend(processes.iter().map(machine::process_check));
    checks
}

/// The worst of all verdicts.
pub fn verdict(checks: &[Check]) -> CheckVerdict {
    checks.iter().map(|check| check.verdict).max().unwrap_or(CheckVerdict::Ok)
}

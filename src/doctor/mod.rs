//! The system check: this machine, the agents and the data folder, each problem with what to do about it.
//!
//! What must always hold here: a check changes nothing that a person would miss, ends in bounded time, and says what to
//! do. An agent that is not installed is information; only what should work and does not is a failure. The permission
//! canary is the one check that runs an agent: on the scripted model, in a folder of its own.

mod canary;
mod conformance;
mod machine;
mod report;

use std::path::Path;

pub use canary::{CanaryOutcome, run_canary};
pub use report::{ReadyRuntime, Report};

use crate::agent::{ConformanceResults, Quarantine, Runtimes};
use crate::model::{Check, CheckVerdict};
use crate::scripted_model::ScriptedModel;
use crate::store::Store;

/// Whether the permission canary runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Canary {
    /// Run it for every agent that can use the scripted model.
    Run,
    /// Skip it.
    Skip,
}

/// What `doctor` checks.
pub struct DoctorInput<'a> {
    /// The data folder.
    pub data_folder: &'a Path,
    /// The database.
    pub store: &'a Store,
    /// The agents.
    pub runtimes: &'a Runtimes,
    /// Where versions that fail the canary are listed.
    pub quarantine: &'a Quarantine,
    /// Whether the permission canary runs.
    pub canary: Canary,
}

/// Runs every check.
pub async fn examine(input: &DoctorInput<'_>) -> Report {
    let mut checks = vec![
        machine::folder_check(input.data_folder).await,
        machine::database_check(input.store).await,
        machine::space_check(input.data_folder),
        machine::git_check().await,
        machine::orphan_check(input.data_folder).await,
    ];
    checks.extend(machine::quarantine_check(input.quarantine));
    let model = match input.canary {
        Canary::Skip => None,
        Canary::Run => match ScriptedModel::start().await {
            Ok(model) => Some(model),
            Err(error) => {
                let hint = "the permission canary was skipped; check whether programs may listen on 127.0.0.1";
                checks.push(Check::warning("permission canary", format!("cannot start its model: {error}"), hint));
                None
            }
        },
    };
    let conformance = ConformanceResults::in_folder(input.data_folder);
    for runtime in input.runtimes.iter() {
        let mut found = runtime.preflight().await;
        let is_usable = !found.is_empty() && found.iter().all(|check| check.verdict != CheckVerdict::Failure);
        // An agent that is not installed cannot be tested.
        let is_installed = found.iter().any(|check| check.verdict != CheckVerdict::Info);
        if let Some(model) = model.as_ref().filter(|_| is_usable && is_installed) {
            found.extend(canary::check(input.runtimes, runtime.as_ref(), &model.base_url(), input.quarantine).await);
        }
        if is_usable && is_installed {
            found.extend(conformance::check(runtime.as_ref(), &conformance).await);
        }
        checks.extend(found.into_iter().map(|check| check.in_group(runtime.family())));
    }
    for process in input.runtimes.processes().await {
        let family = input.runtimes.named(&process.runtime).map(|runtime| runtime.family().to_owned());
        checks.push(machine::process_check(&process).in_group(family.as_deref().unwrap_or(&process.runtime)));
    }
    Report { ready: ready(input.runtimes).await, checks }
}

/// The runtimes that sessions can use now.
async fn ready(runtimes: &Runtimes) -> Vec<ReadyRuntime> {
    let described = runtimes.described().await;
    let ready = described.into_iter().filter(|(_, readiness)| readiness.ready);
    ready
        .map(|(runtime, readiness)| ReadyRuntime { runtime: runtime.name().to_owned(), hint: readiness.hint })
        .collect()
}

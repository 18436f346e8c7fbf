//! The runtimes of this program, in order of preference.

use std::sync::Arc;

use crate::agent::copilot::Copilot;
use crate::agent::demo::Demo;
use crate::agent::{Runtimes, agent_environment};
use crate::process::Supervisor;

/// `only` names the variables that agents get; empty for all but ours.
pub(super) fn runtimes(only: &[String], supervisor: Supervisor) -> Runtimes {
    let environment = agent_environment(std::env::vars(), only);
    Runtimes::new(vec![Arc::new(Copilot::new(environment, supervisor)), Arc::new(Demo::new())])
}

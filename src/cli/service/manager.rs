//! Calls of a service manager.

use std::io;
use std::process::{Command, Stdio};

use anyhow::bail;

use super::super::terminal::text::{clean, command};

/// One call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Step {
    pub program: &'static str,
    pub arguments: Vec<String>,
}

impl Step {
    /// As it would be typed.
    pub fn shown(&self) -> String {
        format!("{} {}", self.program, command(&self.arguments))
    }
}

/// Runs the calls in order. `false` if the manager cannot be run here; an error if it refuses.
pub(super) fn run_steps(steps: &[Step]) -> anyhow::Result<bool> {
    for step in steps {
        let output = Command::new(step.program).args(&step.arguments).stdin(Stdio::null()).output();
        match output {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
            Err(error) => bail!("cannot run {}: {error}", step.program),
            Ok(output) if output.status.success() => {}
            Ok(output) => {
                let message = clean(&String::from_utf8_lossy(&output.stderr));
                // In a container, or over ssh without a login session, there is no manager to talk to.
                if message.contains("Failed to connect to bus") || message.contains("not been booted with systemd") {
                    return Ok(false);
                }
                bail!("`{}` failed ({}): {}", step.shown(), output.status, message.trim());
            }
        }
    }
    Ok(true)
}

/// What a call prints, whatever its exit code; `None` if it cannot be made.
pub(super) fn output_of(step: &Step) -> Option<String> {
    let output = Command::new(step.program).args(&step.arguments).stdin(Stdio::null()).output().ok()?;
    let text = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    let is_unreachable = text.is_empty() && !output.status.success();
    (!is_unreachable).then_some(text)
}

//! A user unit of systemd.

use super::definition::Definition;
use super::manager::Step;

pub(super) const FILE: &str = "flightdeck.service";

/// A call of systemctl.
pub(super) fn step(arguments: &[&str]) -> Step {
    let arguments = std::iter::once("--user").chain(arguments.iter().copied());
    Step { program: "systemctl", arguments: arguments.map(str::to_owned).collect() }
}

/// The unit. The server shuts down by itself within ten seconds, so it gets twice that; its agents end with it.
pub(super) fn unit(definition: &Definition) -> String {
    let program = definition.program.to_string_lossy().into_owned();
    let words: Vec<String> = std::iter::once(program).chain(definition.arguments()).map(|word| quoted(&word)).collect();
    format!(
        "[Unit]\nDescription=Flightdeck: coding agents as durable sessions\n\n\
         [Service]\nType=exec\nExecStart={}\nRestart=on-failure\nRestartSec=2\nTimeoutStopSec=20\nKillMode=mixed\n\n\
         [Install]\nWantedBy=default.target\n",
        words.join(" ")
    )
}

/// A word in which systemd expands nothing.
fn quoted(word: &str) -> String {
    let escaped = word.replace('\\', "\\\\").replace('"', "\\\"").replace('%', "%%").replace('$', "$$");
    format!("\"{escaped}\"")
}

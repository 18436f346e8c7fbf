//! `cargo xtask chaos`: kills of the server at random points under load.

use crate::shell::{cargo, run};

/// Kills the server that many times. The last line says what was compared.
pub fn chaos(kills: &str) -> Result<(), String> {
    kills.parse::<usize>().map_err(|_| format!("{kills:?} is no number of kills"))?;
    let arguments = ["test", "--package", "flightdeck", "--test", "it", "chaos::", "--", "--nocapture"];
    run(cargo(&arguments).env("CHAOS_KILLS", kills))
}

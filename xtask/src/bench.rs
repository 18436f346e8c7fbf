//! `cargo xtask bench`: the benchmark of the whole server, written to `docs/benchmarks.md`.

use std::io::Write as _;

use crate::shell::{cargo, run, workspace};

/// Builds the benchmark, and with it the server, in the release profile, and runs it.
pub fn bench() -> Result<(), String> {
    let agents = crate::agents::install()?;
    let output = workspace().join("docs/benchmarks.md");
    run(cargo(&["bench", "--bench", "portal"]).env("BENCH_OUTPUT", &output).env("TEST_AGENTS", agents))?;
    let binary = workspace().join("target/release").join(format!("flightdeck{}", std::env::consts::EXE_SUFFIX));
    let rows = crate::browser::first_paint(&binary)?;
    // The table is the last thing in the file.
    let mut file = std::fs::OpenOptions::new().append(true).open(&output).map_err(|error| error.to_string())?;
    file.write_all(rows.as_bytes()).map_err(|error| error.to_string())
}

//! `cargo xtask bench`: the benchmark of the whole server, written to `docs/benchmarks.md`.

use crate::shell::{cargo, run, workspace};

/// Builds the server and its benchmark in the release profile, and runs it.
pub fn bench() -> Result<(), String> {
    let agents = crate::agents::install()?;
    run(&mut cargo(&["build", "--release"]))?;
    let output = workspace().join("docs/benchmarks.md");
    run(cargo(&["bench", "--bench", "portal"]).env("BENCH_OUTPUT", output).env("TEST_AGENTS", agents))
}

//! `cargo xtask bench`: the benchmark of the whole server, written to `docs/benchmarks.md`.

use crate::shell::{cargo, run, workspace};

/// Builds the server and its benchmark in the release profile, and runs it.
pub fn bench() -> Result<(), String> {
    run(&mut cargo(&["build", "--release"]))?;
    run(cargo(&["bench", "--bench", "portal"]).env("BENCH_OUTPUT", workspace().join("docs/benchmarks.md")))
}

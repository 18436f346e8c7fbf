//! `cargo xtask lint`: format, clippy, docs and dependencies; a warning is an error.

use crate::shell::{cargo, run};

/// Checks without changing anything.
pub fn lint() -> Result<(), String> {
    run(&mut cargo(&["fmt", "--all", "--", "--check"]))?;
    run(&mut cargo(&["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"]))?;
    run(cargo(&["doc", "--workspace", "--no-deps", "--document-private-items"]).env("RUSTDOCFLAGS", "-D warnings"))?;
    crate::deny::check()
}

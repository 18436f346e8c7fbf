//! `cargo xtask test`: everything, as CI runs it.

use crate::shell::{cargo, run, works};

/// Runs all tests, or the Rust tests whose names match. (`cargo xtask browser FILTER` does the same for the pages.)
pub fn test(filters: &[String]) -> Result<(), String> {
    let everything = filters.is_empty();
    let filters: Vec<&str> = filters.iter().map(String::as_str).collect();
    let agents = crate::agents::install()?;
    if works(&mut cargo(&["nextest", "--version"])) {
        run(cargo(&["nextest", "run", "--workspace", "--no-fail-fast"]).args(&filters).env("TEST_AGENTS", &agents))?;
    } else {
        // nextest only adds a time limit for each test; cargo's own runner is always there.
        for filter in if filters.is_empty() { vec![""] } else { filters } {
            run(cargo(&["test", "--workspace", "--lib", "--bins", "--tests"]).arg(filter).env("TEST_AGENTS", &agents))?;
        }
    }
    run(&mut cargo(&["test", "--doc", "--package", "flightdeck"]))?;
    if everything { crate::browser::tests(None) } else { Ok(()) }
}

//! The real agents that tests talk to.

use std::path::PathBuf;

use crate::npm::{self, Package};

const PACKAGES: [Package; 4] = [
    ("@anthropic-ai/claude-code", "2.1.325"),
    ("@github/copilot", "1.0.102"),
    ("@github/copilot-sdk", "1.0.14"),
    ("opencode-ai", "1.18.33"),
];

/// Installs what is missing and returns the folder.
pub fn install() -> Result<PathBuf, String> {
    npm::install("flightdeck-test-agents", &PACKAGES)
}

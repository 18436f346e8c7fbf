//! The real agents that tests talk to, and real clients of the model API.

use std::path::PathBuf;

use crate::npm::{self, Package};
use crate::pypi;

const PACKAGES: [Package; 6] = [
    ("@anthropic-ai/claude-code", "2.1.325"),
    ("@anthropic-ai/sdk", "1.8.0"),
    ("@github/copilot", "1.0.102"),
    ("@github/copilot-sdk", "1.0.14"),
    ("openai", "6.49.0"),
    ("opencode-ai", "1.18.33"),
];
const PYTHON_PACKAGES: [Package; 1] = [("openai", "3.49.0")];

/// Installs what is missing and returns the folder.
pub fn install() -> Result<PathBuf, String> {
    let folder = npm::install("flightdeck-test-agents", &PACKAGES)?;
    pypi::install(&folder, &PYTHON_PACKAGES)?;
    Ok(folder)
}

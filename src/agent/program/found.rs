//! A program that was found.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Where it was found, in search order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ProgramSource {
    /// Named in the configuration.
    Configuration,
    /// Named by an environment variable.
    Variable,
    /// Installed by Flightdeck in the data folder.
    Private,
    /// On the `PATH`.
    Path,
    /// In npm's global folder.
    NpmGlobal,
    /// Run through GitHub's CLI, `gh`, which may not pass everything on.
    GitHubCli,
}

impl ProgramSource {
    /// The text for display.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Configuration => "the configuration",
            Self::Variable => "the environment",
            Self::Private => "installed by Flightdeck",
            Self::Path => "PATH",
            Self::NpmGlobal => "npm's global folder",
            Self::GitHubCli => "gh (best effort)",
        }
    }
}

/// How to start a program.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FoundProgram {
    /// The executable itself, not a loader script.
    pub path: PathBuf,
    /// Arguments that come before all others: `gh copilot …`.
    pub leading_arguments: Vec<String>,
    /// Whether it is the native executable and not a script that starts it.
    pub native: bool,
    /// Its version, if known.
    pub version: Option<String>,
    /// Where it was found.
    pub source: ProgramSource,
    /// When it was found, in seconds since 1970.
    pub found_at: u64,
}

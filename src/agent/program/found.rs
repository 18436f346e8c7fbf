//! A program that was found.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// Where it was found, in the order of looking.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ProgramSource {
    /// The configuration names it.
    Configuration,
    /// An environment variable names it.
    Variable,
    /// Installed by us, below the data folder.
    Private,
    /// On the `PATH`.
    Path,
    /// In npm's global folder.
    NpmGlobal,
    /// Behind GitHub's own command line, `gh`: may or may not pass everything on.
    GitHubCli,
}

impl ProgramSource {
    /// In words.
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
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct FoundProgram {
    /// The executable itself, behind any loader.
    pub path: PathBuf,
    /// Arguments before all others: `gh copilot …`.
    pub leading_arguments: Vec<String>,
    /// Whether it is the native executable and not a script that starts it.
    pub native: bool,
    /// Its version, where it says.
    pub version: Option<String>,
    /// Where it was found.
    pub source: ProgramSource,
    /// When, in seconds since 1970.
    pub found_at: u64,
}

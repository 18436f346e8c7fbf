//! The result of the checks.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::model::Timestamp;

/// What may rest on an assumption.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Capability {
    /// Capture that keeps the session waiting for the caller's tool results.
    Hold,
    /// Capture that destroys the session after each tool call.
    Destroy,
}

impl fmt::Display for Capability {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Hold => "hold",
            Self::Destroy => "destroy",
        })
    }
}

/// What an assumption is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Area {
    /// The order of events.
    Ordering,
    /// Tools that a hook denies.
    Deny,
    /// The end of sessions.
    Lifecycle,
    /// Tools that a session declares.
    Registration,
    /// Tool calls that wait for their result.
    Hold,
    /// The process and its connection.
    Client,
    /// The kinds of events.
    Vocabulary,
}

impl fmt::Display for Area {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Ordering => "ordering",
            Self::Deny => "deny",
            Self::Lifecycle => "lifecycle",
            Self::Registration => "registration",
            Self::Hold => "hold",
            Self::Client => "client",
            Self::Vocabulary => "vocabulary",
        })
    }
}

/// One assumption, and what the agent did.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AssumptionResult {
    /// The check's name, such as `deny.built-in`.
    pub id: String,
    /// What it is about.
    pub area: Area,
    /// The assumption.
    pub assumption: String,
    /// Why it matters.
    pub why: String,
    /// What rests on it. Nothing if a failure is only information for developers.
    pub capabilities: Vec<Capability>,
    /// Whether it holds.
    pub passed: bool,
    /// What was seen, or why the check could not run.
    pub seen: String,
}

/// All checks of one version.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ConformanceReport {
    /// The runtime.
    pub runtime: String,
    /// The program that was checked.
    pub program: String,
    /// The version that the program reports.
    pub version: String,
    /// When the checks began.
    pub at: Timestamp,
    /// How long they took.
    pub milliseconds: u64,
    /// Each assumption.
    pub checks: Vec<AssumptionResult>,
}

impl ConformanceReport {
    /// The checks that failed.
    pub fn failures(&self) -> impl Iterator<Item = &AssumptionResult> {
        self.checks.iter().filter(|check| !check.passed)
    }

    /// Whether every assumption holds.
    pub fn passed(&self) -> bool {
        self.failures().next().is_none()
    }

    /// The capabilities that this version must not use.
    pub fn switched_off(&self) -> Vec<Capability> {
        let mut off: Vec<Capability> = self.failures().flat_map(|check| check.capabilities.iter().copied()).collect();
        off.sort_unstable();
        off.dedup();
        off
    }
}

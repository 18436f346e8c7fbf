//! What a preflight check found.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How serious it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CheckVerdict {
    /// Works.
    Ok,
    /// Neither good nor bad: an agent that is not installed, for example.
    Info,
    /// Works, and could be better.
    Warning,
    /// Should work and does not.
    Failure,
}

/// One line of `doctor`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Check {
    /// What it belongs to: an agent's name, or `machine`.
    #[serde(default)]
    pub group: String,
    /// What was checked, such as `data folder` or `copilot: login`.
    pub name: String,
    /// How serious it is.
    pub verdict: CheckVerdict,
    /// What was found.
    pub message: String,
    /// What to do about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}

impl Check {
    /// The group of checks that belong to no agent.
    pub const MACHINE: &'static str = "machine";

    /// Works.
    pub fn ok(name: impl Into<String>, message: impl Into<String>) -> Self {
        Self::new(CheckVerdict::Ok, name, message, None)
    }

    /// Neither good nor bad.
    pub fn info(name: impl Into<String>, message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::new(CheckVerdict::Info, name, message, Some(hint.into()))
    }

    /// Works, and could be better.
    pub fn warning(name: impl Into<String>, message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::new(CheckVerdict::Warning, name, message, Some(hint.into()))
    }

    /// Should work and does not.
    pub fn failure(name: impl Into<String>, message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::new(CheckVerdict::Failure, name, message, Some(hint.into()))
    }

    /// The same check, in another group than `machine`.
    #[must_use]
    pub fn in_group(self, group: &str) -> Self {
        Self { group: group.to_owned(), ..self }
    }

    fn new(verdict: CheckVerdict, name: impl Into<String>, message: impl Into<String>, hint: Option<String>) -> Self {
        Self { group: Self::MACHINE.to_owned(), name: name.into(), verdict, message: message.into(), hint }
    }
}

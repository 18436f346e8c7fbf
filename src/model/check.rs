//! What a preflight check found.

use serde::{Deserialize, Serialize};

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CheckVerdict {
    /// As it should be.
    Ok,
    /// Works, and could be better.
    Warning,
    /// Does not work.
    Failure,
}

/// One line of `doctor`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Check {
    /// What was looked at, such as `data folder` or `copilot: login`.
    pub name: String,
    /// How bad it is.
    pub verdict: CheckVerdict,
    /// What was found.
    pub message: String,
    /// What to do about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}

impl Check {
    /// As it should be.
    pub fn ok(name: impl Into<String>, message: impl Into<String>) -> Self {
        Self { name: name.into(), verdict: CheckVerdict::Ok, message: message.into(), hint: None }
    }

    /// Works, and could be better.
    pub fn warning(name: impl Into<String>, message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { name: name.into(), verdict: CheckVerdict::Warning, message: message.into(), hint: Some(hint.into()) }
    }

    /// Does not work.
    pub fn failure(name: impl Into<String>, message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { name: name.into(), verdict: CheckVerdict::Failure, message: message.into(), hint: Some(hint.into()) }
    }
}

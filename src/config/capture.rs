//! Captures: agents as models for other programs.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::Span;

/// What happens to the agent's session after an answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CaptureMode {
    /// It waits for the caller's next request.
    #[default]
    Hold,
    /// It is destroyed.
    Destroy,
}

/// Captures. What keeps tools from running cannot be configured.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Capture {
    /// What happens to the agent's session after an answer.
    pub mode: CaptureMode,
    /// Names that callers use for models, and the models they get. A name may end in `*`; the longest that fits counts.
    pub aliases: BTreeMap<String, String>,
    /// Answers at a time.
    pub concurrent: usize,
    /// Requests that wait for one of these places; further ones are refused.
    pub queue: usize,
    /// How long an answer may take in all.
    pub deadline: Span,
    /// How long a session of the agent waits for its caller at most.
    pub hold: Span,
    /// Sessions of the agent that wait in memory; further ones wait on its disk.
    pub waiting: usize,
    /// How long calls are kept in the log.
    pub keep_log: Span,
}

impl Default for Capture {
    fn default() -> Self {
        Self {
            mode: CaptureMode::Hold,
            aliases: BTreeMap::new(),
            concurrent: 64,
            queue: 64,
            deadline: Span::of(Duration::from_mins(10)),
            hold: Span::of(Duration::from_hours(1)),
            waiting: 32,
            keep_log: Span::of(Duration::from_hours(24 * 30)),
        }
    }
}

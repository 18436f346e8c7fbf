//! Limits on usage. 0 means no limit.

use serde::{Deserialize, Serialize};

/// Limits for each session and for each UTC day, and what happens when they are reached.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Budget {
    /// Premium requests of one session.
    pub session_premium_requests: f64,
    /// AI credits of one session.
    pub session_credits: f64,
    /// Tokens of one session, read and written together.
    pub session_tokens: u64,
    /// US dollars of one session.
    pub session_cost_usd: f64,
    /// Premium requests of all sessions in a day.
    pub day_premium_requests: f64,
    /// AI credits of all sessions in a day.
    pub day_credits: f64,
    /// Tokens of all sessions in a day, read and written together.
    pub day_tokens: u64,
    /// US dollars of all sessions in a day.
    pub day_cost_usd: f64,
    /// Warn at this fraction of a limit.
    pub warn_at: f64,
    /// Refuse prompts once a limit is reached.
    pub refuse: bool,
    /// Interrupt a running turn when a limit is reached.
    pub stop_turns: bool,
}

impl Default for Budget {
    fn default() -> Self {
        Self {
            session_premium_requests: 0.0,
            session_credits: 0.0,
            session_tokens: 0,
            session_cost_usd: 0.0,
            day_premium_requests: 0.0,
            day_credits: 0.0,
            day_tokens: 0,
            day_cost_usd: 0.0,
            warn_at: 0.8,
            refuse: false,
            stop_turns: false,
        }
    }
}

impl Budget {
    /// What is wrong with the limits, if anything.
    pub(super) fn problem(&self) -> Option<String> {
        let amounts = [
            self.session_premium_requests,
            self.session_credits,
            self.session_cost_usd,
            self.day_premium_requests,
            self.day_credits,
            self.day_cost_usd,
        ];
        if amounts.iter().any(|amount| !amount.is_finite() || *amount < 0.0) {
            return Some("a limit must be 0 (no limit) or more".to_owned());
        }
        let fits = self.warn_at > 0.0 && self.warn_at <= 1.0;
        (!fits).then(|| format!("{} must be a fraction above 0 and at most 1, such as 0.8", self.warn_at))
    }
}

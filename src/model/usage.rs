//! What a turn cost.

use serde::{Deserialize, Serialize};

/// Figures an agent reported. What it did not say is `null`, never 0.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Usage {
    /// Money, in US dollars.
    pub cost_usd: Option<f64>,
    /// Tokens the model read.
    pub input_tokens: Option<u64>,
    /// Tokens the model wrote.
    pub output_tokens: Option<u64>,
    /// Tokens read from the provider's cache.
    pub cache_read: Option<u64>,
    /// Tokens written to the provider's cache.
    pub cache_creation: Option<u64>,
    /// How long the turn took.
    pub duration_ms: Option<u64>,
    /// Model calls in the turn.
    pub num_turns: Option<u64>,
    /// Premium requests billed.
    pub premium_requests: Option<f64>,
}

impl Usage {
    /// Adds what another report of the same turn says; a figure only one of them knows is kept.
    pub fn add(&mut self, other: &Usage) {
        fn sum<T: Copy + std::ops::Add<Output = T>>(into: &mut Option<T>, more: Option<T>) {
            *into = match (*into, more) {
                (Some(have), Some(more)) => Some(have + more),
                (have, more) => have.or(more),
            };
        }
        sum(&mut self.cost_usd, other.cost_usd);
        sum(&mut self.input_tokens, other.input_tokens);
        sum(&mut self.output_tokens, other.output_tokens);
        sum(&mut self.cache_read, other.cache_read);
        sum(&mut self.cache_creation, other.cache_creation);
        sum(&mut self.duration_ms, other.duration_ms);
        sum(&mut self.num_turns, other.num_turns);
        sum(&mut self.premium_requests, other.premium_requests);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_stays_unknown_when_reports_are_added() {
        let mut total = Usage { input_tokens: Some(3), ..Usage::default() };
        total.add(&Usage { input_tokens: Some(4), output_tokens: Some(1), ..Usage::default() });
        assert_eq!(total.input_tokens, Some(7));
        assert_eq!(total.output_tokens, Some(1));
        assert_eq!(total.cost_usd, None);
    }
}

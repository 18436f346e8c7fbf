//! What can be configured. The barriers cannot.

use std::time::Duration;

use super::Mode;

/// Settings of captures.
#[derive(Clone, Debug)]
pub struct CaptureSettings {
    /// The runtime whose agent answers.
    pub runtime: String,
    /// What happens to the agent's session after an answer.
    pub mode: Mode,
    /// Names that callers use for models, and the models they get, in order. A name may end in `*`.
    pub aliases: Vec<(String, String)>,
    /// Answers at a time.
    pub concurrent: usize,
    /// Requests that wait for one of these places; further ones are refused.
    pub queue: usize,
    /// How long a request waits for a place.
    pub queue_for: Duration,
    /// How long an answer may take in all.
    pub deadline: Duration,
    /// How long a session of the agent waits for its caller at most.
    pub hold: Duration,
    /// Sessions of the agent that wait in memory.
    pub waiting: usize,
    /// How long one waits in memory.
    pub waiting_for: Duration,
    /// How long an answer goes on after its caller hung up.
    pub unheard: Duration,
    /// How long calls are kept in the log.
    pub keep_log: Duration,
}

impl Default for CaptureSettings {
    fn default() -> Self {
        Self {
            runtime: "copilot".to_owned(),
            mode: Mode::Hold,
            aliases: Vec::new(),
            concurrent: 64,
            queue: 64,
            queue_for: Duration::from_secs(10),
            deadline: Duration::from_mins(10),
            hold: Duration::from_hours(1),
            waiting: 32,
            waiting_for: Duration::from_mins(10),
            unheard: Duration::from_mins(1),
            keep_log: Duration::from_hours(24 * 30),
        }
    }
}

impl CaptureSettings {
    /// The model that a name stands for.
    pub fn model(&self, name: &str) -> String {
        let stands_for = |pattern: &str| match pattern.strip_suffix('*') {
            Some(start) => name.starts_with(start),
            None => name == pattern,
        };
        let alias = self.aliases.iter().find(|(pattern, _)| stands_for(pattern));
        alias.map_or_else(|| name.to_owned(), |(_, model)| model.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_alias_that_fits_names_the_model() {
        let aliases = [("claude-haiku-*", "gpt-5-mini"), ("claude-*", "gpt-5.2"), ("small", "gpt-5-mini")]
            .map(|(pattern, model)| (pattern.to_owned(), model.to_owned()))
            .to_vec();
        let settings = CaptureSettings { aliases, ..CaptureSettings::default() };
        for (name, model) in [
            ("claude-haiku-4-5-20251001", "gpt-5-mini"),
            ("claude-opus-4-6", "gpt-5.2"),
            ("small", "gpt-5-mini"),
            ("smaller", "smaller"),
        ] {
            assert_eq!(settings.model(name), model);
        }
    }
}

//! Token counts as OpenAI's dialects write them.

use serde_json::{Value, json};

use crate::model::Usage;

/// The names of the figures, which differ between the dialects.
pub(super) struct Names {
    pub input: &'static str,
    pub output: &'static str,
    pub input_details: &'static str,
}

pub(super) const CHAT: Names =
    Names { input: "prompt_tokens", output: "completion_tokens", input_details: "prompt_tokens_details" };
pub(super) const RESPONSES: Names =
    Names { input: "input_tokens", output: "output_tokens", input_details: "input_tokens_details" };

/// The figures; `None` if one that the dialect requires is unknown, because a client would add up zeros.
pub(super) fn usage(usage: Option<&Usage>, names: &Names) -> Option<Value> {
    let usage = usage?;
    let (input, output) = (usage.input_tokens?, usage.output_tokens?);
    let mut figures = json!({ "total_tokens": input.saturating_add(output) });
    figures[names.input] = json!(input);
    figures[names.output] = json!(output);
    if let Some(cached) = usage.cache_read {
        figures[names.input_details] = json!({ "cached_tokens": cached });
    }
    Some(figures)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_figures_are_absent_and_never_zero() {
        let known = Usage { input_tokens: Some(10), output_tokens: Some(2), ..Usage::default() };
        assert_eq!(
            usage(Some(&known), &CHAT),
            Some(json!({"total_tokens": 12, "prompt_tokens": 10, "completion_tokens": 2}))
        );
        let cached = Usage { cache_read: Some(4), ..known.clone() };
        assert_eq!(
            usage(Some(&cached), &RESPONSES).expect("known")["input_tokens_details"],
            json!({"cached_tokens": 4})
        );
        assert_eq!(usage(Some(&Usage { output_tokens: None, ..known }), &CHAT), None);
        assert_eq!(usage(None, &CHAT), None);
    }
}

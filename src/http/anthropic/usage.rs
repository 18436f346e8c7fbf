//! Token counts as Anthropic writes them.

use serde_json::{Value, json};

use crate::model::Usage;

/// The known figures. Agents count what was read from the cache and written to it as input, Anthropic counts it beside.
pub(super) fn usage(usage: Option<&Usage>) -> Value {
    let mut figures = json!({});
    let Some(usage) = usage else { return figures };
    if let Some(input) = usage.input_tokens {
        let cached = usage.cache_read.unwrap_or(0).saturating_add(usage.cache_creation.unwrap_or(0));
        figures["input_tokens"] = json!(input.saturating_sub(cached));
    }
    for (name, figure) in [
        ("output_tokens", usage.output_tokens),
        ("cache_read_input_tokens", usage.cache_read),
        ("cache_creation_input_tokens", usage.cache_creation),
    ] {
        if let Some(figure) = figure {
            figures[name] = json!(figure);
        }
    }
    figures
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cached_input_is_counted_beside_the_rest_and_unknown_figures_are_absent() {
        let known = Usage {
            input_tokens: Some(100),
            output_tokens: Some(20),
            cache_read: Some(50),
            cache_creation: Some(10),
            ..Usage::default()
        };
        assert_eq!(
            usage(Some(&known)),
            json!({"input_tokens": 40, "output_tokens": 20, "cache_read_input_tokens": 50, "cache_creation_input_tokens": 10})
        );
        let some = Usage { output_tokens: Some(1), ..Usage::default() };
        assert_eq!(usage(Some(&some)), json!({"output_tokens": 1}));
        assert_eq!(usage(None), json!({}));
    }
}

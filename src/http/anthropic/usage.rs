//! Token counts as Anthropic writes them.

use schemars::JsonSchema;
use serde::Serialize;

use crate::model::Usage;

/// Token counts; a figure that is unknown is left out.
#[derive(Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[expect(clippy::struct_field_names, reason = "the names are the dialect's")]
pub(super) struct MessageUsage {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub input_tokens: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output_tokens: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cache_read_input_tokens: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cache_creation_input_tokens: Option<u64>,
}

/// The known figures. Agents count what was read from the cache and written to it as input, Anthropic counts it beside.
pub(super) fn usage(usage: Option<&Usage>) -> MessageUsage {
    let Some(usage) = usage else { return MessageUsage::default() };
    let cached = usage.cache_read.unwrap_or(0).saturating_add(usage.cache_creation.unwrap_or(0));
    MessageUsage {
        input_tokens: usage.input_tokens.map(|input| input.saturating_sub(cached)),
        output_tokens: usage.output_tokens,
        cache_read_input_tokens: usage.cache_read,
        cache_creation_input_tokens: usage.cache_creation,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

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
            json!(usage(Some(&known))),
            json!({"input_tokens": 40, "output_tokens": 20, "cache_read_input_tokens": 50, "cache_creation_input_tokens": 10})
        );
        let some = Usage { output_tokens: Some(1), ..Usage::default() };
        assert_eq!(json!(usage(Some(&some))), json!({"output_tokens": 1}));
        assert_eq!(json!(usage(None)), json!({}));
    }
}

//! Token counts as OpenAI's dialects write them.

use schemars::JsonSchema;
use serde::Serialize;

use crate::model::Usage;

/// Token counts of a chat completion.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub(super) struct ChatUsage {
    total_tokens: u64,
    prompt_tokens: u64,
    completion_tokens: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    prompt_tokens_details: Option<CachedTokens>,
}

/// Token counts of a response. The official packages read both details, and accept null for unknown.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub(super) struct ResponseUsage {
    total_tokens: u64,
    input_tokens: u64,
    output_tokens: u64,
    input_tokens_details: Option<CachedTokens>,
    output_tokens_details: (),
}

/// How many of the tokens came from a cache.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub(super) struct CachedTokens {
    cached_tokens: u64,
}

/// Input and output; `None` if one of them is unknown, because a client would add up zeros.
fn counts(usage: Option<&Usage>) -> Option<(u64, u64, Option<CachedTokens>)> {
    let usage = usage?;
    let cached = usage.cache_read.map(|cached_tokens| CachedTokens { cached_tokens });
    Some((usage.input_tokens?, usage.output_tokens?, cached))
}

/// The figures for chat.
pub(super) fn chat_usage(usage: Option<&Usage>) -> Option<ChatUsage> {
    let (prompt_tokens, completion_tokens, prompt_tokens_details) = counts(usage)?;
    let total_tokens = prompt_tokens.saturating_add(completion_tokens);
    Some(ChatUsage { total_tokens, prompt_tokens, completion_tokens, prompt_tokens_details })
}

/// The figures for responses.
pub(super) fn response_usage(usage: Option<&Usage>) -> Option<ResponseUsage> {
    let (input_tokens, output_tokens, input_tokens_details) = counts(usage)?;
    let total_tokens = input_tokens.saturating_add(output_tokens);
    Some(ResponseUsage { total_tokens, input_tokens, output_tokens, input_tokens_details, output_tokens_details: () })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn unknown_figures_are_absent_and_never_zero() {
        let known = Usage { input_tokens: Some(10), output_tokens: Some(2), ..Usage::default() };
        assert_eq!(
            json!(chat_usage(Some(&known))),
            json!({"total_tokens": 12, "prompt_tokens": 10, "completion_tokens": 2})
        );
        let cached = Usage { cache_read: Some(4), ..known.clone() };
        let shown = json!(response_usage(Some(&cached)));
        assert_eq!(shown["input_tokens_details"], json!({"cached_tokens": 4}));
        assert_eq!(chat_usage(Some(&Usage { output_tokens: None, ..known })), None);
        assert_eq!(chat_usage(None), None);
    }
}

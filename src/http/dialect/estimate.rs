//! How many tokens a request has, roughly: no agent counts tokens without calling a model.

use crate::capture::{Message, Part, Request, images_of};

/// English text and code have about four characters per token.
const CHARACTERS_PER_TOKEN: usize = 4;
/// About what services count for an image of one million pixels.
const TOKENS_PER_IMAGE: usize = 1_500;
/// Role and separators of a message.
const TOKENS_PER_MESSAGE: usize = 4;

/// An estimate of the tokens of a request.
pub(in crate::http) fn estimate(request: &Request) -> u64 {
    let tools = request.tools.iter().map(|tool| {
        tool.name.len()
            + tool.description.len()
            + serde_json::to_string(&tool.parameters).map_or(0, |schema| schema.len())
    });
    let mut characters = request.system.chars().count() + tools.sum::<usize>();
    let mut images = 0;
    let mut add_parts = |parts: &[Part]| {
        images += images_of(parts).count();
        let texts = parts.iter().map(|part| if let Part::Text(text) = part { text.chars().count() } else { 0 });
        texts.sum::<usize>()
    };
    for message in &request.messages {
        characters += match message {
            Message::User(parts) => add_parts(parts),
            Message::Tool(result) => add_parts(&result.parts),
            Message::Assistant { text, calls } => {
                let calls = calls.iter().map(|call| call.name.len() + call.arguments.len());
                text.chars().count() + calls.sum::<usize>()
            }
        };
    }
    let tokens = characters.div_ceil(CHARACTERS_PER_TOKEN)
        + images * TOKENS_PER_IMAGE
        + request.messages.len() * TOKENS_PER_MESSAGE;
    u64::try_from(tokens).unwrap_or(u64::MAX)
}

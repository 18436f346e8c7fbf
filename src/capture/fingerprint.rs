//! Fingerprints of conversations: whether a request continues one that an agent's session already knows.
//!
//! Callers repeat the whole conversation each time, with small differences that mean nothing: other white space around the
//! model's text, `null` for an empty one, arguments with their keys in another order, messages that are split differently.
//! Those are removed first.

use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use super::{AnswerFormat, Message, Part, Request, ToolCall, ToolChoice, ToolResult};
use crate::model::{canonical, hex};

/// A fingerprint, in hexadecimal digits.
pub(super) type Fingerprint = String;

/// The fingerprint of a conversation up to a point: these messages, said to this model with these tools.
pub(super) fn conversation(request: &Request, model: &str, messages: &[Message]) -> Fingerprint {
    hash(&json!([setting(request, model), normalised(messages)]))
}

/// The fingerprint of a whole request: an identical one is a retry.
pub(super) fn whole(request: &Request, model: &str) -> Fingerprint {
    let choice = match &request.tool_choice {
        ToolChoice::Auto => json!("auto"),
        ToolChoice::None => json!("none"),
        ToolChoice::Required => json!("required"),
        ToolChoice::Named(name) => json!({ "name": name }),
    };
    hash(&json!([setting(request, model), choice, normalised(&request.messages)]))
}

/// What callers may order differently is in `value` as canonical text.
fn hash(value: &Value) -> Fingerprint {
    hex(&Sha256::digest(value.to_string().as_bytes()))
}

/// What the agent's session was opened with.
fn setting(request: &Request, model: &str) -> Value {
    let tools: Vec<Value> = request
        .callable_tools()
        .map(|tool| json!([tool.name, tool.description, canonical(&tool.parameters)]))
        .collect();
    let format = match &request.format {
        AnswerFormat::Text => Value::Null,
        AnswerFormat::JsonObject => json!("object"),
        AnswerFormat::JsonSchema { schema, .. } => json!(canonical(schema)),
    };
    json!([model, request.effort, request.system.trim(), tools, format])
}

/// The messages without what means nothing.
fn normalised(messages: &[Message]) -> Vec<Value> {
    let mut all: Vec<Plain> = Vec::new();
    for message in messages {
        match (message, all.last_mut()) {
            (Message::User(parts), Some(Plain::User(before))) => before.extend(parts.iter().map(part)),
            (Message::User(parts), _) => all.push(Plain::User(parts.iter().map(part).collect())),
            (Message::Assistant { text, calls }, Some(Plain::Assistant { text: before, calls: earlier })) => {
                before.push_str(text);
                earlier.extend(calls.iter().map(call));
            }
            (Message::Assistant { text, calls }, _) => {
                all.push(Plain::Assistant { text: text.clone(), calls: calls.iter().map(call).collect() });
            }
            (Message::Tool(ToolResult { call, parts, is_error }), _) => {
                all.push(Plain::Tool(json!([call, parts.iter().map(part).collect::<Vec<_>>(), is_error])));
            }
        }
    }
    all.into_iter()
        .filter_map(|plain| match plain {
            Plain::User(parts) => Some(json!({ "user": parts })),
            Plain::Assistant { text, calls } if text.trim().is_empty() && calls.is_empty() => None,
            Plain::Assistant { text, calls } => Some(json!({ "assistant": text.trim(), "calls": calls })),
            Plain::Tool(result) => Some(json!({ "tool": result })),
        })
        .collect()
}

enum Plain {
    User(Vec<Value>),
    Assistant { text: String, calls: Vec<Value> },
    Tool(Value),
}

fn part(part: &Part) -> Value {
    match part {
        Part::Text(text) => json!(text.trim()),
        Part::Image(image) => json!({ "image": image.data }),
    }
}

fn call(call: &ToolCall) -> Value {
    let arguments: Value =
        serde_json::from_str(&call.arguments).unwrap_or_else(|_| Value::String(call.arguments.clone()));
    json!([call.id, call.name, canonical(&arguments)])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::capture::Tool;

    fn user(text: &str) -> Message {
        Message::User(vec![Part::Text(text.to_owned())])
    }

    fn assistant(text: &str, arguments: Option<&str>) -> Message {
        let calls = arguments.map(|arguments| ToolCall {
            id: "call_1".to_owned(),
            name: "look".to_owned(),
            arguments: arguments.to_owned(),
        });
        Message::Assistant { text: text.to_owned(), calls: calls.into_iter().collect() }
    }

    fn of(messages: &[Message]) -> Fingerprint {
        conversation(&Request::default(), "m", messages)
    }

    #[test]
    fn differences_that_mean_nothing_change_nothing() {
        let plain = of(&[user("hello"), assistant("Looking.", Some(r#"{"a":1,"b":[2]}"#))]);
        let split = [
            Message::User(vec![Part::Text("hello ".to_owned())]),
            assistant("\nLooking.\n", None),
            assistant("", Some(r#"{ "b": [2], "a": 1 }"#)),
            assistant("", None),
        ];
        assert_eq!(of(&split), plain);
    }

    #[test]
    fn an_edited_conversation_is_another_one() {
        let messages = [user("hello"), assistant("Looking.", Some("{}"))];
        let plain = of(&messages);
        assert_ne!(of(&[user("hallo"), messages[1].clone()]), plain);
        assert_ne!(of(&[messages[0].clone(), assistant("Looking.", Some(r#"{"a":1}"#))]), plain);
        assert_ne!(of(&messages[..1]), plain);
        let base = Request::default();
        let tool =
            Tool { name: "t".to_owned(), description: String::new(), parameters: json!({}), is_free_form: false };
        for other in [
            Request { system: "s".to_owned(), ..base.clone() },
            Request { tools: vec![tool], ..base.clone() },
            Request { effort: Some("high".to_owned()), ..base.clone() },
            Request { format: AnswerFormat::JsonObject, ..base.clone() },
        ] {
            assert_ne!(conversation(&other, "m", &messages), plain);
        }
        assert_ne!(conversation(&base, "other", &messages), plain);
        let with_tools = |tool_choice| {
            let tool = |name: &str| Tool {
                name: name.to_owned(),
                description: String::new(),
                parameters: json!({}),
                is_free_form: false,
            };
            Request { tool_choice, tools: vec![tool("a"), tool("b")], ..base.clone() }
        };
        let (free, forced) = (with_tools(ToolChoice::Auto), with_tools(ToolChoice::Required));
        let of = |request: &Request| conversation(request, "m", &messages);
        assert_eq!(of(&forced), of(&free), "how a turn is forced is not part of its past");
        assert_ne!(whole(&forced, "m"), whole(&free, "m"));
        for other in [ToolChoice::None, ToolChoice::Named("a".to_owned())] {
            assert_ne!(of(&with_tools(other)), of(&free), "the session has other tools");
        }
    }
}

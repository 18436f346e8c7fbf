//! Chat completions.

use std::time::Duration;

use axum::Json;
use axum::body::{Body, Bytes};
use axum::http::header;
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};

use super::scenario::Item;

/// A chunk of a stream and the pause after it; `None` breaks the connection.
pub(super) type Chunk = (Option<Value>, Duration);

pub(super) fn respond(request: &Value, items: Vec<Item>) -> Response {
    let usage = json!({
        "prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120,
        "prompt_tokens_details": { "cached_tokens": 50 },
    });
    let usual = if items.iter().any(|item| matches!(item, Item::Tool { .. })) { "tool_calls" } else { "stop" };
    let chosen =
        items.iter().find_map(|item| if let Item::Finish(reason) = item { Some(reason.clone()) } else { None });
    let finish = chosen.as_deref().unwrap_or(usual);
    if request["stream"] != json!(true) {
        return whole(request, &items, finish, &usage);
    }
    let base = json!({ "id": "chatcmpl-scripted", "object": "chat.completion.chunk", "created": 0, "model": request["model"] });
    let chunk = |delta: Value, finish: Option<&str>| {
        let mut chunk = base.clone();
        chunk["choices"] = json!([{ "index": 0, "delta": delta, "finish_reason": finish }]);
        (Some(chunk), Duration::ZERO)
    };
    let mut chunks: Vec<Chunk> = vec![chunk(json!({ "role": "assistant", "content": "" }), None)];
    let (mut tools, mut billed) = (0, None);
    for item in items {
        match item {
            Item::Text(pieces, pause) => chunks.extend(pieces.into_iter().map(|piece| {
                let (value, _) = chunk(json!({ "content": piece }), None);
                (value, pause)
            })),
            Item::Reasoning(pieces) => {
                chunks.extend(pieces.into_iter().map(|piece| chunk(json!({ "reasoning_content": piece }), None)));
            }
            Item::Tool { name, arguments } => {
                let id = format!("call_{}", uuid::Uuid::new_v4().simple());
                let function = json!({ "name": name, "arguments": arguments });
                let call = json!([{ "index": tools, "id": id, "type": "function", "function": function }]);
                chunks.push(chunk(json!({ "tool_calls": call }), None));
                tools += 1;
            }
            Item::Break => {
                chunks.push((None, Duration::ZERO));
                return stream(chunks, false);
            }
            Item::Billed(nano) => billed = Some(nano),
            Item::Error(_) | Item::Finish(_) => {}
        }
    }
    chunks.push(chunk(json!({}), Some(finish)));
    let mut last = base.clone();
    last["choices"] = json!([]);
    last["usage"] = usage;
    if let Some(nano) = billed {
        last["copilot_usage"] = json!({ "token_details": [], "total_nano_aiu": nano });
    }
    chunks.push((Some(last), Duration::ZERO));
    stream(chunks, true)
}

fn whole(request: &Value, items: &[Item], finish: &str, usage: &Value) -> Response {
    let text: String = items
        .iter()
        .filter_map(|item| if let Item::Text(pieces, _) = item { Some(pieces.concat()) } else { None })
        .collect();
    let calls: Vec<Value> = items
        .iter()
        .filter_map(|item| match item {
            Item::Tool { name, arguments } => Some(json!({
                "id": format!("call_{}", uuid::Uuid::new_v4().simple()),
                "type": "function",
                "function": { "name": name, "arguments": arguments },
            })),
            _ => None,
        })
        .collect();
    let mut message = json!({ "role": "assistant", "content": text });
    if let Some(Item::Reasoning(pieces)) = items.iter().find(|item| matches!(item, Item::Reasoning(_))) {
        message["reasoning_content"] = json!(pieces.concat());
    }
    if !calls.is_empty() {
        message["tool_calls"] = json!(calls);
    }
    let choice = json!({ "index": 0, "message": message, "finish_reason": finish });
    Json(json!({
        "id": "chatcmpl-scripted", "object": "chat.completion", "created": 0, "model": request["model"],
        "choices": [choice], "usage": usage,
    }))
    .into_response()
}

/// Chunks as server-sent events, with `[DONE]` at the end unless the stream breaks off.
pub(super) fn stream(chunks: Vec<Chunk>, with_end: bool) -> Response {
    let end = with_end.then(|| Ok(Bytes::from_static(b"data: [DONE]\n\n")));
    let events = futures_util::stream::unfold(chunks.into_iter(), |mut chunks| async move {
        let (chunk, pause) = chunks.next()?;
        let event = match chunk {
            Some(chunk) => {
                let name = chunk["type"].as_str().map(|name| format!("event: {name}\n")).unwrap_or_default();
                Ok(Bytes::from(format!("{name}data: {chunk}\n\n")))
            }
            None => Err(std::io::Error::other("scripted to break off")),
        };
        tokio::time::sleep(pause).await;
        Some((event, chunks))
    });
    let body = futures_util::StreamExt::chain(events, futures_util::stream::iter(end));
    ([(header::CONTENT_TYPE, "text/event-stream")], Body::from_stream(body)).into_response()
}

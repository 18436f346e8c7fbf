use serde_json::{Value, json};

use super::*;
use crate::capture::{Image, Message};

fn read_json(body: &Value) -> Result<ReadRequest<Chat>, CaptureError> {
    read(Fields::of_body(body.to_string().as_bytes())?)
}

fn request(body: &Value) -> Request {
    read_json(body).unwrap_or_else(|error| panic!("{error}: {body}")).request
}

/// A body with one message and some more fields.
fn with(more: &Value) -> Value {
    let mut body = json!({"model": "m", "messages": [{"role": "user", "content": "hi"}]});
    for (name, value) in more.as_object().expect("fields") {
        body[name] = value.clone();
    }
    body
}

fn refused(body: &Value, param: &str) {
    let error = read_json(body).map(|read| read.request).expect_err(&body.to_string());
    assert_eq!(error.param.as_deref(), Some(param), "{}", error.message);
    assert!(error.message.contains(param), "the message names it too: {}", error.message);
}

fn text(text: &str) -> Part {
    Part::Text(text.to_owned())
}

#[test]
fn what_opencode_sends_is_read() {
    let body = json!({
        "model": "m1", "max_tokens": 32000, "stream": true, "stream_options": {"include_usage": true},
        "messages": [
            {"role": "system", "content": "You are opencode."},
            {"role": "user", "content": "hi"},
            {"role": "assistant", "content": "", "reasoning_content": "Hm.", "tool_calls": [
                {"id": "c1", "type": "function", "function": {"name": "read", "arguments": "{\"filePath\":\"/a\"}"}},
                {"id": "c2", "type": "function", "function": {"name": "bash", "arguments": "not json"}}]},
            {"role": "tool", "tool_call_id": "c1", "content": "text of a"},
            {"role": "tool", "tool_call_id": "c2", "content": [{"type": "text", "text": "out"}]},
        ],
        "tools": [
            {"type": "function", "function": {"name": "read", "description": "Reads.", "parameters":
                {"$schema": "https://json-schema.org/draft/2020-12/schema", "type": "object",
                 "properties": {"filePath": {"type": "string"}}, "required": ["filePath"]}}},
            {"type": "function", "function": {"name": "bash"}},
            {"type": "function", "function": {"name": "read", "description": "A duplicate."}},
        ],
        "tool_choice": "auto",
    });
    let read = read_json(&body).expect("valid");
    assert!(read.wants_stream && read.dialect.include_usage);
    let request = read.request;
    assert_eq!((request.model.as_str(), request.system.as_str()), ("m1", "You are opencode."));
    assert_eq!(request.ignored, ["max_tokens"]);
    let call = |id: &str, name: &str, arguments: &str| ToolCall {
        id: id.to_owned(),
        name: name.to_owned(),
        arguments: arguments.to_owned(),
    };
    let result = |call: &str, of: &str| {
        Message::Tool(ToolResult { call: call.to_owned(), parts: vec![text(of)], is_error: false })
    };
    let calls = vec![call("c1", "read", "{\"filePath\":\"/a\"}"), call("c2", "bash", "not json")];
    let expected = [
        Message::User(vec![text("hi")]),
        Message::Assistant { text: String::new(), calls },
        result("c1", "text of a"),
        result("c2", "out"),
    ];
    assert_eq!(request.messages, expected);
    let names: Vec<&str> = request.tools.iter().map(|tool| tool.name.as_str()).collect();
    assert_eq!(names, ["read", "bash"], "the first of a name wins");
    assert_eq!(request.tools[0].description, "Reads.");
    assert_eq!(request.tools[0].parameters["required"], json!(["filePath"]));
    assert_eq!(request.tools[1].parameters, json!({"type": "object", "properties": {}}));
}

#[test]
fn images_are_read_as_parts_of_user_messages_and_results() {
    let image = json!({"type": "image_url", "image_url": {"url": "data:image/png;base64,aGk=", "detail": "high"}});
    let body = json!({"model": "m", "messages": [
        {"role": "user", "content": [{"type": "text", "text": "What is it?"}, image]},
        {"role": "tool", "tool_call_id": "c", "content": [image]},
    ]});
    let part = Part::Image(Image { mime: "image/png".to_owned(), data: "aGk=".to_owned() });
    let expected = [
        Message::User(vec![text("What is it?"), part.clone()]),
        Message::Tool(ToolResult { call: "c".to_owned(), parts: vec![part], is_error: false }),
    ];
    assert_eq!(request(&body).messages, expected);
    let content = |part: Value| json!({"model": "m", "messages": [{"role": "user", "content": [part]}]});
    let remote = json!({"type": "image_url", "image_url": {"url": "https://example.com/a.png"}});
    refused(&content(remote), "messages[0].content[0].image_url.url");
    refused(
        &content(json!({"type": "input_audio", "input_audio": {"data": "", "format": "wav"}})),
        "messages[0].content[0].type",
    );
    refused(&content(json!({"type": "file", "file": {"file_id": "f"}})), "messages[0].content[0].type");
    refused(&json!({"model": "m", "messages": [{"role": "system", "content": [image]}]}), "messages[0].content");
}

#[test]
fn what_an_agent_cannot_honour_is_named() {
    let body = with(&json!({
        "temperature": 0.2, "top_p": 1, "seed": 1, "stop": ["x"], "frequency_penalty": 0.1, "max_completion_tokens": 5,
        "metadata": {"a": "b"}, "service_tier": "auto", "parallel_tool_calls": false, "store": true, "user": null,
        "something_new": {"a": 1}, "logprobs": false, "n": 1, "modalities": ["text"],
    }));
    let expected = [
        "parallel_tool_calls",
        "store",
        "frequency_penalty",
        "max_completion_tokens",
        "metadata",
        "seed",
        "service_tier",
        "something_new",
        "stop",
        "temperature",
        "top_p",
    ];
    assert_eq!(request(&body).ignored, expected);
    assert!(request(&with(&json!({"parallel_tool_calls": true, "store": false, "stream": false}))).ignored.is_empty());
    let hosted =
        json!({"tools": [{"type": "web_search"}, {"type": "function", "function": {"name": "a", "strict": true}}]});
    assert_eq!(request(&with(&hosted)).ignored, ["tools.web_search", "tools.strict"]);
}

#[test]
fn what_would_change_the_answer_is_refused_by_name() {
    for (more, param) in [
        (json!({"n": 2}), "n"),
        (json!({"n": "2"}), "n"),
        (json!({"logprobs": true}), "logprobs"),
        (json!({"top_logprobs": 2}), "top_logprobs"),
        (json!({"modalities": ["text", "audio"]}), "modalities"),
        (json!({"audio": {"voice": "alloy"}}), "audio"),
    ] {
        refused(&with(&more), param);
        let error = read_json(&with(&more)).map(|read| read.request).expect_err("refused");
        assert_eq!(error.code, Some("unsupported_parameter"));
    }
}

#[test]
fn invalid_requests_are_refused_by_name() {
    let messages = |messages: Value| json!({"model": "m", "messages": messages});
    refused(&json!({"messages": [{"role": "user", "content": "a"}]}), "model");
    refused(&json!({"model": 5, "messages": []}), "model");
    refused(&json!({"model": "m"}), "messages");
    refused(&messages(json!([])), "messages");
    refused(&messages(json!("hi")), "messages");
    refused(&messages(json!(["hi"])), "messages[0]");
    refused(
        &messages(json!([{"role": "user", "content": "a"}, {"role": "robot", "content": "b"}])),
        "messages[1].role",
    );
    refused(&messages(json!([{"content": "a"}])), "messages[0].role");
    refused(&messages(json!([{"role": "user", "content": 5}])), "messages[0].content");
    refused(&messages(json!([{"role": "tool", "content": "a"}])), "messages[0].tool_call_id");
    let calls = |call: Value| messages(json!([{"role": "assistant", "tool_calls": [call]}]));
    refused(&calls(json!({"type": "function", "function": {"name": "a"}})), "messages[0].tool_calls[0].id");
    refused(&calls(json!({"id": "c"})), "messages[0].tool_calls[0].function");
    let tool = |function: Value| with(&json!({"tools": [{"type": "function", "function": function}]}));
    refused(&tool(json!({"name": ""})), "tools[0].function.name");
    refused(&tool(json!({"description": "no name"})), "tools[0].function.name");
    refused(&tool(json!({"name": "a", "parameters": "{}"})), "tools[0].function.parameters");
    refused(&with(&json!({"tools": [{"function": {"name": "a"}}]})), "tools[0].type");
    refused(&with(&json!({"tool_choice": "required"})), "tool_choice");
    refused(&with(&json!({"stream": "yes"})), "stream");
    refused(&with(&json!({"response_format": {"type": "xml"}})), "response_format.type");
    let format = |schema: Value| with(&json!({"response_format": {"type": "json_schema", "json_schema": schema}}));
    refused(&format(json!({"name": "a"})), "response_format.json_schema.schema");
    refused(&format(json!({"name": "a", "schema": true})), "response_format.json_schema.schema");
}

#[test]
fn a_format_and_an_effort_are_read() {
    let schema = json!({"type": "object", "properties": {"a": {"type": "integer"}}});
    let format = json!({"type": "json_schema", "json_schema": {"name": "answer_a", "strict": true, "schema": schema}});
    let read = request(&with(&json!({"response_format": format, "reasoning_effort": "high"})));
    assert!(
        matches!(&read.format, AnswerFormat::JsonSchema { name, schema: found } if name == "answer_a" && *found == schema)
    );
    assert_eq!((read.effort.as_deref(), read.ignored.as_slice()), (Some("high"), [].as_slice()));
    let read = request(&with(&json!({"response_format": {"type": "json_object"}})));
    assert!(matches!(read.format, AnswerFormat::JsonObject));
}

#[test]
fn a_free_form_tool_takes_one_string() {
    let body = json!({"model": "m",
        "tools": [{"type": "custom", "custom": {"name": "patch", "description": "Patches.",
            "format": {"type": "grammar", "grammar": {"syntax": "lark", "definition": "start: ANY"}}}}],
        "messages": [{"role": "user", "content": "go"},
            {"role": "assistant", "tool_calls": [{"id": "c", "type": "custom", "custom": {"name": "patch", "input": "a\"b"}}]}]});
    let read = read_json(&body).expect("valid");
    assert_eq!(read.dialect.free_form, ["patch"]);
    let tool = &read.request.tools[0];
    assert!(tool.is_free_form);
    assert_eq!(tool.parameters["required"], json!(["input"]));
    assert_eq!(tool.description, "Patches.\n\nThe input must match this grammar (lark):\nstart: ANY");
    let Message::Assistant { calls, .. } = &read.request.messages[1] else { panic!("{:?}", read.request.messages) };
    assert_eq!(calls[0].arguments, "{\"input\":\"a\\\"b\"}");
}

#[test]
fn the_old_functions_are_tools() {
    let body = json!({"model": "m", "functions": [{"name": "f", "parameters": {"type": "object"}}],
        "function_call": {"name": "f"},
        "messages": [{"role": "user", "content": "go"},
            {"role": "assistant", "content": null, "function_call": {"name": "f", "arguments": "{}"}},
            {"role": "function", "name": "f", "content": "done"}]});
    let read = read_json(&body).expect("valid");
    assert!(read.dialect.is_legacy);
    assert_eq!(read.request.tool_choice, ToolChoice::Named("f".to_owned()));
    let [_, Message::Assistant { calls, .. }, Message::Tool(result)] = read.request.messages.as_slice() else {
        panic!("{:?}", read.request.messages)
    };
    assert_eq!(calls[0].id, result.call, "the result belongs to the call");
    refused(
        &json!({"model": "m", "messages": [{"role": "user", "content": "a"}], "function_call": {"name": "g"}}),
        "function_call",
    );
}

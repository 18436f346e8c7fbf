use super::*;
use crate::capture::{Image, Message, ToolChoice};

fn read_json(body: &Value) -> Result<ReadRequest<Responses>, CaptureError> {
    read(Fields::of_body(body.to_string().as_bytes())?)
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
fn what_codex_sends_is_read() {
    let body = json!({
        "model": "gpt-5.2", "instructions": "You are Codex.", "stream": true, "store": false,
        "tool_choice": "auto", "parallel_tool_calls": false, "include": ["reasoning.encrypted_content"],
        "prompt_cache_key": "0199", "reasoning": {"effort": "medium", "summary": "auto"}, "text": {"verbosity": "low"},
        "tools": [
            {"type": "function", "name": "shell", "description": "Runs.", "strict": false, "parameters":
                {"type": "object", "properties": {"command": {"type": "array", "items": {"type": "string"}}}}},
            {"type": "custom", "name": "apply_patch", "description": "Patches.",
                "format": {"type": "grammar", "syntax": "lark", "definition": "start: X"}},
            {"type": "web_search", "external_web_access": false},
            {"type": "namespace", "name": "mcp_files", "description": "Files", "tools":
                [{"type": "function", "name": "list", "parameters": {"type": "object"}}]},
        ],
        "input": [
            {"type": "message", "role": "developer", "content": [{"type": "input_text", "text": "Permissions."}]},
            {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "<environment_context>"}]},
            {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Fix it."},
                {"type": "input_image", "image_url": "data:image/png;base64,aGk="}]},
            {"type": "reasoning", "summary": [], "encrypted_content": null},
            {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "I look."}]},
            {"type": "function_call", "name": "shell", "arguments": "{\"command\":[\"ls\"]}", "call_id": "c1"},
            {"type": "custom_tool_call", "name": "apply_patch", "input": "*** Begin", "call_id": "c2"},
            {"type": "function_call", "namespace": "mcp_files", "name": "list", "arguments": "{}", "call_id": "c3"},
            {"type": "function_call_output", "call_id": "c1", "output": "a.txt"},
            {"type": "custom_tool_call_output", "call_id": "c2", "output": [{"type": "input_text", "text": "done"}]},
            {"type": "function_call_output", "call_id": "c3",
                "output": [{"type": "input_image", "image_url": "data:image/png;base64,aGk="}]},
            {"type": "web_search_call", "id": "ws", "status": "completed"},
        ],
    });
    let read = read_json(&body).expect("valid");
    assert!(read.wants_stream);
    let request = read.request;
    assert_eq!(request.system, "You are Codex.\n\nPermissions.");
    assert_eq!(request.effort.as_deref(), Some("medium"));
    let expected = [
        "input.web_search_call",
        "tools.format",
        "tools.web_search",
        "parallel_tool_calls",
        "text.verbosity",
        "include",
        "prompt_cache_key",
    ];
    assert_eq!(request.ignored, expected);
    let names: Vec<&str> = request.tools.iter().map(|tool| tool.name.as_str()).collect();
    assert_eq!(names, ["shell", "apply_patch", "mcp_files__list"]);
    let image = || Part::Image(Image { mime: "image/png".to_owned(), data: "aGk=".to_owned() });
    let call = |id: &str, name: &str, arguments: &str| ToolCall {
        id: id.to_owned(),
        name: name.to_owned(),
        arguments: arguments.to_owned(),
    };
    let result =
        |call: &str, part| Message::Tool(ToolResult { call: call.to_owned(), parts: vec![part], is_error: false });
    let expected = [
        Message::User(vec![text("<environment_context>"), text("Fix it."), image()]),
        Message::Assistant {
            text: "I look.".to_owned(),
            calls: vec![
                call("c1", "shell", "{\"command\":[\"ls\"]}"),
                call("c2", "apply_patch", "{\"input\":\"*** Begin\"}"),
                call("c3", "mcp_files__list", "{}"),
            ],
        },
        result("c1", text("a.txt")),
        result("c2", text("done")),
        result("c3", image()),
    ];
    assert_eq!(request.messages, expected);
    assert_eq!(request.tool_choice, ToolChoice::Auto);
    assert_eq!(read.dialect.free_form, ["apply_patch"]);
}

#[test]
fn a_string_and_a_message_without_a_type_are_read() {
    let request = read_json(&json!({"model": "m", "input": "hi"})).expect("valid").request;
    assert_eq!(request.messages, [Message::User(vec![text("hi")])]);
    let body = json!({"model": "m", "input": [{"role": "user", "content": "hi"}], "metadata": {"a": "b"},
        "text": {"format": {"type": "json_schema", "name": "n", "schema": {"type": "object"}, "strict": true}}});
    let read = read_json(&body).expect("valid");
    assert_eq!(read.request.messages, [Message::User(vec![text("hi")])]);
    assert!(matches!(&read.request.format, AnswerFormat::JsonSchema { name, .. } if name == "n"));
    assert_eq!(read.dialect.metadata, json!({"a": "b"}));
    assert!(read.request.ignored.is_empty());
}

#[test]
fn what_needs_stored_state_is_refused_by_name() {
    for (name, value) in [
        ("previous_response_id", json!("resp_1")),
        ("conversation", json!("conv_1")),
        ("prompt", json!({"id": "p"})),
        ("background", json!(true)),
        ("top_logprobs", json!(3)),
    ] {
        let mut body = json!({"model": "m", "input": "hi"});
        body[name] = value;
        refused(&body, name);
    }
    refused(&json!({"model": "m", "input": [{"type": "item_reference", "id": "msg_1"}]}), "input[0]");
    let image = json!([{"role": "user", "content": [{"type": "input_image", "file_id": "f"}]}]);
    refused(&json!({"model": "m", "input": image}), "input[0].content[0].image_url");
}

#[test]
fn invalid_requests_are_refused_by_name() {
    let input = |input: Value| json!({"model": "m", "input": input});
    refused(&json!({"model": "m"}), "input");
    refused(&json!({"input": "hi"}), "model");
    refused(&input(json!([])), "input");
    refused(&input(json!(5)), "input");
    refused(&input(json!([{}])), "input[0].type");
    refused(&input(json!([{"role": "robot", "content": "a"}])), "input[0].role");
    refused(&input(json!([{"role": "user", "content": [{"type": "input_audio"}]}])), "input[0].content[0].type");
    refused(&input(json!([{"type": "function_call", "name": "a", "arguments": "{}"}])), "input[0].call_id");
    refused(&input(json!([{"type": "function_call_output", "output": "a"}])), "input[0].call_id");
    refused(&json!({"model": "m", "input": "a", "text": {"format": {"type": "xml"}}}), "text.format.type");
    refused(&json!({"model": "m", "input": "a", "tools": [{"type": "function", "name": "a b"}]}), "tools[0].name");
}

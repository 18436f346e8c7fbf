use serde_json::json;

use super::*;
use crate::capture::{Image, Message, ToolCall, ToolChoice, ToolResult};

fn read_json(body: &Value) -> Result<ReadRequest<Messages>, CaptureError> {
    read(Fields::of_body(body.to_string().as_bytes())?)
}

fn request(body: &Value) -> Request {
    read_json(body).unwrap_or_else(|error| panic!("{error}: {body}")).request
}

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

/// A request of Claude Code in the second round of a loop, with shorter texts.
fn claude_code(environment: &Value, billing: &str) -> Value {
    json!({
        "model": "claude-opus-5-5", "max_tokens": 128_000, "stream": true,
        "metadata": {"user_id": "{\"device_id\":\"1\"}"}, "thinking": {"type": "adaptive", "display": "omitted"},
        "context_management": {"edits": [{"type": "clear_thinking_20251015", "keep": "all"}]},
        "output_config": {"effort": "medium"},
        "system": [
            {"type": "text", "text": format!("x-anthropic-billing-header: cc_version={billing}; cc_entrypoint=sdk-cli;")},
            {"type": "text", "text": "You are a Claude agent.", "cache_control": {"type": "ephemeral"}},
            {"type": "text", "text": "\nUse tools.", "cache_control": {"type": "ephemeral"}}],
        "tools": [
            {"name": "Bash", "description": "Runs.", "input_schema": {"$schema": "https://json-schema.org/draft/2020-12/schema",
                "type": "object", "properties": {"command": {"type": "string"}}, "required": ["command"]}},
            {"name": "Read", "input_schema": {"type": "object"}}],
        "messages": [
            {"role": "user", "content": [{"type": "text", "text": "<system-reminder>a</system-reminder>"}, {"type": "text", "text": "hi"}]},
            {"role": "system", "content": environment, "output_config": {"effort": "medium"}},
            {"role": "assistant", "content": [
                {"type": "thinking", "thinking": "Hm.", "signature": "ZmxpZ2h0ZGVjaw=="},
                {"type": "text", "text": "I look."},
                {"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": "ls"}},
                {"type": "tool_use", "id": "t2", "name": "Bash", "input": {"INVALID_JSON": "{\"comm"}}]},
            {"role": "user", "content": [
                {"type": "tool_result", "tool_use_id": "t1", "content": "0", "is_error": false},
                {"type": "text", "text": "And hurry."},
                {"type": "tool_result", "tool_use_id": "t2", "is_error": true, "cache_control": {"type": "ephemeral"},
                    "content": [{"type": "text", "text": "no"}, {"type": "image", "source":
                        {"type": "base64", "media_type": "image/png", "data": "aGk="}}]}]},
        ],
    })
}

#[test]
fn what_claude_code_sends_is_read() {
    let read = read_json(&claude_code(&json!("# Environment"), "2.1")).expect("valid");
    assert!(read.wants_stream);
    assert!(!read.dialect.shows_thinking, "display is omitted");
    let request = read.request;
    assert_eq!(request.system, "You are a Claude agent.\n\n\nUse tools.");
    assert_eq!(request.effort.as_deref(), Some("medium"));
    assert_eq!(request.ignored, ["cache_control", "context_management", "max_tokens", "metadata"]);
    let names: Vec<&str> = request.tools.iter().map(|tool| tool.name.as_str()).collect();
    assert_eq!(names, ["Bash", "Read"]);
    assert_eq!(request.tools[0].parameters["required"], json!(["command"]));
    let call = |id: &str, arguments: &str| ToolCall {
        id: id.to_owned(),
        name: "Bash".to_owned(),
        arguments: arguments.to_owned(),
    };
    let image = Part::Image(Image { mime: "image/png".to_owned(), data: "aGk=".to_owned() });
    let expected = [
        Message::User(vec![
            text("<system-reminder>a</system-reminder>"),
            text("hi"),
            text("<system-message>\n# Environment\n</system-message>"),
        ]),
        Message::Assistant {
            text: "I look.".to_owned(),
            calls: vec![call("t1", "{\"command\":\"ls\"}"), call("t2", "{\"comm")],
        },
        Message::Tool(ToolResult { call: "t1".to_owned(), parts: vec![text("0")], is_error: false }),
        Message::Tool(ToolResult { call: "t2".to_owned(), parts: vec![text("no"), image], is_error: true }),
        Message::User(vec![text("And hurry.")]),
    ];
    assert_eq!(request.messages, expected);
}

#[test]
fn a_conversation_reads_the_same_however_claude_code_marks_its_cache() {
    let blocks = json!([{"type": "text", "text": "# Environment", "cache_control": {"type": "ephemeral"}}]);
    let (first, second) = (claude_code(&blocks, "2.1.a"), claude_code(&json!("# Environment"), "2.1.b"));
    let (first, second) = (request(&first), request(&second));
    assert_eq!((&first.system, &first.messages), (&second.system, &second.messages));
}

#[test]
fn thinking_is_shown_to_callers_that_ask_for_it() {
    for (thinking, shown, ignored) in [
        (json!(null), false, vec![]),
        (json!({"type": "disabled"}), false, vec![]),
        (json!({"type": "adaptive"}), true, vec![]),
        (json!({"type": "adaptive", "display": "summarized"}), true, vec![]),
        (json!({"type": "adaptive", "display": "omitted"}), false, vec![]),
        (json!({"type": "enabled", "budget_tokens": 1_024}), true, vec!["thinking.budget_tokens"]),
    ] {
        let read = read_json(&with(&json!({"thinking": thinking}))).expect("valid");
        assert_eq!(
            (read.dialect.shows_thinking, read.request.ignored),
            (shown, ignored.iter().map(|name| (*name).to_owned()).collect()),
            "{thinking}"
        );
    }
}

#[test]
fn tools_of_the_service_are_named_and_the_callers_own_are_kept() {
    let body = with(&json!({
        "tools": [{"type": "web_search_20250305", "name": "web_search"}, {"type": "custom", "name": "a", "strict": true},
            {"name": "a", "description": "A duplicate.", "input_schema": {"type": "object"}}],
        "tool_choice": {"type": "any", "disable_parallel_tool_use": true}, "stop_sequences": ["x"], "top_k": 5,
    }));
    let read = request(&body);
    let expected = [
        "tools.web_search_20250305",
        "tools.strict",
        "tool_choice.disable_parallel_tool_use",
        "stop_sequences",
        "top_k",
    ];
    assert_eq!(read.ignored, expected);
    assert_eq!((read.tools.len(), read.tools[0].description.as_str()), (1, ""));
    assert_eq!(read.tool_choice, ToolChoice::Required);
    let named = with(&json!({"tools": [{"name": "a"}], "tool_choice": {"type": "tool", "name": "a"}}));
    assert_eq!(request(&named).tool_choice, ToolChoice::Named("a".to_owned()));
}

#[test]
fn a_tool_that_a_later_message_defines_is_added() {
    let tool = json!({"type": "custom", "name": "late", "input_schema": {"type": "object"}});
    let body = json!({"model": "m", "messages": [{"role": "user", "content": "hi"},
        {"role": "system", "content": [{"type": "tool_addition", "tool": tool},
            {"type": "tool_addition", "tool": {"type": "tool_reference", "name": "known"}}]}]});
    let names: Vec<String> = request(&body).tools.into_iter().map(|tool| tool.name).collect();
    assert_eq!(names, ["late"]);
}

#[test]
fn a_format_is_read_from_either_field() {
    let format = json!({"type": "json_schema", "schema": {"type": "object"}});
    for more in [json!({"output_format": format}), json!({"output_config": {"format": format}})] {
        let read = request(&with(&more));
        assert!(matches!(read.format, AnswerFormat::JsonSchema { .. }), "{more}");
        assert!(read.ignored.is_empty());
    }
}

#[test]
fn a_document_of_text_is_text() {
    let document = json!({"type": "document", "title": "A", "source": {"type": "text", "media_type": "text/plain", "data": "body"}});
    let body = json!({"model": "m", "messages": [{"role": "user", "content": [document]}]});
    assert_eq!(request(&body).messages, [Message::User(vec![text("A\n\nbody")])]);
}

#[test]
fn invalid_requests_are_refused_by_name() {
    let messages = |messages: Value| json!({"model": "m", "messages": messages});
    let content = |block: Value| messages(json!([{"role": "user", "content": [block]}]));
    refused(&json!({"messages": []}), "model");
    refused(&json!({"model": "m"}), "messages");
    refused(&messages(json!([])), "messages");
    refused(&messages(json!([{"role": "robot", "content": "a"}])), "messages[0].role");
    refused(
        &messages(json!([{"role": "user", "content": "a"}, {"role": "assistant", "content": "I say"}])),
        "messages",
    );
    refused(&messages(json!([{"role": "user", "content": 5}])), "messages[0].content");
    refused(&content(json!({"text": "a"})), "messages[0].content[0].type");
    refused(&content(json!({"type": "tool_result"})), "messages[0].content[0].tool_use_id");
    refused(&content(json!({"type": "tool_use", "id": "a", "name": "b", "input": {}})), "messages[0].content");
    let url = json!({"type": "url", "url": "https://example.com/a.png"});
    refused(&content(json!({"type": "image", "source": url})), "messages[0].content[0].source");
    refused(
        &content(json!({"type": "document", "source": {"type": "base64", "data": "aGk="}})),
        "messages[0].content[0].source",
    );
    refused(&with(&json!({"tools": [{"name": "", "input_schema": {}}]})), "tools[0].name");
    refused(&with(&json!({"tools": [{"name": "a", "input_schema": []}]})), "tools[0].input_schema");
    refused(&with(&json!({"tool_choice": {"type": "tool", "name": "gone"}})), "tool_choice");
    refused(&with(&json!({"tool_choice": {"type": "sometimes"}})), "tool_choice.type");
    refused(&with(&json!({"output_format": {"type": "json_object"}})), "output_format.type");
}

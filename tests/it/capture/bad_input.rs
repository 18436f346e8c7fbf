//! What callers may do wrong.

use serde_json::{Value, json};

use super::{Caller, server, until_nothing_is_left};
use crate::support::Program;

#[tokio::test]
async fn bad_requests_are_refused_by_name_in_the_shape_of_their_dialect() {
    let copilot = server(Program::Runtime, "").await;
    let http = copilot.server.http();
    let user = json!([{ "role": "user", "content": "@@plain" }]);
    for (change, param) in [
        (json!({ "model": "" }), "model"),
        (json!({ "messages": [] }), "messages"),
        (json!({ "messages": [{ "role": "queen", "content": "x" }] }), "role"),
        (json!({ "messages": [{ "role": "assistant", "content": "x" }] }), "messages"),
        (json!({ "n": 2 }), "n"),
        (json!({ "logprobs": true }), "logprobs"),
        (json!({ "tools": [{ "type": "function", "function": { "name": "" } }] }), "tools"),
        (
            json!({ "tools": [{ "type": "function", "function": { "name": "a", "parameters": { "type": "nope" } } }] }),
            "tools",
        ),
        (json!({ "tool_choice": "required" }), "tool_choice"),
        (
            json!({ "response_format": { "type": "json_schema", "json_schema": { "name": "x", "schema": { "type": 7 } } } }),
            "response_format",
        ),
    ] {
        let mut body = json!({ "model": "scripted-model", "messages": user });
        body.as_object_mut().expect("an object").extend(change.as_object().expect("an object").clone());
        let reply = http.post_json("/v1/chat/completions", &body).await;
        let error = &reply.json()["error"];
        assert_eq!(reply.status, 400, "{change}: {error}");
        assert!(error["param"].as_str().is_some_and(|named| named.contains(param)), "{change}: {error}");
        assert_eq!(error["type"], "invalid_request_error", "{error}");
    }
    let broken = http.header("content-type", "application/json").post("/v1/messages", "{nonsense").await;
    assert_eq!((broken.status.as_u16(), &broken.json()["error"]["type"]), (400, &json!("invalid_request_error")));
    assert!(copilot.model.requests().is_empty(), "the model was never asked");
}

#[tokio::test]
async fn strange_histories_are_answered_all_the_same() {
    let copilot = server(Program::Runtime, "").await;
    let mut caller = Caller::of(&copilot);
    caller.messages = vec![
        json!({ "role": "user", "content": "hello" }),
        json!({ "role": "tool", "tool_call_id": "call_of_nobody", "content": "a stray result" }),
        json!({ "role": "assistant", "content": null, "tool_calls": [
            { "id": "call_x", "type": "function", "function": { "name": "look", "arguments": "{broken" } },
        ] }),
        json!({ "role": "user", "content": "@@echo fine" }),
    ];
    let (answer, origin) = caller.send().await;
    assert_eq!((answer["content"].as_str(), origin.as_str()), (Some("ECHO[fine]"), "fresh"));
    let asked = copilot.model.requests()[0].to_string();
    assert!(asked.contains("a stray result") && asked.contains("There is no result of this call"), "{asked}");
}

#[tokio::test]
async fn a_history_of_five_megabytes_is_answered_or_refused_in_words() {
    let copilot = server(Program::Runtime, "").await;
    let mut caller = Caller::of(&copilot);
    for _ in 0..50 {
        caller.says(&"one line of a long conversation\n".repeat(3_200));
        caller.messages.push(json!({ "role": "assistant", "content": "yes" }));
    }
    caller.says("@@echo done");
    let reply = caller.post().await;
    let json = reply.json();
    let is_answered = json["choices"][0]["message"]["content"] == "ECHO[done]";
    let is_refused = json["error"]["message"].as_str().is_some_and(|message| message.len() > 20);
    assert!(is_answered || is_refused, "{json}");
}

#[tokio::test]
async fn arguments_that_the_model_broke_reach_the_caller() {
    let copilot = server(Program::Runtime, "[capture]\nmode = \"destroy\"\n").await;
    let mut caller = Caller::of(&copilot);
    let (answer, _) = caller.ask(r#"@@tools [{"name":"look","broken":"{\"at\":"}]"#).await;
    let arguments = answer["tool_calls"][0]["function"]["arguments"].as_str().unwrap_or_default();
    assert!(!arguments.is_empty(), "{answer}");
    until_nothing_is_left(&copilot).await;
}

#[tokio::test]
async fn errors_of_the_model_are_errors_of_the_dialect() {
    let copilot = server(Program::Runtime, "[capture]\nmode = \"destroy\"\n").await;
    // The agent itself asks again for some seconds after some of them.
    let calls = [(400, 400), (401, 503), (429, 429), (500, 500)].map(|(status, expected)| {
        let mut caller = Caller::of(&copilot);
        async move {
            caller.says(&format!("@@error {status}"));
            let reply = caller.post().await;
            assert_eq!(reply.status.as_u16(), expected, "{status}: {}", reply.text());
            let message = reply.json()["error"]["message"].as_str().unwrap_or_default().to_owned();
            assert!(message.contains(&status.to_string()) || message.contains("scripted"), "{status}: {message}");
        }
    });
    futures_util::future::join_all(calls).await;
    until_nothing_is_left(&copilot).await;
}

#[tokio::test]
async fn when_all_places_are_taken_a_caller_is_told_when_to_come_back() {
    let copilot = server(Program::Runtime, "[capture]\nconcurrent = 1\nqueue = 0\n").await;
    let mut slow = Caller::of(&copilot);
    slow.says("@@slow 40 50");
    let refused = async {
        crate::support::eventually("the model is asked", async || (!copilot.model.requests().is_empty()).then_some(()))
            .await;
        let mut caller = Caller::of(&copilot);
        caller.says("@@plain");
        caller.post().await
    };
    let (first, second): (_, crate::support::Reply) = futures_util::future::join(slow.post(), refused).await;
    assert_eq!(first.status, 200);
    assert_eq!((second.status.as_u16(), second.header("retry-after")), (429, "1"), "{}", second.text());
}

#[tokio::test]
async fn a_model_that_does_not_exist_is_named() {
    let copilot = server(Program::Runtime, "[capture.aliases]\n\"claude-*\" = \"scripted-model\"\n").await;
    let mut caller = Caller::of(&copilot);
    caller.says("@@echo alias");
    let mut body = caller.body();
    body["model"] = json!("claude-haiku-4-5-20251001");
    let reply = copilot.server.http().post_json("/v1/chat/completions", &body).await;
    assert_eq!(reply.json()["choices"][0]["message"]["content"], "ECHO[alias]", "{}", reply.text());
    body["model"] = json!("demo/slow");
    let reply = copilot.server.http().post_json("/v1/chat/completions", &body).await;
    assert!(matches!(reply.status.as_u16(), 400 | 404), "{}", reply.text());
    let error: Value = reply.json()["error"].clone();
    assert_eq!(error["param"], "model");
}

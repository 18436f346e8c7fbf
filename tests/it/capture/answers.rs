//! What a caller gets.

use serde_json::json;

use super::{Caller, names, server, sessions_on_disk};
use crate::support::Program;

#[tokio::test]
async fn a_conversation_is_answered_by_the_model_with_exactly_the_callers_words_and_tools() {
    for program in Program::BOTH {
        let copilot = server(program, "").await;
        let mut caller = Caller::of(&copilot);
        caller.messages.push(json!({ "role": "system", "content": "You are a stone." }));
        let (answer, origin) = caller.ask("@@echo hello").await;
        assert_eq!((answer["content"].as_str(), origin.as_str()), (Some("ECHO[hello]"), "fresh"), "{program:?}");
        let asked = &copilot.model.requests()[0];
        assert_eq!(asked["messages"][0], json!({ "role": "system", "content": "You are a stone." }));
        let offered: Vec<&str> = asked["tools"]
            .as_array()
            .expect("tools")
            .iter()
            .map(|tool| tool["function"]["name"].as_str().expect("a name"))
            .collect();
        assert_eq!(offered, ["look", "bash"], "{program:?}");
        let (next, origin) = caller.ask("@@history").await;
        assert_eq!((next["content"].as_str(), origin.as_str()), (Some("user turns: 2"), "held"), "{program:?}");
        assert!(
            copilot.server.http().get("/api/copilot/session").await.json()["sessions"]
                .as_array()
                .expect("a list")
                .is_empty()
        );
    }
}

#[tokio::test]
async fn without_tools_the_model_is_offered_none() {
    let copilot = server(Program::Runtime, "").await;
    let mut caller = Caller::of(&copilot);
    caller.tools.clear();
    caller.ask("@@plain").await;
    let offered = &copilot.model.requests()[0]["tools"];
    assert!(offered.as_array().is_none_or(Vec::is_empty), "{offered}");
}

#[tokio::test]
async fn three_calls_in_one_message_come_in_order_and_their_results_reach_the_model_in_that_order() {
    for program in Program::BOTH {
        let copilot = server(program, "").await;
        let mut caller = Caller::of(&copilot);
        let calls = json!([
            { "name": "look", "arguments": { "at": "one" } },
            { "name": "bash", "arguments": { "command": "two" } },
            { "name": "look", "arguments": {} },
        ]);
        let (answer, _) = caller.ask(&format!("@@tools {calls}")).await;
        assert_eq!(names(&answer), ["look", "bash", "look"], "{program:?}");
        caller.give_results("seen");
        // The caller may give them in any order.
        let count = caller.messages.len();
        caller.messages[count - 3..].reverse();
        let (last, origin) = caller.send().await;
        assert_eq!(origin, "held", "{program:?}");
        assert!(last["content"].as_str().expect("text").starts_with("Final answer"), "{last}");
        let asked = copilot.model.requests().pop().expect("a request");
        let given: Vec<&str> = asked["messages"]
            .as_array()
            .expect("messages")
            .iter()
            .filter(|message| message["role"] == "tool")
            .map(|message| message["content"].as_str().expect("text"))
            .collect();
        assert_eq!(given.len(), 3);
        assert!(
            given[0].contains("one") && given[1].contains("two") && given[2].contains("{}"),
            "{program:?}: {given:?}"
        );
    }
}

#[tokio::test]
async fn an_image_reaches_the_model() {
    let copilot = server(Program::Runtime, "").await;
    let mut caller = Caller::of(&copilot);
    let png = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
    caller.messages.push(json!({ "role": "user", "content": [
        { "type": "text", "text": "@@echo seen" },
        { "type": "image_url", "image_url": { "url": format!("data:image/png;base64,{png}") } },
    ] }));
    let (answer, _) = caller.send().await;
    assert_eq!(answer["content"], "ECHO[seen]");
    let asked = copilot.model.requests()[0].to_string();
    assert!(asked.contains("image_url") && asked.contains("data:image/"), "{asked}");
}

#[tokio::test]
async fn a_stream_has_every_piece_and_its_usage() {
    let copilot = server(Program::Runtime, "").await;
    let mut caller = Caller::of(&copilot);
    caller.says("@@reason");
    let mut body = caller.body();
    body["stream"] = json!(true);
    body["stream_options"] = json!({ "include_usage": true });
    let reply = copilot.server.http().post_json("/v1/chat/completions", &body).await;
    assert_eq!(reply.header("content-type"), "text/event-stream");
    let events: Vec<&str> = reply.text().split("\n\n").filter_map(|frame| frame.strip_prefix("data: ")).collect();
    assert_eq!(events.last(), Some(&"[DONE]"));
    let chunks: Vec<serde_json::Value> =
        events[..events.len() - 1].iter().map(|event| serde_json::from_str(event).expect("JSON")).collect();
    let all = |name: &str| -> String {
        chunks.iter().filter_map(|chunk| chunk["choices"][0]["delta"][name].as_str()).collect()
    };
    assert_eq!(all("content"), "Reasoned answer: 42.");
    assert_eq!(all("reasoning_content"), "Let me think about this step by step.");
    let usage = &chunks.last().expect("chunks")["usage"];
    assert_eq!((&usage["prompt_tokens"], &usage["completion_tokens"]), (&json!(100), &json!(20)), "{usage}");
    let total = copilot.server.http().get("/api/usage").await.json();
    assert!(total.to_string().contains("\"inputTokens\":100"), "captures count for the day: {total}");
}

#[tokio::test]
async fn an_answer_of_a_shape_is_checked_and_asked_for_again() {
    let copilot = server(Program::Runtime, "").await;
    let mut caller = Caller::of(&copilot);
    caller.tools.clear();
    caller.says("@@plain");
    let schema = json!({ "type": "object", "properties": { "age": { "type": "integer" } }, "required": ["age"] });
    let mut body = caller.body();
    body["response_format"] = json!({ "type": "json_schema", "json_schema": { "name": "person", "schema": schema } });
    let reply = copilot.server.http().post_json("/v1/chat/completions", &body).await;
    assert_eq!(reply.json()["error"]["code"], "answer_not_valid", "{}", reply.text());
    assert_eq!(copilot.model.requests().len(), 3, "asked, and corrected twice");
    let last = copilot.model.requests().pop().expect("a request").to_string();
    assert!(last.contains("not valid JSON"), "{last}");
    let mut good = body.clone();
    good["messages"] = json!([{ "role": "user", "content": "@@say {\"age\": 7}" }]);
    let reply = copilot.server.http().post_json("/v1/chat/completions", &good).await;
    assert_eq!(reply.json()["choices"][0]["message"]["content"], "{\"age\": 7}", "{}", reply.text());
}

#[tokio::test]
async fn a_forced_tool_is_the_only_one_and_text_instead_is_corrected() {
    let copilot = server(Program::Runtime, "").await;
    let mut caller = Caller::of(&copilot);
    caller.says("@@tool look {\"at\":\"x\"}");
    let mut body = caller.body();
    body["tool_choice"] = json!({ "type": "function", "function": { "name": "look" } });
    let reply = copilot.server.http().post_json("/v1/chat/completions", &body).await;
    assert_eq!(names(&reply.json()["choices"][0]["message"]), ["look"], "{}", reply.text());
    assert_eq!(copilot.model.requests()[0]["tools"].as_array().map(Vec::len), Some(1));
    body["messages"] = json!([{ "role": "user", "content": "@@plain" }]);
    let reply = copilot.server.http().post_json("/v1/chat/completions", &body).await;
    assert_eq!(reply.json()["error"]["code"], "answer_not_valid");
}

#[tokio::test]
async fn fifty_calls_at_once_are_all_answered_and_leave_nothing() {
    let copilot = server(Program::Runtime, "[capture]\nmode = \"destroy\"\n").await;
    let calls = (0..50).map(|number| {
        let mut caller = Caller::of(&copilot);
        async move {
            let (answer, origin) = caller.ask(&format!("@@echo {number}")).await;
            assert_eq!(
                (answer["content"].as_str(), origin.as_str()),
                (Some(format!("ECHO[{number}]").as_str()), "destroyed")
            );
        }
    });
    futures_util::future::join_all(calls).await;
    assert_eq!(copilot.model.requests().len(), 50);
    super::until_nothing_is_left(&copilot).await;
    assert!(sessions_on_disk(&copilot).is_empty());
}

#[tokio::test]
async fn why_the_model_stopped_is_passed_on() {
    for program in Program::BOTH {
        let copilot = server(program, "").await;
        for reason in ["length", "content_filter", "stop"] {
            let mut caller = Caller::of(&copilot);
            caller.says(&format!("@@finish {reason}"));
            let reply = caller.post().await;
            assert_eq!(reply.json()["choices"][0]["finish_reason"], reason, "{program:?}: {}", reply.text());
        }
    }
}

use serde_json::{Value, json};

use super::super::tool_definitions::Namespaced;
use super::*;
use crate::capture::{CaptureError, ErrorKind, StopReason};
use crate::http::dialect::{Dialect as _, Whole};
use crate::model::Usage;

fn response() -> Responses {
    let namespaced =
        Namespaced { full_name: "files__list".to_owned(), namespace: "files".to_owned(), name: "list".to_owned() };
    let mut response = Responses {
        model: "m".to_owned(),
        free_form: vec!["patch".to_owned()],
        namespaced: vec![namespaced],
        metadata: json!({"a": "b"}),
        ..Responses::default()
    };
    response.begin_answer("00ff", 1_700_000_000);
    response
}

fn calls() -> Vec<ToolCall> {
    let call = |id: &str, name: &str, arguments: &str| ToolCall {
        id: id.to_owned(),
        name: name.to_owned(),
        arguments: arguments.to_owned(),
    };
    vec![call("c1", "read", "{\"a\":1}"), call("c2", "patch", "{\"input\":\"x\"}"), call("c3", "files__list", "{}")]
}

fn streamed(pieces: Vec<Piece>) -> Vec<Value> {
    let (mut response, mut frames) = (response(), Frames::default());
    begin(&mut response, &mut frames);
    for piece in pieces {
        encode(&mut response, piece, &mut frames);
    }
    let events = frames.events();
    for (at, (name, data)) in events.iter().enumerate() {
        assert_eq!((data["type"].as_str(), data["sequence_number"].as_u64()), (Some(name.as_str()), Some(at as u64)));
    }
    events.into_iter().map(|(_, data)| data).collect()
}

fn end(stop: StopReason) -> Piece {
    let usage = Usage { input_tokens: Some(10), output_tokens: Some(5), ..Usage::default() };
    Piece::End { stop, usage: Some(usage) }
}

#[test]
fn a_stream_has_the_whole_life_of_each_item() {
    let events = streamed(vec![
        Piece::Reasoning("Hm".to_owned()),
        Piece::Reasoning(".".to_owned()),
        Piece::Text("Hel".to_owned()),
        Piece::Text("lo".to_owned()),
        Piece::Calls(calls()[..2].to_vec()),
        end(StopReason::ToolCalls),
    ]);
    let names: Vec<&str> =
        events.iter().filter_map(|event| event["type"].as_str()?.strip_prefix("response.")).collect();
    let expected = [
        "created",
        "in_progress",
        "output_item.added",
        "reasoning_summary_part.added",
        "reasoning_summary_text.delta",
        "reasoning_summary_text.delta",
        "reasoning_summary_text.done",
        "reasoning_summary_part.done",
        "output_item.done",
        "output_item.added",
        "content_part.added",
        "output_text.delta",
        "output_text.delta",
        "output_text.done",
        "content_part.done",
        "output_item.done",
        "output_item.added",
        "function_call_arguments.delta",
        "function_call_arguments.done",
        "output_item.done",
        "output_item.added",
        "custom_tool_call_input.delta",
        "custom_tool_call_input.done",
        "output_item.done",
        "completed",
    ];
    assert_eq!(names, expected);
    assert_eq!(
        (&events[0]["response"]["status"], &events[0]["response"]["id"]),
        (&json!("in_progress"), &json!("resp_00ff"))
    );
    assert_eq!((&events[9]["item"]["status"], &events[9]["item"]["content"]), (&json!("in_progress"), &json!([])));
    assert_eq!((&events[13]["text"], &events[13]["item_id"]), (&json!("Hello"), &events[9]["item"]["id"]));
    assert_eq!(events[16]["item"]["arguments"], "");
    assert_eq!((&events[18]["arguments"], &events[18]["name"]), (&json!("{\"a\":1}"), &json!("read")));
    assert_eq!(events[22]["input"], "x");
    let completed = &events[24]["response"];
    let done: Vec<&Value> = events
        .iter()
        .filter(|event| event["type"] == "response.output_item.done")
        .map(|event| &event["item"])
        .collect();
    assert_eq!(completed["output"].as_array().expect("items").iter().collect::<Vec<_>>(), done);
    let indexes: Vec<&Value> = events
        .iter()
        .filter(|event| event["type"] == "response.output_item.done")
        .map(|event| &event["output_index"])
        .collect();
    assert_eq!(indexes, [0, 1, 2, 3]);
    assert_eq!(completed["status"], "completed");
    let usage = json!({"input_tokens": 10, "output_tokens": 5, "total_tokens": 15,
        "input_tokens_details": null, "output_tokens_details": null});
    assert_eq!((&completed["usage"], &completed["metadata"]), (&usage, &json!({"a": "b"})));
}

#[tokio::test]
async fn a_whole_answer_is_what_the_stream_ends_with() {
    let pieces = || {
        vec![
            Piece::Reasoning("Hm.".to_owned()),
            Piece::Text("Hello".to_owned()),
            Piece::Calls(calls()),
            end(StopReason::ToolCalls),
        ]
    };
    let whole = Whole::of(&mut crate::capture::Answer::of(pieces())).await.expect("complete");
    let streamed = streamed(pieces());
    assert_eq!(json!(response().whole(whole)), streamed.last().expect("events")["response"]);
    let last_call = &streamed.last().expect("events")["response"]["output"][4];
    assert_eq!((&last_call["namespace"], &last_call["name"]), (&json!("files"), &json!("list")));
}

#[test]
fn an_answer_that_was_cut_is_incomplete_and_says_why() {
    for (stop, reason) in [(StopReason::Length, "max_output_tokens"), (StopReason::ContentFilter, "content_filter")] {
        let events = streamed(vec![Piece::Text("Hel".to_owned()), Piece::End { stop, usage: None }]);
        let last = events.last().expect("events");
        assert_eq!((&last["type"], &last["response"]["status"]), (&json!("response.incomplete"), &json!("incomplete")));
        assert_eq!(last["response"]["incomplete_details"]["reason"], reason);
        assert_eq!(last["response"]["usage"], Value::Null);
    }
}

#[test]
fn a_failure_ends_the_stream_with_its_reason() {
    let failure = CaptureError::new(ErrorKind::Failed, "The agent exited.");
    let events = streamed(vec![Piece::Text("Hel".to_owned()), Piece::Failed(failure)]);
    let last = events.last().expect("events");
    assert_eq!((&last["type"], &last["response"]["status"]), (&json!("response.failed"), &json!("failed")));
    assert_eq!(last["response"]["error"], json!({"code": "server_error", "message": "The agent exited."}));
}

//! What the demo agent plays for each first word.

use serde_json::{Value, json};

use crate::support::{Server, SseEvent, callbacks, message_text};

/// Sends a prompt and gives all events of its turn, deltas included.
async fn play(prompt: &str) -> Vec<SseEvent> {
    let server = Server::start().await;
    let session = server.session().await;
    let mut stream = session.events_after(0).await;
    session.prompt(prompt).await;
    stream.until_callback("onIdle").await
}

fn find(events: &[SseEvent], callback: &str) -> Vec<Value> {
    events.iter().map(SseEvent::json).filter(|event| event["callback"] == callback).collect()
}

#[tokio::test]
async fn every_text_says_that_it_is_a_demo() {
    for prompt in ["hello", "help", "reason", "tool", "edit", "something else", "many"] {
        let text = message_text(&play(prompt).await);
        assert!(text.to_lowercase().contains("demo"), "{prompt}: {text}");
    }
}

#[tokio::test]
async fn the_model_list_and_the_runtime_list_say_that_it_is_a_demo() {
    let server = Server::start().await;
    let models = server.http().get("/api/copilot/models").await.json();
    for model in models["models"].as_array().expect("models") {
        assert!(model["name"].as_str().expect("a name").contains("no AI"), "{model}");
    }
    let runtimes = server.http().get("/api/runtimes").await.json();
    let demo = runtimes["runtimes"].as_array().and_then(|all| all.last()).expect("the demo stands last");
    assert_eq!(demo["capabilities"]["demo"], json!(true));
    assert!(demo["hint"].as_str().expect("a hint").contains("demo"));
}

#[tokio::test]
async fn reason_thinks_before_it_answers() {
    let events = play("reason").await;
    let names: Vec<String> =
        events.iter().map(SseEvent::callback).filter(|name| name.contains("Start") || name.contains("End")).collect();
    let expected =
        ["onAgentStart", "onStartReasoning", "onEndReasoning", "onStartMessage", "onEndMessage", "onAgentEnd"];
    assert_eq!(names, expected);
    let deltas: String =
        find(&events, "onReasoning").iter().map(|event| event["delta"].as_str().expect("text").to_owned()).collect();
    assert_eq!(find(&events, "onEndReasoning")[0]["completeContent"], json!(deltas));
}

#[tokio::test]
async fn tool_and_edit_show_arguments_output_and_a_diff() {
    let events = play("tool").await;
    let start = &find(&events, "onStartToolExecution")[0];
    let arguments: Value = serde_json::from_str(start["toolArguments"].as_str().expect("text")).expect("JSON");
    assert_eq!((&start["toolName"], &arguments["command"]), (&json!("shell"), &json!("ls")));
    let output: String = find(&events, "onToolExecution")
        .iter()
        .map(|event| event["delta"].as_str().expect("text").to_owned())
        .collect();
    assert_eq!(find(&events, "onEndToolExecution")[0]["result"]["content"], json!(output));

    let events = play("edit").await;
    let end = &find(&events, "onEndToolExecution")[0];
    let diff = end["result"]["detailedContent"].as_str().expect("a diff");
    assert!(diff.contains("--- a/") && diff.contains("\n+ "), "{diff}");
}

#[tokio::test]
async fn markdown_has_what_a_renderer_must_show() {
    let text = message_text(&play("markdown").await);
    for part in ["# ", "| column |", "```rust", "- [x]", "> "] {
        assert!(text.contains(part), "{part}");
    }
}

#[tokio::test]
async fn error_fails_the_turn_before_its_end() {
    let server = Server::start().await;
    let session = server.session().await;
    assert_eq!(session.ask("error the disk is gone").await["verdict"], "failed");
    let log = session.log().await;
    let names = callbacks(&log);
    assert_eq!(names[2..], ["onAgentStart", "sessionError", "onAgentEnd", "onIdle"]);
    assert_eq!(log[3].1, json!({ "sessionError": "demo error: the disk is gone", "errorClass": "unknown" }));
}

#[tokio::test]
async fn many_gives_exactly_that_many_deltas_of_that_size() {
    let events = play("many 3000 0 33").await;
    let deltas = find(&events, "onMessage");
    assert_eq!(deltas.len(), 3000);
    let mut text = String::new();
    for delta in &deltas {
        let delta = delta["delta"].as_str().expect("text");
        assert_eq!(delta.len(), 33);
        text.push_str(delta);
    }
    assert_eq!(find(&events, "onEndMessage")[0]["completeContent"], json!(text));
}

#[tokio::test]
async fn the_same_prompt_gives_the_same_events() {
    for prompt in ["hello", "tool", "many 50 0 9"] {
        let [first, second] = [play(prompt).await, play(prompt).await];
        assert_eq!(first, second);
    }
}

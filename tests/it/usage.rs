//! What was used: counted with the events, put together by day, model, runtime and session, kept for good.

use serde_json::{Value, json};

use crate::support::{CopilotServer, Http, Program, Server, TestSession};

async fn usage(http: &Http, query: &str) -> Value {
    let reply = http.get(&format!("/api/usage?{query}")).await;
    assert_eq!(reply.status, 200, "{}", reply.text());
    reply.json()
}

/// The only row of an answer.
fn only_row(answer: &Value) -> &Value {
    let rows = answer["rows"].as_array().expect("rows");
    assert_eq!(rows.len(), 1, "{answer}");
    &rows[0]
}

#[tokio::test]
async fn nothing_used_is_unknown_and_not_zero() {
    let server = Server::start().await;
    let answer = usage(&server.http(), "").await;
    assert_eq!(answer["rows"], json!([]));
    assert_eq!(answer["total"]["reports"], 0);
    assert_eq!(answer["total"]["usage"]["inputTokens"], Value::Null);
    assert_eq!(answer["by"], "day");
    let days: i64 = {
        let day = |name: &str| answer[name].as_str().expect("a day").parse::<jiff::civil::Date>().expect("a day");
        (day("to") - day("from")).get_days().into()
    };
    assert_eq!(days, 29, "thirty days with both ends");
}

#[tokio::test]
async fn known_and_unknown_figures_are_kept_apart() {
    let server = Server::start().await;
    let session = server.session().await;
    for prompt in ["usage 100 20 - 0.25", "usage 50", "usage - - - 0.5"] {
        session.ask(prompt).await;
    }
    let answer = usage(&server.http(), "").await;
    let row = only_row(&answer);
    assert_eq!(row["day"], answer["to"], "today, by the clock of UTC");
    assert_eq!(row["reports"], 3);
    let figures = |name: &str| (row["usage"][name].clone(), row["unknown"][name].clone());
    assert_eq!(figures("inputTokens"), (json!(150), json!(1)));
    assert_eq!(figures("outputTokens"), (json!(20), json!(2)));
    assert_eq!(figures("costUsd"), (json!(0.75), json!(1)));
    assert_eq!(figures("premiumRequests"), (Value::Null, json!(3)));
    assert_eq!(answer["total"]["usage"], row["usage"]);
}

#[tokio::test]
async fn figures_are_put_together_as_asked_and_survive_a_kill_and_the_sessions() {
    let server = Server::start().await;
    let (one, two) = (server.session().await, server.session().await);
    one.ask("usage 100 10").await;
    let changed = one.http.patch_json(&one.path(""), &json!({ "model": "demo-slow" })).await;
    assert_eq!(changed.status, 200, "{}", changed.text());
    one.ask("usage 7").await;
    two.ask("usage 1000").await;

    let server = server.kill_and_restart().await;
    let by_model = usage(&server.http(), "by=model").await;
    let models: Vec<(&Value, &Value, &Value)> = by_model["rows"]
        .as_array()
        .expect("rows")
        .iter()
        .map(|row| (&row["model"], &row["runtimes"], &row["usage"]["inputTokens"]))
        .collect();
    let demo = json!(["demo"]);
    assert_eq!(
        models,
        [(&json!("demo"), &demo, &json!(1100)), (&json!("demo-slow"), &demo, &json!(7))],
        "the model is the one at that time, and the most tokens come first"
    );
    let by_runtime = usage(&server.http(), "by=runtime").await;
    let row = only_row(&by_runtime);
    assert_eq!((&row["runtime"], &row["usage"]["inputTokens"]), (&json!("demo"), &json!(1107)));

    let deleted = server.http().delete(&one.path("")).await;
    assert_eq!(deleted.status, 204);
    let by_session = usage(&server.http(), "by=session").await;
    let rows = by_session["rows"].as_array().expect("rows");
    assert_eq!((&rows[0]["sessionId"], &rows[0]["deleted"]), (&json!(two.id), &json!(false)));
    assert_eq!(rows[0]["title"], "usage 1000");
    assert_eq!((&rows[1]["sessionId"], &rows[1]["deleted"]), (&json!(one.id), &json!(true)));
    assert_eq!(rows[1]["usage"]["inputTokens"], 107, "what a deleted session used still counts");
    assert_eq!(by_session["total"]["usage"]["inputTokens"], 1107);
}

#[tokio::test]
async fn days_can_be_chosen() {
    let server = Server::start().await;
    server.session().await.ask("usage 5").await;
    let earlier = usage(&server.http(), "from=2020-01-01&to=2020-12-31").await;
    assert_eq!((&earlier["rows"], &earlier["total"]["reports"]), (&json!([]), &json!(0)));
    let today = earlier["today"].clone();
    assert_eq!(today["usage"]["inputTokens"], 5, "what is used today is told with every answer");
    let day = today["day"].as_str().expect("a day");
    let answer = usage(&server.http(), &format!("from={day}&to={day}")).await;
    assert_eq!(only_row(&answer)["usage"]["inputTokens"], 5);
}

#[tokio::test]
async fn a_wrong_question_gets_a_sentence() {
    let server = Server::start().await;
    for (query, word) in [
        ("by=week", "day, model, runtime or session"),
        ("from=yesterday", "YYYY-MM-DD"),
        ("to=2026-13-01", "YYYY-MM-DD"),
        ("from=2026-02-02&to=2026-02-01", "is after"),
        ("since=1", "since"),
    ] {
        let reply = server.http().get(&format!("/api/usage?{query}")).await;
        assert_eq!(reply.error(400), "InvalidQuery", "{query}");
        let message = reply.json()["message"].as_str().expect("a sentence").to_owned();
        assert!(message.contains(word) && message.ends_with('.'), "{query}: {message}");
    }
    let stranger = server.stranger().get("/api/usage").await;
    assert_eq!(stranger.status, 401);
}

#[tokio::test]
async fn figures_of_all_time_stand_in_the_metrics() {
    let server = Server::start().await;
    let session = server.session().await;
    session.ask("usage 100 20 0.5").await;
    session.ask("usage 11").await;
    let deleted = server.http().delete(&session.path("")).await;
    assert_eq!(deleted.status, 204);
    let server = server.restart().await;
    let reply = server.http().get("/metrics").await;
    let text = reply.text();
    let labels = r#"{runtime="demo",model="demo"}"#;
    for (name, value) in
        [("input_tokens", "111"), ("output_tokens", "20"), ("premium_requests", "0.5"), ("reports", "2")]
    {
        let line = format!("flightdeck_usage_{name}_total{labels} {value}");
        assert!(text.lines().any(|one| one == line), "{line}\n{text}");
    }
    assert!(!text.contains("flightdeck_usage_cost_usd_total{"), "nobody said what it cost: {text}");
}

#[tokio::test]
async fn the_command_line_shows_the_same_with_and_without_a_server() {
    let mut server = Server::start().await;
    server.session().await.ask("usage 1500 20").await;
    server.session().await.ask("usage - 5").await;
    let shown = server.run(&["usage", "--by", "model"]).await;
    assert!(shown.success, "{}", shown.stderr);
    let line = shown.stdout.lines().find(|line| line.starts_with("demo")).expect("a row");
    let cells: Vec<&str> = line.split_whitespace().collect();
    assert_eq!(cells, ["demo", "2", "1500+", "25", "-", "-", "-"], "{}", shown.stdout);
    assert!(shown.stdout.contains("some reports lack this figure"), "{}", shown.stdout);
    let asked: Value = serde_json::from_str(&server.run(&["usage", "--json"]).await.stdout).expect("JSON");
    assert!(server.stop().await);
    let without: Value = serde_json::from_str(&server.run(&["usage", "--json"]).await.stdout).expect("JSON");
    assert_eq!(without, asked);
    let wrong = server.run(&["usage", "--from", "monday"]).await;
    assert!(!wrong.success && wrong.stderr.contains("YYYY-MM-DD"), "{}", wrong.stderr);
}

#[tokio::test]
async fn without_a_data_folder_the_command_line_says_so_and_makes_none() {
    let folder = tempfile::tempdir().expect("a folder");
    let ended = Server::builder().run(folder.path(), &["usage"]).await;
    assert!(!ended.success && ended.stderr.contains("no database"), "{}", ended.stderr);
    assert!(!folder.path().join("data").exists(), "looking makes nothing");
}

#[tokio::test]
async fn a_turn_of_the_real_copilot_counts_under_the_model_that_it_names() {
    let copilot = CopilotServer::start(Program::Runtime).await;
    let session: TestSession = copilot.session("ask").await;
    let outcome = session.ask("@@plain").await;
    assert_eq!(outcome["verdict"], "succeeded", "{outcome}");
    let by_model = usage(&copilot.server.http(), "by=model").await;
    let row = only_row(&by_model);
    assert_eq!((&row["model"], &row["runtimes"]), (&json!("scripted-model"), &json!(["copilot"])));
    assert_eq!((&row["usage"]["inputTokens"], &row["usage"]["outputTokens"]), (&json!(100), &json!(20)));
    assert_eq!(row["usage"]["costUsd"], Value::Null, "Copilot does not speak of money");
    let by_session = usage(&copilot.server.http(), "by=session").await;
    assert_eq!(only_row(&by_session)["sessionId"], json!(session.id));
}

#[tokio::test]
async fn a_session_that_is_taken_up_again_is_not_counted_twice() {
    for (program, runtime) in [(Program::Runtime, "copilot"), (Program::Cli, "copilot-acp")] {
        let copilot = CopilotServer::start(program).await;
        let session = copilot.session_with(json!({ "runtime": runtime })).await;
        session.ask("@@plain").await;
        let CopilotServer { server, model } = copilot;
        let server = server.restart().await;
        let session = session.seen_by(server.http());
        assert_eq!(session.ask("@@history").await["text"], "user turns: 2", "{runtime}");
        let answer = usage(&server.http(), "by=runtime").await;
        let row = only_row(&answer);
        assert_eq!((&row["runtime"], &row["usage"]["inputTokens"]), (&json!(runtime), &json!(200)), "{answer}");
        drop(model);
    }
}

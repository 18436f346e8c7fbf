//! The log for programs, the spans of turns, and the documented metrics.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::support::markdown::{code_spans, section, table_rows};
use crate::support::source::project_file;
use crate::support::{Receiver, Server};

fn lines(log: &str) -> Vec<Value> {
    log.lines().map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"))).collect()
}

#[tokio::test]
async fn the_log_in_json_has_the_spans_of_turns_and_no_prompt() {
    let server =
        Server::builder().flags(&["--log-format", "json"]).variable("FLIGHTDECK_LOG_FILTER", "flightdeck=debug");
    let mut server = server.start().await;
    let session = server.session().await;
    session.ask("hello secretword").await;
    session.ask("error otherword").await;
    assert!(server.stop().await);
    let log = server.stderr().await;
    assert!(!log.contains("secretword"), "no prompt: {log}");
    let lines = lines(&log);
    let ended: Vec<&Value> = lines.iter().filter(|line| line["message"] == "turn ended").collect();
    assert_eq!(ended.len(), 2, "{log}");
    for (line, prompt, outcome) in [(ended[0], "prompt-1", "succeeded"), (ended[1], "prompt-2", "failed")] {
        let spans = line["spans"].as_array().expect("spans");
        assert_eq!(spans.iter().map(|span| &span["name"]).collect::<Vec<_>>(), ["prompt", "turn"], "{line}");
        let turn = &spans[1];
        assert_eq!(
            (&turn["session"], &turn["prompt"], &turn["runtime"], &turn["model"], &turn["outcome"]),
            (&json!(session.id), &json!(prompt), &json!("demo"), &json!("demo"), &json!(outcome))
        );
        assert!(turn["duration_ms"].is_u64(), "{turn}");
        assert_eq!((&line["level"], line["timestamp"].is_string()), (&json!("INFO"), true));
    }
    assert_eq!(ended[1]["spans"][1]["error_class"], "unknown");
    let request = lines.iter().find(|line| line["message"] == "request").expect("the log of requests");
    assert_eq!((&request["method"], request["status"].is_u64()), (&json!("POST"), true), "{request}");
    assert!(request["route"].as_str().is_some_and(|route| route.starts_with("/api/")), "{request}");
}

#[tokio::test]
async fn the_format_is_a_setting_too() {
    let mut server = Server::builder().config("[log]\nformat = \"json\"\n").start().await;
    server.session().await.ask("hello").await;
    assert!(server.stop().await);
    assert!(!lines(&server.stderr().await).is_empty());
}

/// The names of metrics that the code registers: a name and its help, below the prefix of their registry.
fn registered() -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for file in ["src/http/metrics.rs", "src/http/usage_metrics.rs"] {
        let text = project_file(file).split_whitespace().collect::<Vec<_>>().join(" ").replace("( ", "(");
        for part in text.split("Registry::with_prefix(\"").skip(1) {
            let (prefix, part) = part.split_once('"').expect("a prefix");
            for rest in part.split("(\"").skip(1) {
                let (name, rest) = rest.split_once('"').expect("a literal");
                let is_name = name.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_');
                if is_name && rest.starts_with(", \"") {
                    names.insert(format!("{prefix}_{name}"));
                }
            }
        }
    }
    names
}

/// The names of metrics in a text, as Prometheus sees them.
fn names(text: &str) -> BTreeSet<String> {
    text.lines().filter_map(|line| line.strip_prefix("# TYPE ")?.split(' ').next()).map(str::to_owned).collect()
}

#[tokio::test]
async fn every_metric_is_documented_and_every_documented_metric_exists() {
    let receiver = Receiver::start().await;
    let config = format!("[notifications.targets.hook]\nurl = \"{}\"\n", receiver.url);
    let server = Server::builder().config(&config).start().await;
    server.session().await.ask("hello").await;
    let found = names(server.http().get("/metrics").await.text());
    let registered = registered();
    // A family without series is not in the text.
    assert!(found.len() > 10 && found.is_subset(&registered), "{found:?} {registered:?}");
    let text = project_file("docs/observability.md");
    let documented: BTreeSet<String> = table_rows(section(&text, "## Metrics"))
        .iter()
        .flat_map(|row| code_spans(&row[0]).into_iter().take(1).map(str::to_owned))
        .collect();
    assert_eq!(documented, registered, "left: docs/observability.md, right: src/http");
}

#[tokio::test]
async fn turns_requests_and_works_are_counted() {
    let server = Server::start().await;
    let session = server.session().await;
    session.ask("hello").await;
    session.ask("error no").await;
    session.prompt_and_get_request("permission").await;
    let metrics = server.http().get("/metrics").await.text().to_owned();
    for line in [
        "flightdeck_turns_total{runtime=\"demo\",outcome=\"succeeded\"} 1",
        "flightdeck_turns_total{runtime=\"demo\",outcome=\"failed\"} 1",
        "flightdeck_turn_seconds_count{runtime=\"demo\"} 2",
        "flightdeck_waiting_requests 1",
    ] {
        assert!(metrics.lines().any(|found| found == line), "{line} is missing:\n{metrics}");
    }
}

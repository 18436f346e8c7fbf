//! `agents`, `models` and `doctor`, with and without a server.

use serde_json::{Value, json};

use crate::support::{CopilotServer, Program, Server};

fn json_of(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

#[tokio::test]
async fn agents_and_models_say_the_same_with_and_without_a_server() {
    let mut copilot = CopilotServer::start(Program::Cli).await;
    let check = async |copilot: &CopilotServer| {
        let agents = json_of(&copilot.server.run(&["agents", "list", "--json"]).await.stdout);
        let first = &agents["runtimes"][0];
        assert_eq!((&first["name"], &first["ready"]), (&json!("copilot"), &json!(true)), "{agents}");
        assert_eq!(first["program"]["version"], "1.0.102", "{agents}");
        assert_eq!(first["login"]["state"], "own-provider");
        let models = json_of(&copilot.server.run(&["models", "--refresh", "--json"]).await.stdout);
        assert_eq!(models["models"][0]["listedId"], "scripted-model", "{models}");
        let shown = copilot.server.run(&["agents"]).await.stdout;
        assert!(shown.contains("copilot (ready, the default)") && shown.contains("1.0.102"), "{shown}");
        let shown = copilot.server.run(&["models"]).await.stdout;
        assert!(shown.contains("scripted-model") && shown.contains("RUNTIME"), "{shown}");
    };
    check(&copilot).await;
    assert!(copilot.server.stop().await);
    check(&copilot).await;
}

#[tokio::test]
async fn doctor_finds_a_healthy_machine_and_runs_the_canary() {
    for program in Program::BOTH {
        let mut copilot = CopilotServer::start(program).await;
        for has_server in [true, false] {
            if !has_server {
                assert!(copilot.server.stop().await);
            }
            let arguments = ["doctor", "--json"];
            let ended = copilot.server.run(&arguments).await;
            assert!(ended.success, "{program:?} {} {}", ended.stdout, ended.stderr);
            let report = json_of(&ended.stdout);
            let canary = report["checks"]
                .as_array()
                .expect("checks")
                .iter()
                .find(|check| check["name"] == "copilot: permission canary");
            let canary = canary.unwrap_or_else(|| panic!("no canary: {report}"));
            assert_eq!(canary["verdict"], "ok", "{program:?} {report}");
            assert!(canary["message"].as_str().expect("words").contains("asked 2 times"), "{canary}");
        }
        let without = json_of(&copilot.server.run(&["doctor", "--json", "--no-canary"]).await.stdout);
        assert!(!without.to_string().contains("canary"), "{without}");
    }
}

#[tokio::test]
async fn doctor_shows_what_is_missing_and_fails_only_for_what_does_not_work() {
    let folder = tempfile::tempdir().expect("a folder");
    let ended = Server::builder().run(folder.path(), &["doctor"]).await;
    assert!(!ended.success, "a program that is named and missing does not work: {}", ended.stdout);
    for words in
        ["ok       data folder", "ok       database", "FAILURE  copilot: program", "→ run `flightdeck agents install"]
    {
        assert!(ended.stdout.contains(words), "{words}: {}", ended.stdout);
    }
}

#[tokio::test]
async fn installing_an_unknown_agent_names_the_known_ones() {
    let folder = tempfile::tempdir().expect("a folder");
    let ended = Server::builder().run(folder.path(), &["agents", "install", "copliot"]).await;
    assert!(!ended.success);
    assert!(
        ended.stderr.contains("copliot") && ended.stderr.contains("the known ones are copilot"),
        "{}",
        ended.stderr
    );
}

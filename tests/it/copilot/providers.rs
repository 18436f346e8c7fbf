//! Models of the user's own: in the configuration, and per session.

use flightdeck::scripted_model::ScriptedModel;
use serde_json::{Value, json};

use crate::support::{Program, Server, TestSession, bare};

struct Configured {
    server: Server,
    model: ScriptedModel,
}

impl Configured {
    /// A server whose only model is one in its configuration.
    async fn start() -> Self {
        let model = ScriptedModel::start().await.expect("started");
        let config = format!(
            "[providers.local]\nbase_url = \"{}\"\napi_key_variable = \"LOCAL_KEY\"\nmodels = [\"small\", \"large\"]",
            model.base_url()
        );
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::create_dir(folder.path().join("work")).expect("a folder to work in");
        let builder = bare(Program::Runtime, folder.path()).variable("LOCAL_KEY", "sk-local").config(&config);
        Self { server: builder.start_in(folder).await, model }
    }

    async fn session(&self, body: Value) -> TestSession {
        TestSession::start_with(self.server.http(), body).await
    }
}

#[tokio::test]
async fn a_configured_provider_offers_its_models_and_sessions_run_on_them() {
    let configured = Configured::start().await;
    let http = configured.server.http();
    let models = http.get("/api/copilot/models").await.json();
    let ids: Vec<&str> =
        models["models"].as_array().expect("models").iter().filter_map(|model| model["id"].as_str()).collect();
    assert_eq!(ids, ["local/small", "local/large", "demo/demo", "demo/demo-slow"]);
    let notes = http.get("/api/models").await.json()["notes"].clone();
    assert!(notes[0]["reason"].as_str().expect("a reason").contains("logged in"), "{notes}");
    let session = configured.session(json!({ "model": "local/large" })).await;
    assert_eq!(session.ask("@@plain").await["verdict"], "succeeded");
    let requests = configured.model.requests();
    assert_eq!(requests.last().expect("asked")["model"], "large", "the provider's own name for it");
}

#[tokio::test]
async fn a_session_names_a_provider_or_brings_its_own() {
    let configured = Configured::start().await;
    let named =
        configured.session(json!({ "runtime": "copilot", "model": "small", "options": { "provider": "local" } })).await;
    assert_eq!(named.ask("@@plain").await["verdict"], "succeeded");
    let other = ScriptedModel::start().await.expect("started");
    let provider = json!({ "type": "openai", "baseUrl": other.base_url(), "apiKey": "sk-secretOfThisSession", "wireApi": "responses" });
    let own =
        configured.session(json!({ "runtime": "copilot", "model": "mine", "options": { "provider": provider } })).await;
    assert_eq!(own.ask("@@plain").await["verdict"], "succeeded");
    assert_eq!(other.requests().last().expect("asked")["model"], "mine");
    let details = own.get("").await;
    assert!(!details.text().contains("secretOfThisSession"), "{}", details.text());
    let nope =
        configured.session(json!({ "runtime": "copilot", "model": "m", "options": { "provider": "locall" } })).await;
    assert_eq!(nope.ask("hello").await["verdict"], "failed");
    let log = nope.get("/log").await.text().to_owned();
    assert!(log.contains("locall") && log.contains("configured providers: local"), "{log}");
}

#[tokio::test]
async fn a_session_with_a_provider_of_its_own_may_name_any_model() {
    // Here the list is complete: the environment names the one model there is.
    let copilot = crate::support::CopilotServer::start(Program::Runtime).await;
    let other = ScriptedModel::start().await.expect("started");
    let provider = json!({ "type": "openai", "baseUrl": other.base_url(), "apiKey": "none" });
    let session =
        copilot.session_with(json!({ "model": "not-in-the-list", "options": { "provider": provider } })).await;
    assert_eq!(session.ask("@@plain").await["verdict"], "succeeded");
    assert_eq!(other.requests().last().expect("asked")["model"], "not-in-the-list");
    let refused = copilot.server.http().post_json("/api/copilot/session", &json!({ "model": "not-in-the-list" })).await;
    assert_eq!(refused.error(400), "ModelIdNotFound");
}

#[tokio::test]
async fn keys_of_providers_are_not_shown_by_the_config_command() {
    let folder = tempfile::tempdir().expect("a folder");
    let builder = Server::builder().config(
        "[providers.a]\nbase_url = \"http://localhost:1/v1\"\napi_key = \"sk-inTheFile\"\nheaders = { x = \"alsoSecret\" }",
    );
    for arguments in [&["config"][..], &["config", "--json"]] {
        let shown = builder.run(folder.path(), arguments).await;
        assert!(shown.success, "{}", shown.stderr);
        assert!(shown.stdout.contains("http://localhost:1/v1"), "{}", shown.stdout);
        assert!(!shown.stdout.contains("inTheFile") && !shown.stdout.contains("alsoSecret"), "{}", shown.stdout);
    }
}

#[tokio::test]
async fn a_provider_that_cannot_be_reached_fails_the_turn_and_the_others_go_on() {
    let configured = Configured::start().await;
    let port = crate::support::free_port();
    let provider = json!({ "type": "openai", "baseUrl": format!("http://127.0.0.1:{port}/v1") });
    let lost =
        configured.session(json!({ "runtime": "copilot", "model": "m", "options": { "provider": provider } })).await;
    let good = configured.session(json!({ "model": "local/small" })).await;
    let (failed, succeeded) = tokio::join!(lost.ask("@@plain"), good.ask("@@plain"));
    assert_eq!((&failed["verdict"], &succeeded["verdict"]), (&json!("failed"), &json!("succeeded")));
    let log = lost.log().await;
    let (_, error) = log.iter().find(|(_, response)| response.get("sessionError").is_some()).expect("an error");
    assert_eq!(error["errorClass"], "network", "{error}");
    let message = error["sessionError"].as_str().expect("words");
    assert!(message.starts_with("Copilot cannot reach its model"), "{message}");
}

#[tokio::test]
async fn a_model_of_another_provider_answers_from_the_next_turn_on_and_knows_the_conversation() {
    let (one, other) = (ScriptedModel::start().await.expect("started"), ScriptedModel::start().await.expect("started"));
    let config = format!(
        "[providers.one]\nbase_url = \"{}\"\nmodels = [\"a\"]\n[providers.other]\nbase_url = \"{}\"\nmodels = [\"b\", \"c\"]",
        one.base_url(),
        other.base_url()
    );
    for program in Program::BOTH {
        let folder = tempfile::tempdir().expect("a folder");
        let server = bare(program, folder.path()).config(&config).start().await;
        let session = TestSession::start_with(server.http(), json!({ "model": "one/a" })).await;
        session.ask("@@echo first").await;
        for model in ["b", "c"] {
            let id = format!("other/{model}");
            let switched = server.http().patch_json(&session.path(""), &json!({ "model": id })).await;
            assert_eq!(switched.status, 200, "{}", switched.text());
            let (asked_one, asked_other) = (one.requests().len(), other.requests().len());
            assert_eq!(session.ask("@@echo more").await["text"], "ECHO[more]", "{program:?} {model}");
            assert_eq!(one.requests().len(), asked_one, "{program:?} {model}");
            assert_eq!(other.requests()[asked_other]["model"], model, "{program:?}");
        }
        let answer = session.ask("@@history").await;
        assert_eq!(answer["text"], "user turns: 4", "{program:?} {answer}");
    }
}

#[tokio::test]
async fn doctor_says_which_providers_answer_and_which_do_not_take_the_key() {
    let model = ScriptedModel::start().await.expect("started");
    let config = format!(
        "[providers.good]\nbase_url = \"{}\"\n[providers.gone]\nbase_url = \"http://127.0.0.1:{}/v1\"\n\
         [providers.locked]\nbase_url = \"{}/locked\"\napi_key = \"sk-notToBeSeen\"",
        model.base_url(),
        crate::support::free_port(),
        model.base_url()
    );
    let folder = tempfile::tempdir().expect("a folder");
    let server = bare(Program::Runtime, folder.path()).config(&config).start().await;
    let doctor = server.run(&["doctor", "--no-canary"]).await;
    for (name, verdict, words) in [
        ("provider good", "ok", "responds"),
        ("provider gone", "warning", "cannot reach"),
        ("provider locked", "warning", "rejected the key"),
    ] {
        let line = doctor.stdout.lines().find(|line| line.contains(name)).unwrap_or(&doctor.stdout);
        assert!(line.trim_start().starts_with(verdict) && line.contains(words), "{line}");
    }
    assert!(!doctor.stdout.contains("notToBeSeen"), "{}", doctor.stdout);
}

#[tokio::test]
async fn every_kind_of_provider_is_spoken_to_in_its_own_way() {
    let model = ScriptedModel::start().await.expect("started");
    let (v1, root) = (model.base_url(), model.root_url());
    let config = format!(
        "[providers.chat]\nbase_url = \"{v1}\"\n[providers.answers]\nbase_url = \"{v1}\"\nwire_api = \"responses\"\n\
         [providers.claude]\ntype = \"anthropic\"\nbase_url = \"{root}\"\napi_key = \"k\"\n\
         [providers.azure]\ntype = \"azure\"\nbase_url = \"{root}\"\napi_key = \"k\"\n\
         [providers.dated]\ntype = \"azure\"\nbase_url = \"{root}\"\napi_key = \"k\"\napi_version = \"2024-10-21\""
    );
    for program in Program::BOTH {
        let folder = tempfile::tempdir().expect("a folder");
        let server = bare(program, folder.path()).config(&config).start().await;
        for name in ["chat", "answers", "claude", "azure", "dated"] {
            let body =
                json!({ "runtime": "copilot", "model": format!("{name}/some-model"), "permissionMode": "allow-all" });
            let session = TestSession::start_with(server.http(), body).await;
            let answer = session.ask("@@bash echo made").await;
            assert_eq!(answer["verdict"], "succeeded", "{program:?} {name}: {}", session.get("/log").await.text());
            let log = session.get("/log").await.text().to_owned();
            assert!(log.contains("made"), "{program:?} {name}: {log}");
            assert_eq!(session.ask("@@echo again").await["text"], "ECHO[again]", "{program:?} {name}");
        }
    }
}

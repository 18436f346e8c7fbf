//! Settings over the API: where each value comes from, changes that take effect while the server runs, and those that do not.

use serde_json::{Value, json};

use crate::support::{Server, ServerBuilder, TestSession};

/// A server whose file of settings is the test's own, so that a restart leaves it alone.
async fn start(text: &str) -> Server {
    start_as(text, Server::builder()).await
}

async fn start_as(text: &str, builder: ServerBuilder) -> Server {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::create_dir(folder.path().join("work")).expect("a folder to work in");
    let file = folder.path().join("settings.toml");
    std::fs::write(&file, text).expect("written");
    builder.variable("FLIGHTDECK_CONFIG", file.to_str().expect("UTF-8")).start_in(folder).await
}

fn file(server: &Server) -> std::path::PathBuf {
    server.folder().join("settings.toml")
}

async fn setting(server: &Server, key: &str) -> Value {
    let reply = server.http().get("/api/settings").await;
    assert_eq!(reply.status, 200, "{}", reply.text());
    let all = reply.json()["settings"].as_array().expect("a list").clone();
    all.into_iter().find(|setting| setting["key"] == key).unwrap_or_default()
}

async fn change(server: &Server, changes: Value) -> Value {
    let reply = server.http().patch_json("/api/settings", &json!({ "changes": changes })).await;
    assert_eq!(reply.status, 200, "{}", reply.text());
    reply.json()
}

fn config_text(server: &Server) -> String {
    std::fs::read_to_string(file(server)).unwrap_or_default()
}

#[tokio::test]
async fn every_setting_has_its_value_its_default_and_its_layer() {
    let builder = Server::builder().variable("FLIGHTDECK_BUDGET_WARN_AT", "0.5");
    let server = start_as("# mine\n[limits]\nsessions = 7\n", builder).await;
    let shown = setting(&server, "limits.sessions").await;
    let source = file(&server).display().to_string();
    let expected = json!({
        "key": "limits.sessions", "value": 7, "default": 2000, "userValue": 7, "layer": "user", "source": source,
        "effect": "now",
    });
    assert_eq!(shown, expected);
    let shown = setting(&server, "budget.warn_at").await;
    assert_eq!(
        (&shown["value"], &shown["layer"], &shown["source"]),
        (&json!(0.5), &json!("environment"), &json!("FLIGHTDECK_BUDGET_WARN_AT"))
    );
    assert_eq!(setting(&server, "server.port").await["layer"], "flag", "the test chose it");
    let default = setting(&server, "server.bind").await;
    assert_eq!((&default["layer"], &default["effect"]), (&json!("default"), &json!("restart")));
}

#[tokio::test]
async fn a_changed_limit_counts_at_once_and_after_a_restart_and_the_file_keeps_its_comments() {
    let server = start("# mine\n[limits]\nsessions = 7 # enough\n").await;
    let session = TestSession::start_with(server.http(), json!({ "runtime": "demo" })).await;
    session.ask("hello").await;
    let changed = change(&server, json!({ "limits.prompt_bytes": 10, "limits.sessions": 1 })).await;
    assert_eq!(changed["changed"], json!(["limits.prompt_bytes", "limits.sessions"]));
    assert_eq!((&changed["needsRestart"], &changed["overridden"]), (&json!([]), &json!([])));
    let refused = session.post("/prompt", json!({ "text": "longer than ten bytes" })).await;
    assert_eq!(refused.status, 413, "an open session has the new limit: {}", refused.text());
    let second = server.http().post_json("/api/copilot/session", &json!({ "runtime": "demo" })).await;
    assert_eq!(second.status, 429, "{}", second.text());
    let text = config_text(&server);
    assert!(text.starts_with("# mine\n") && text.contains("sessions = 1 # enough"), "{text}");
    let server = server.restart().await;
    assert_eq!(setting(&server, "limits.prompt_bytes").await["value"], 10);
    change(&server, json!({ "limits.prompt_bytes": null })).await;
    let shown = setting(&server, "limits.prompt_bytes").await;
    assert_eq!((&shown["value"], &shown["layer"]), (&shown["default"], &json!("default")));
}

#[tokio::test]
async fn a_new_rule_answers_the_requests_that_it_covers() {
    let server = start("").await;
    let session = TestSession::start_with(server.http(), json!({ "runtime": "demo" })).await;
    session.prompt_and_get_request("permission").await;
    let rule = json!({ "tool": "shell", "decision": "allow" });
    let changed = change(&server, json!({ "permissions.rules": [rule] })).await;
    assert_eq!(changed["settings"][0]["value"][0]["decision"], "allow");
    session.events_after(0).await.until_callback("onIdle").await;
}

#[tokio::test]
async fn what_needs_a_restart_says_so_and_what_a_variable_overrides_too() {
    let server = start_as("", Server::builder().variable("FLIGHTDECK_SESSIONS_EFFORT", "high")).await;
    let changed = change(&server, json!({ "log.filter": "debug", "sessions.effort": "low" })).await;
    assert_eq!((&changed["changed"], &changed["needsRestart"]), (&json!(["log.filter"]), &json!(["log.filter"])));
    assert_eq!(changed["overridden"], json!(["sessions.effort"]));
    let all = server.http().get("/api/settings").await.json();
    assert_eq!(all["waitingForRestart"], json!(["log.filter"]));
    let server = server.restart().await;
    assert_eq!(server.http().get("/api/settings").await.json()["waitingForRestart"], json!([]));
}

#[tokio::test]
async fn a_change_that_is_wrong_changes_nothing() {
    let server = start("[limits]\nsessions = 7\n").await;
    let before = config_text(&server);
    for (changes, expected) in [
        (json!({ "limits.sesions": 1 }), "did you mean `limits.sessions`"),
        (json!({ "limits.sessions": 3, "limits.prompt_bytes": "many" }), "limits.prompt_bytes"),
        (json!({ "limits.sessions": 0 }), "expected a whole number, 1 or more, got 0"),
        (json!({ "limits.prompt_bytes": 0 }), "expected a whole number, 1 or more, got 0"),
        (json!({ "limits.sessions": 3, "server.bind": "0.0.0.0" }), "--behind-proxy"),
        (json!({ "providers.mine": { "base_url": null } }), "providers.mine"),
        (json!({ "providers.mine": {} }), "base_url"),
        (json!({ "": 1 }), "no setting"),
        (json!({ "limits": { "sessions": 1 } }), "no setting"),
    ] {
        let reply = server.http().patch_json("/api/settings", &json!({ "changes": changes })).await;
        assert_eq!(reply.error(400), "InvalidSetting", "{changes}");
        assert!(reply.text().contains(expected), "{changes}: {}", reply.text());
    }
    let dry = json!({ "changes": { "limits.sessions": 3 }, "dryRun": true });
    let reply = server.http().patch_json("/api/settings", &dry).await.json();
    assert_eq!((&reply["changed"], &reply["settings"][0]["value"]), (&json!(["limits.sessions"]), &json!(3)));
    assert_eq!(config_text(&server), before);
    assert_eq!(setting(&server, "limits.sessions").await["value"], 7);
    assert_eq!(server.http().patch_json("/api/settings", &json!({ "change": {} })).await.error(400), "InvalidJson");
}

#[tokio::test]
async fn a_provider_and_an_agent_are_there_at_once_and_secrets_are_never_shown() {
    let server = start("").await;
    let running = TestSession::start_with(server.http(), json!({ "runtime": "demo" })).await;
    running.prompt("many 200 20 10").await;
    let provider = json!({ "base_url": "http://localhost:1/v1", "api_key": "sk-secret-1", "models": ["mine"] });
    let agent = json!({ "command": "no-such-agent" });
    let changed = change(&server, json!({ "providers.own": provider, "acp.mine": agent })).await;
    assert!(!changed.to_string().contains("sk-secret-1"), "{changed}");
    let runtimes = server.http().get("/api/runtimes").await.text().to_owned();
    assert!(runtimes.contains("acp:mine"), "{runtimes}");
    // What hides the key means the key as it was.
    let mut shown = setting(&server, "providers.own").await["value"].clone();
    assert_eq!(shown["api_key"], "[redacted]");
    shown["base_url"] = json!("http://localhost:2/v1");
    change(&server, json!({ "providers.own": shown })).await;
    let text = config_text(&server);
    assert!(text.contains("sk-secret-1") && text.contains("localhost:2"), "{text}");
    running.events_after(0).await.until_callback("onIdle").await;
    change(&server, json!({ "acp.mine": null })).await;
    assert!(!server.http().get("/api/runtimes").await.text().contains("acp:mine"));
    running.ask("hello").await;
}

#[tokio::test]
async fn a_file_that_was_changed_by_hand_or_by_the_command_is_read_again() {
    let server = start("").await;
    std::fs::write(file(&server), "[limits]\nsessions = 9\n").expect("written");
    assert_eq!(setting(&server, "limits.sessions").await["value"], 2000, "nobody has asked yet");
    assert_eq!(change(&server, json!({})).await["changed"], json!(["limits.sessions"]));
    assert_eq!(setting(&server, "limits.sessions").await["value"], 9);
    let said = server.run(&["config", "set", "limits.sessions", "8"]).await;
    assert!(said.stdout.contains("uses it from now on"), "{}", said.stdout);
    assert_eq!(setting(&server, "limits.sessions").await["value"], 8);
    let said = server.run(&["config", "set", "log.filter", "debug"]).await;
    assert!(said.stdout.contains("needs a restart"), "{}", said.stdout);
    std::fs::write(file(&server), "[limits]\nsessions = nine\n").expect("written");
    let reply = server.http().patch_json("/api/settings", &json!({})).await;
    assert_eq!(reply.error(400), "InvalidSetting");
    assert_eq!(setting(&server, "limits.sessions").await["value"], 8, "the old settings stay in force");
}

#[tokio::test]
async fn the_defaults_of_a_runtime_count_at_once_where_a_session_does_not_choose() {
    let server = start("[sessions]\nruntime = \"demo\"\nmodel = \"demo\"\neffort = \"low\"\n").await;
    let create = async |body: Value| {
        let reply = server.http().post_json("/api/copilot/session", &body).await;
        assert_eq!(reply.status, 201, "{}", reply.text());
        reply.json()
    };
    let chosen = |details: &Value| {
        let text = |name: &str| details[name].as_str().unwrap_or_default().to_owned();
        [text("model"), text("effort"), text("permissionMode")]
    };
    assert_eq!(chosen(&create(json!({})).await), ["demo", "low", "ask"]);
    let defaults = json!({ "model": "demo-slow", "effort": "high", "permission_mode": "deny" });
    let changed = change(&server, json!({ "runtimes.demo": defaults })).await;
    assert_eq!((&changed["changed"], &changed["needsRestart"]), (&json!(["runtimes.demo"]), &json!([])));
    assert_eq!(chosen(&create(json!({})).await), ["demo-slow", "high", "deny"]);
    let own = json!({ "model": "demo", "effort": "medium", "permissionMode": "folder" });
    assert_eq!(chosen(&create(own).await), ["demo", "medium", "folder"], "the session's own choice is stronger");
    assert_eq!(server.http().get("/api/config").await.json()["defaultModel"], "demo-slow");

    let options = json!({ "options": { "stream": false, "disable_builtin_mcps": false } });
    change(&server, json!({ "runtimes.copilot-headless": options })).await;
    let own = json!({ "runtime": "copilot-headless", "model": "m", "options": { "stream": true } });
    assert_eq!(create(own).await["options"], json!({ "stream": true, "disableBuiltinMcps": false }));

    change(&server, json!({ "runtimes.demo": null })).await;
    assert_eq!(chosen(&create(json!({})).await), ["demo", "low", "ask"]);
    for (entry, value, word) in [
        ("runtimes.copiolt", json!({ "model": "m" }), "copilot-headless"),
        ("runtimes.copilot-headless", json!({ "options": { "straem": true } }), "disableBuiltinMcps"),
        ("runtimes.claude", json!({ "options": { "max_turns": 0 } }), "positive integer"),
        ("runtimes.demo", json!({ "permission_mode": "maybe" }), "allow-all"),
        ("runtimes.demo", json!({ "stream": true }), "permission_mode"),
    ] {
        let reply = server.http().patch_json("/api/settings", &json!({ "changes": { entry: value } })).await;
        assert_eq!(reply.error(400), "InvalidSetting", "{entry}");
        assert!(reply.text().contains(word), "{}", reply.text());
    }
}

#[tokio::test]
async fn every_runtime_describes_its_options() {
    let server = start("").await;
    let runtimes = server.http().get("/api/runtimes").await.json()["runtimes"].as_array().expect("a list").clone();
    let of = |name: &str| runtimes.iter().find(|runtime| runtime["name"] == name).expect(name)["options"].clone();
    let headless = of("copilot-headless");
    let stream = headless.as_array().expect("a list").iter().find(|option| option["name"] == "stream").expect("there");
    assert_eq!((&stream["kind"], &stream["default"]), (&json!("switch"), &json!(true)));
    assert_eq!(of("demo"), json!([]));
}

#[tokio::test]
async fn a_file_that_was_changed_meanwhile_is_not_overwritten() {
    let server = start("[limits]\nsessions = 7\n").await;
    let revision = server.http().get("/api/settings").await.json()["revision"].clone();
    let save = async |revision: &Value, value: u64| {
        let body = json!({ "changes": { "limits.sessions": value }, "revision": revision });
        server.http().patch_json("/api/settings", &body).await
    };
    let saved = save(&revision, 8).await;
    assert_eq!(saved.status, 200, "{}", saved.text());
    let revision = saved.json()["revision"].clone();
    std::fs::write(file(&server), "[limits]\nsessions = 9 # by hand\n").expect("written");
    let refused = save(&revision, 10).await;
    assert_eq!(refused.error(409), "SettingsChanged");
    assert!(config_text(&server).contains("sessions = 9 # by hand"));
    change(&server, json!({})).await;
    let revision = server.http().get("/api/settings").await.json()["revision"].clone();
    assert_eq!(save(&revision, 10).await.status, 200);
    assert!(config_text(&server).contains("sessions = 10 # by hand"));
}

#[tokio::test]
async fn an_entry_with_a_dot_in_its_name_keeps_its_secret_and_a_mark_is_never_stored() {
    let server = start("").await;
    let entry = json!({ "base_url": "http://localhost:1/v1", "api_key": "sk-dot" });
    change(&server, json!({ "providers.\"my.box\"": entry })).await;
    let mut shown = setting(&server, "providers.my.box").await["value"].clone();
    assert_eq!(shown["api_key"], "[redacted]");
    shown["models"] = json!(["m"]);
    let changed = change(&server, json!({ "providers.\"my.box\"": shown })).await;
    assert_eq!(changed["settings"][0]["key"], "providers.my.box");
    assert!(config_text(&server).contains("sk-dot"), "{}", config_text(&server));
    // The secret that counts is the one in the file now.
    let by_hand = config_text(&server).replace("sk-dot", "sk-by-hand");
    std::fs::write(file(&server), by_hand).expect("written");
    change(&server, json!({ "providers.\"my.box\"": shown })).await;
    assert!(config_text(&server).contains("sk-by-hand"), "{}", config_text(&server));
    let copy = json!({ "changes": { "providers.copy": shown } });
    let reply = server.http().patch_json("/api/settings", &copy).await;
    assert_eq!(reply.error(400), "InvalidSetting");
    assert!(reply.text().contains("api_key"), "{}", reply.text());
}

#[tokio::test]
async fn a_provider_can_be_tested() {
    let model = flightdeck::scripted_model::ScriptedModel::start().await.expect("started");
    let config = format!(
        "[providers.good]\nbase_url = \"{}\"\n[providers.gone]\nbase_url = \"http://127.0.0.1:1/v1\"\n\
         [providers.keyless]\nbase_url = \"http://127.0.0.1:1/v1\"\napi_key_variable = \"NO_SUCH_KEY\"\n",
        model.base_url()
    );
    let server = start(&config).await;
    let test = async |name: &str| server.http().post_json(&format!("/api/providers/{name}/test"), &json!({})).await;
    let good = test("good").await;
    assert_eq!(good.status, 200, "{}", good.text());
    assert_eq!(good.json()["verdict"], "ok", "{}", good.text());
    assert!(test("gone").await.json()["message"].as_str().is_some_and(|text| text.contains("cannot reach")));
    assert!(test("keyless").await.json()["message"].as_str().is_some_and(|text| text.contains("NO_SUCH_KEY")));
    assert_eq!(test("nobody").await.error(404), "ProviderNotFound");
}

//! The runtimes as the API describes them, their models, and how their programs are installed.

use std::path::Path;

use serde_json::{Value, json};

use crate::support::{Server, eventually};

/// A folder to search programs in: an `npm` that installs a `claude`, and nothing else.
fn with_npm(folder: &Path, install: &str) -> String {
    use std::os::unix::fs::PermissionsExt as _;
    let bin = folder.join("bin");
    std::fs::create_dir_all(&bin).expect("a folder");
    let script = format!("#!/bin/sh\ncase \"$1\" in\nroot) echo /nowhere;;\ninstall) {install};;\nesac\n");
    std::fs::write(bin.join("npm"), script).expect("written");
    std::fs::set_permissions(bin.join("npm"), std::fs::Permissions::from_mode(0o755)).expect("set");
    format!("{}:/usr/bin:/bin", bin.display())
}

fn runtime<'a>(runtimes: &'a Value, name: &str) -> &'a Value {
    let all = runtimes["runtimes"].as_array().expect("runtimes");
    all.iter().find(|runtime| runtime["name"] == name).unwrap_or_else(|| panic!("no {name} in {runtimes}"))
}

#[tokio::test]
async fn runtimes_name_their_agent_and_describe_their_options() {
    let server = Server::builder()
        .config("[mcp_servers.files]\ncommand = \"mcp-files\"\n\n[acp.mine]\ncommand = \"no-such-agent\"\n")
        .start()
        .await;
    let runtimes = server.http().get("/api/runtimes").await.json();
    assert_eq!(runtimes["permissionMode"], "ask");
    for (name, agent, title, connection, display_name) in [
        ("copilot", "copilot", "GitHub Copilot", json!("SDK"), "GitHub Copilot"),
        ("copilot-acp", "copilot", "GitHub Copilot", json!("ACP"), "GitHub Copilot (ACP)"),
        ("copilot-headless", "copilot", "GitHub Copilot", json!("Headless"), "GitHub Copilot (Headless)"),
        ("claude", "claude", "Claude Code", Value::Null, "Claude Code"),
        ("acp:mine", "acp:mine", "mine", Value::Null, "mine"),
        ("demo", "demo", "Demo", Value::Null, "Demo"),
    ] {
        let entry = runtime(&runtimes, name);
        let seen = (&entry["agent"], &entry["title"], &entry["connection"]["name"], &entry["displayName"]);
        assert_eq!(seen, (&json!(agent), &json!(title), &connection, &json!(display_name)), "{name}");
    }
    let session = server.session().await;
    let details = server.http().get(&format!("/api/copilot/session/{}", session.id)).await.json();
    assert_eq!((&details["runtime"], &details["agentName"]), (&json!("demo"), &json!("Demo")));
    for name in ["copilot", "copilot-acp", "copilot-headless"] {
        let options = runtime(&runtimes, name)["options"].as_array().expect("options");
        let own = options.iter().find(|option| option["name"] == "disableBuiltinMcps").expect(name);
        assert!(own["hint"].as_str().expect("a hint").contains("github-mcp-server"), "{name}: {own}");
    }
    let headless = runtime(&runtimes, "copilot-headless")["options"].as_array().expect("options");
    let option = |name: &str| headless.iter().find(|option| option["name"] == name).expect(name);
    assert_eq!((&option("stream")["default"], &option("stream")["kind"]), (&json!(true), &json!("switch")));
    assert_eq!(option("mcpServers")["choices"], json!([{ "value": "files", "label": "files" }]));
}

#[tokio::test]
async fn every_runtime_offers_its_models_or_takes_any_name() {
    let server = Server::builder().config("[acp.mine]\ncommand = \"no-such-agent\"\n").start().await;
    let reply = server.http().get("/api/models").await.json();
    let list = |name: &str| {
        let lists = reply["lists"].as_array().expect("lists");
        lists.iter().find(|list| list["runtime"] == name).unwrap_or_else(|| panic!("no {name} in {reply}")).clone()
    };
    for name in ["copilot", "copilot-acp", "copilot-headless", "claude", "acp:mine"] {
        let expected = json!({ "runtime": name, "takesAnyName": true, "agentChooses": true, "default": "" });
        assert_eq!(list(name), expected);
    }
    let expected = json!({ "runtime": "demo", "takesAnyName": false, "agentChooses": false, "default": "demo" });
    assert_eq!(list("demo"), expected);
    let of_claude: Vec<&Value> =
        reply["models"].as_array().expect("models").iter().filter(|model| model["runtime"] == "claude").collect();
    let ids: Vec<&str> = of_claude.iter().filter_map(|model| model["id"].as_str()).collect();
    assert_eq!(ids, ["sonnet", "opus", "haiku"]);
    assert!(of_claude.iter().all(|model| model["hidden"] == false && model["provider"] == "Anthropic"), "{reply}");
}

#[tokio::test]
async fn runtimes_and_models_say_what_a_session_gets_that_chooses_nothing() {
    let config = "[sessions]\neffort = \"low\"\n[permissions]\ndefault = \"deny\"\n[runtimes.copilot-headless]\nmodel = \"mine\"\n\
                  effort = \"high\"\npermission_mode = \"allow-all\"\noptions = { disable_builtin_mcps = false }\n\
                  [runtimes.demo]\nmodel = \"no-such-model\"\n";
    let server = Server::builder().config(config).start().await;
    let runtimes = server.http().get("/api/runtimes").await.json();
    let models = server.http().get("/api/models").await.json();
    let model = |name: &str| {
        let lists = models["lists"].as_array().expect("lists");
        lists.iter().find(|list| list["runtime"] == name).expect(name)["default"].clone()
    };
    let of_headless =
        json!({ "effort": "high", "permissionMode": "allow-all", "options": { "disableBuiltinMcps": false } });
    assert_eq!(runtime(&runtimes, "copilot-headless")["defaults"], of_headless);
    assert_eq!(model("copilot-headless"), "mine");
    let session = json!({ "runtime": "copilot-headless", "workingDirectory": server.work() });
    let details = server.http().post_json("/api/copilot/session", &session).await.json();
    for name in ["effort", "permissionMode", "options"] {
        assert_eq!(details[name], of_headless[name], "what was announced: {details}");
    }
    assert_eq!(details["model"], "mine");
    let plain = json!({ "effort": "low", "permissionMode": "deny", "options": {} });
    assert_eq!(runtime(&runtimes, "claude")["defaults"], plain);
    assert_eq!((model("claude"), model("demo")), (json!(""), Value::Null), "demo has no such model");
}

#[tokio::test]
async fn a_missing_program_is_installed_in_the_background_and_then_used() {
    let folder = tempfile::tempdir().expect("a folder");
    let install = "bin=$7/node_modules/.bin; mkdir -p $bin; printf '#!/bin/sh\\necho 9.8.7\\n' > $bin/claude; chmod +x $bin/claude";
    let server = Server::builder().variable("PATH", &with_npm(folder.path(), install)).start().await;
    let http = server.http();
    let before = http.get("/api/runtimes").await.json();
    assert_eq!(runtime(&before, "claude")["install"], "flightdeck agents install claude");
    assert_eq!(http.get("/api/runtimes/claude/install").await.json()["state"], "none");
    let begun = http.post("/api/runtimes/claude/install", "").await;
    assert_eq!(begun.status, 202, "{}", begun.text());
    assert_eq!(begun.json()["package"], "@anthropic-ai/claude-code");
    let ended = eventually("the end of the install", async || {
        let progress = http.get("/api/runtimes/claude/install").await.json();
        (progress["state"] != "downloading" && progress["state"] != "checking").then_some(progress)
    })
    .await;
    assert_eq!((&ended["state"], &ended["version"]), (&json!("succeeded"), &json!("9.8.7")), "{ended}");
    let after = http.get("/api/runtimes").await.json();
    let claude = runtime(&after, "claude");
    assert_eq!((&claude["ready"], &claude["program"]["version"]), (&json!(true), &json!("9.8.7")), "{claude}");
}

#[tokio::test]
async fn an_install_that_fails_says_why_and_one_that_runs_can_be_cancelled() {
    let folder = tempfile::tempdir().expect("a folder");
    let install = "echo 'E404 no such package' >&2; exit 1";
    let server = Server::builder().variable("PATH", &with_npm(folder.path(), install)).start().await;
    let http = server.http();
    let failed = async |state: &str| {
        eventually("the end of the install", async || {
            let progress = http.get("/api/runtimes/claude/install").await.json();
            (progress["state"] == state).then_some(progress)
        })
        .await
    };
    http.post("/api/runtimes/claude/install", "").await;
    assert!(failed("failed").await["message"].as_str().expect("why").contains("E404"));
    with_npm(folder.path(), "exec sleep 1000");
    http.post("/api/runtimes/claude/install", "").await;
    assert_eq!(http.delete("/api/runtimes/claude/install").await.status, 204);
    assert_eq!(failed("failed").await["message"], "The install was cancelled.");
    assert_eq!(http.post("/api/runtimes/demo/install", "").await.error(409), "InstallNotSupported");
    assert_eq!(http.post("/api/runtimes/nope/install", "").await.error(404), "RuntimeNotFound");
}

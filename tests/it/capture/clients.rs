//! Programs that nobody here wrote, as callers. Their tools run on their side, none runs here, and every round of their
//! loops is held.

use std::path::{Path, PathBuf};
use std::process::Stdio;

use serde_json::{Value, json};
use tokio::io::AsyncWriteExt as _;
use tokio::process::Command;

use super::server;
use crate::support::{CopilotServer, Program, agents, eventually};

/// A server, a token for callers, and a folder for what they make.
struct Stage {
    copilot: CopilotServer,
    token: String,
    made: PathBuf,
}

impl Stage {
    async fn set() -> Self {
        let copilot = server(Program::Runtime, "[capture.aliases]\n\"claude-*\" = \"scripted-model\"\n").await;
        let created = copilot.server.run(&["tokens", "create", "--scope", "models"]).await;
        let made = copilot.server.work().join("made");
        Self { token: created.stdout.trim().to_owned(), made, copilot }
    }

    fn base(&self) -> String {
        format!("http://{}", self.copilot.server.authority())
    }

    /// Runs a client and gives what it prints.
    async fn run(&self, program: &Path, arguments: &[&str], variables: &[(&str, &str)], input: &str) -> String {
        let home = self.copilot.server.work().join("home");
        std::fs::create_dir_all(&home).expect("a home");
        let mut child = Command::new(program)
            .args(arguments)
            .current_dir(self.copilot.server.work())
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", &home)
            .env("TEST_AGENTS", agents())
            .env("BASE", self.base())
            .env("KEY", &self.token)
            .env("MADE", &self.made)
            .envs(variables.iter().copied())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("it runs");
        let mut stdin = child.stdin.take().expect("an input");
        stdin.write_all(input.as_bytes()).await.expect("taken");
        drop(stdin);
        let output = child.wait_with_output().await.expect("it ends");
        let (said, errors) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        assert!(output.status.success(), "{}: {said}\n{errors}", program.display());
        said.into_owned()
    }

    async fn script(&self, program: &Path, script: &str) -> Vec<String> {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/clients").join(script);
        let said = self.run(program, &[script.to_str().expect("UTF-8")], &[], "").await;
        serde_json::from_str(said.trim()).unwrap_or_else(|error| panic!("{error}: {said}"))
    }

    /// How often a tool of the caller ran.
    fn times_run(&self) -> usize {
        std::fs::read_to_string(&self.made).unwrap_or_default().trim().chars().filter(|letter| *letter == 'x').count()
    }

    /// How the calls were made, oldest first, once there are so many.
    async fn captures(&self, count: usize) -> Vec<String> {
        eventually("the log of captures", async || {
            let calls = self.copilot.server.http().get("/api/captures").await.json()["calls"].as_array()?.clone();
            let how = |call: &Value| call["capture"].as_str().unwrap_or_default().to_owned();
            (calls.len() >= count).then(|| calls.iter().rev().map(how).collect())
        })
        .await
    }

    /// The loop of five rounds was one conversation of the agent, and nothing ran here.
    async fn check_loops(&self, loops: usize) {
        let one = ["fresh", "held", "held", "held", "held", "held"];
        assert_eq!(self.captures(6 * loops).await, one.repeat(loops));
        assert_eq!(self.times_run(), 5 * loops, "the caller's tools ran on its side");
        assert!(!self.copilot.server.work().join("ran-here").exists(), "nothing ran here");
        let users = self.copilot.model.calls_with("@@loop").into_iter();
        let users = users.filter(|call| call.initiator.as_deref() == Some("user")).count();
        assert_eq!(users, loops, "one request of the user for each loop");
    }
}

#[tokio::test]
async fn the_official_openai_package_for_node() {
    let stage = Stage::set().await;
    let said = stage.script(Path::new("node"), "openai.mjs").await;
    assert!(said.iter().all(|text| text.starts_with("Final answer")), "{said:?}");
    stage.check_loops(2).await;
}

#[tokio::test]
async fn the_official_anthropic_package_for_node() {
    let stage = Stage::set().await;
    let said = stage.script(Path::new("node"), "anthropic.mjs").await;
    assert!(said[0].starts_with("Final answer"), "{said:?}");
    stage.check_loops(1).await;
}

#[tokio::test]
async fn the_official_openai_package_for_python() {
    let stage = Stage::set().await;
    let said = stage.script(&agents().join("python/bin/python3"), "openai_client.py").await;
    assert!(said[0].starts_with("Final answer") && said[1] == "ECHO[streamed]", "{said:?}");
    let captures = stage.captures(7).await;
    assert_eq!(captures[..6], ["fresh", "held", "held", "held", "held", "held"]);
    assert_eq!(stage.times_run(), 5);
}

#[tokio::test]
async fn claude_code_edits_a_real_file() {
    let stage = Stage::set().await;
    let program = agents().join("node_modules/@anthropic-ai/claude-code/bin/claude.exe");
    let base = stage.base();
    let config = stage.copilot.server.work().join("claude");
    let variables = [
        ("ANTHROPIC_BASE_URL", base.as_str()),
        ("ANTHROPIC_API_KEY", stage.token.as_str()),
        ("CLAUDE_CONFIG_DIR", config.to_str().expect("UTF-8")),
        ("CLAUDE_CODE_MAX_RETRIES", "1"),
        ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1"),
        ("DISABLE_TELEMETRY", "1"),
        // It refuses to skip permissions as root outside a sandbox, and tests may run as root.
        ("IS_SANDBOX", "1"),
    ];
    let command = format!("printf x >> {}", stage.made.display());
    let call = json!({ "command": command, "description": "Note it" });
    let prompt = format!("@@loop 5 Bash {call}");
    let arguments = ["-p", &prompt, "--dangerously-skip-permissions", "--output-format", "text"];
    let said = stage.run(&program, &arguments, &variables, "").await;
    assert!(said.contains("Final answer"), "{said}");
    stage.check_loops(1).await;
    let file = stage.copilot.server.work().join("written-by-claude.txt");
    let prompt = format!("@@create {}", file.display());
    stage.run(&program, &["-p", &prompt, "--dangerously-skip-permissions"], &variables, "").await;
    assert_eq!(std::fs::read_to_string(file).expect("it is there"), "created by the scripted model\n");
}

#[tokio::test]
async fn opencode_works_through_chat_completions() {
    let stage = Stage::set().await;
    let file = stage.copilot.server.work().join("opencode.json");
    let provider = json!({
        "npm": "@ai-sdk/openai-compatible",
        "name": "Flightdeck",
        "options": { "baseURL": format!("{}/v1", stage.base()), "apiKey": stage.token },
        "models": { "scripted-model": { "name": "Scripted", "tool_call": true } },
    });
    let settings = json!({
        "provider": { "flightdeck": provider },
        "model": "flightdeck/scripted-model",
        "small_model": "flightdeck/scripted-model",
        "autoupdate": false,
        "share": "disabled",
        "permission": { "bash": "allow", "edit": "allow" },
    });
    std::fs::write(&file, settings.to_string()).expect("written");
    let command = format!("printf x >> {}", stage.made.display());
    let call = json!({ "command": command, "description": "Note it" });
    let variables = [
        ("OPENCODE_CONFIG", file.to_str().expect("UTF-8")),
        ("OPENCODE_DISABLE_AUTOUPDATE", "1"),
        ("OPENCODE_DISABLE_MODELS_FETCH", "1"),
    ];
    let program = agents().join("node_modules/.bin/opencode");
    // The title is given, so that it does not ask a model for one.
    let arguments = ["run", "--title", "loop"];
    let said = stage.run(&program, &arguments, &variables, &format!("@@loop 5 bash {call}")).await;
    assert!(said.contains("Final answer"), "{said}");
    stage.check_loops(1).await;
}

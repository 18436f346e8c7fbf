//! A server with a headless agent on a scripted model.

use flightdeck::scripted_model::ScriptedModel;
use serde_json::{Value, json};

use crate::support::{Program, Server, ServerBuilder, TestSession, agents, byok};

/// A server with sessions on one headless runtime.
pub struct Deck {
    pub server: Server,
    pub model: ScriptedModel,
    runtime: &'static str,
}

impl Deck {
    /// The real Copilot CLI.
    pub async fn copilot() -> Self {
        Self::copilot_as(|builder| builder).await
    }

    pub async fn copilot_as(change: impl FnOnce(ServerBuilder) -> ServerBuilder) -> Self {
        let model = ScriptedModel::start().await.expect("started");
        let folder = folder();
        let builder = change(byok(Program::Cli, &model.base_url(), folder.path()));
        Self { server: builder.start_in(folder).await, model, runtime: "copilot-headless" }
    }

    /// The real Claude Code.
    pub async fn claude() -> Self {
        Self::claude_as(|builder| builder).await
    }

    pub async fn claude_as(change: impl FnOnce(ServerBuilder) -> ServerBuilder) -> Self {
        let model = ScriptedModel::start().await.expect("started");
        let folder = folder();
        let program = agents().join("node_modules/@anthropic-ai/claude-code/bin/claude.exe");
        let builder = Server::builder()
            .variable("CLAUDE_CLI_PATH", program.to_str().expect("UTF-8"))
            .variable("CLAUDE_CONFIG_DIR", folder.path().join("claude").to_str().expect("UTF-8"))
            .variable("ANTHROPIC_BASE_URL", &model.root_url())
            .variable("ANTHROPIC_API_KEY", "sk-ant-scripted-0123456789")
            .variable("CLAUDE_CODE_MAX_RETRIES", "1")
            .variable("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1")
            .variable("DISABLE_TELEMETRY", "1")
            // It refuses to skip permissions as root outside a sandbox, and tests may run as root.
            .variable("IS_SANDBOX", "1");
        Self { server: change(builder).start_in(folder).await, model, runtime: "claude" }
    }

    pub async fn session(&self, mode: &str) -> TestSession {
        self.session_with(json!({ "permissionMode": mode })).await
    }

    pub async fn session_with(&self, mut body: Value) -> TestSession {
        body["runtime"] = json!(self.runtime);
        body["workingDirectory"] = json!(self.server.work());
        TestSession::start_with(self.server.http(), body).await
    }

    pub async fn killed_and_restarted(self) -> Self {
        let Self { server, model, runtime } = self;
        Self { server: server.kill_and_restart().await, model, runtime }
    }

    pub async fn restarted(self) -> Self {
        let Self { server, model, runtime } = self;
        Self { server: server.restart().await, model, runtime }
    }
}

fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::create_dir(folder.path().join("work")).expect("a folder to work in");
    folder
}

/// The responses of a log that are errors.
pub async fn errors(session: &TestSession) -> Vec<Value> {
    let log = session.log().await;
    log.into_iter().map(|(_, response)| response).filter(|response| response["sessionError"].is_string()).collect()
}

/// The messages of a log's notices of one kind.
pub async fn notices(session: &TestSession, kind: &str) -> Vec<String> {
    let log = session.log().await;
    let of_kind = log.into_iter().map(|(_, response)| response).filter(|response| response["kind"] == kind);
    of_kind.map(|response| response["message"].as_str().expect("words").to_owned()).collect()
}

/// An MCP server with one tool.
pub fn greeter() -> Value {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/agents/mcp_server.mjs");
    json!({ "greeter": { "command": "node", "args": [script], "env": { "KEY": "sk-ofTheServer" } } })
}

//! A server whose default runtime is the real Copilot, with a scripted model behind it.

use std::path::{Path, PathBuf};

use flightdeck::http::scripted_model::ScriptedModel;
use serde_json::{Value, json};

use super::{Server, ServerBuilder, TestSession};

/// The two programs that speak the SDK protocol.
#[derive(Clone, Copy, Debug)]
pub enum Program {
    /// The CLI itself.
    Cli,
    /// The server-only binary of the SDK.
    Runtime,
}

impl Program {
    pub const BOTH: [Program; 2] = [Program::Cli, Program::Runtime];

    pub fn path(self) -> PathBuf {
        let packages = agents().join("node_modules/@github");
        match self {
            Self::Cli => packages.join("copilot-linux-x64/copilot"),
            Self::Runtime => packages.join("copilot-sdk-linux-x64/prebuilds/linux-x64/copilot-runtime"),
        }
    }
}

/// Where `cargo xtask test` put the real agents.
fn agents() -> PathBuf {
    let folder =
        std::env::var_os("TEST_AGENTS").expect("run the tests with `cargo xtask test`, which installs the real agents");
    PathBuf::from(folder)
}

/// A server with real Copilot sessions.
pub struct CopilotServer {
    pub server: Server,
    pub model: ScriptedModel,
}

/// The environment of a program that knows no model and nobody.
pub fn bare(program: Program, folder: &Path) -> ServerBuilder {
    Server::builder()
        .variable("COPILOT_CLI_PATH", program.path().to_str().expect("UTF-8"))
        .variable("COPILOT_CACHE_HOME", agents().join("cache").to_str().expect("UTF-8"))
        .variable("COPILOT_HOME", folder.join("copilot").to_str().expect("UTF-8"))
        .variable("COPILOT_AUTO_UPDATE", "false")
        // No key store of the machine's own, no GitHub of its own.
        .variable("DBUS_SESSION_BUS_ADDRESS", "")
        .variable("GH_CONFIG_DIR", folder.join("gh").to_str().expect("UTF-8"))
}

/// The environment that points a program at a model.
pub fn byok(program: Program, base_url: &str, folder: &Path) -> ServerBuilder {
    bare(program, folder)
        .variable("COPILOT_PROVIDER_BASE_URL", base_url)
        .variable("COPILOT_PROVIDER_API_KEY", "sk-scripted")
        .variable("COPILOT_MODEL", "scripted-model")
        .variable("COPILOT_OFFLINE", "true")
}

impl CopilotServer {
    /// With settings of the test's own.
    pub async fn start_with(program: Program, config: &str) -> Self {
        let model = ScriptedModel::start().await.expect("started");
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::create_dir(folder.path().join("work")).expect("a folder to work in");
        let builder = byok(program, &model.base_url(), folder.path()).config(config);
        Self { server: builder.start_in(folder).await, model }
    }

    pub async fn start(program: Program) -> Self {
        Self::start_with(program, "").await
    }

    /// A session in the server's own folder, with that permission mode.
    pub async fn session(&self, mode: &str) -> TestSession {
        self.session_with(json!({ "permissionMode": mode })).await
    }

    /// A session in the server's own folder, with whatever else the test wants.
    pub async fn session_with(&self, mut body: Value) -> TestSession {
        body["workingDirectory"] = json!(self.server.work());
        TestSession::start_with(self.server.http(), body).await
    }
}

//! A server whose default runtime is the real Copilot, with a scripted model behind it.

use std::path::{Path, PathBuf};

use flightdeck::scripted_model::ScriptedModel;
use serde_json::{Value, json};

use super::{Server, ServerBuilder, TestSession, children_of, described, id_in};

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
pub fn agents() -> PathBuf {
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
        // A session counts as in use for a moment after its program was killed.
        .variable("FLIGHTDECK_RECOVERY_FIRST_DELAY", "100ms")
        .variable("FLIGHTDECK_RECOVERY_LONGEST_DELAY", "100ms")
        .variable("FLIGHTDECK_RECOVERY_ATTEMPTS", "200")
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
    pub async fn start(program: Program) -> Self {
        Self::start_with(program, "").await
    }

    /// As [`Self::start`], with a configuration file.
    pub async fn start_with(program: Program, config: &str) -> Self {
        Self::start_as(program, |builder| builder.config(config)).await
    }

    /// As [`Self::start`], with anything else that a server can be started with.
    pub async fn start_as(program: Program, change: impl FnOnce(ServerBuilder) -> ServerBuilder) -> Self {
        let model = ScriptedModel::start().await.expect("started");
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::create_dir(folder.path().join("work")).expect("a folder to work in");
        let builder = change(byok(program, &model.base_url(), folder.path()));
        Self { server: builder.start_in(folder).await, model }
    }

    /// The one program that the server has started for its sessions.
    pub fn program(&self) -> u32 {
        let programs = programs_of(&self.server);
        assert_eq!(programs.len(), 1, "{:?}", described(&programs));
        programs[0]
    }

    /// Runs a tool in a session that says nothing and goes on until it is ended from outside; gives its process.
    pub async fn run_tool(&self, session: &TestSession) -> u32 {
        self.run_command(session, "exec sleep 1000").await
    }

    pub async fn run_command(&self, session: &TestSession, command: &str) -> u32 {
        let file = self.server.work().join("tool");
        session.prompt(&format!("@@bash echo $$ > {} && {command}", file.display())).await;
        id_in(&file).await
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

/// The programs that a server has started for its sessions. It may ask one for its version meanwhile; such a process ends by
/// itself at any moment, and is not counted.
pub fn programs_of(server: &Server) -> Vec<u32> {
    let mut children = children_of(server.process_id());
    let words = |id: u32| std::fs::read_to_string(format!("/proc/{id}/cmdline")).unwrap_or_default();
    children.retain(|id| words(*id).split('\0').any(|word| word == "--stdio" || word == "--acp"));
    children
}

/// A figure of an agent's process, from the text of `/metrics`.
pub fn agent_figure(text: &str, name: &str, pid: u32) -> Option<f64> {
    let start = format!("flightdeck_agent_process_{name}{{");
    let line = text.lines().find(|line| line.starts_with(&start) && line.contains(&format!("pid=\"{pid}\"")))?;
    assert!(line.contains("runtime=\"copilot\""), "{line}");
    line.rsplit_once(' ')?.1.parse().ok()
}

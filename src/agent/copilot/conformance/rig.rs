//! The program under test, the scripted model and their temporary folder.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use serde_json::{Value, json};

use crate::agent::copilot::settings::CopilotSettings;
use crate::agent::copilot::transport::Server;
use crate::agent::program::FoundProgram;
use crate::private_file::TemporaryFolder;
use crate::scripted_model::{ModelCall, ScriptedModel};

/// How long nothing may happen before a check believes that nothing will.
pub(super) const QUIET: Duration = Duration::from_millis(400);
/// Variables that could reach somebody's account or another model.
const NOT_PASSED: [&str; 5] = ["GH_TOKEN", "GITHUB_TOKEN", "COPILOT_GITHUB_TOKEN", "COPILOT_MODEL", "COPILOT_HOME"];

pub(super) struct Rig {
    pub server: Arc<Server>,
    pub program: FoundProgram,
    pub settings: CopilotSettings,
    pub patience: Duration,
    model: ScriptedModel,
    folder: TemporaryFolder,
    /// The kinds of all events that any session got.
    pub kinds: Mutex<std::collections::BTreeSet<String>>,
}

impl Rig {
    pub async fn start(program: FoundProgram, settings: &CopilotSettings, patience: Duration) -> Result<Self, String> {
        let folder = TemporaryFolder::create("conformance")
            .map_err(|error| format!("cannot create a temporary folder: {error}"))?;
        let model =
            ScriptedModel::start().await.map_err(|error| format!("cannot start the scripted model: {error}"))?;
        let mut settings = settings.clone();
        settings
            .environment
            .retain(|name, _| !name.starts_with("COPILOT_PROVIDER_") && !NOT_PASSED.contains(&name.as_str()));
        for (name, value) in [
            // The CLI refuses to start offline without a provider, although every session names one.
            ("COPILOT_OFFLINE", "true"),
            ("COPILOT_PROVIDER_TYPE", "openai"),
            ("COPILOT_PROVIDER_BASE_URL", &model.base_url()),
            ("COPILOT_PROVIDER_API_KEY", "none"),
            ("COPILOT_MODEL", "scripted-model"),
        ] {
            settings.environment.insert(name.to_owned(), value.to_owned());
        }
        // A quarantined version is checked too; otherwise it could never be released.
        settings.quarantine = Arc::default();
        let home = folder.path().join("home");
        let server = start(&program, &settings, &home).await?;
        Ok(Self { server, program, settings, patience, model, folder, kinds: Mutex::default() })
    }

    /// Another process of the program, for checks that kill it.
    pub async fn another_server(&self, home: &Path) -> Result<Arc<Server>, String> {
        start(&self.program, &self.settings, home).await
    }

    /// The home of the shared process.
    pub fn home(&self) -> PathBuf {
        self.folder.path().join("home")
    }

    /// A new folder for one check.
    pub fn folder(&self, name: &str) -> Result<PathBuf, String> {
        let folder = self.folder.path().join(format!("{name}-{}", uuid::Uuid::new_v4().simple()));
        std::fs::create_dir(&folder).map_err(|error| format!("cannot create {}: {error}", folder.display()))?;
        Ok(folder)
    }

    /// The provider of every session.
    pub fn provider(&self) -> Value {
        json!({ "type": "openai", "baseUrl": self.model.base_url(), "apiKey": "none", "wireApi": "completions" })
    }

    /// The model calls of a conversation, which its tag identifies.
    pub fn calls(&self, tag: &str) -> Vec<ModelCall> {
        self.model.calls_with(tag)
    }

    pub async fn end(self) {
        self.server.end().await;
    }
}

async fn start(program: &FoundProgram, settings: &CopilotSettings, home: &Path) -> Result<Arc<Server>, String> {
    let mut settings = settings.clone();
    settings.environment.insert("COPILOT_HOME".to_owned(), home.to_string_lossy().into_owned());
    Server::start(program, &settings).await.map(Arc::new).map_err(|error| error.to_string())
}

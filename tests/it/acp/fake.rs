//! A server with an agent that does what it is told, right or wrong.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::support::{Server, ServerBuilder, TestSession};

/// Where the agent keeps its sessions, below the server's folder.
const STATE: &str = "fake";

pub struct Fake {
    pub server: Server,
}

/// A server whose agent `acp:fake` has these characters. `more` is the rest of the configuration, beginning with keys
/// of `[acp.fake]`.
fn builder(folder: &Path, characters: &[&str], more: &str) -> ServerBuilder {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/agents/fake_acp.mjs");
    let state = folder.join(STATE);
    let words = [&[script, state.to_str().expect("UTF-8")], characters].concat();
    let recovery = "[recovery]\nattempts = 2\nfirst_delay = \"1ms\"\n";
    let recovery = if more.contains("[recovery]") { "" } else { recovery };
    Server::builder().config(&format!("[acp.fake]\ncommand = \"node\"\nargs = {words:?}\n{more}\n{recovery}"))
}

impl Fake {
    pub async fn start(characters: &[&str]) -> Self {
        Self::start_with(characters, "").await
    }

    pub async fn start_with(characters: &[&str], more: &str) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::create_dir(folder.path().join("work")).expect("a folder to work in");
        let builder = builder(folder.path(), characters, more);
        Self { server: builder.start_in(folder).await }
    }

    /// Stops the server and starts it again with an agent of other characters.
    pub async fn restart_as(self, characters: &[&str]) -> Self {
        let builder = builder(self.server.folder(), characters, "");
        Self { server: self.server.restart_as(builder).await }
    }

    pub async fn session(&self) -> TestSession {
        self.session_with(json!({})).await
    }

    pub async fn session_with(&self, mut body: Value) -> TestSession {
        body["runtime"] = json!("acp:fake");
        body["workingDirectory"] = json!(self.server.work());
        TestSession::start_with(self.server.http(), body).await
    }

    /// A file that the agent keeps.
    pub fn file(&self, name: &str) -> PathBuf {
        self.server.folder().join(STATE).join(name)
    }

    /// The records of the agent's own sessions.
    pub fn records(&self) -> Vec<PathBuf> {
        let files = std::fs::read_dir(self.file("")).expect("a folder").map(|entry| entry.expect("readable").path());
        files.filter(|file| file.extension().is_some_and(|extension| extension == "json")).collect()
    }
}

pub async fn notices(session: &TestSession, kind: &str) -> Vec<String> {
    let log = session.log().await;
    let of_kind = log.into_iter().map(|(_, response)| response).filter(|response| response["kind"] == kind);
    of_kind.map(|response| response["message"].as_str().expect("words").to_owned()).collect()
}

/// The errors of a session's log.
pub async fn errors(session: &TestSession) -> Vec<String> {
    let log = session.log().await;
    log.iter().filter_map(|(_, response)| response["sessionError"].as_str().map(str::to_owned)).collect()
}

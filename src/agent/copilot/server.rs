//! One running program, shared by all sessions.

use std::time::{Duration, Instant};

use github_copilot_sdk::Client;
use parking_lot::Mutex;
use serde_json::{Value, json};
use tokio::sync::watch;

use super::program::server_arguments;
use super::settings::CopilotSettings;
use super::tap::Tap;
use crate::agent::StartError;
use crate::agent::program::FoundProgram;
use crate::process::{ChildProcess, ProcessSpec, StderrTail};

/// How long it may take to say goodbye, and then to end.
const GOODBYE_WITHIN: Duration = Duration::from_secs(1);
const END_WITHIN: Duration = Duration::from_secs(2);
/// How long it may take to answer a simple question.
const ANSWER_WITHIN: Duration = Duration::from_secs(30);
const UPDATE_HINT: &str = "update it with `flightdeck agents install copilot` or `npm install -g @github/copilot`";

/// A running program that speaks a protocol version we know.
pub(super) struct Server {
    pub client: Client,
    pub tap: Tap,
    /// As the program says it.
    pub version: String,
    pub started_at: Instant,
    /// How many sessions use it.
    pub sessions: watch::Sender<usize>,
    stderr: StderrTail,
    child: Mutex<Option<ChildProcess>>,
}

impl Server {
    pub async fn start(program: &FoundProgram, settings: &CopilotSettings) -> Result<Self, StartError> {
        let path = program.path.display();
        let spec = ProcessSpec {
            program: program.path.clone(),
            arguments: server_arguments(program),
            environment: settings.environment.clone(),
            working_directory: None,
        };
        let (child, stdin, stdout) =
            ChildProcess::spawn(&spec).map_err(|error| StartError::Permanent(format!("{error}: {}", error.source)))?;
        let stderr = child.stderr().clone();
        let (tap, client) = Tap::open(stdout, stdin).map_err(|error| StartError::Permanent(error.to_string()))?;
        let mut server = Self {
            client,
            tap,
            version: program.version.clone().unwrap_or_default(),
            started_at: Instant::now(),
            sessions: watch::Sender::new(0),
            stderr,
            child: Mutex::new(Some(child)),
        };
        let hello = tokio::time::timeout(settings.hello_within, server.client.verify_protocol_version());
        let outcome = tokio::select! {
            hello = hello => hello,
            () = server.tap.ended.cancelled() => return Err(server.ended_at_start(program).await),
        };
        match outcome {
            Ok(Ok(())) => {}
            Ok(Err(_)) if !server.is_alive() => return Err(server.ended_at_start(program).await),
            Ok(Err(error)) => {
                return Err(StartError::Permanent(format!(
                    "Copilot ({path}) speaks another version of the protocol: {error}; {UPDATE_HINT}"
                )));
            }
            Err(_) => {
                return Err(StartError::Temporary(format!(
                    "Copilot ({path}) did not answer within {}: {}; if it only needs longer, raise \
                     agents.copilot.hello_within",
                    humantime::format_duration(settings.hello_within),
                    server.last_words()
                )));
            }
        }
        if let Some(version) = server.ask("status.get").await.ok().and_then(|status| text(&status, "version")) {
            server.version = version;
        }
        match settings.quarantine.reason(super::Copilot::NAME, &server.version) {
            Some(reason) => {
                server.end().await;
                Err(StartError::Permanent(reason))
            }
            None => Ok(server),
        }
    }

    /// A program that does not know what an SDK server is ends at once and says so; any other end may pass.
    async fn ended_at_start(&self, program: &FoundProgram) -> StartError {
        let child = self.child.lock().take();
        if let Some(mut child) = child {
            child.last_words().await;
        }
        let (path, words) = (program.path.display(), self.last_words());
        let version = program.version.as_deref().map(|version| format!(", version {version}")).unwrap_or_default();
        if ["unknown option", "unrecognized option", "unexpected argument"].iter().any(|sign| words.contains(sign)) {
            StartError::Permanent(format!(
                "Copilot ({path}{version}) is too old to be an SDK server: {words}; {UPDATE_HINT}"
            ))
        } else {
            StartError::Temporary(format!("Copilot ({path}{version}) ended at its start: {words}"))
        }
    }

    /// Asks the program something that needs no session.
    pub async fn ask(&self, method: &'static str) -> Result<Value, String> {
        self.ask_with(method, json!({})).await
    }

    pub async fn ask_with(&self, method: &'static str, params: Value) -> Result<Value, String> {
        match tokio::time::timeout(ANSWER_WITHIN, self.client.call(method, Some(params))).await {
            Ok(Ok(answer)) => Ok(answer),
            Ok(Err(error)) => Err(plain(&error.to_string())),
            Err(_) => Err(format!("no answer within {} seconds", ANSWER_WITHIN.as_secs())),
        }
    }

    /// Ends the program politely: it then ends the tools it has started, which a kill would leave behind.
    pub async fn end(&self) {
        let Some(child) = self.child.lock().take() else { return };
        let goodbye = self.client.call("runtime.shutdown", Some(json!({})));
        if tokio::time::timeout(GOODBYE_WITHIN, goodbye).await.is_err() {
            tracing::debug!("copilot did not say goodbye in time");
        }
        self.tap.close();
        child.end(END_WITHIN).await;
    }

    pub fn is_alive(&self) -> bool {
        !self.tap.ended.is_cancelled()
    }

    /// Why it is gone, with what it wrote to standard error.
    pub fn last_words(&self) -> String {
        let (reason, stderr) = (self.tap.reason(), self.stderr.text());
        match (reason.is_empty(), stderr.is_empty()) {
            (true, true) => "it said nothing".to_owned(),
            (true, false) => format!("its last words: {stderr}"),
            (false, true) => reason,
            (false, false) => format!("{reason}; its last words: {stderr}"),
        }
    }
}

fn text(value: &Value, name: &str) -> Option<String> {
    value[name].as_str().filter(|text| !text.is_empty()).map(str::to_owned)
}

/// The program's own words without the protocol's around them.
pub(super) fn plain(error: &str) -> String {
    error.rsplit_once("failed with message: ").map_or(error, |(_, words)| words).to_owned()
}

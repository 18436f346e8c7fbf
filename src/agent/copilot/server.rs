//! The program, shared by all sessions: started when first needed, gone with the last of them.

use std::collections::BTreeMap;
use std::error::Error as _;
use std::sync::{Arc, Weak};
use std::time::Duration;

use github_copilot_sdk::Client;
use serde_json::json;
use tokio::sync::Mutex;
use tokio_util::sync::CancellationToken;

use super::program::Program;
use super::tap::Tap;
use crate::agent::{AgentProcess, BoxFuture, Pulse, StartError};
use crate::process::{ChildProcess, ProcessProbe, ProcessSpec, SpawnError, StderrTail, Supervisor};

/// How long the program may take to say hello. The first run of the CLI unpacks itself.
const HELLO_WITHIN: Duration = Duration::from_mins(1);
/// How long it may take to say goodbye, and then to end.
const GOODBYE_WITHIN: Duration = Duration::from_secs(1);
const END_WITHIN: Duration = Duration::from_secs(2);
/// How long the rest of what it said may take to be read.
const LAST_WORDS_WITHIN: Duration = Duration::from_secs(1);
const VERSION_WITHIN: Duration = Duration::from_secs(2);

/// A running program that speaks a protocol version we know.
pub(super) struct Server {
    pub client: Client,
    pub tap: Tap,
    stderr: StderrTail,
    probe: ProcessProbe,
    version: Option<String>,
    /// Locked until it has ended with everything that it had started: whoever starts it again waits for that.
    child: Mutex<Option<ChildProcess>>,
}

impl Server {
    pub async fn start(
        program: &Program,
        environment: BTreeMap<String, String>,
        supervisor: &Supervisor,
    ) -> Result<Arc<Self>, StartError> {
        let spec = ProcessSpec {
            program: program.path.clone(),
            arguments: program.arguments.clone(),
            environment,
            working_directory: None,
        };
        let (child, stdin, stdout) = supervisor.spawn(&spec).map_err(|error| not_started(&error))?;
        let (stderr, probe) = (child.stderr().clone(), child.probe());
        let (tap, client) = Tap::open(stdout, stdin).map_err(|error| StartError::Permanent(error.to_string()))?;
        let mut server = Self { client, tap, stderr, probe, version: None, child: Mutex::new(Some(child)) };
        let hello = tokio::time::timeout(HELLO_WITHIN, server.client.verify_protocol_version());
        let path = program.path.display();
        let outcome = tokio::select! {
            hello = hello => hello,
            () = server.tap.ended.cancelled() => {
                return Err(StartError::Temporary(format!("Copilot ({path}) ended at its start: {}", server.last_words())));
            }
        };
        match outcome {
            Ok(Ok(())) => {
                server.version = server.ask_version().await;
                let server = Arc::new(server);
                tokio::spawn(bury(Arc::downgrade(&server), server.tap.ended.clone()));
                Ok(server)
            }
            Ok(Err(_)) if !server.is_alive() => {
                Err(StartError::Temporary(format!("Copilot ({path}) ended at its start: {}", server.last_words())))
            }
            Ok(Err(error)) => Err(StartError::Permanent(format!(
                "Copilot ({path}) does not fit: {error}; update it with `npm install -g @github/copilot`"
            ))),
            Err(_) => Err(StartError::Temporary(format!(
                "Copilot ({path}) did not answer within {} seconds: {}",
                HELLO_WITHIN.as_secs(),
                server.last_words()
            ))),
        }
    }

    async fn ask_version(&self) -> Option<String> {
        let status = tokio::time::timeout(VERSION_WITHIN, self.client.call("status.get", Some(json!({})))).await;
        status.ok()?.ok()?["version"].as_str().map(str::to_owned)
    }

    /// Ends the program politely: it then ends the tools it has started, which a kill would leave behind. What a program
    /// that died has left behind is ended too.
    pub async fn end(&self) {
        let mut place = self.child.lock().await;
        let Some(child) = place.take() else { return };
        if self.is_alive() {
            let goodbye = self.client.call("runtime.shutdown", Some(json!({})));
            if tokio::time::timeout(GOODBYE_WITHIN, goodbye).await.is_err() {
                tracing::debug!("copilot did not say goodbye in time");
            }
        }
        self.finish(child, END_WITHIN).await;
    }

    /// Whoever waited for this finds that the program is not alive any more.
    async fn finish(&self, child: ChildProcess, grace: Duration) {
        self.tap.close();
        child.end(grace).await;
        if tokio::time::timeout(LAST_WORDS_WITHIN, self.tap.ended.cancelled()).await.is_err() {
            tracing::warn!("copilot has ended and somebody still holds its standard output");
            self.tap.give_up();
        }
    }

    /// What it uses. Not for a thread that others wait for.
    pub fn figures(&self) -> Option<AgentProcess> {
        let figures = self.probe.figures()?;
        Some(AgentProcess {
            runtime: super::Copilot::NAME.to_owned(),
            pid: self.probe.pid(),
            version: self.version.clone(),
            sessions: self.tap.listeners(),
            resident_bytes: figures.resident_bytes,
            cpu_seconds: figures.cpu.as_secs_f64(),
            children: figures.processes.saturating_sub(1),
            started_at: figures.started_at,
        })
    }

    async fn processor_time(&self) -> Option<Duration> {
        let probe = self.probe.clone();
        tokio::task::spawn_blocking(move || probe.figures()).await.ok().flatten().map(|figures| figures.cpu)
    }

    pub fn is_alive(&self) -> bool {
        !self.tap.ended.is_cancelled()
    }

    /// Why it is gone, with what it wrote to standard error.
    pub fn last_words(&self) -> String {
        let (reason, stderr) = (self.tap.reason(), self.stderr.text());
        if stderr.is_empty() { reason } else { format!("{reason}; its last words: {stderr}") }
    }
}

impl Pulse for Server {
    fn feel(&self, within: Duration) -> BoxFuture<'_, bool> {
        Box::pin(async move {
            let before = self.processor_time().await;
            let answer = tokio::time::timeout(within, self.client.call("ping", Some(json!({})))).await;
            // An error is an answer, and one that is gone says so itself.
            answer.is_ok() || self.processor_time().await > before
        })
    }

    fn cut_off(&self) -> BoxFuture<'_, ()> {
        Box::pin(async move {
            let mut place = self.child.lock().await;
            if let Some(child) = place.take() {
                self.finish(child, Duration::ZERO).await;
            }
        })
    }
}

/// Sees to what a program that died by itself has left behind, whether or not anybody wants it back.
async fn bury(server: Weak<Server>, ended: CancellationToken) {
    ended.cancelled().await;
    if let Some(server) = server.upgrade() {
        server.end().await;
    }
}

fn not_started(error: &SpawnError) -> StartError {
    let reason = error.source().map(ToString::to_string).unwrap_or_default();
    StartError::Permanent(format!("{error}: {reason}"))
}

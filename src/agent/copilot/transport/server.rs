//! One running program, shared by all sessions.

use std::error::Error as _;
use std::time::{Duration, Instant};

use github_copilot_sdk::Client;
use serde_json::{Value, json};
use tokio::sync::{Mutex, watch};

use super::tap::Tap;
use crate::agent::copilot::Copilot;
use crate::agent::copilot::program::server_arguments;
use crate::agent::copilot::settings::CopilotSettings;
use crate::agent::failure::EarlyExit;
use crate::agent::program::FoundProgram;
use crate::agent::{AgentProcess, StartError};
use crate::process::{ChildProcess, OutputTail, ProcessProbe, ProcessSpec, SpawnError};

/// How long it may take to shut down, and then to exit.
const SHUTDOWN_WITHIN: Duration = Duration::from_secs(1);
const END_WITHIN: Duration = Duration::from_secs(2);
/// How long the rest of its output may take to be read.
const LAST_WORDS_WITHIN: Duration = Duration::from_secs(1);
/// How long it may take to respond to a simple call.
const ANSWER_WITHIN: Duration = Duration::from_secs(30);
const UPDATE_HINT: &str = "update it with `flightdeck agents install copilot` or `npm install -g @github/copilot`";

/// A running program that speaks a protocol version we know.
pub(in crate::agent::copilot) struct Server {
    pub client: Client,
    pub tap: Tap,
    /// The version that the program reports.
    pub version: String,
    pub started_at: Instant,
    /// How many sessions use it.
    pub sessions: watch::Sender<usize>,
    stderr: OutputTail,
    /// `None` in tests, which have no process behind the streams.
    probe: Option<ProcessProbe>,
    /// Locked until the process and everything it started have exited, so that a restart waits for that.
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
            settings.supervisor.spawn(&spec).map_err(|error| StartError::Permanent(reason(&error)))?;
        let (stderr, probe) = (child.stderr().clone(), child.probe());
        let (tap, client) = Tap::open(stdout, stdin).map_err(|error| StartError::Permanent(error.to_string()))?;
        let mut server = Self {
            client,
            tap,
            version: program.version.clone().unwrap_or_default(),
            started_at: Instant::now(),
            sessions: watch::Sender::new(0),
            stderr,
            probe: Some(probe),
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
                    "Copilot ({path}) uses an unsupported protocol version: {error}; {UPDATE_HINT}"
                )));
            }
            Err(_) => {
                return Err(StartError::Temporary(format!(
                    "Copilot ({path}) did not respond within {}: {}; if it only needs more time, raise \
                     agents.copilot.hello_within",
                    humantime::format_duration(settings.hello_within),
                    server.exit_summary()
                )));
            }
        }
        if let Some(version) = server.ask("status.get").await.ok().and_then(|status| text(&status, "version")) {
            server.version = version;
        }
        match settings.quarantine.reason(Copilot::NAME, Some(&server.version)) {
            Some(reason) => {
                server.end().await;
                Err(StartError::Permanent(reason))
            }
            None => Ok(server),
        }
    }

    /// A server over two streams without a process, for tests.
    #[cfg(test)]
    pub fn at(from_program: tokio::io::DuplexStream, to_program: tokio::io::DuplexStream) -> Self {
        let (tap, client) = Tap::open(from_program, to_program).expect("opened");
        Self {
            client,
            tap,
            version: String::new(),
            started_at: Instant::now(),
            sessions: watch::Sender::new(0),
            stderr: OutputTail::default(),
            probe: None,
            child: Mutex::new(None),
        }
    }

    /// The error for a program that exited at startup. Permanent if it does not support the SDK server's arguments,
    /// otherwise temporary.
    async fn ended_at_start(&self, program: &FoundProgram) -> StartError {
        let child = self.child.lock().await.take();
        if let Some(mut child) = child {
            child.stderr_text().await;
        }
        let (path, words) = (program.path.display(), self.exit_summary());
        let version = program.version.as_deref().map(|version| format!(", version {version}")).unwrap_or_default();
        if ["unknown option", "unrecognized option", "unexpected argument"].iter().any(|sign| words.contains(sign)) {
            StartError::Permanent(format!(
                "Copilot ({path}{version}) is too old to run as an SDK server: {words}; {UPDATE_HINT}"
            ))
        } else {
            let message = format!("Copilot ({path}{version}) exited at startup: {words}");
            EarlyExit { message, words }.start_error()
        }
    }

    /// Calls a method that needs no session.
    pub async fn ask(&self, method: &'static str) -> Result<Value, String> {
        self.ask_with(method, json!({})).await
    }

    pub async fn ask_with(&self, method: &'static str, params: Value) -> Result<Value, String> {
        match tokio::time::timeout(ANSWER_WITHIN, self.client.call(method, Some(params))).await {
            Ok(Ok(answer)) => Ok(answer),
            Ok(Err(error)) => Err(plain(&error.to_string())),
            Err(_) => Err(format!("no response within {} seconds", ANSWER_WITHIN.as_secs())),
        }
    }

    /// Shuts the program down, so that it stops the tools it started, which a kill would leave running. Also kills what
    /// a crashed program left running.
    pub async fn end(&self) {
        let mut place = self.child.lock().await;
        let Some(child) = place.take() else { return };
        if self.is_alive() {
            let shutdown = self.client.call("runtime.shutdown", Some(json!({})));
            if tokio::time::timeout(SHUTDOWN_WITHIN, shutdown).await.is_err() {
                tracing::debug!("copilot did not shut down in time");
            }
        }
        self.finish(child, END_WITHIN).await;
    }

    /// After this, [`Self::is_alive`] returns false.
    async fn finish(&self, child: ChildProcess, grace: Duration) {
        self.tap.close();
        child.end(grace).await;
        if tokio::time::timeout(LAST_WORDS_WITHIN, self.tap.ended.cancelled()).await.is_err() {
            tracing::warn!("copilot has exited, but another process still holds its standard output");
            self.tap.give_up();
        }
        self.tap.finished().await;
    }

    /// Its resource use. Slow: run it on a blocking thread.
    pub fn figures(&self) -> Option<AgentProcess> {
        let probe = self.probe.as_ref()?;
        let figures = probe.figures()?;
        Some(AgentProcess {
            runtime: Copilot::NAME.to_owned(),
            pid: probe.pid(),
            version: Some(self.version.clone()).filter(|version| !version.is_empty()),
            sessions: *self.sessions.borrow(),
            resident_bytes: figures.resident_bytes,
            cpu_seconds: figures.cpu.as_secs_f64(),
            children: figures.processes.saturating_sub(1),
            started_at: figures.started_at,
        })
    }

    async fn processor_time(&self) -> Option<Duration> {
        let probe = self.probe.clone();
        tokio::task::spawn_blocking(move || probe?.figures()).await.ok().flatten().map(|figures| figures.cpu)
    }

    /// Checks whether the program is alive, as described in [`crate::agent::Liveness::probe`].
    pub async fn probe(&self, within: Duration) -> bool {
        let before = self.processor_time().await;
        let answer = tokio::time::timeout(within, self.client.call("ping", Some(json!({})))).await;
        // An error is a response too; a program that has exited is detected elsewhere.
        answer.is_ok() || self.processor_time().await > before
    }

    /// Kills the program immediately, for all its sessions.
    pub async fn cut_off(&self) {
        let mut place = self.child.lock().await;
        if let Some(child) = place.take() {
            self.finish(child, Duration::ZERO).await;
        }
    }

    /// Kills the program without a word, as a crash would, and waits until it is gone: until then, another process that is
    /// given its home or its sessions finds them in use.
    pub async fn kill(&self) {
        let mut place = self.child.lock().await;
        if let Some(child) = place.take() {
            child.kill().await;
        }
    }

    pub fn is_alive(&self) -> bool {
        !self.tap.ended.is_cancelled()
    }

    /// Why it exited, with the end of its standard error.
    pub fn exit_summary(&self) -> String {
        let (reason, stderr) = (self.tap.reason(), self.stderr.text());
        match (reason.is_empty(), stderr.is_empty()) {
            (true, true) => "no output".to_owned(),
            (true, false) => format!("stderr: {stderr}"),
            (false, true) => reason,
            (false, false) => format!("{reason}; stderr: {stderr}"),
        }
    }
}

/// A spawn error with its cause.
pub(in crate::agent::copilot) fn reason(error: &SpawnError) -> String {
    let cause = error.source().map(ToString::to_string).unwrap_or_default();
    format!("{error}: {cause}")
}

fn text(value: &Value, name: &str) -> Option<String> {
    value[name].as_str().filter(|text| !text.is_empty()).map(str::to_owned)
}

/// The program's own error message, without the protocol's prefix.
pub(in crate::agent::copilot) fn plain(error: &str) -> String {
    error.rsplit_once("failed with message: ").map_or(error, |(_, words)| words).to_owned()
}

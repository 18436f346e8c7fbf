//! The process behind a connection: whether it is alive, what it uses, how it ends.

use std::error::Error as _;
use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use tokio::sync::Mutex;

use super::wire::{Sender, Stream};
use crate::agent::{AgentProcess, BoxFuture, Liveness};
use crate::process::{ChildProcess, OutputTail, ProcessProbe, SpawnError};

/// A method that no agent supports. The protocol has no ping, but an error response also shows that the agent is alive.
const PING: &str = "_flightdeck/ping";

pub(super) struct Life {
    /// The runtime's name.
    pub runtime: String,
    version: parking_lot::Mutex<Option<String>>,
    sender: Sender,
    stream: Arc<Stream>,
    stderr: OutputTail,
    probe: ProcessProbe,
    /// Locked until the process and everything it started have exited.
    child: Mutex<Option<ChildProcess>>,
}

impl Life {
    pub fn new(runtime: String, child: ChildProcess, sender: Sender, stream: Arc<Stream>) -> Self {
        let (stderr, probe) = (child.stderr().clone(), child.probe());
        let version = parking_lot::Mutex::new(None);
        Self { runtime, version, sender, stream, stderr, probe, child: Mutex::new(Some(child)) }
    }

    pub fn is_called(&self, version: Option<String>) {
        *self.version.lock() = version;
    }

    pub fn is_alive(&self) -> bool {
        !self.stream.ended.is_cancelled()
    }

    /// Stops the process. Its input must be closed already, unless it is unresponsive. Concurrent callers wait for the
    /// same exit.
    pub async fn end(&self, grace: Duration) {
        let mut place = self.child.lock().await;
        if let Some(child) = place.take() {
            child.end(grace).await;
        }
    }

    /// Why it exited, once its output has ended: its exit status and its last output.
    pub async fn exit_summary(&self) -> String {
        let mut place = self.child.lock().await;
        let how = match place.as_mut() {
            // It may have closed its output and still be running.
            Some(child) => match tokio::time::timeout(Duration::from_secs(1), child.wait()).await {
                Ok(how) => {
                    child.stderr_text().await;
                    Some(how)
                }
                Err(_) => Some("it closed its output".to_owned()),
            },
            None => None,
        };
        let stderr = Some(self.stderr.text()).filter(|text| !text.is_empty());
        let parts = [how, self.said(), stderr.map(|text| format!("stderr: {text}"))];
        let words: Vec<String> = parts.into_iter().flatten().collect();
        if words.is_empty() { "no output".to_owned() } else { words.join("; ") }
    }

    /// Its output so far outside the protocol, to explain why it does not respond.
    pub fn stderr_summary(&self) -> String {
        let stderr = Some(self.stderr.text()).filter(|text| !text.is_empty());
        match self.said().or(stderr) {
            Some(words) => format!(" ({words})"),
            None => String::new(),
        }
    }

    fn said(&self) -> Option<String> {
        self.stream.invalid_line().map(|line| format!("it wrote {line:?}"))
    }

    /// Its resource use. Slow: run it on a blocking thread.
    pub fn figures(&self) -> Option<AgentProcess> {
        let figures = self.probe.figures()?;
        Some(AgentProcess {
            runtime: self.runtime.clone(),
            pid: self.probe.pid(),
            version: self.version.lock().clone(),
            sessions: 1,
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
}

impl Liveness for Life {
    fn probe(&self, within: Duration) -> BoxFuture<'_, bool> {
        Box::pin(async move {
            let before = self.processor_time().await;
            let mut received = self.stream.received();
            received.mark_unchanged();
            // A process that no longer reads may still write.
            let _ = self.sender.call(&json!("liveness"), PING, &json!({}));
            let answered = tokio::time::timeout(within, received.changed()).await.is_ok();
            answered || self.processor_time().await > before
        })
    }

    fn cut_off(&self) -> BoxFuture<'_, ()> {
        Box::pin(self.end(Duration::ZERO))
    }
}

/// A spawn error with its cause.
pub(super) fn reason(error: &SpawnError) -> String {
    let cause = error.source().map(ToString::to_string).unwrap_or_default();
    format!("{error}: {cause}")
}

//! The process behind a connection: whether it lives, what it uses, how it ends.

use std::error::Error as _;
use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use tokio::sync::Mutex;

use super::wire::{Sender, Stream};
use crate::agent::{AgentProcess, BoxFuture, Liveness};
use crate::process::{ChildProcess, ProcessProbe, SpawnError, StderrTail};

/// A method that no agent has. The protocol has no ping; a refusal is an answer too.
const PING: &str = "_flightdeck/ping";

pub(super) struct Life {
    /// Whose it is.
    pub runtime: String,
    version: parking_lot::Mutex<Option<String>>,
    sender: Sender,
    stream: Arc<Stream>,
    stderr: StderrTail,
    probe: ProcessProbe,
    /// Locked until it has ended with everything that it had started.
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

    /// Ends it: its input is closed already, or it is not worth a word any more. Everybody who asks waits for it.
    pub async fn end(&self, grace: Duration) {
        let mut place = self.child.lock().await;
        if let Some(child) = place.take() {
            child.end(grace).await;
        }
    }

    /// Why it is gone, once its output has ended: how it ended, and what it said last.
    pub async fn last_words(&self) -> String {
        let mut place = self.child.lock().await;
        let how = match place.as_mut() {
            // It may have closed its output and still run.
            Some(child) => match tokio::time::timeout(Duration::from_secs(1), child.wait()).await {
                Ok(how) => {
                    child.last_words().await;
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

    /// What it has said so far that is no message, for somebody who wonders why it does not answer.
    pub fn stderr_summary(&self) -> String {
        let stderr = Some(self.stderr.text()).filter(|text| !text.is_empty());
        match self.said().or(stderr) {
            Some(words) => format!(" ({words})"),
            None => String::new(),
        }
    }

    fn said(&self) -> Option<String> {
        self.stream.rubbish().map(|line| format!("it wrote {line:?}"))
    }

    /// What it uses. Not for a thread that others wait for.
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
            let mut heard = self.stream.heard();
            heard.mark_unchanged();
            // One that takes nothing any more may still say something.
            let _ = self.sender.call(&json!("liveness"), PING, &json!({}));
            let answered = tokio::time::timeout(within, heard.changed()).await.is_ok();
            answered || self.processor_time().await > before
        })
    }

    fn cut_off(&self) -> BoxFuture<'_, ()> {
        Box::pin(self.end(Duration::ZERO))
    }
}

/// Why a program was not started, with the cause.
pub(super) fn reason(error: &SpawnError) -> String {
    let cause = error.source().map(ToString::to_string).unwrap_or_default();
    format!("{error}: {cause}")
}

//! The process of the running turn: whether it is alive, what it uses, how it is killed.

use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use crate::agent::{AgentProcess, BoxFuture, Liveness};
use crate::process::ProcessProbe;

/// Shared by a connection and its observers. Between turns there is no process.
pub(super) struct Life {
    runtime: &'static str,
    running: Mutex<Option<Process>>,
    /// Counts lines.
    lines_read: watch::Sender<u64>,
}

/// The running process.
#[derive(Clone)]
struct Process {
    probe: ProcessProbe,
    version: Option<String>,
    /// Cancelled to kill the process immediately.
    cut: CancellationToken,
}

impl Life {
    pub fn new(runtime: &'static str) -> Self {
        Self { runtime, running: Mutex::default(), lines_read: watch::Sender::new(0) }
    }

    pub fn begins(self: &Arc<Self>, probe: ProcessProbe, version: Option<String>) -> Running {
        let cut = CancellationToken::new();
        *self.running.lock() = Some(Process { probe, version, cut: cut.clone() });
        Running { life: Arc::clone(self), cut }
    }

    fn count_line(&self) {
        self.lines_read.send_modify(|lines| *lines += 1);
    }

    /// The resource use of the process. Slow: run it on a blocking thread.
    pub fn figures(&self) -> Option<AgentProcess> {
        let Process { probe, version, .. } = self.running.lock().clone()?;
        let figures = probe.figures()?;
        Some(AgentProcess {
            runtime: self.runtime.to_owned(),
            pid: probe.pid(),
            version,
            sessions: 1,
            resident_bytes: figures.resident_bytes,
            cpu_seconds: figures.cpu.as_secs_f64(),
            children: figures.processes.saturating_sub(1),
            started_at: figures.started_at,
        })
    }

    async fn processor_time(&self) -> Option<Duration> {
        let Process { probe, .. } = self.running.lock().clone()?;
        tokio::task::spawn_blocking(move || probe.figures()).await.ok().flatten().map(|figures| figures.cpu)
    }
}

/// Dropped at the end of the turn.
pub(super) struct Running {
    life: Arc<Life>,
    cut: CancellationToken,
}

impl Running {
    /// Resolves when the process should be killed immediately.
    pub async fn is_cut(&self) {
        self.cut.cancelled().await;
    }

    pub fn count_line(&self) {
        self.life.count_line();
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        *self.life.running.lock() = None;
    }
}

impl Liveness for Life {
    fn probe(&self, within: Duration) -> BoxFuture<'_, bool> {
        Box::pin(async move {
            if self.running.lock().is_none() {
                // No turn is running, so no response is due.
                return true;
            }
            let before = self.processor_time().await;
            let mut lines_read = self.lines_read.subscribe();
            let spoke = tokio::time::timeout(within, lines_read.changed()).await.is_ok();
            spoke || self.processor_time().await > before
        })
    }

    fn cut_off(&self) -> BoxFuture<'_, ()> {
        Box::pin(async move {
            if let Some(process) = &*self.running.lock() {
                process.cut.cancel();
            }
        })
    }
}

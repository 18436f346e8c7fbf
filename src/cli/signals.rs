//! Signals that stop the server. A signal that arrives before anybody waits for it is not lost.

use anyhow::Context as _;

#[cfg(unix)]
use tokio::signal::unix::{Signal, SignalKind, signal};

/// SIGINT, SIGTERM and SIGHUP (the terminal is gone); Ctrl+C on Windows.
pub(super) struct Signals {
    #[cfg(unix)]
    interrupt: Signal,
    #[cfg(unix)]
    terminate: Signal,
    #[cfg(unix)]
    hang_up: Signal,
    #[cfg(windows)]
    interrupt: tokio::signal::windows::CtrlC,
}

#[cfg(unix)]
impl Signals {
    /// From now on signals are queued instead of ending the process.
    pub fn register() -> anyhow::Result<Self> {
        let register = |kind| signal(kind).context("cannot listen for signals");
        Ok(Self {
            interrupt: register(SignalKind::interrupt())?,
            terminate: register(SignalKind::terminate())?,
            hang_up: register(SignalKind::hangup())?,
        })
    }

    pub async fn next(&mut self) {
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
            _ = self.hang_up.recv() => {}
        }
    }
}

#[cfg(windows)]
impl Signals {
    /// From now on Ctrl+C is queued instead of ending the process.
    pub fn register() -> anyhow::Result<Self> {
        Ok(Self { interrupt: tokio::signal::windows::ctrl_c().context("cannot listen for Ctrl+C")? })
    }

    pub async fn next(&mut self) {
        self.interrupt.recv().await;
    }
}

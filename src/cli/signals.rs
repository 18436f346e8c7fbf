//! Signals that stop the server. A signal that arrives before anybody waits for it is not lost.

use anyhow::Context as _;

#[cfg(unix)]
use tokio::signal::unix::{self, SignalKind, signal};

/// SIGINT, SIGTERM and SIGHUP (the terminal is gone); Ctrl+C on Windows.
pub(super) struct Signals {
    #[cfg(unix)]
    interrupt: unix::Signal,
    #[cfg(unix)]
    terminate: unix::Signal,
    #[cfg(unix)]
    hang_up: unix::Signal,
    #[cfg(windows)]
    interrupt: tokio::signal::windows::CtrlC,
}

/// What a signal asks of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Signal {
    /// Ctrl+C.
    Interrupt,
    /// SIGTERM, or the terminal is gone.
    End,
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
        self.next_kind().await;
    }

    pub async fn next_kind(&mut self) -> Signal {
        tokio::select! {
            _ = self.interrupt.recv() => Signal::Interrupt,
            _ = self.terminate.recv() => Signal::End,
            _ = self.hang_up.recv() => Signal::End,
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
        self.next_kind().await;
    }

    pub async fn next_kind(&mut self) -> Signal {
        self.interrupt.recv().await;
        Signal::Interrupt
    }
}

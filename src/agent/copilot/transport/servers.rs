//! The running programs: the current one for new sessions, and retired ones that still have sessions.
//!
//! Invariants: a program in use is never stopped, an unused one is stopped after a while, and all of them are stopped
//! with the runtime.

use std::sync::{Arc, Weak};
use std::time::Duration;

use parking_lot::Mutex as SyncMutex;
use tokio::sync::Mutex;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::server::Server;
use crate::agent::copilot::Copilot;
use crate::agent::copilot::program;
use crate::agent::copilot::settings::CopilotSettings;
use crate::agent::program::Programs;
use crate::agent::{BoxFuture, Liveness, StartError};

/// Far in the future, without overflowing an `Instant`.
const NEVER: Duration = Duration::from_hours(24 * 365 * 10);

#[derive(Default)]
struct Running {
    current: Option<Arc<Server>>,
    /// Retired programs that still have sessions.
    retired: Vec<Arc<Server>>,
}

pub(in crate::agent::copilot) struct Servers {
    pub programs: Programs,
    settings: CopilotSettings,
    running: Arc<Mutex<Running>>,
    started: SyncMutex<Vec<Weak<Server>>>,
    watchers: TaskTracker,
    stopping: CancellationToken,
}

/// A session's hold on a program.
pub(in crate::agent::copilot) struct Lease {
    pub server: Arc<Server>,
}

impl Lease {
    pub(in crate::agent::copilot) fn of(server: &Arc<Server>) -> Self {
        server.sessions.send_modify(|sessions| *sessions += 1);
        Self { server: Arc::clone(server) }
    }
}

/// Lets a session check on its program.
pub(in crate::agent::copilot) struct SharedLiveness {
    pub servers: Arc<Servers>,
    pub server: Arc<Server>,
}

impl Liveness for SharedLiveness {
    fn probe(&self, within: Duration) -> BoxFuture<'_, bool> {
        Box::pin(self.server.probe(within))
    }

    fn cut_off(&self) -> BoxFuture<'_, ()> {
        Box::pin(self.server.cut_off())
    }

    fn abandon(&self) -> BoxFuture<'_, ()> {
        Box::pin(async move {
            // From here on, new sessions get another program.
            self.servers.retire(&self.server).await;
            if *self.server.sessions.borrow() <= 1 {
                self.server.cut_off().await;
            }
        })
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        self.server.sessions.send_modify(|sessions| *sessions -= 1);
    }
}

impl Servers {
    pub fn new(settings: CopilotSettings) -> Self {
        Self {
            programs: program::programs(&settings),
            settings,
            running: Arc::default(),
            started: SyncMutex::default(),
            watchers: TaskTracker::new(),
            stopping: CancellationToken::new(),
        }
    }

    /// The running program, started if necessary. It may be stopped as soon as no session holds it.
    pub async fn get(&self) -> Result<Arc<Server>, StartError> {
        let mut running = self.running.lock().await;
        self.get_locked(&mut running).await
    }

    /// The running program, held until the lease is dropped.
    pub async fn lease(&self) -> Result<Lease, StartError> {
        let mut running = self.running.lock().await;
        Ok(Lease::of(&self.get_locked(&mut running).await?))
    }

    /// A program that was started after `before`, because an older one does not see later logins. Existing sessions
    /// keep the older one.
    pub async fn renewed(&self, before: &Arc<Server>) -> Result<Arc<Server>, StartError> {
        self.retire(before).await;
        self.get().await
    }

    /// Retires this program: new sessions get another one.
    pub async fn retire(&self, server: &Arc<Server>) {
        let mut running = self.running.lock().await;
        if running.current.as_ref().is_some_and(|current| Arc::ptr_eq(current, server)) {
            self.retire_current(&mut running).await;
        }
    }

    /// Retires the current program: new sessions get a new one.
    pub async fn renew(&self) {
        self.retire_current(&mut *self.running.lock().await).await;
    }

    /// The current program if it is running, without starting one.
    pub async fn running(&self) -> Option<Arc<Server>> {
        self.running.lock().await.current.clone().filter(|server| server.is_alive())
    }

    /// Every running program. Does not take the lock, because a page with figures must not wait for a program's start.
    pub fn all(&self) -> Vec<Arc<Server>> {
        let mut started = self.started.lock();
        started.retain(|server| server.strong_count() > 0);
        started.iter().filter_map(Weak::upgrade).filter(|server| server.is_alive()).collect()
    }

    async fn get_locked(&self, running: &mut Running) -> Result<Arc<Server>, StartError> {
        if let Some(server) = running.current.clone().filter(|server| server.is_alive()) {
            // A version may be quarantined while it is running.
            return match self.settings.quarantine.reason(Copilot::NAME, Some(&server.version)) {
                None => Ok(server),
                Some(reason) => {
                    self.retire_current(running).await;
                    Err(StartError::Permanent(reason))
                }
            };
        }
        if self.stopping.is_cancelled() {
            return Err(StartError::Permanent("the server is shutting down".to_owned()));
        }
        if let Some(gone) = running.current.take() {
            // Its tools must not run at the same time as those of the next one.
            gone.end().await;
        }
        let program = self.programs.find().await.map_err(StartError::Permanent)?;
        let server = Arc::new(Server::start(&program, &self.settings).await?);
        tracing::info!(version = %server.version, program = %program.path.display(), "started copilot");
        running.current = Some(Arc::clone(&server));
        self.started.lock().push(Arc::downgrade(&server));
        let idle = self.settings.end_when_idle.unwrap_or(NEVER);
        self.watchers.spawn(watch(Arc::clone(&self.running), Arc::clone(&server), idle, self.stopping.clone()));
        Ok(server)
    }

    async fn retire_current(&self, running: &mut Running) {
        let Some(server) = running.current.take() else { return };
        if *server.sessions.borrow() == 0 {
            server.end().await;
        } else {
            running.retired.push(server);
        }
    }

    pub async fn shut_down(&self) {
        self.stopping.cancel();
        self.watchers.close();
        self.watchers.wait().await;
        let running = std::mem::take(&mut *self.running.lock().await);
        let all = running.current.iter().chain(&running.retired);
        futures_util::future::join_all(all.map(|server| server.end())).await;
    }
}

/// Stops the program when it is no longer used, and cleans up after one that exited by itself.
async fn watch(running: Arc<Mutex<Running>>, server: Arc<Server>, idle: Duration, stopping: CancellationToken) {
    tokio::select! {
        () = until_unused(&running, &server, idle) => tracing::info!("stopping copilot: no session uses it"),
        () = server.tap.ended.cancelled() => running.lock().await.retired.retain(|retired| !Arc::ptr_eq(retired, &server)),
        // The runtime stops every program when it shuts down.
        () = stopping.cancelled() => return,
    }
    server.end().await;
}

/// Waits until no session has used the program for `idle`, or the last session of a retired one is gone. It cannot be
/// leased afterwards.
async fn until_unused(running: &Mutex<Running>, server: &Arc<Server>, idle: Duration) {
    let mut sessions = server.sessions.subscribe();
    loop {
        if sessions.wait_for(|sessions| *sessions == 0).await.is_err() {
            return std::future::pending().await;
        }
        let is_retired = running.lock().await.retired.iter().any(|retired| Arc::ptr_eq(retired, server));
        let timeout = if is_retired { Duration::ZERO } else { idle };
        if tokio::time::timeout(timeout, sessions.wait_for(|sessions| *sessions > 0)).await.is_ok() {
            continue;
        }
        let mut running = running.lock().await;
        // Leasing needs the same lock, so this check is final.
        if *server.sessions.borrow() == 0 {
            running.current.take_if(|current| Arc::ptr_eq(current, server));
            running.retired.retain(|retired| !Arc::ptr_eq(retired, server));
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_program_that_shows_no_sign_of_life_is_left_to_the_other_sessions_that_use_it() {
        let servers = Arc::new(Servers::new(CopilotSettings::default()));
        let (program, from_program) = tokio::io::duplex(1024);
        let (to_program, _taken) = tokio::io::duplex(1024);
        let server = Arc::new(Server::at(from_program, to_program));
        servers.running.lock().await.current = Some(Arc::clone(&server));
        let leases = [Lease::of(&server), Lease::of(&server)];
        let liveness = SharedLiveness { servers: Arc::clone(&servers), server: Arc::clone(&server) };
        liveness.abandon().await;
        assert!(server.is_alive(), "the other session still has it");
        let running = servers.running.lock().await;
        assert!(running.current.is_none(), "the next session gets another one");
        assert_eq!(running.retired.len(), 1);
        drop((leases, program));
    }
}

//! The login status that the program reports.

use std::time::{Duration, Instant};

use parking_lot::Mutex;
use tokio::sync::watch;

use crate::agent::copilot::transport::Servers;

/// How long an answer is cached while the program is running.
const GOOD_FOR: Duration = Duration::from_secs(30);

/// The login status.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::agent::copilot) enum Answer {
    LoggedIn {
        who: Option<String>,
    },
    LoggedOut,
    /// The status could not be read; the text says why.
    Unknown(String),
}

/// The cached status, and notifications of changes.
pub(in crate::agent::copilot) struct Authentication {
    last: Mutex<Option<(Instant, Answer)>>,
    /// Counts changes: a login, a logout, a token that was added or removed.
    changes: watch::Sender<u64>,
}

impl Authentication {
    pub fn new() -> Self {
        Self { last: Mutex::new(None), changes: watch::Sender::new(0) }
    }

    /// The login status, possibly cached. While the program is not running, the last answer stays valid, because a list
    /// alone is no reason to start the program.
    pub async fn recent(&self, servers: &Servers) -> Answer {
        let last = self.last.lock().clone();
        match last {
            Some((when, answer)) if when.elapsed() < GOOD_FOR => answer,
            Some((_, answer @ (Answer::LoggedIn { .. } | Answer::LoggedOut))) if servers.running().await.is_none() => {
                answer
            }
            _ => self.ask(servers).await,
        }
    }

    /// Queries the running program. A program that was started before a login does not see it.
    pub async fn ask(&self, servers: &Servers) -> Answer {
        let before = *self.changes.borrow();
        let answer = match servers.get().await {
            Ok(server) => status(server.ask("auth.getStatus").await),
            Err(error) => Answer::Unknown(error.to_string()),
        };
        self.remember(answer, before)
    }

    /// Queries the status, and accepts "logged out" only from a newly started program. Existing sessions keep the old
    /// program, so use this only if a login is required.
    pub async fn ask_new_server(&self, servers: &Servers) -> Answer {
        let (before, asked_at) = (*self.changes.borrow(), Instant::now());
        let answer = match servers.get().await {
            Ok(server) => match status(server.ask("auth.getStatus").await) {
                Answer::LoggedOut if server.started_at < asked_at => match servers.renewed(&server).await {
                    Ok(fresh) => status(fresh.ask("auth.getStatus").await),
                    Err(error) => Answer::Unknown(error.to_string()),
                },
                first => first,
            },
            Err(error) => Answer::Unknown(error.to_string()),
        };
        self.remember(answer, before)
    }

    /// Caches an answer, unless the login state changed since the query.
    fn remember(&self, mut answer: Answer, asked_before: u64) -> Answer {
        if let Answer::Unknown(reason) = &mut answer {
            *reason = crate::model::redact(reason).into_owned();
        }
        let mut last = self.last.lock();
        if *self.changes.borrow() == asked_before {
            let before = last.replace((Instant::now(), answer.clone()));
            if before.is_some_and(|(_, before)| before != answer) {
                self.changes.send_modify(|changes| *changes += 1);
            }
        }
        answer
    }

    /// Invalidates the cache after a login.
    pub fn forget(&self) {
        let mut last = self.last.lock();
        *last = None;
        self.changes.send_modify(|changes| *changes += 1);
    }

    /// The number of changes so far.
    pub fn changes(&self) -> watch::Receiver<u64> {
        self.changes.subscribe()
    }
}

fn status(answer: Result<serde_json::Value, String>) -> Answer {
    match answer {
        Ok(status) if status["isAuthenticated"] == serde_json::json!(true) => {
            Answer::LoggedIn { who: status["login"].as_str().map(str::to_owned) }
        }
        Ok(_) => Answer::LoggedOut,
        Err(error) => Answer::Unknown(format!("cannot read Copilot's login status: {error}")),
    }
}

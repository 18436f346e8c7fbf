//! Who is logged in, as the program says it.

use std::time::{Duration, Instant};

use parking_lot::Mutex;
use tokio::sync::watch;

use crate::agent::copilot::transport::Servers;

/// How long an answer is good while the program runs.
const GOOD_FOR: Duration = Duration::from_secs(30);

/// What the program says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::agent::copilot) enum Answer {
    LoggedIn {
        who: Option<String>,
    },
    LoggedOut,
    /// The program could not be asked; the text says why.
    Unknown(String),
}

/// The last answer, and news of logins.
pub(in crate::agent::copilot) struct Authentication {
    last: Mutex<Option<(Instant, Answer)>>,
    /// Counts changes: a login, a logout, a token that came or went.
    changes: watch::Sender<u64>,
}

impl Authentication {
    pub fn new() -> Self {
        Self { last: Mutex::new(None), changes: watch::Sender::new(0) }
    }

    /// Whether somebody is logged in; a recent answer will do. While the program does not run the last answer stands,
    /// because nobody starts a program only to look at a list.
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

    /// Asks the program as it is. One that was started before a login does not know of it.
    pub async fn ask(&self, servers: &Servers) -> Answer {
        let before = *self.changes.borrow();
        let answer = match servers.get().await {
            Ok(server) => status(server.ask("auth.getStatus").await),
            Err(error) => Answer::Unknown(error.to_string()),
        };
        self.remember(answer, before)
    }

    /// Asks, and believes "nobody" only from a program that was started for the question. Sessions of an older one keep
    /// it, so this is for somebody who cannot go on without a login.
    pub async fn ask_anew(&self, servers: &Servers) -> Answer {
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

    /// Keeps an answer, unless somebody has logged in since it was asked for.
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

    /// Somebody has logged in: what was known before counts no more.
    pub fn forget(&self) {
        let mut last = self.last.lock();
        *last = None;
        self.changes.send_modify(|changes| *changes += 1);
    }

    /// How often it has changed.
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

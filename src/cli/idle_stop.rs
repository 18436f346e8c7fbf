//! Ends a server that was started in the background once nobody needs it.

use std::time::Duration;

use tokio::time::Instant;

use crate::capture::Captures;
use crate::http::Connections;
use crate::jobs::Jobs;
use crate::model::SessionState;
use crate::session::Sessions;

/// How often to look, within these bounds, for spans of any length.
const LOOKS_PER_SPAN: u32 = 20;
const SHORTEST_PAUSE: Duration = Duration::from_millis(50);
const LONGEST_PAUSE: Duration = Duration::from_secs(15);

/// What a server may be needed for.
pub(super) struct IdleWatch {
    pub sessions: Sessions,
    pub jobs: Jobs,
    pub captures: Captures,
    pub connections: Connections,
}

impl IdleWatch {
    /// Returns when the server was not needed for this long.
    pub async fn until_idle(self, span: Duration) {
        let pause = (span / LOOKS_PER_SPAN).clamp(SHORTEST_PAUSE, LONGEST_PAUSE);
        let mut idle_since = Instant::now();
        loop {
            tokio::time::sleep(pause).await;
            if self.is_needed().await {
                idle_since = Instant::now();
            } else if idle_since.elapsed() >= span {
                return;
            }
        }
    }

    /// Whether anybody is connected, or anything runs or waits for a person.
    async fn is_needed(&self) -> bool {
        let is_at_work = |state: Option<SessionState>| {
            state.is_some_and(|state| {
                matches!(
                    state,
                    SessionState::Starting | SessionState::Working | SessionState::Waiting | SessionState::Recovering
                )
            })
        };
        let figures = self.captures.figures();
        if self.connections.count() > 0 || figures.answering + figures.queued + figures.waiting > 0 {
            return true;
        }
        let (_, sessions) = self.sessions.session_feed().since(0);
        if sessions.iter().any(|session| is_at_work(session.state) || !session.pending.is_empty()) {
            return true;
        }
        // What cannot be read counts as work: ending the server must never cut anything off.
        self.jobs.has_unsettled_runs().await.unwrap_or(true)
    }
}

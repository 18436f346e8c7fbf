//! What the sessions of a job ask a person: permissions and questions. They are answered in the session, not here.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::time::Duration;

use serde_json::Value;
use tokio::sync::mpsc;

use super::super::command_context::CommandContext;
use super::super::terminal::text::{clean, one_line};
use super::log_follower::Update;
use crate::model::SessionId;

const RECONNECT_AFTER: Duration = Duration::from_millis(500);

/// Reports what waits in all sessions, for as long as anybody listens.
pub(super) async fn watch_inbox(context: &CommandContext, updates: mpsc::Sender<Update>) {
    loop {
        if let Some(server) = context.server()
            && let Ok(Some(mut stream)) = server.events("/api/events").await
        {
            while let Ok(Some(event)) = stream.next().await {
                let status: Value = serde_json::from_str(&event.data).unwrap_or_default();
                if status["sessionId"].is_string() && updates.send(Update::Pending(status)).await.is_err() {
                    return;
                }
            }
        }
        tokio::time::sleep(RECONNECT_AFTER).await;
    }
}

/// The requests of a job's sessions.
#[derive(Debug, Default)]
pub(super) struct Pending {
    /// The sessions of the job, with the names of their works.
    sessions: HashMap<SessionId, String>,
    waiting: HashMap<SessionId, BTreeMap<String, String>>,
    announced: HashSet<(SessionId, String)>,
}

impl Pending {
    /// A session of the job was opened.
    pub fn add_session(&mut self, session: SessionId, work: String) {
        self.sessions.insert(session, work);
    }

    /// The inbox reports a session, of this job or of another.
    pub fn learn(&mut self, status: &Value) {
        let Some(session) = status["sessionId"].as_str().and_then(|id| id.parse().ok()) else { return };
        let pending = status["pending"].as_array().into_iter().flatten();
        let request = |request: &Value| {
            let headline = request["headline"].as_str().unwrap_or_default();
            Some((request["requestId"].as_str()?.to_owned(), one_line(headline)))
        };
        self.waiting.insert(session, pending.filter_map(request).collect());
    }

    /// What still waits is announced again: the server may have another address.
    pub fn announce_again(&mut self) {
        self.announced.clear();
    }

    /// Sentences about what waits and was not announced yet.
    pub fn news(&mut self, url: &str) -> Vec<String> {
        let mut news = Vec::new();
        for (session, work) in &self.sessions {
            for (request, headline) in self.waiting.get(session).into_iter().flatten() {
                if self.announced.insert((*session, request.clone())) {
                    news.push(format!(
                        "{work}  {session} needs your input: {}. Answer it at {url}/?session={session} (`flightdeck open` logs in)",
                        clean(headline.trim_end_matches('.'))
                    ));
                }
            }
        }
        news
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_request_of_the_jobs_own_session_is_announced_once() {
        let status = |session: &str| json!({ "sessionId": session, "pending": [{ "requestId": "request-1", "kind": "permission", "headline": "Run ls." }] });
        let mut pending = Pending::default();
        pending.learn(&status("session-3"));
        pending.learn(&status("session-4"));
        assert!(pending.news("http://x").is_empty(), "no session of this job");
        pending.add_session(SessionId::from_number(3), "0 build".to_owned());
        let news = pending.news("http://x");
        assert_eq!(
            news,
            [
                "0 build  session-3 needs your input: Run ls. Answer it at http://x/?session=session-3 (`flightdeck open` logs in)"
            ]
        );
        pending.learn(&status("session-3"));
        assert!(pending.news("http://x").is_empty(), "it was announced");
        pending.announce_again();
        assert!(pending.news("http://y")[0].contains("http://y/?session=session-3"), "at its new address");
    }
}

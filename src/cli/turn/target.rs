//! Which session a command is about.

use std::path::Path;

use anyhow::bail;

use super::super::connection::sentence;
use super::super::terminal::text::{one_line, path};
use crate::client::{LocalServer, SessionEntry};
use crate::model::{SessionId, SessionState};

/// How many sessions an ambiguous title lists.
const MOST_LISTED: usize = 5;

/// An id as people write it: `12` or `session-12`. `None` for anything else.
pub(in crate::cli) fn written_id(text: &str) -> Option<SessionId> {
    text.parse::<u32>().map(SessionId::from_number).ok().or_else(|| text.parse().ok())
}

/// The session that a person names by its id or by the beginning of its title.
pub(in crate::cli) async fn session_named(server: &LocalServer, text: &str) -> anyhow::Result<SessionId> {
    if let Some(id) = written_id(text) {
        return Ok(id);
    }
    by_title(&server.sessions(None).await.map_err(sentence)?, text)
}

fn by_title(sessions: &[SessionEntry], text: &str) -> anyhow::Result<SessionId> {
    let wanted = text.to_lowercase();
    let title = |session: &SessionEntry| session.title.as_deref().unwrap_or_default().to_lowercase();
    let exact: Vec<&SessionEntry> = sessions.iter().filter(|session| title(session) == wanted).collect();
    let found: Vec<&SessionEntry> = match exact.as_slice() {
        [_] => exact,
        _ => sessions.iter().filter(|session| !wanted.is_empty() && title(session).starts_with(&wanted)).collect(),
    };
    match found.as_slice() {
        [session] => Ok(session.session_id),
        [] => bail!(
            "no session has the id or a title that begins with {:?}; `flightdeck sessions --all` lists every session",
            one_line(text)
        ),
        several => {
            let line = |session: &&SessionEntry| {
                format!(
                    "\n  {}  {}",
                    session.session_id.number(),
                    one_line(session.title.as_deref().unwrap_or_default())
                )
            };
            let listed: String = several.iter().take(MOST_LISTED).map(line).collect();
            bail!(
                "the titles of {} sessions begin with {:?}; name one by its id:{listed}",
                several.len(),
                one_line(text)
            )
        }
    }
}

/// The session of a folder in which something happened last.
pub(super) async fn latest_of_folder(server: &LocalServer, folder: &Path) -> anyhow::Result<SessionId> {
    let sessions = server.sessions(None).await.map_err(sentence)?;
    let is_here = |session: &&SessionEntry| {
        session.state != SessionState::Closed
            && session.working_directory.as_deref().is_some_and(|directory| Path::new(directory) == folder)
    };
    match sessions.iter().filter(is_here).max_by_key(|session| session.updated_at) {
        Some(session) => Ok(session.session_id),
        None => bail!("no open session works in {}; leave out -c to start one", path(folder)),
    }
}

/// The open session in which something happened last.
pub(super) async fn latest(server: &LocalServer) -> anyhow::Result<SessionId> {
    let sessions = server.sessions(None).await.map_err(sentence)?;
    let open = sessions.iter().filter(|session| session.state != SessionState::Closed);
    match open.max_by_key(|session| session.updated_at) {
        Some(session) => Ok(session.session_id),
        None => bail!("no session is open; start one with `flightdeck run PROMPT`"),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn session(number: u32, title: &str) -> SessionEntry {
        serde_json::from_value(json!({
            "sessionId": format!("session-{number}"), "title": title, "runtime": "demo", "model": "",
            "workingDirectory": null, "state": "ready", "createdAt": "2026-01-01T00:00:00.000Z",
            "updatedAt": "2026-01-01T00:00:00.000Z", "lastSeq": 0, "pending": 0,
        }))
        .expect("a session")
    }

    #[test]
    fn a_number_an_id_or_the_beginning_of_one_title_names_a_session() {
        assert_eq!(written_id("12"), Some(SessionId::from_number(12)));
        assert_eq!(written_id("session-12"), Some(SessionId::from_number(12)));
        assert_eq!(written_id("fix"), None);
        let sessions = [session(1, "Fix the tests"), session(2, "Fix the build"), session(3, "Fix")];
        let named = |text: &str| by_title(&sessions, text).map(SessionId::number).map_err(|error| error.to_string());
        assert_eq!(named("fix the b"), Ok(2));
        assert_eq!(named("Fix"), Ok(3), "the whole title counts more than the beginning of others");
        assert!(named("fix the").expect_err("ambiguous").contains("\n  1  Fix the tests\n  2  Fix the build"));
        assert!(named("none").expect_err("unknown").contains("flightdeck sessions --all"));
        assert!(named("").is_err());
    }
}

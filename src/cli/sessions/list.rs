//! `flightdeck sessions list`: a table of sessions.

use std::process::ExitCode;

use serde_json::{Value, json};

use super::super::arguments::CommonFlags;
use super::super::command_context::CommandContext;
use super::super::connection::{sentence, server};
use super::super::output::{print, table};
use super::super::terminal::screen::size;
use super::super::terminal::style::Style;
use super::super::terminal::text::{one_line, shortened, span};
use super::ListFlags;
use crate::client::SessionEntry;
use crate::model::{SessionState, Timestamp};
use crate::session::now;

const LONGEST_TITLE: usize = 60;
const LONGEST_FOLDER: usize = 40;

pub(super) fn list(flags: &ListFlags, common: &CommonFlags) -> anyhow::Result<ExitCode> {
    let context = CommandContext::new(common)?;
    let server = server(&context)?;
    if common.json {
        let path = "/api/copilot/session?limit=1000";
        let mut listed = context.wait_for(server.get(path)).map_err(sentence)?;
        let mut sessions = listed["sessions"].take();
        if let Value::Array(sessions) = &mut sessions {
            sessions.retain(|session| {
                let entry = serde_json::from_value::<SessionEntry>(session.clone());
                entry.map_or(true, |entry| is_shown(&entry, flags))
            });
        }
        print(&json!({ "sessions": sessions }).to_string())?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut sessions = context.wait_for(server.sessions(None)).map_err(sentence)?;
    sessions.retain(|session| is_shown(session, flags));
    if flags.quiet {
        let ids: Vec<String> = sessions.iter().map(|session| session.session_id.to_string()).collect();
        if !ids.is_empty() {
            print(&ids.join("\n"))?;
        }
        return Ok(ExitCode::SUCCESS);
    }
    if sessions.is_empty() {
        let none = if flags.waiting {
            "No session needs you."
        } else {
            "No sessions. Start one with `flightdeck run PROMPT`."
        };
        eprintln!("{none}");
    }
    print(&shown(&sessions, now(), Style::of_output()))?;
    Ok(ExitCode::SUCCESS)
}

fn is_shown(session: &SessionEntry, flags: &ListFlags) -> bool {
    let needs_person = session.pending > 0 || matches!(session.state, SessionState::Waiting | SessionState::NeedsLogin);
    if flags.waiting { needs_person } else { flags.all || session.state != SessionState::Closed }
}

fn shown(sessions: &[SessionEntry], now: Timestamp, style: Style) -> String {
    let row = |session: &SessionEntry| {
        let pending = if session.pending > 0 { format!(" ({})", session.pending) } else { String::new() };
        vec![
            session.session_id.number().to_string(),
            format!("{}{pending}", session.state),
            age(now, session.updated_at),
            one_line(&session.runtime),
            one_line(&session.model),
            shortened_front(&folder(session.working_directory.as_deref()), LONGEST_FOLDER),
            shortened(&one_line(session.title.as_deref().unwrap_or_default()), LONGEST_TITLE),
        ]
    };
    let rows: Vec<Vec<String>> = sessions.iter().map(row).collect();
    let text = table(&["ID", "STATE", "AGE", "AGENT", "MODEL", "FOLDER", "TITLE"], &rows);
    let width = if style.is_plain() { usize::MAX } else { size().0 };
    let mut lines = text.lines().map(|line| shortened(line, width));
    let heading = style.bold(&lines.next().unwrap_or_default());
    let coloured = sessions.iter().zip(lines).map(|(session, line)| {
        let state = session.state.to_string();
        // The number is in front, so this is the state.
        line.replacen(&state, &style.state(session.state, &state), 1)
    });
    std::iter::once(heading).chain(coloured).collect::<Vec<_>>().join("\n")
}

/// How long ago, in one unit.
fn age(now: Timestamp, then: Timestamp) -> String {
    let text = span(now.since(then));
    text.split(' ').next().unwrap_or_default().to_owned()
}

/// A folder as people write it.
fn folder(path: Option<&str>) -> String {
    let path = path.unwrap_or("–");
    let home = std::env::var("HOME").unwrap_or_default();
    match path.strip_prefix(home.as_str()) {
        Some(rest) if !home.is_empty() && (rest.is_empty() || rest.starts_with('/')) => one_line(&format!("~{rest}")),
        _ => one_line(path),
    }
}

/// The end of a path says more than its beginning.
fn shortened_front(text: &str, most: usize) -> String {
    let length = text.chars().count();
    if length <= most {
        return text.to_owned();
    }
    let kept: String = text.chars().skip(length + 1 - most).collect();
    format!("…{kept}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_has_a_row_for_each_session() {
        let session: SessionEntry = serde_json::from_value(json!({
            "sessionId": "session-12", "title": "Fix\u{1b}[31m it", "runtime": "demo", "model": "demo-slow",
            "workingDirectory": "/x/y", "state": "waiting", "createdAt": "2026-01-01T00:00:00.000Z",
            "updatedAt": "2026-01-01T00:00:00.000Z", "lastSeq": 9, "pending": 2,
        }))
        .expect("a session");
        let now = Timestamp::from_millis(session.updated_at.as_millis() + 90_000);
        assert_eq!(
            shown(&[session], now, Style::plain()),
            "ID  STATE        AGE  AGENT  MODEL      FOLDER  TITLE\n12  waiting (2)  1m   demo   demo-slow  /x/y    Fix\u{fffd}[31m it"
        );
        assert_eq!(shortened_front("/a/long/path", 8), "…ng/path");
    }
}

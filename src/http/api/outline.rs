//! The outline of a session: its prompts, and how their turns ended.

use std::collections::HashMap;

use axum::Json;
use axum::extract::State;
use schemars::JsonSchema;
use serde::Serialize;

use super::session;
use crate::http::app::App;
use crate::http::body::PathPart;
use crate::http::error::ApiResult;
use crate::http::openapi::{Operation, Tag, get};
use crate::model::{Callback, PromptId, PromptVerdict, Response, Seq, Timestamp};
use crate::store::StoredEvent;

/// Of longer sessions, the newest prompts are listed.
const MOST_PROMPTS: usize = 5_000;
/// The most characters of a prompt's first line.
const LONGEST_LINE: usize = 200;

/// The prompts of a session, oldest first.
#[derive(Serialize, JsonSchema)]
pub(in crate::http) struct Outline {
    /// The prompts.
    prompts: Vec<OutlinePrompt>,
    /// Whether older ones were left out.
    truncated: bool,
}

/// A prompt of a person or of a task.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::http) struct OutlinePrompt {
    /// Its id within the session.
    prompt_id: PromptId,
    /// The number of its event.
    seq: Seq,
    /// When it was sent.
    time: Timestamp,
    /// Its first line with any text, shortened.
    line: String,
    /// Whether a task sent it.
    by_task: bool,
    /// How its turn ended; `null` while it waits or runs.
    verdict: Option<PromptVerdict>,
}

pub(in crate::http) async fn outline(
    State(app): State<App>,
    PathPart(id): PathPart<String>,
) -> ApiResult<Json<Outline>> {
    let session = session(&app, &id).await?;
    let store = app.sessions().store();
    let verdicts: HashMap<u32, PromptVerdict> = store.prompt_verdicts(session.id()).await?.into_iter().collect();
    let events = store.prompt_events(session.id()).await?;
    let mut prompts: Vec<OutlinePrompt> = events.iter().filter_map(|event| entry(event, &verdicts)).collect();
    let left_out = prompts.len().saturating_sub(MOST_PROMPTS);
    prompts.drain(..left_out);
    Ok(Json(Outline { prompts, truncated: left_out > 0 }))
}

/// Prompts that an agent gives itself have no id and no turn of their own.
fn entry(event: &StoredEvent, verdicts: &HashMap<u32, PromptVerdict>) -> Option<OutlinePrompt> {
    let Response::Callback(callback) = Response::from_json(std::str::from_utf8(&event.body).ok()?)? else {
        return None;
    };
    let (prompt_id, text, by_task) = match callback {
        Callback::UserPrompt { prompt_id, text, .. } => (prompt_id, text, false),
        Callback::GeneratedUserPrompt { prompt_id: Some(prompt_id), prompt, .. } => (prompt_id, prompt, true),
        _ => return None,
    };
    let verdict = verdicts.get(&prompt_id.number()).copied();
    Some(OutlinePrompt { prompt_id, seq: event.seq, time: event.time, line: first_line(&text), by_task, verdict })
}

fn first_line(text: &str) -> String {
    let line = text.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
    let mut characters = line.chars();
    let mut short: String = characters.by_ref().take(LONGEST_LINE).collect();
    if characters.next().is_some() {
        short.push('…');
    }
    short
}

pub(super) fn operations() -> Vec<Operation> {
    vec![
        get("/api/copilot/session/{id}/outline", outline)
            .named("showOutline", Tag::Reading, "List the prompts of a session")
            .details("Its prompts with the numbers of their events, and how their turns ended.")
            .error(404, "SessionNotFound"),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_line_with_text_is_shown_and_long_ones_are_cut() {
        assert_eq!(first_line("\n \n  do it \nnow"), "do it");
        assert_eq!(first_line(" \n"), "");
        assert_eq!(first_line(&"ü".repeat(201)), format!("{}…", "ü".repeat(200)));
        assert_eq!(first_line(&"ü".repeat(200)), "ü".repeat(200));
    }
}

//! The sessions that Copilot stores itself, and their history.

use std::path::PathBuf;
use std::sync::Arc;

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::link::typed_command;
use super::translation::{Translated, Translator};
use super::transport::{Server, Servers};
use crate::agent::{AgentEvent, AgentFork, BlockEnd, BoxFuture, OwnSession, OwnSessions, Past, Restored};

/// The number of events per request.
const PAGE: u32 = 500;

pub(super) struct History {
    pub servers: Arc<Servers>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Page {
    events: Vec<Box<RawValue>>,
    #[serde(default)]
    cursor: Option<String>,
    #[serde(default)]
    has_more: bool,
}

impl OwnSessions for History {
    fn list(&self) -> BoxFuture<'_, Result<Vec<OwnSession>, String>> {
        Box::pin(async move {
            let server = self.servers.get().await.map_err(|error| error.to_string())?;
            let listed = server.ask("session.list").await?;
            let entries = listed["sessions"].as_array().ok_or("Copilot returned no list of sessions")?;
            let mut sessions: Vec<OwnSession> = entries.iter().filter_map(own_session).collect();
            sessions.sort_by(|one, other| other.updated_at.cmp(&one.updated_at));
            Ok(sessions)
        })
    }

    fn forget(&self, id: String) -> BoxFuture<'_, Result<(), String>> {
        Box::pin(async move {
            let server = self.servers.get().await.map_err(|error| error.to_string())?;
            server.ask_with("session.delete", json!({ "sessionId": id })).await.map(drop)
        })
    }

    fn history(&self, id: String) -> BoxFuture<'_, Result<Vec<Past>, String>> {
        Box::pin(async move {
            let server = self.servers.get().await.map_err(|error| error.to_string())?;
            Ok(past(recorded(&server, &id).await?))
        })
    }
}

impl History {
    /// Copies a session up to a prompt. Returns the id of the copy.
    pub async fn fork(&self, fork: AgentFork) -> Result<String, String> {
        let server = self.servers.get().await.map_err(|error| error.to_string())?;
        let mut params = json!({ "sessionId": fork.agent_session_id });
        if !fork.left_out.is_empty() {
            let events = recorded(&server, &fork.agent_session_id).await?;
            if let Some(boundary) = boundary(&events, &fork.left_out)? {
                params["toEventId"] = json!(boundary);
            }
        }
        let answer = server.ask_with("sessions.fork", params).await?;
        answer["sessionId"].as_str().map(str::to_owned).ok_or_else(|| "it returned no id of the copy".to_owned())
    }
}

/// Everything that Copilot has recorded of a session, oldest first.
async fn recorded(server: &Server, id: &str) -> Result<Vec<Box<RawValue>>, String> {
    let mut events: Vec<Box<RawValue>> = Vec::new();
    let mut cursor: Option<String> = None;
    loop {
        let mut params = json!({ "sessionId": id, "max": PAGE });
        if let Some(cursor) = &cursor {
            params["cursor"] = json!(cursor);
        }
        let page = server.ask_with("sessions.readPersistedEvents", params).await?;
        let page: Page = serde_json::from_value(page).map_err(|error| format!("cannot read its events: {error}"))?;
        let is_last = !page.has_more || page.events.is_empty() || page.cursor == cursor;
        events.extend(page.events);
        cursor = page.cursor;
        if is_last {
            return Ok(events);
        }
    }
}

/// The id of the event with which the first of these prompts was recorded; `None` if the record has none of them. Prompts are
/// found from the end, because the beginning of a record may have been replaced.
fn boundary(events: &[Box<RawValue>], left_out: &[String]) -> Result<Option<String>, &'static str> {
    for (text, later) in left_out.iter().zip(1..).map(|(text, next)| (text, &left_out[next..])) {
        let repetitions = later.iter().filter(|other| *other == text).count();
        if let Some(id) = event_of(events, text, repetitions) {
            return Ok(Some(id));
        }
        // The program may have answered a command by itself; then there is no event of it.
        if typed_command(text).is_none() {
            return Err("its record does not have the prompt after that turn");
        }
    }
    Ok(None)
}

/// The id of the event with which a prompt was recorded that was repeated so many times. A summary may stand before its text.
fn event_of(events: &[Box<RawValue>], prompt: &str, repetitions: usize) -> Option<String> {
    let is_prompt = |event: &Recorded<'_>| {
        event.is_prompt() && event.data["content"].as_str().is_some_and(|content| content.ends_with(prompt))
    };
    let recorded = events.iter().rev().filter_map(|raw| serde_json::from_str::<Recorded<'_>>(raw.get()).ok());
    recorded.filter(is_prompt).nth(repetitions)?.id.map(str::to_owned)
}

/// Whether Copilot's record of the last turn is complete; it does not contain the partial answer of a killed turn.
pub(super) async fn restored(server: &Server, id: &str) -> Restored {
    let params = json!({ "sessionId": id, "max": PAGE, "direction": "backward" });
    let recorded = server.ask_with("sessions.readPersistedEvents", params).await.unwrap_or_default();
    let events = recorded["events"].as_array().map(Vec::as_slice).unwrap_or_default();
    end_of(events)
}

fn end_of(events: &[Value]) -> Restored {
    let moment =
        |event: Option<&Value>| event.and_then(|event| event["timestamp"].as_str()).unwrap_or_default().to_owned();
    let is_newest_first = moment(events.first()) > moment(events.last());
    let is_telling = |event: &&Value| {
        let kind = event["type"].as_str().unwrap_or_default();
        event["agentId"].is_null()
            && matches!(kind, "user.message" | "assistant.turn_start" | "assistant.turn_end" | "abort")
    };
    let last = if is_newest_first { events.iter().find(is_telling) } else { events.iter().rfind(is_telling) };
    match last.and_then(|event| event["type"].as_str()) {
        Some("user.message" | "assistant.turn_start") => Restored::Incomplete,
        _ => Restored::Whole,
    }
}

/// Sessions of other machines cannot be opened here.
fn own_session(entry: &Value) -> Option<OwnSession> {
    let text = |value: &Value| value.as_str().filter(|text| !text.is_empty()).map(str::to_owned);
    (entry["isRemote"] != true).then_some(())?;
    Some(OwnSession {
        id: text(&entry["sessionId"])?,
        title: text(&entry["name"]).or_else(|| text(&entry["summary"])),
        working_directory: text(&entry["context"]["cwd"]).map(PathBuf::from),
        created_at: text(&entry["startTime"])?,
        updated_at: text(&entry["modifiedTime"])?,
    })
}

#[derive(Deserialize)]
struct Recorded<'a> {
    #[serde(default)]
    id: Option<&'a str>,
    #[serde(rename = "type")]
    kind: &'a str,
    #[serde(default, rename = "agentId")]
    agent_id: Option<&'a str>,
    #[serde(default)]
    data: Value,
}

impl Recorded<'_> {
    /// Whether it is a prompt from outside, not one of a sub-agent or of Copilot itself.
    fn is_prompt(&self) -> bool {
        self.kind == "user.message" && self.agent_id.is_none() && self.data["source"].is_null()
    }
}

/// Prompts and events in order; a turn ends where the next prompt starts.
fn past(events: Vec<Box<RawValue>>) -> Vec<Past> {
    let mut translator = Translator::default();
    let (mut past, mut translated) = (Vec::new(), Vec::new());
    for raw in events {
        let prompt = serde_json::from_str::<Recorded<'_>>(raw.get())
            .ok()
            .filter(Recorded::is_prompt)
            .and_then(|event| event.data["content"].as_str().map(str::to_owned));
        if let Some(prompt) = prompt {
            if !past.is_empty() {
                past.push(Past::Event(AgentEvent::Idle));
            }
            past.push(Past::Prompt(prompt));
            continue;
        }
        if let Some((id, content)) = Translator::recorded_reasoning(raw.get()) {
            past.push(Past::Event(AgentEvent::BlockEnded(BlockEnd::Reasoning { id, content })));
        }
        translator.translate_text(raw.get(), &mut translated);
        for translated in translated.drain(..) {
            // Past usage must not be counted again, and past requests can no longer be answered.
            if let Translated::Event(event) = translated
                && !matches!(
                    event,
                    AgentEvent::UsageReported(_)
                        | AgentEvent::RequestMade { .. }
                        | AgentEvent::RequestWithdrawn { .. }
                        | AgentEvent::TitleChanged(_)
                )
            {
                past.push(Past::Event(event));
            }
        }
    }
    if !past.is_empty() {
        past.push(Past::Event(AgentEvent::Idle));
    }
    past
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_turn_without_a_clean_end_is_noticed_whichever_way_round_it_is_told() {
        let event =
            |kind: &str, moment: u32| json!({ "type": kind, "timestamp": format!("2026-01-01T00:00:0{moment}Z") });
        let killed = [event("assistant.turn_end", 1), event("user.message", 2), event("assistant.turn_start", 2)];
        let ended = [event("user.message", 1), event("assistant.turn_end", 2), event("session.shutdown", 3)];
        for (mut events, expected) in [(killed, Restored::Incomplete), (ended, Restored::Whole)] {
            assert_eq!(end_of(&events), expected);
            events.reverse();
            assert_eq!(end_of(&events), expected);
        }
        assert_eq!(end_of(&[]), Restored::Whole);
    }

    #[test]
    fn a_fork_ends_before_the_prompt_that_is_left_out_counted_from_the_end() {
        let event = |id: &str, content: &str, source: Value| {
            let data = json!({ "content": content, "source": source });
            RawValue::from_string(json!({ "id": id, "type": "user.message", "data": data }).to_string()).expect("JSON")
        };
        let events = [
            event("a", "go on", Value::Null),
            event("b", "Summary.\n\ngo on", Value::Null),
            event("c", "go on", json!("skill")),
            event("d", "go on", Value::Null),
        ];
        let found = |texts: &[&str]| {
            let texts: Vec<String> = texts.iter().map(|text| (*text).to_owned()).collect();
            boundary(&events, &texts)
        };
        assert_eq!(found(&["go on"]), Ok(Some("d".to_owned())));
        assert_eq!(found(&["go on", "go on"]), Ok(Some("b".to_owned())));
        assert!(found(&["stop", "go on"]).is_err(), "a copy up to a later prompt would have too much");
        assert_eq!(found(&["/usage", "go on"]), Ok(Some("d".to_owned())), "the program answered that by itself");
        assert_eq!(found(&["/usage"]), Ok(None));
    }

    #[test]
    fn the_past_is_told_turn_by_turn_with_its_reasoning() {
        let event = |kind: &str, data: Value| {
            RawValue::from_string(json!({ "type": kind, "data": data }).to_string()).expect("JSON")
        };
        let past = past(vec![
            event("session.start", json!({})),
            event("user.message", json!({ "content": "one" })),
            event("system.message", json!({ "content": "rules" })),
            event("assistant.turn_start", json!({ "turnId": "0" })),
            event("assistant.message", json!({ "messageId": "m", "content": "answer", "reasoningText": "hm" })),
            event("assistant.turn_end", json!({ "turnId": "0" })),
            event("user.message", json!({ "content": "two" })),
            event("session.shutdown", json!({})),
        ]);
        let told: Vec<String> = past
            .iter()
            .map(|piece| match piece {
                Past::Prompt(prompt) => format!("prompt {prompt}"),
                Past::Event(AgentEvent::BlockEnded(BlockEnd::Reasoning { content, .. })) => {
                    format!("thought {content}")
                }
                Past::Event(AgentEvent::BlockEnded(BlockEnd::Message { content, .. })) => format!("said {content}"),
                Past::Event(AgentEvent::TurnStarted { .. }) => "begins".to_owned(),
                Past::Event(AgentEvent::TurnEnded { .. }) => "ends".to_owned(),
                Past::Event(AgentEvent::Idle) => "idle".to_owned(),
                Past::Event(other) => panic!("{other:?}"),
            })
            .collect();
        assert_eq!(told, ["prompt one", "begins", "thought hm", "said answer", "ends", "idle", "prompt two", "idle"]);
    }
}

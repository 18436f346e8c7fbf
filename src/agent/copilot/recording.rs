//! Recordings of the SDK protocol: the complete traffic or only the events.

use serde_json::Value;

use super::translation::Translator;
use crate::agent::transcript::{EventReader, Recorded, message};

/// Reads a recording.
pub(in crate::agent) fn reader() -> EventReader {
    let mut translator = Translator::default();
    EventReader::new(Box::new(move |line| {
        let (event, session_id) = event(line)?;
        let mut events = Vec::new();
        translator.read(&event.to_string(), &mut events);
        let (kind, data) = (event["type"].as_str().unwrap_or_default(), &event["data"]);
        let text = |value: &Value| value.as_str().map(str::to_owned);
        Some(Recorded {
            events,
            session_id: session_id.or_else(|| text(&data["sessionId"])),
            model: text(if kind == "session.start" { &data["selectedModel"] } else { &data["model"] }),
            aborted: kind == "abort",
        })
    }))
}

/// The event in a line and its session: bare, as `{"k":"EV","e":…}`, or as a `session.event` of the protocol.
fn event(mut line: Value) -> Option<(Value, Option<String>)> {
    if line["k"] == "EV" {
        return Some((line["e"].take(), None));
    }
    let mut message = message(line)?;
    if message["method"] == "session.event" {
        let session = message["params"]["sessionId"].as_str().map(str::to_owned);
        return Some((message["params"]["event"].take(), session));
    }
    message["type"].is_string().then_some((message, None))
}

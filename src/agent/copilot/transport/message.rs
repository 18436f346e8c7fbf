//! The content of one frame, and which session it is for.

use std::ops::Range;

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::agent::copilot::translation::{Event, EventHead, Source};

/// Requests that sessions answer themselves.
const SESSION_REQUESTS: [&str; 4] =
    ["userInput.request", "exitPlanMode.request", "autoModeSwitch.request", "hooks.invoke"];
/// The memory overhead of a message besides its text.
const OVERHEAD: usize = size_of::<FromProgram>();

/// What the program sends to one session.
#[derive(Debug)]
pub(in crate::agent::copilot) enum FromProgram {
    Event(EventMessage),
    Request {
        id: Box<RawValue>,
        method: &'static str,
        params: Box<RawValue>,
    },
    /// Messages were dropped here, because the queue was full.
    Dropped,
}

/// A `session.event`: the raw frame, and the positions of the event's parts in it. Nothing is copied.
#[derive(Debug)]
pub(in crate::agent::copilot) struct EventMessage {
    frame: String,
    /// `None` if the header fields have an unusual shape; they are then parsed again outside the reader.
    places: Option<Places>,
}

#[derive(Debug)]
struct Places {
    kind: Range<usize>,
    id: Option<Range<usize>>,
    data: Option<Range<usize>>,
    is_sub_agents: bool,
}

#[derive(Deserialize)]
struct Envelope<'a> {
    #[serde(default)]
    method: Option<&'a str>,
    #[serde(borrow, default)]
    params: Option<Params<'a>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Params<'a> {
    #[serde(default)]
    session_id: Option<&'a str>,
    #[serde(borrow, default)]
    event: Option<EventHead<'a>>,
}

/// A message of which only the outermost shape is checked.
#[derive(Deserialize)]
struct LooseEnvelope<'a> {
    #[serde(default)]
    method: Option<&'a str>,
    #[serde(borrow, default)]
    id: Option<&'a RawValue>,
    #[serde(borrow, default)]
    params: Option<&'a RawValue>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct LooseParams<'a> {
    session_id: &'a str,
    #[serde(borrow, default)]
    event: Option<&'a RawValue>,
}

/// The recipient of a frame.
pub(in crate::agent::copilot) enum Frame {
    /// A session; the position of its id in the frame.
    Session { name: Name, message: FromProgram },
    /// A reply, or something else that is not for a session.
    Client(Vec<u8>),
}

/// A session's id: in the frame itself, or a copy if the frame is not kept.
pub(in crate::agent::copilot) enum Name {
    InFrame(Range<usize>),
    Copy(String),
}

impl Frame {
    /// Parses a frame in one pass.
    pub fn read(frame: Vec<u8>) -> Self {
        let frame = match String::from_utf8(frame) {
            Ok(frame) => frame,
            Err(error) => return Self::Client(error.into_bytes()),
        };
        if let Ok(envelope) = serde_json::from_str::<Envelope<'_>>(&frame)
            && let (Some("session.event"), Some(params)) = (envelope.method, envelope.params)
            && let (Some(session), Some(head)) = (params.session_id, params.event)
            && let std::borrow::Cow::Borrowed(kind) = head.kind
        {
            let name = Name::InFrame(place(&frame, session));
            let places = Places {
                kind: place(&frame, kind),
                id: head.id.map(|id| place(&frame, id.get())),
                data: head.data.map(|data| place(&frame, data.get())),
                is_sub_agents: head.agent_id.is_some(),
            };
            return Self::Session { name, message: FromProgram::Event(EventMessage { frame, places: Some(places) }) };
        }
        match loosely(&frame) {
            Some((name, Loose::Request { id, method, params })) => {
                Self::Session { name: Name::Copy(name), message: FromProgram::Request { id, method, params } }
            }
            Some((name, Loose::Event)) => Self::Session {
                name: Name::Copy(name),
                message: FromProgram::Event(EventMessage { frame, places: None }),
            },
            None => Self::Client(frame.into_bytes()),
        }
    }
}

enum Loose {
    Event,
    Request { id: Box<RawValue>, method: &'static str, params: Box<RawValue> },
}

fn loosely(frame: &str) -> Option<(String, Loose)> {
    let envelope: LooseEnvelope<'_> = serde_json::from_str(frame).ok()?;
    let (method, params) = (envelope.method?, envelope.params?);
    let request = SESSION_REQUESTS.into_iter().find(|known| *known == method);
    if request.is_none() && method != "session.event" {
        return None;
    }
    let target: LooseParams<'_> = serde_json::from_str(params.get()).ok()?;
    let message = match request {
        Some(method) => Loose::Request { id: envelope.id?.to_owned(), method, params: params.to_owned() },
        None => target.event.map(|_| Loose::Event)?,
    };
    Some((target.session_id.to_owned(), message))
}

/// The position of a part in a text.
fn place(whole: &str, part: &str) -> Range<usize> {
    let start = part.as_ptr().addr() - whole.as_ptr().addr();
    start..start + part.len()
}

impl Name {
    pub fn text<'a>(&'a self, message: &'a FromProgram) -> &'a str {
        match (self, message) {
            (Self::InFrame(place), FromProgram::Event(event)) => &event.frame[place.clone()],
            (Self::InFrame(_), _) => "",
            (Self::Copy(name), _) => name,
        }
    }
}

impl EventMessage {
    /// The event; `None` if it is invalid.
    pub fn event(&self) -> Option<Event<'_>> {
        let places = self.places.as_ref()?;
        let text = |place: &Range<usize>| &self.frame[place.clone()];
        Some(Event {
            kind: text(&places.kind).into(),
            id: places.id.as_ref().map(text),
            is_sub_agents: places.is_sub_agents,
            data: places.data.as_ref().map(text),
            source: Source::Message(&self.frame),
        })
    }

    /// The JSON of the event alone.
    pub fn text(&self) -> String {
        Source::Message(&self.frame).raw().get().to_owned()
    }
}

impl FromProgram {
    /// Its size in memory.
    pub fn bytes(&self) -> usize {
        OVERHEAD
            + match self {
                Self::Event(event) => event.frame.capacity(),
                Self::Request { id, params, .. } => id.get().len() + params.get().len(),
                Self::Dropped => 0,
            }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(frame: &str) -> Option<(String, FromProgram)> {
        match Frame::read(frame.as_bytes().to_vec()) {
            Frame::Session { name, message } => Some((name.text(&message).to_owned(), message)),
            Frame::Client(content) => {
                assert_eq!(content, frame.as_bytes(), "what is passed on is not touched");
                None
            }
        }
    }

    #[test]
    fn the_parts_of_an_event_are_found_where_they_are() {
        let frame = r#"{"method":"session.event","params":{"event":{"id":"7","data":{"a":"ü"},"type":"t","agentId":"x"},"sessionId":"s"}}"#;
        let Some((session, FromProgram::Event(message))) = read(frame) else { panic!("an event") };
        let event = message.event().expect("its head is plain");
        assert_eq!(session, "s");
        assert_eq!((event.kind.as_ref(), event.id, event.data), ("t", Some("\"7\""), Some(r#"{"a":"ü"}"#)));
        assert!(event.is_sub_agents);
        let whole = r#"{"id":"7","data":{"a":"ü"},"type":"t","agentId":"x"}"#;
        assert_eq!(event.source.raw().get(), whole);
    }

    #[test]
    fn an_event_of_an_unusual_shape_reaches_its_session_all_the_same() {
        for event in [r#"{"type":"\u0061"}"#, "[1,2]", "\"text\"", r#"{"type":7}"#] {
            let frame = format!(r#"{{"method":"session.event","params":{{"sessionId":"s","event":{event}}}}}"#);
            let Some((session, FromProgram::Event(message))) = read(&frame) else { panic!("{event}") };
            assert_eq!((session.as_str(), message.text().as_str()), ("s", event));
            assert!(message.event().is_none());
        }
    }

    #[test]
    fn only_what_a_session_answers_goes_to_it() {
        let request = r#"{"id":7,"method":"userInput.request","params":{"sessionId":"s"}}"#;
        assert!(matches!(read(request), Some((session, FromProgram::Request { .. })) if session == "s"));
        for other in [
            r#"{"id":7,"result":{"sessionId":"s"}}"#,
            r#"{"id":7,"method":"other.request","params":{"sessionId":"s"}}"#,
            r#"{"method":"session.lifecycle","params":{"sessionId":"s","event":"x"}}"#,
            r#"{"method":"session.event","params":{"event":{"type":"t"}}}"#,
            "no JSON",
        ] {
            assert!(read(other).is_none(), "{other}");
        }
    }
}

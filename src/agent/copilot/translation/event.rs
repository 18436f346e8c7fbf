//! A Copilot event as raw JSON, of which only the header fields have been parsed.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::value::RawValue;

/// The fields around an event's data. Also parsed as part of the message that contains the event, so that a message is
/// scanned only once.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(in crate::agent::copilot) struct EventHead<'a> {
    #[serde(rename = "type", borrow)]
    pub kind: Cow<'a, str>,
    #[serde(borrow, default)]
    pub id: Option<&'a RawValue>,
    /// The sub-agent that sent it.
    #[serde(borrow, default)]
    pub agent_id: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub data: Option<&'a RawValue>,
}

/// An event whose header fields are parsed.
#[derive(Debug)]
pub(in crate::agent::copilot) struct Event<'a> {
    pub kind: Cow<'a, str>,
    /// The raw JSON string, with quotes.
    pub id: Option<&'a str>,
    /// It concerns a sub-agent rather than the session itself.
    pub is_sub_agents: bool,
    pub data: Option<&'a str>,
    pub source: Source<'a>,
}

/// The location of the complete event, which is needed only for unknown kinds.
#[derive(Clone, Copy, Debug)]
pub(in crate::agent::copilot) enum Source<'a> {
    Event(&'a str),
    /// The `session.event` message around it.
    Message(&'a str),
}

impl<'a> Event<'a> {
    /// Parses the header fields of an event; `None` if it is not an event.
    pub fn read(event: &'a str) -> Option<Self> {
        let head: EventHead<'a> = serde_json::from_str(event).ok()?;
        Some(Self {
            kind: head.kind,
            id: head.id.map(RawValue::get),
            is_sub_agents: head.agent_id.is_some(),
            data: head.data.map(RawValue::get),
            source: Source::Event(event),
        })
    }
}

impl Source<'_> {
    /// A copy of the complete event.
    pub fn raw(self) -> Box<RawValue> {
        #[derive(Deserialize)]
        struct Message {
            params: Params,
        }
        #[derive(Deserialize)]
        struct Params {
            event: Box<RawValue>,
        }
        let raw = match self {
            Self::Event(event) => serde_json::from_str(event).ok(),
            Self::Message(message) => serde_json::from_str(message).ok().map(|message: Message| message.params.event),
        };
        raw.unwrap_or_else(|| RawValue::NULL.to_owned())
    }
}

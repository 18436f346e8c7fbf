//! What a session sent, in order.

use std::collections::HashSet;

use serde_json::Value;

/// The name under which calls of the hook before a tool are noted.
pub(super) const HOOK: &str = "hooks.invoke";

/// A message: an event, or a call of a hook.
pub(super) struct Entry {
    pub kind: String,
    pub data: Value,
}

/// The messages of one session. The program repeats events under load, so each event id counts once.
#[derive(Default)]
pub(super) struct Trace {
    pub entries: Vec<Entry>,
    ids: HashSet<String>,
}

impl Trace {
    /// Notes an event. Returns whether it is new.
    pub fn event(&mut self, event: &Value) -> bool {
        if event["id"].as_str().is_some_and(|id| !self.ids.insert(id.to_owned())) {
            return false;
        }
        let kind = event["type"].as_str().unwrap_or_default().to_owned();
        self.entries.push(Entry { kind, data: event["data"].clone() });
        true
    }

    pub fn hook(&mut self, params: &Value) {
        self.entries.push(Entry { kind: HOOK.to_owned(), data: params.clone() });
    }

    pub fn count(&self, kind: &str) -> usize {
        self.all(kind).count()
    }

    /// The positions, counted from 1, and the data of all entries of a kind.
    pub fn all<'a>(&'a self, kind: &'a str) -> impl DoubleEndedIterator<Item = (usize, &'a Value)> {
        let numbered = self.entries.iter().enumerate();
        numbered.filter(move |(_, entry)| entry.kind == kind).map(|(place, entry)| (place + 1, &entry.data))
    }

    pub fn first<'a>(&'a self, kind: &'a str) -> Result<(usize, &'a Value), String> {
        self.all(kind).next().ok_or_else(|| format!("no {kind} among {} messages", self.entries.len()))
    }

    pub fn last<'a>(&'a self, kind: &'a str) -> Result<(usize, &'a Value), String> {
        self.all(kind).next_back().ok_or_else(|| format!("no {kind} among {} messages", self.entries.len()))
    }

    /// The first message of the assistant that asks for tools.
    pub fn tool_message(&self) -> Result<(usize, &Vec<Value>), String> {
        self.all("assistant.message")
            .find_map(|(place, data)| {
                data["toolRequests"].as_array().filter(|list| !list.is_empty()).map(|list| (place, list))
            })
            .ok_or_else(|| format!("no assistant.message with tool requests among {} messages", self.entries.len()))
    }

    /// The last kind, for a message about what did not follow.
    pub fn last_kind(&self) -> &str {
        self.entries.last().map_or("the start", |entry| entry.kind.as_str())
    }
}

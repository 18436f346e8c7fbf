//! What a browser is told.

use serde::Serialize;

use crate::notify::message::Message;

/// The message for a browser. It is shown on locked screens, so it has neither titles nor folders nor texts.
#[derive(Serialize)]
struct PushMessage<'a> {
    /// `needs-you`, `finished`, `failed`, `summary` or `test`.
    event: &'static str,
    /// `session` or `job`.
    #[serde(skip_serializing_if = "Option::is_none")]
    kind: Option<&'static str>,
    /// The id of the session or job.
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<&'a str>,
    /// Such as `permission`.
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'a str>,
    /// How many happenings a summary is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    count: Option<usize>,
}

/// The message as JSON.
pub(super) fn push_message(message: &Message) -> Vec<u8> {
    let told = match &message.items[..] {
        [item] => PushMessage {
            event: item.event,
            kind: Some(item.kind),
            id: Some(&item.id),
            reason: Some(item.reason.as_str()).filter(|reason| !reason.is_empty()),
            count: None,
        },
        items => {
            let count = Some(items.len()).filter(|count| *count > 0);
            PushMessage { event: message.event, kind: None, id: None, reason: None, count }
        }
    };
    serde_json::to_vec(&told).expect("plain values")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{HappeningKind, Timestamp};
    use crate::notify::plan::tests::{delivery, settings, target};

    fn told(kinds: &[HappeningKind]) -> String {
        let deliveries: Vec<_> = kinds.iter().zip(1..).map(|(kind, id)| delivery(*kind, id)).collect();
        let message = Message::of(&deliveries, &target(), &settings()).expect("a message");
        String::from_utf8(push_message(&message)).expect("text")
    }

    #[test]
    fn a_browser_hears_what_happened_where_and_nothing_of_what_was_said() {
        let needs_you = told(&[HappeningKind::NeedsYou]);
        assert_eq!(needs_you, r#"{"event":"needs-you","kind":"session","id":"session-1","reason":"permission"}"#);
        let summary = told(&[HappeningKind::Finished, HappeningKind::Failed]);
        assert_eq!(summary, r#"{"event":"summary","count":2}"#);
        let test = Message::test(&target(), &settings(), Timestamp::from_millis(0));
        assert_eq!(push_message(&test), br#"{"event":"test"}"#);
    }
}

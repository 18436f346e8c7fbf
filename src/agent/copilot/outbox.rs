//! The queue of events for a session. The link adds events and never waits; the session receives them through its
//! channel at its own pace.
//!
//! Bounded by bytes, in three steps: up to the channel's size, a session gets every event unchanged; beyond that,
//! adjacent deltas of a block are merged; when even that is too much, events are rejected.

use std::collections::VecDeque;

use tokio::sync::mpsc;
use tokio::sync::mpsc::error::TrySendError;

use crate::agent::{AgentEvent, BlockEnd, BlockStart};
use crate::model::RequestBody;

/// The most bytes in the queue, in addition to one event, which may be larger.
pub(super) const MOST_BYTES: usize = 16 * 1024 * 1024;
/// The queue size at which deltas are merged; less is normal for a session that was busy for a moment.
const MERGES_FROM: usize = 64 * 1024;
/// A larger event is sent through the channel alone, so that the channel is bounded by bytes too. Merged deltas do not
/// exceed this size.
const LARGE: usize = 16 * 1024;
/// The approximate size of a request or a usage event.
const SMALL: usize = 256;

pub(super) struct Outbox {
    channel: mpsc::Sender<AgentEvent>,
    waiting: VecDeque<AgentEvent>,
    bytes: usize,
}

/// The session closed its end of the channel.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct SessionClosed;

/// Why an event was rejected.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Refused {
    /// The session is too far behind.
    TooFarBehind,
    SessionClosed,
}

impl From<SessionClosed> for Refused {
    fn from(_: SessionClosed) -> Self {
        Self::SessionClosed
    }
}

impl Outbox {
    pub fn new(channel: mpsc::Sender<AgentEvent>) -> Self {
        Self { channel, waiting: VecDeque::new(), bytes: 0 }
    }

    /// The number of bytes in the queue.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Adds an event to the queue.
    pub fn push(&mut self, event: AgentEvent) -> Result<(), Refused> {
        let event = if self.bytes < MERGES_FROM {
            event
        } else {
            match self.merge(event) {
                Some(event) => event,
                None => return Ok(()),
            }
        };
        if !self.waiting.is_empty() && self.bytes + weight(&event) > MOST_BYTES && !is_vital(&event) {
            return Err(Refused::TooFarBehind);
        }
        self.bytes += weight(&event);
        self.waiting.push_back(event);
        if self.waiting.len() == 1 { Ok(self.hand_over()?) } else { Ok(()) }
    }

    /// Merges a delta into the one before it, if that belongs to the same block. Returns any other event.
    fn merge(&mut self, event: AgentEvent) -> Option<AgentEvent> {
        let AgentEvent::BlockDelta { key, delta } = event else { return Some(event) };
        match self.waiting.back_mut() {
            Some(AgentEvent::BlockDelta { key: last, delta: text })
                if *last == key && text.len() + delta.len() <= LARGE && self.bytes + delta.len() <= MOST_BYTES =>
            {
                text.push_str(&delta);
                self.bytes += delta.len();
                None
            }
            _ => Some(AgentEvent::BlockDelta { key, delta }),
        }
    }

    /// Sends as many events as the channel accepts without waiting.
    pub fn hand_over(&mut self) -> Result<(), SessionClosed> {
        while let Some(event) = self.waiting.pop_front() {
            let size = weight(&event);
            if size > LARGE && self.channel.capacity() < self.channel.max_capacity() {
                self.waiting.push_front(event);
                return Ok(());
            }
            match self.channel.try_send(event) {
                Ok(()) => self.bytes -= size,
                Err(TrySendError::Full(event)) => {
                    self.waiting.push_front(event);
                    return Ok(());
                }
                Err(TrySendError::Closed(_)) => return Err(SessionClosed),
            }
        }
        Ok(())
    }

    /// Waits until the channel accepts the next event; forever if the queue is empty. Cancel-safe.
    pub async fn room(&self) -> Result<(), SessionClosed> {
        let places = match self.waiting.front() {
            None => return std::future::pending().await,
            Some(event) if weight(event) > LARGE => self.channel.max_capacity(),
            Some(_) => 1,
        };
        self.channel.reserve_many(places).await.map(drop).map_err(|_| SessionClosed)
    }

    /// Waits until the session has received everything. Cancel-safe.
    pub async fn emptied(&self) -> Result<(), SessionClosed> {
        if !self.waiting.is_empty() {
            return std::future::pending().await;
        }
        self.channel.reserve_many(self.channel.max_capacity()).await.map(drop).map_err(|_| SessionClosed)
    }

    /// Sends everything, however long that takes.
    pub async fn drain(&mut self) -> Result<(), SessionClosed> {
        while !self.waiting.is_empty() {
            self.room().await?;
            self.hand_over()?;
        }
        Ok(())
    }
}

/// Events that a session needs to track its state. They are small and few, because the agent waits after a request.
fn is_vital(event: &AgentEvent) -> bool {
    matches!(
        event,
        AgentEvent::Idle
            | AgentEvent::TurnFailed { .. }
            | AgentEvent::FellBehind { .. }
            | AgentEvent::RequestMade { .. }
            | AgentEvent::Outdated
            | AgentEvent::Gone { .. }
    )
}

/// The approximate size of an event in memory.
fn weight(event: &AgentEvent) -> usize {
    let text = |text: &Option<String>| text.as_ref().map_or(0, String::len);
    size_of::<AgentEvent>()
        + match event {
            AgentEvent::BlockDelta { key, delta } => key.id.len() + delta.len(),
            AgentEvent::BlockStarted(BlockStart::Tool { arguments, .. }) => SMALL + arguments.len(),
            AgentEvent::BlockEnded(BlockEnd::Message { content, .. } | BlockEnd::Reasoning { content, .. }) => {
                content.len()
            }
            AgentEvent::BlockEnded(BlockEnd::Tool { result, error, .. }) => {
                result.as_ref().map_or(0, |result| result.content.len() + text(&result.detailed_content))
                    + error.as_ref().map_or(0, |error| error.message.len())
            }
            AgentEvent::ImageMade { data, .. } => data.len(),
            AgentEvent::PromptGenerated(text) | AgentEvent::TitleChanged(text) => text.len(),
            AgentEvent::Notice { message, .. } => message.len(),
            AgentEvent::Unknown { raw, .. } => raw.get().len(),
            AgentEvent::RequestMade { body, .. } => SMALL + request(body),
            _ => SMALL,
        }
}

fn request(body: &RequestBody) -> usize {
    match body {
        RequestBody::Permission { title, detail, .. } => title.len() + detail.len(),
        RequestBody::Question { question, detail, .. } => question.len() + detail.as_ref().map_or(0, String::len),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{BlockKey, BlockKind};

    const IN_FLIGHT: usize = 4;

    fn delta(id: &str, text: &str) -> AgentEvent {
        AgentEvent::BlockDelta { key: BlockKey::new(BlockKind::Message, id), delta: text.to_owned() }
    }

    fn outbox() -> (Outbox, mpsc::Receiver<AgentEvent>) {
        let (sender, receiver) = mpsc::channel(IN_FLIGHT);
        (Outbox::new(sender), receiver)
    }

    fn texts(outbox: &mut Outbox, session: &mut mpsc::Receiver<AgentEvent>) -> Vec<String> {
        let mut texts = Vec::new();
        loop {
            outbox.hand_over().expect("somebody listens");
            match session.try_recv() {
                Ok(AgentEvent::BlockDelta { delta, .. }) => texts.push(delta),
                Ok(other) => panic!("{other:?}"),
                Err(_) => return texts,
            }
        }
    }

    #[tokio::test]
    async fn a_session_that_keeps_up_gets_every_delta_and_one_that_does_not_gets_them_merged() {
        let (mut outbox, mut session) = outbox();
        for _ in 0..100 {
            assert_eq!(outbox.push(delta("a", "x")), Ok(()));
        }
        assert_eq!(texts(&mut outbox, &mut session), vec!["x"; 100]);
        assert_eq!(outbox.bytes(), 0);
        for number in 0..100_000 {
            let id = if number == 50_000 { "b" } else { "a" };
            assert_eq!(outbox.push(delta(id, "x")), Ok(()));
        }
        assert!(outbox.bytes() < 2 * MERGES_FROM + 100_000, "{}", outbox.bytes());
        let texts = texts(&mut outbox, &mut session);
        assert_eq!(texts.concat().len(), 100_000, "nothing is lost");
        assert!(texts.len() < 1_000, "{}", texts.len());
        assert!(texts.iter().all(|text| text.len() <= LARGE));
    }

    #[tokio::test]
    async fn one_that_takes_nothing_is_refused_more_at_a_bound_that_large_events_may_pass_alone() {
        let (mut outbox, mut session) = outbox();
        let piece = "x".repeat(10_000);
        let taken = (0..10_000).take_while(|_| outbox.push(delta("a", &piece)).is_ok()).count();
        assert!((1_600..1_700).contains(&taken), "{taken}");
        assert!(outbox.bytes() <= MOST_BYTES);
        assert_eq!(outbox.push(delta("a", &piece)), Err(Refused::TooFarBehind));
        assert_eq!(outbox.push(AgentEvent::Idle), Ok(()), "it must know where it stands");
        while session.try_recv().is_ok() {
            outbox.hand_over().expect("somebody listens");
        }
        assert_eq!(outbox.bytes(), 0);
        assert_eq!(outbox.push(delta("a", &"x".repeat(2 * MOST_BYTES))), Ok(()), "it goes alone");
    }

    #[tokio::test]
    async fn a_large_event_waits_until_the_channel_is_empty() {
        let (mut outbox, mut session) = outbox();
        assert_eq!(outbox.push(delta("a", "small")), Ok(()));
        assert_eq!(outbox.push(delta("b", &"x".repeat(LARGE))), Ok(()));
        assert!(session.try_recv().is_ok());
        assert!(session.try_recv().is_err(), "not before the channel is empty");
        outbox.room().await.expect("somebody listens");
        outbox.hand_over().expect("somebody listens");
        assert!(session.try_recv().is_ok());
        outbox.emptied().await.expect("somebody listens");
    }

    #[tokio::test]
    async fn nobody_listening_is_noticed() {
        let (mut outbox, session) = outbox();
        drop(session);
        assert_eq!(outbox.push(AgentEvent::Idle), Err(Refused::SessionClosed));
    }
}

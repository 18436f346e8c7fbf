//! The protocol without a process: how a connection reads a stream. For tests with hostile input and for benchmarks.

use futures_util::FutureExt as _;
use tokio::io::AsyncRead;
use tokio::sync::mpsc;

use super::link::AT_ONCE;
use super::outbox::Outbox;
use super::translation::{Question, Translated, Translator};
use super::transport::{Frame, FromProgram, Tap, read_frame};
use super::{EVENTS_IN_FLIGHT, TITLE};
use crate::agent::AgentEvent;

/// Reads the messages of the SDK protocol as if they were all for one session.
#[derive(Default)]
pub struct SdkReader {
    translator: Translator,
    translated: Vec<Translated>,
}

impl SdkReader {
    /// Reads a stream of frames up to its end or its first invalid frame.
    pub fn read_stream(&mut self, mut stream: &[u8], events: &mut Vec<AgentEvent>) {
        // Reading from memory never waits.
        while let Some(Ok(Some(frame))) = read_frame(&mut stream).now_or_never() {
            self.read(frame, events);
        }
    }

    /// Reads what is in one frame.
    pub fn read(&mut self, frame: Vec<u8>, events: &mut Vec<AgentEvent>) {
        let Frame::Session { name, message } = Frame::read(frame) else { return };
        let _ = name.text(&message);
        match message {
            FromProgram::Event(message) => match message.event() {
                Some(event) => self.translator.translate(&event, &mut self.translated),
                None => self.translator.translate_text(&message.text(), &mut self.translated),
            },
            FromProgram::Request { id, method, params } => {
                let params = serde_json::from_str(params.get()).unwrap_or_default();
                let agent_request_id = id.get().to_owned();
                if let Some((_, body)) = Question::from_request(method, id, &params) {
                    events.push(AgentEvent::RequestMade { agent_request_id, body });
                }
            }
            FromProgram::Dropped => {}
        }
        events.extend(self.translated.drain(..).filter_map(|translated| match translated {
            Translated::Event(event) => Some(event),
            Translated::Asked { id, body, .. } => Some(AgentEvent::RequestMade { agent_request_id: id, body }),
            Translated::TasksChanged | Translated::CommandsChanged => None,
        }));
    }
}

/// Relays a stream to one session along the live path: through the shared reader, the session's queue and its channel.
/// Returns when the stream has ended and every event was sent.
pub async fn relay(
    stream: impl AsyncRead + Unpin + Send + 'static,
    session: &str,
    mut tell: impl FnMut(AgentEvent),
) -> Result<(), String> {
    let (to_program, _held_open) = tokio::io::duplex(1024);
    let (tap, _client) = Tap::open(stream, to_program).map_err(|error| format!("{TITLE}: {error}"))?;
    let mut queue = tap.listen(session);
    let (sender, mut events) = mpsc::channel(EVENTS_IN_FLIGHT);
    let link = async move {
        let (mut outbox, mut translator, mut translated) =
            (Outbox::new(sender), Translator::default(), Vec::<Translated>::new());
        loop {
            let message = tokio::select! {
                message = queue.recv() => message,
                Ok(()) = outbox.room() => {
                    let _ = outbox.hand_over();
                    continue;
                }
            };
            if message.is_none() {
                break;
            }
            let (mut next, mut left) = (message, AT_ONCE);
            while let Some(FromProgram::Event(message)) = next {
                if let Some(event) = message.event() {
                    translator.translate(&event, &mut translated);
                }
                for translated in translated.drain(..) {
                    if let Translated::Event(event) = translated {
                        let _ = outbox.push(event);
                    }
                }
                left -= 1;
                next = if left > 0 { queue.try_recv() } else { None };
            }
        }
        let _ = outbox.drain().await;
    };
    let telling = async {
        let mut taken = Vec::new();
        while events.recv_many(&mut taken, EVENTS_IN_FLIGHT).await > 0 {
            taken.drain(..).for_each(&mut tell);
        }
    };
    tokio::join!(link, telling);
    tap.finished().await;
    Ok(())
}

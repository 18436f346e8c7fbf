//! Turns agent events into responses without a session, for recordings.

use super::machine::{Entries, ModelRetries, Transcript};
use crate::agent::AgentEvent;
use crate::model::{Callback, ErrorClass, NoticeKind, PromptId, Response, Seq, redact};
use crate::store::EndedBlock;

/// Produces the same responses as a session does. Requests are not answered, and pictures and
/// long outputs are not stored as blobs.
#[derive(Debug, Default)]
pub struct TranscriptWriter {
    transcript: Transcript,
    written: Written,
    /// Turns that are over.
    turns: u32,
    model_retries: ModelRetries,
}

#[derive(Debug, Default)]
struct Written {
    last: Seq,
    responses: Vec<Response>,
}

impl Entries for Written {
    fn next_seq(&self) -> Seq {
        self.last + 1
    }

    fn push(&mut self, response: Response, _: Option<Seq>) {
        self.last += 1;
        self.responses.push(response);
    }

    fn ended(&mut self, _: EndedBlock) {}
}

impl TranscriptWriter {
    /// The responses to one event.
    pub fn write(&mut self, event: AgentEvent) -> Vec<Response> {
        if ModelRetries::are_over_with(&event)
            && let Some(message) = self.model_retries.finish()
        {
            self.put(Response::notice(NoticeKind::Retrying, message));
        }
        let Self { transcript, written, turns, model_retries } = self;
        match event {
            AgentEvent::TurnStarted { .. } => {
                let turn_id = PromptId::from_number(*turns + 1).turn();
                transcript.start_agent_turn(written, &turn_id, 0);
            }
            AgentEvent::Idle => {
                transcript.close_blocks(written, "the agent ended its turn without it");
                transcript.write_agent_end(written);
                self.put(Callback::Idle {});
                self.turns += 1;
                self.transcript.begin_turn();
            }
            AgentEvent::BlockStarted(start) => transcript.start_block(written, start),
            AgentEvent::BlockDelta { key, delta } => transcript.extend_block(written, key, delta),
            AgentEvent::BlockEnded(end) => transcript.end_block(written, end),
            AgentEvent::BlockDiscarded(key) => {
                transcript.discard_block(written, &key, "the agent started it again");
            }
            AgentEvent::PromptGenerated(prompt) if prompt.trim().is_empty() => {}
            AgentEvent::PromptGenerated(prompt) => {
                transcript.write_agent_end(written);
                self.put(Callback::generated_prompt(prompt));
            }
            AgentEvent::RequestMade { agent_request_id, body } => {
                self.put(Callback::of_request(agent_request_id.into(), body));
            }
            AgentEvent::UsageReported(usage) => self.put(Callback::Usage(usage)),
            AgentEvent::ContextUsed(usage) => self.put(Callback::ContextUsage(usage)),
            AgentEvent::FellBehind { .. } => {
                transcript.close_blocks(written, "the session did not keep up with the agent");
            }
            AgentEvent::BackgroundTasks(tasks) => self.put(Callback::BackgroundTasks { tasks }),
            AgentEvent::Notice { kind: NoticeKind::Retrying, message } => {
                if let Some(message) = model_retries.note(redact(&message).into_owned()) {
                    self.put(Response::notice(NoticeKind::Retrying, message));
                }
            }
            AgentEvent::Notice { kind, message } => {
                self.put(Response::notice(kind, redact(&message).into_owned()));
            }
            AgentEvent::TitleChanged(title) => self.put(Callback::TitleChanged { title }),
            AgentEvent::TurnFailed { failure } => self.put(Response::from(failure)),
            AgentEvent::Unknown { kind, raw } => {
                let raw = serde_json::from_str(raw.get()).unwrap_or_default();
                self.put(Callback::UnknownEvent { kind, raw });
            }
            AgentEvent::Gone { reason } => {
                self.put(Response::session_error(ErrorClass::ProcessGone, redact(&reason).into_owned()));
            }
            AgentEvent::SteerRefused { reason, .. } => {
                self.put(Response::notice(NoticeKind::Warning, redact(&reason).into_owned()));
            }
            AgentEvent::TurnEnded { .. }
            | AgentEvent::ToolsRequested(_)
            | AgentEvent::ModelStopped { .. }
            | AgentEvent::ToolWaits { .. }
            | AgentEvent::ToolAnswerRefused { .. }
            | AgentEvent::ImageMade { .. }
            | AgentEvent::RequestWithdrawn { .. }
            | AgentEvent::SessionNamed(_)
            | AgentEvent::CommandsListed(_)
            | AgentEvent::Outdated => {}
        }
        std::mem::take(&mut self.written.responses)
    }

    fn put(&mut self, response: impl Into<Response>) {
        self.transcript.write(&mut self.written, response.into());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{BlockKey, BlockKind};

    #[test]
    fn starts_are_made_up_and_what_is_open_is_closed_at_the_end_of_a_turn() {
        let mut transcript_writer = TranscriptWriter::default();
        let key = BlockKey::new(BlockKind::Message, "m");
        let events = [
            AgentEvent::TurnStarted { turn_id: "t".into() },
            AgentEvent::BlockDelta { key, delta: "half".to_owned() },
            AgentEvent::Idle,
        ];
        let written: Vec<String> = events
            .into_iter()
            .flat_map(|event| transcript_writer.write(event))
            .map(|response| response.to_json())
            .collect();
        assert_eq!(
            written,
            [
                r#"{"callback":"onAgentStart","turnId":"turn-1"}"#,
                r#"{"callback":"onStartMessage","messageId":"m"}"#,
                r#"{"callback":"onMessage","messageId":"m","delta":"half"}"#,
                r#"{"callback":"onEndMessage","messageId":"m","completeContent":"half","incomplete":true}"#,
                r#"{"callback":"onAgentEnd","turnId":"turn-1"}"#,
                r#"{"callback":"onIdle"}"#,
            ]
        );
    }
}

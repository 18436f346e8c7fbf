//! Writes down what an agent says as responses, without a session: for recordings.

use super::blocks::Blocks;
use super::responses;
use crate::agent::{AgentEvent, BlockStart};
use crate::model::{BlockKey, Callback, ErrorClass, NoticeKind, RequestBody, RequestId, Response, Seq, TurnId, redact};

/// Makes the same responses of the same events as a session does. There is nobody to answer requests, and pictures and
/// long outputs stay where they are.
#[derive(Debug, Default)]
pub struct Scribe {
    blocks: Blocks,
    turn: Option<TurnId>,
    /// Blocks that have begun, so that they are closed in their order.
    begun: Seq,
    written: Vec<Response>,
}

impl Scribe {
    /// The responses of one event.
    pub fn write(&mut self, event: AgentEvent) -> Vec<Response> {
        match event {
            AgentEvent::TurnStarted { turn_id } => {
                self.end_turn();
                self.put(Callback::AgentStart { turn_id: turn_id.clone() });
                self.turn = Some(turn_id);
            }
            AgentEvent::TurnEnded { .. } => self.end_turn(),
            AgentEvent::Idle => {
                self.close("the agent ended its turn without it");
                self.end_turn();
                self.put(Callback::Idle {});
            }
            AgentEvent::BlockStarted(start) => self.start(start),
            AgentEvent::BlockDelta { key, delta } => {
                self.ensure_started(&key);
                self.blocks.delta(&key, &delta);
                self.put(responses::delta(&key, delta));
            }
            AgentEvent::BlockEnded(end) => {
                let (key, callback) = responses::end(end);
                self.ensure_started(&key);
                self.put(callback);
                self.blocks.end(&key, self.begun);
            }
            AgentEvent::BlockDiscarded(key) => {
                self.written.extend(self.blocks.closing_response(&key, "the agent began it anew"));
                self.blocks.end(&key, self.begun);
            }
            AgentEvent::PromptGenerated(prompt) => self.put(Callback::GeneratedUserPrompt { prompt }),
            AgentEvent::RequestMade { agent_request_id, body } => self.put(request(agent_request_id.into(), body)),
            AgentEvent::UsageReported(usage) => self.put(Callback::Usage(usage)),
            AgentEvent::ContextUsed(usage) => self.put(Callback::ContextUsage(usage)),
            AgentEvent::BackgroundTasks(tasks) => self.put(Callback::BackgroundTasks { tasks }),
            AgentEvent::Notice { kind, message } => {
                self.put(Callback::Notice { kind, message: redact(&message).into_owned() });
            }
            AgentEvent::TitleChanged(title) => self.put(Callback::TitleChanged { title }),
            AgentEvent::TurnFailed { failure } => self.written.push(failure.into()),
            AgentEvent::Unknown { kind, raw } => {
                let raw = serde_json::from_str(raw.get()).unwrap_or_default();
                self.put(Callback::UnknownEvent { kind, raw });
            }
            AgentEvent::Gone { reason } => {
                let reason = redact(&reason).into_owned();
                self.written.push(Response::session_error(ErrorClass::ProcessGone, reason));
            }
            AgentEvent::SteerRefused { reason, .. } => {
                let message = redact(&reason).into_owned();
                self.put(Callback::Notice { kind: NoticeKind::Warning, message });
            }
            AgentEvent::ImageMade { .. } | AgentEvent::RequestWithdrawn { .. } | AgentEvent::Outdated => {}
        }
        std::mem::take(&mut self.written)
    }

    fn put(&mut self, callback: Callback) {
        self.written.push(callback.into());
    }

    fn start(&mut self, start: BlockStart) {
        let (key, callback) = responses::start(start);
        if !self.blocks.is_open(&key) {
            self.put(callback);
            self.begun += 1;
            self.blocks.start(key, self.begun);
        }
    }

    fn ensure_started(&mut self, key: &BlockKey) {
        if !self.blocks.is_open(key) {
            self.start(responses::made_up_start(key));
        }
    }

    fn end_turn(&mut self) {
        if let Some(turn_id) = self.turn.take() {
            self.put(Callback::AgentEnd { turn_id });
        }
    }

    fn close(&mut self, reason: &str) {
        for (key, response) in self.blocks.closing_responses(reason) {
            self.written.push(response);
            self.blocks.end(&key, self.begun);
        }
    }
}

fn request(request_id: RequestId, body: RequestBody) -> Callback {
    match body {
        RequestBody::Permission { kind, title, detail, options, tool_call_id, .. } => {
            Callback::PermissionRequested { request_id, kind, title, detail, options, tool_call_id }
        }
        RequestBody::Question { question, detail, choices, form, url } => {
            Callback::QuestionAsked { request_id, question, detail, choices, form, url }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::BlockKind;

    #[test]
    fn starts_are_made_up_and_what_is_open_is_closed_at_the_end_of_a_turn() {
        let mut scribe = Scribe::default();
        let key = BlockKey::new(BlockKind::Message, "m");
        let events = [
            AgentEvent::TurnStarted { turn_id: "t".into() },
            AgentEvent::BlockDelta { key, delta: "half".to_owned() },
            AgentEvent::Idle,
        ];
        let written: Vec<String> =
            events.into_iter().flat_map(|event| scribe.write(event)).map(|response| response.to_json()).collect();
        assert_eq!(
            written,
            [
                r#"{"callback":"onAgentStart","turnId":"t"}"#,
                r#"{"callback":"onStartMessage","messageId":"m"}"#,
                r#"{"callback":"onMessage","messageId":"m","delta":"half"}"#,
                r#"{"callback":"onEndMessage","messageId":"m","completeContent":"half"}"#,
                r#"{"callback":"onAgentEnd","turnId":"t"}"#,
                r#"{"callback":"onIdle"}"#,
            ]
        );
    }
}

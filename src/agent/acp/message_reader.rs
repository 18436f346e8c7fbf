//! The protocol without a process: how a connection reads an agent's lines. For tests with hostile input.

use serde_json::Value;

use super::offers::Offers;
use super::permission;
use super::translate::{Translator, TurnEnd};
use super::wire::{Incoming, head, understand};
use crate::agent::AgentEvent;

/// Reads the lines of an ACP agent during a turn.
pub struct AcpReader {
    translator: Translator,
    requests: u64,
}

impl AcpReader {
    /// A reader for Copilot or for any other agent.
    pub fn new(is_copilot: bool) -> Self {
        let translator = Translator::with_prefix("read".to_owned(), is_copilot, Offers::default());
        Self { translator, requests: 0 }
    }

    /// Reads one line; returns `false` if it is not a message.
    pub fn read(&mut self, line: &str, events: &mut Vec<AgentEvent>) -> bool {
        // Only this much of a message that is too long is read.
        let _ = head(line);
        match understand(line) {
            None => return false,
            Some(Incoming::Update { update, .. }) => events.extend(self.translator.translate(update)),
            Some(Incoming::Notification { method, params }) => {
                events.push(AgentEvent::Unknown { kind: method, raw: params });
            }
            Some(Incoming::Request { params, .. }) => {
                let params: Value = serde_json::from_str(params.get()).unwrap_or_default();
                let (body, _) = permission::request("The agent", &params);
                self.requests += 1;
                events.push(AgentEvent::RequestMade { agent_request_id: self.requests.to_string(), body });
            }
            Some(Incoming::Response { outcome: Ok(result), .. }) => {
                let result: Value = serde_json::from_str(result.get()).unwrap_or_default();
                if let Some(stop_reason) = result["stopReason"].as_str() {
                    let end = TurnEnd { stop_reason, usage: &result["usage"] };
                    events.extend(self.translator.end_turn(&end));
                    events.push(AgentEvent::Idle);
                }
            }
            Some(Incoming::Response { outcome: Err(_), .. } | Incoming::TooLong { .. }) => {}
        }
        true
    }
}

//! Recordings of ACP traffic, one message per line.

use serde_json::Value;
use serde_json::value::RawValue;

use super::offers::Offers;
use super::translate::{Translator, TurnEnd};
use crate::agent::AgentEvent;
use crate::agent::failure::classify;
use crate::agent::transcript::{EventReader, Recorded, message};

/// Reads a recording of Copilot or of another agent.
pub(in crate::agent) fn reader(is_copilot: bool) -> EventReader {
    // Generated ids are the same each time the recording is read.
    let mut translator = Translator::with_prefix("recorded".to_owned(), is_copilot, Offers::default());
    let mut turns = 0_u64;
    let mut is_in_turn = false;
    EventReader::new(Box::new(move |line| {
        let asks = line["msg"]["method"] == "session/prompt" || line["method"] == "session/prompt";
        let mut recorded = Recorded::default();
        if asks {
            is_in_turn = true;
            turns += 1;
            recorded.events.push(AgentEvent::TurnStarted { turn_id: format!("turn-{turns}").into() });
            return Some(recorded);
        }
        let message = message(line)?;
        let text = |value: &Value| value.as_str().map(str::to_owned);
        recorded.session_id = text(&message["params"]["sessionId"]).or_else(|| text(&message["result"]["sessionId"]));
        recorded.model = text(&message["result"]["models"]["currentModelId"]);
        if message["method"] == "session/update" {
            let update = RawValue::from_string(message["params"]["update"].to_string()).ok()?;
            // Updates between turns are history or settings.
            recorded.events.extend(translator.translate(update));
            if !is_in_turn {
                recorded.events.clear();
            }
        } else if let Some(stop_reason) = message["result"]["stopReason"].as_str() {
            recorded.aborted = stop_reason == "cancelled";
            recorded.events.extend(translator.end_turn(&TurnEnd { stop_reason, usage: &message["result"]["usage"] }));
            recorded.events.extend(over(turns));
            is_in_turn = false;
        } else if message["error"].is_object() && is_in_turn {
            let name = if is_copilot { "Copilot" } else { "The agent" };
            let words = message["error"]["message"].as_str().unwrap_or_default();
            recorded.events.push(AgentEvent::TurnFailed { failure: classify(name, words, None) });
            recorded.events.extend(over(turns));
            is_in_turn = false;
        }
        Some(recorded)
    }))
}

fn over(turn: u64) -> [AgentEvent; 2] {
    [AgentEvent::TurnEnded { turn_id: format!("turn-{turn}").into() }, AgentEvent::Idle]
}

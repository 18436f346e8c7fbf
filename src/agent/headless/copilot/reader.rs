//! The stream of `copilot --output-format json`: the SDK's events, one per line, and a `result` at the end.
//!
//! The SDK's translator handles the events themselves. This module handles what is specific to a stream of one turn:
//! the terminal event, aborts, usage figures and the final text.

use std::borrow::Cow;
use std::collections::BTreeSet;

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::agent::copilot::Translator;
use crate::agent::failure::Failure;
use crate::agent::transcript::{StreamEnd, StreamReader, Tally, Terminal};
use crate::agent::{AgentEvent, BlockEnd};
use crate::model::{CodeChanges, Usage};

/// The start of nearly every line; only the delta in such a line matters.
const DELTAS: [&str; 2] = [r#"{"type":"assistant.message_delta","#, r#"{"type":"assistant.reasoning_delta","#];
/// The tool that reports the task as complete. It ends the turn and does no work, so the text before it stays the
/// answer.
const END_TOOL: &str = "task_complete";
/// The most calls of it tracked at once; a normal turn has one.
const END_CALLS: usize = 64;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Line<'a> {
    #[serde(rename = "type", borrow)]
    kind: Cow<'a, str>,
    #[serde(borrow, default)]
    agent_id: Option<&'a RawValue>,
    #[serde(borrow, default)]
    data: Option<&'a RawValue>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Data {
    aborted: Option<Value>,
    model: Option<Value>,
    output_tokens: Option<Value>,
    tool_name: Option<Value>,
    tool_call_id: Option<Value>,
    summary: Option<Value>,
    success: Option<Value>,
}

/// The terminal event. It has no `data`; its fields are at the top level.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct ResultLine {
    session_id: Option<Value>,
    exit_code: Option<Value>,
    usage: Value,
}

/// Reads one turn.
#[derive(Debug, Default)]
pub struct CopilotReader {
    translator: Translator,
    tally: Tally,
    terminal: Terminal,
    aborted: bool,
    failure: Option<Failure>,
    session_id: Option<String>,
    model: Option<String>,
    /// The sum over the model's calls, as far as reported.
    called: Usage,
    output_tokens: Option<u64>,
    turns: u64,
    result_usage: Value,
    end_calls: BTreeSet<String>,
    summary: Option<String>,
    translated: Vec<AgentEvent>,
    /// The end of a step is held back until another one follows, because the last one is the end of the turn.
    step_end: Option<AgentEvent>,
}

impl CopilotReader {
    /// For one turn.
    pub fn new() -> Self {
        Self::default()
    }

    /// Handles what is specific to this stream. Returns whether the translator must handle the line too.
    fn look_at(&mut self, kind: &str, is_sub_agents: bool, data: Data) -> bool {
        let text = |value: Option<Value>| value.as_ref().and_then(Value::as_str).map(str::to_owned);
        match kind {
            "session.tools_updated" => {
                self.model = text(data.model).or(self.model.take());
                false
            }
            "abort" if !is_sub_agents => {
                self.aborted = true;
                false
            }
            "assistant.idle" => {
                self.aborted |= !is_sub_agents && data.aborted == Some(Value::Bool(true));
                false
            }
            // The process exits after its turn, and requests cannot be answered.
            "session.idle" | "permission.requested" | "permission.completed" => false,
            "assistant.turn_end" => {
                self.turns += u64::from(!is_sub_agents);
                true
            }
            "assistant.message" => {
                if let Some(tokens) = data.output_tokens.as_ref().and_then(Value::as_u64) {
                    self.output_tokens = Some(self.output_tokens.unwrap_or_default().saturating_add(tokens));
                }
                true
            }
            "tool.execution_start" if data.tool_name.as_ref().is_some_and(|name| name == END_TOOL) => {
                if let Some(id) = text(data.tool_call_id).filter(|_| self.end_calls.len() < END_CALLS) {
                    self.end_calls.insert(id);
                }
                false
            }
            "tool.execution_partial_result" | "tool.execution_complete" => {
                text(data.tool_call_id).is_none_or(|id| !self.end_calls.contains(&id))
            }
            "session.task_complete" => {
                let is_complete = data.success != Some(Value::Bool(false));
                self.summary = text(data.summary).filter(|summary| is_complete && !summary.is_empty());
                true
            }
            _ => true,
        }
    }

    fn result(&mut self, line: &str) {
        let result: ResultLine = serde_json::from_str(line).unwrap_or_default();
        let is_good = result.exit_code.as_ref().and_then(Value::as_i64) == Some(0);
        self.terminal = if is_good { Terminal::Good } else { Terminal::Bad };
        self.session_id = result.session_id.as_ref().and_then(Value::as_str).map(str::to_owned);
        self.result_usage = result.usage;
    }

    /// Passes on the translator's events, except those that this runtime reports in another way.
    fn pass_on(&mut self, events: &mut Vec<AgentEvent>) {
        for event in self.translated.drain(..) {
            match event {
                AgentEvent::TurnFailed { failure } => self.failure = Some(failure),
                AgentEvent::UsageReported(usage) => self.called.add(&usage),
                AgentEvent::Idle | AgentEvent::RequestMade { .. } | AgentEvent::RequestWithdrawn { .. } => {}
                AgentEvent::TurnEnded { .. } => self.step_end = Some(event),
                event => {
                    events.extend(self.step_end.take());
                    self.tally.note(&event);
                    events.push(event);
                }
            }
        }
    }

    fn usage(&self) -> Usage {
        let said = &self.result_usage;
        Usage {
            input_tokens: self.called.input_tokens,
            output_tokens: self.output_tokens.or(self.called.output_tokens),
            cache_read: self.called.cache_read,
            cache_creation: self.called.cache_creation,
            duration_ms: said["totalApiDurationMs"].as_u64(),
            num_turns: (self.turns > 0).then_some(self.turns),
            premium_requests: said["premiumRequests"].as_f64(),
            credits: self.called.credits,
            code_changes: CodeChanges::deserialize(&said["codeChanges"]).ok(),
            cost_usd: None,
            model: None,
        }
    }
}

impl StreamReader for CopilotReader {
    fn read(&mut self, line: &str, events: &mut Vec<AgentEvent>) -> bool {
        if !DELTAS.iter().any(|beginning| line.starts_with(beginning)) {
            let Ok(head) = serde_json::from_str::<Line<'_>>(line) else { return false };
            if head.kind == "result" {
                self.result(line);
                return true;
            }
            let data = head.data.and_then(|data| serde_json::from_str(data.get()).ok()).unwrap_or_default();
            if !self.look_at(&head.kind, head.agent_id.is_some(), data) {
                return true;
            }
        }
        let is_event = self.translator.read(line, &mut self.translated);
        self.pass_on(events);
        is_event
    }

    fn is_over(&self) -> bool {
        self.terminal != Terminal::Missing
    }

    fn finish(&mut self, events: &mut Vec<AgentEvent>) -> StreamEnd {
        let left = self.translator.left_open();
        if let Some(failure) = self.translator.take_task_failure() {
            self.failure.get_or_insert(failure);
        }
        // Blocks cut off by an interrupt are shown as far as they came; blocks that the agent discarded are not part of
        // the answer.
        if !self.aborted {
            events.extend(left.into_iter().map(AgentEvent::BlockDiscarded));
        }
        if self.tally.text.is_empty()
            && let Some(summary) = self.summary.take()
        {
            let id = format!("{END_TOOL}-{}", self.end_calls.iter().next().map_or("summary", String::as_str));
            let event = AgentEvent::BlockEnded(BlockEnd::Message { id, content: summary });
            self.tally.note(&event);
            events.push(event);
        }
        StreamEnd {
            text: std::mem::take(&mut self.tally.text),
            usage: self.usage(),
            session_id: self.session_id.take(),
            model: self.model.take(),
            terminal: self.terminal,
            failure: self.failure.take(),
            aborted: self.aborted,
            open_tools: self.tally.open_tools(),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::agent::transcript::{ProcessEnd, judge};
    use crate::model::BlockKind;

    fn read(lines: &[Value]) -> (Vec<AgentEvent>, StreamEnd) {
        let (mut reader, mut events) = (CopilotReader::new(), Vec::new());
        for line in lines {
            assert!(reader.read(&line.to_string(), &mut events), "{line}");
        }
        let end = reader.finish(&mut events);
        (events, end)
    }

    fn event(kind: &str, data: &Value) -> Value {
        json!({ "type": kind, "data": data })
    }

    fn result(code: i64) -> Value {
        json!({ "type": "result", "sessionId": "s", "exitCode": code, "usage": { "premiumRequests": 2, "totalApiDurationMs": 5 } })
    }

    fn class(end: &StreamEnd) -> Option<&'static str> {
        judge("Copilot", end, &ProcessEnd::default()).map(|failure| failure.class.as_str())
    }

    #[test]
    fn the_whole_message_replaces_its_pieces_whatever_they_were() {
        let message = event("assistant.message", &json!({ "messageId": "m", "content": "whole", "outputTokens": 3 }));
        let piece = event("assistant.message_delta", &json!({ "messageId": "m", "deltaContent": "wrong" }));
        for pieces in [0, 1, 5] {
            let mut lines = vec![piece.clone(); pieces];
            lines.extend([message.clone(), event("assistant.turn_end", &json!({ "turnId": "0" })), result(0)]);
            let (events, end) = read(&lines);
            assert_eq!((end.text.as_str(), class(&end)), ("whole", None));
            let ends = events.iter().filter(|event| matches!(event, AgentEvent::BlockEnded(_))).count();
            assert_eq!(ends, 1);
            assert_eq!((end.usage.output_tokens, end.usage.num_turns), (Some(3), Some(1)));
            assert_eq!((end.usage.premium_requests, end.usage.duration_ms), (Some(2.0), Some(5)));
            assert_eq!((end.usage.cost_usd, end.usage.input_tokens, end.usage.code_changes), (None, None, None));
        }
    }

    #[test]
    fn a_stream_that_is_given_up_leaves_a_discarded_block() {
        let piece = |id: &str| event("assistant.message_delta", &json!({ "messageId": id, "deltaContent": "x" }));
        let whole = event("assistant.message", &json!({ "messageId": "new", "content": "y" }));
        let (events, end) = read(&[piece("old"), piece("new"), whole, result(0)]);
        let discarded: Vec<&str> = events
            .iter()
            .filter_map(|event| match event {
                AgentEvent::BlockDiscarded(key) => Some(key.id.as_str()),
                _ => None,
            })
            .collect();
        assert_eq!((discarded, end.text.as_str()), (vec!["old"], "y"));
    }

    #[test]
    fn a_cut_turn_keeps_what_was_said() {
        let piece = event("assistant.message_delta", &json!({ "messageId": "m", "deltaContent": "x" }));
        let (events, end) = read(&[piece, event("assistant.idle", &json!({ "aborted": true }))]);
        assert!(matches!(&events[..], [AgentEvent::BlockDelta { .. }]), "{events:?}");
        assert_eq!(class(&end), Some("aborted"));
    }

    #[test]
    fn the_call_that_ends_the_work_is_no_tool_and_its_summary_is_the_last_resort() {
        let call =
            |kind: &str| event(kind, &json!({ "toolCallId": "c", "toolName": "task_complete", "success": true }));
        let complete = event("session.task_complete", &json!({ "summary": "all done" }));
        let calls = [call("tool.execution_start"), call("tool.execution_complete"), complete, result(0)];
        let said = event("assistant.message", &json!({ "messageId": "m", "content": "Wrapping up." }));
        let mut with_words = vec![said];
        with_words.extend(calls.clone());
        assert_eq!(read(&with_words).1.text, "Wrapping up.");
        let (events, end) = read(&calls);
        assert_eq!(end.text, "all done");
        let is_tool = |event: &AgentEvent| matches!(event, AgentEvent::BlockEnded(BlockEnd::Tool { .. }));
        assert!(!events.iter().any(is_tool), "{events:?}");
    }

    #[test]
    fn a_task_that_is_not_accepted_as_complete_failed_unless_it_is_completed_later() {
        let task =
            |success: bool| event("session.task_complete", &json!({ "summary": "half of it", "success": success }));
        let (_, end) = read(&[task(false), result(0)]);
        assert_eq!((end.text.as_str(), class(&end)), ("", Some("unknown")));
        assert!(end.failure.is_some_and(|failure| failure.message.contains("half of it")));
        let (events, end) = read(&[task(false), task(true), result(0)]);
        assert_eq!((end.text.as_str(), class(&end)), ("half of it", None));
        let notices = events.iter().filter(|event| matches!(event, AgentEvent::Notice { .. })).count();
        assert_eq!(notices, 1, "only the second says that it is complete: {events:?}");
    }

    #[test]
    fn an_error_an_open_call_a_bad_code_and_a_missing_end_are_failures() {
        let error = event("session.error", &json!({ "message": "429 slow down", "statusCode": 429 }));
        assert_eq!(class(&read(&[error.clone(), result(1)]).1), Some("rate-limit"));
        assert_eq!(class(&read(&[error, result(0)]).1), Some("rate-limit"));
        let start = event("tool.execution_start", &json!({ "toolCallId": "c", "toolName": "bash" }));
        assert_eq!(class(&read(&[start, result(0)]).1), Some("stream-broken"));
        assert_eq!(class(&read(&[result(1)]).1), Some("unknown"));
        assert_eq!(class(&read(&[]).1), Some("stream-broken"));
        let odd = json!({ "type": "result", "exitCode": "0" });
        assert_eq!(class(&read(&[odd]).1), Some("unknown"), "that is no good code");
    }

    #[test]
    fn rubbish_is_no_event_and_breaks_nothing() {
        let (mut reader, mut events) = (CopilotReader::new(), Vec::new());
        for line in ["", "hello", "[1]", "null", "{", "{}", r#"{"type":7}"#, "\u{fffd}{\"type\":\"result\"}"] {
            assert!(!reader.read(line, &mut events), "{line}");
        }
        assert!(events.is_empty());
        assert!(reader.read(r#"{"type":"brand.new","data":[1]}"#, &mut events));
        assert!(matches!(&events[..], [AgentEvent::Unknown { kind, .. }] if kind == "brand.new"), "{events:?}");
    }

    #[test]
    fn a_line_in_another_order_is_the_same_line() {
        let (mut reader, mut events) = (CopilotReader::new(), Vec::new());
        let line = r#"{"id":"1","data":{"deltaContent":"a\nb","messageId":"m"},"type":"assistant.message_delta"}"#;
        assert!(reader.read(line, &mut events));
        assert!(reader.read(line, &mut events), "and the same event again says nothing");
        let [AgentEvent::BlockDelta { key, delta }] = &events[..] else { panic!("{events:?}") };
        assert_eq!((key.kind, key.id.as_str(), delta.as_str()), (BlockKind::Message, "m", "a\nb"));
    }
}

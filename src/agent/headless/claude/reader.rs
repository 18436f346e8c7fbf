//! The stream of `claude -p --output-format stream-json`: message deltas as the model's service sends them, the
//! complete blocks of each message, tool results, and a `result` at the end.
//!
//! A block is identified by its message and its index in it: deltas name the index, and complete blocks come in order,
//! one or several per line.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::{TITLE, tool_result};
use crate::agent::failure::{Failure, classify};
use crate::agent::transcript::{StreamEnd, StreamReader, Tally, Terminal};
use crate::agent::{AgentEvent, BlockEnd, BlockStart};
use crate::model::{BlockKey, BlockKind, ErrorClass, NoticeKind, Usage};

/// The most agents, blocks and denials tracked at once. Real streams have far fewer; this bounds memory for garbage
/// input.
const FOLLOWED: usize = 4_096;
/// Line types without anything to show.
const QUIET: [&str; 4] = ["keep_alive", "rate_limit_event", "tool_progress", "tool_use_summary"];
/// Subtypes of `system` lines without anything to show.
const QUIET_NEWS: [&str; 11] = [
    "files_persisted",
    "hook_progress",
    "hook_response",
    "hook_started",
    "session_state_changed",
    "status",
    "task_notification",
    "task_progress",
    "task_started",
    "task_updated",
    "thinking_tokens",
];

#[derive(Deserialize)]
struct Line<'a> {
    #[serde(rename = "type", borrow)]
    kind: Cow<'a, str>,
    /// The call of the sub-agent that sent it.
    #[serde(default)]
    parent_tool_use_id: Option<String>,
    #[serde(borrow, default)]
    event: Option<&'a RawValue>,
    #[serde(borrow, default)]
    subtype: Option<&'a RawValue>,
}

/// A delta, as the model's service sends it.
#[derive(Deserialize)]
struct Piece<'a> {
    #[serde(rename = "type", borrow)]
    kind: Cow<'a, str>,
    #[serde(default)]
    index: Option<u64>,
    #[serde(borrow, default)]
    delta: Option<Delta<'a>>,
    #[serde(borrow, default)]
    message: Option<&'a RawValue>,
    #[serde(borrow, default)]
    content_block: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Delta<'a> {
    #[serde(rename = "type", borrow, default)]
    kind: Cow<'a, str>,
    #[serde(default)]
    text: Option<String>,
    #[serde(default)]
    thinking: Option<String>,
}

/// The message that an agent is currently writing.
#[derive(Debug, Default)]
struct Current {
    id: String,
    /// The number of complete blocks so far.
    finished: u64,
    /// Blocks that have started but are not complete.
    open: Vec<(u64, BlockKey)>,
}

impl Current {
    fn key(&self, kind: BlockKind, index: u64) -> BlockKey {
        BlockKey::new(kind, format!("{}-{index}", self.id))
    }
}

/// Reads one turn.
#[derive(Debug, Default)]
pub struct ClaudeReader {
    tally: Tally,
    /// By the sub-agent's call; the main agent has none.
    current: HashMap<Option<String>, Current>,
    denied: HashSet<String>,
    terminal: Terminal,
    failure: Option<Failure>,
    session_id: Option<String>,
    model: Option<String>,
    usage: Usage,
    result_text: String,
    events_out: Vec<AgentEvent>,
}

impl ClaudeReader {
    /// A reader for one turn.
    pub fn new() -> Self {
        Self::default()
    }

    fn emit(&mut self, event: AgentEvent) {
        self.tally.note(&event);
        self.events_out.push(event);
    }

    /// Reads a delta; `None` for an unknown shape.
    fn piece(&mut self, parent: Option<String>, raw: &RawValue) -> Option<()> {
        let piece: Piece<'_> = serde_json::from_str(raw.get()).ok()?;
        match piece.kind.as_ref() {
            "content_block_delta" => {
                let delta = piece.delta?;
                let (kind, text) = match delta.kind.as_ref() {
                    "text_delta" => (BlockKind::Message, delta.text?),
                    "thinking_delta" => (BlockKind::Reasoning, delta.thinking?),
                    // Tool arguments and signatures arrive complete later.
                    _ => return Some(()),
                };
                let key = self.open(parent, piece.index.unwrap_or_default(), kind);
                self.emit(AgentEvent::BlockDelta { key, delta: text });
            }
            "content_block_start" => {
                let block: Value = serde_json::from_str(piece.content_block?.get()).ok()?;
                match block["type"].as_str() {
                    Some("text") => drop(self.open(parent, piece.index.unwrap_or_default(), BlockKind::Message)),
                    Some("thinking") => drop(self.open(parent, piece.index.unwrap_or_default(), BlockKind::Reasoning)),
                    _ => {}
                }
            }
            "message_start" => {
                let message: Value = serde_json::from_str(piece.message?.get()).ok()?;
                let id = message["id"].as_str().unwrap_or_default();
                self.begin(parent, id);
            }
            _ => {}
        }
        Some(())
    }

    /// Starts a message. Incomplete blocks of an earlier one are discarded.
    fn begin(&mut self, parent: Option<String>, id: &str) -> &mut Current {
        if self.current.len() >= FOLLOWED && !self.current.contains_key(&parent) {
            self.current.clear();
        }
        let current = self.current.entry(parent).or_default();
        if current.id != id || current.finished > 0 || !current.open.is_empty() {
            let before = std::mem::replace(current, Current { id: id.to_owned(), ..Current::default() });
            self.events_out.extend(before.open.into_iter().map(|(_, key)| AgentEvent::BlockDiscarded(key)));
        }
        current
    }

    /// The block at an index of the current message. Starts it if necessary.
    fn open(&mut self, parent: Option<String>, index: u64, kind: BlockKind) -> BlockKey {
        if self.current.len() >= FOLLOWED && !self.current.contains_key(&parent) {
            self.current.clear();
        }
        let is_aside = parent.is_some();
        let parent_call = parent.clone();
        let current = self.current.entry(parent).or_default();
        if let Some((_, key)) = current.open.iter().find(|(place, key)| *place == index && key.kind == kind) {
            return key.clone();
        }
        let key = current.key(kind, index);
        if current.open.len() < FOLLOWED {
            current.open.push((index, key.clone()));
        }
        if is_aside {
            self.start(&key, parent_call);
        }
        key
    }

    /// Reports the start of a sub-agent's block, which names its call; the session adds all other starts itself.
    fn start(&mut self, key: &BlockKey, parent: Option<String>) {
        let id = key.id.clone();
        self.emit(AgentEvent::BlockStarted(match key.kind {
            BlockKind::Reasoning => BlockStart::Reasoning { id, parent },
            _ => BlockStart::Message { id, parent },
        }));
    }

    /// Reads the complete blocks of a message.
    fn message(&mut self, parent: Option<&String>, line: &Value) {
        let message = &line["message"];
        let blocks = message["content"].as_array().map(Vec::as_slice).unwrap_or_default();
        if line["is_api_error_message"] == true || line["error"].is_string() {
            let text = blocks.iter().find_map(|block| block["text"].as_str()).unwrap_or_default();
            let word = line["api_error_type"].as_str().or(line["error"].as_str()).unwrap_or_default();
            self.failure = Some(failure(text, word, line["api_error_status"].as_u64()));
            return;
        }
        // The program's own text, attributed to the model.
        if message["model"] == "<synthetic>" {
            return;
        }
        if let (None, Some(model)) = (parent, message["model"].as_str()) {
            self.model = Some(model.to_owned());
        }
        let id = message["id"].as_str().unwrap_or_default().to_owned();
        for block in blocks {
            self.whole_block(parent, &id, block);
        }
    }

    fn whole_block(&mut self, parent: Option<&String>, id: &str, block: &Value) {
        let is_another = self.current.get(&parent.cloned()).is_none_or(|current| current.id != id);
        if is_another {
            self.begin(parent.cloned(), id);
        }
        let Some(current) = self.current.get_mut(&parent.cloned()) else { return };
        let index = current.finished;
        current.finished += 1;
        let open = current.open.iter().position(|(place, _)| *place == index).map(|at| current.open.remove(at).1);
        let key = |kind| current.key(kind, index);
        let text = |name: &str| block[name].as_str().unwrap_or_default().to_owned();
        let (key, content) = match block["type"].as_str() {
            Some("text") => (key(BlockKind::Message), text("text")),
            Some("thinking") => (key(BlockKind::Reasoning), text("thinking")),
            Some("tool_use" | "server_tool_use" | "mcp_tool_use") => {
                let Some(id) = block["id"].as_str() else { return };
                let input = &block["input"];
                let has_input = input.as_object().is_some_and(|input| !input.is_empty());
                return self.emit(AgentEvent::BlockStarted(BlockStart::Tool {
                    id: id.to_owned(),
                    parent: parent.cloned(),
                    name: block["name"].as_str().unwrap_or("tool").to_owned(),
                    arguments: if has_input { format!("{input:#}") } else { String::new() },
                }));
            }
            _ => return,
        };
        // Hidden reasoning has only a signature.
        if content.is_empty() && open.is_none() {
            return;
        }
        if parent.is_some() && open.is_none() {
            self.start(&key, parent.cloned());
        }
        let id = key.id;
        self.emit(AgentEvent::BlockEnded(match key.kind {
            BlockKind::Reasoning => BlockEnd::Reasoning { id, content },
            _ => BlockEnd::Message { id, content },
        }));
    }

    fn results_of_tools(&mut self, line: &Value) {
        let parts = line["message"]["content"].as_array().map(Vec::as_slice).unwrap_or_default();
        for part in parts.iter().filter(|part| part["type"] == "tool_result") {
            for event in tool_result::events(part, |id| self.denied.contains(id)).unwrap_or_default() {
                self.emit(event);
            }
        }
    }

    /// Reads a `system` line; `false` for an unknown subtype.
    fn news(&mut self, subtype: &str, line: &Value) -> bool {
        let notice = |kind: NoticeKind, message: String| AgentEvent::Notice { kind, message };
        match subtype {
            "init" => {
                self.session_id = line["session_id"].as_str().map(str::to_owned);
                self.model = line["model"].as_str().map(str::to_owned);
            }
            "api_retry" => {
                let (attempt, most) = (line["attempt"].as_u64().unwrap_or(1), line["max_retries"].as_u64());
                let most = most.map(|most| format!(" of {most}")).unwrap_or_default();
                let why = line["error"].as_str().unwrap_or("unknown");
                self.emit(notice(
                    NoticeKind::Retrying,
                    format!("The model did not answer ({why}); starting attempt {attempt}{most}."),
                ));
            }
            "compact_boundary" => {
                self.emit(notice(NoticeKind::Compaction, "The conversation was compacted to free context.".to_owned()));
            }
            "permission_denied" => {
                if let Some(id) = line["tool_use_id"].as_str().filter(|_| self.denied.len() < FOLLOWED) {
                    self.denied.insert(id.to_owned());
                }
            }
            other => return QUIET_NEWS.contains(&other),
        }
        true
    }

    fn result(&mut self, line: &Value) {
        let subtype = line["subtype"].as_str().unwrap_or_default();
        let is_good = subtype == "success" && line["is_error"] == false;
        self.terminal = if is_good { Terminal::Good } else { Terminal::Bad };
        let text = |value: &Value| value.as_str().map(str::to_owned);
        self.session_id = text(&line["session_id"]).or(self.session_id.take());
        self.usage = usage(line);
        let said = text(&line["result"]).unwrap_or_default();
        if is_good {
            self.result_text = said;
        } else {
            let errors = line["errors"].as_array().into_iter().flatten().filter_map(Value::as_str).collect::<Vec<_>>();
            let words = if errors.is_empty() { said } else { errors.join("\n") };
            let word = line["api_error_type"].as_str().unwrap_or(subtype);
            self.failure = Some(failure(&words, word, line["api_error_status"].as_u64()));
        }
    }

    /// Reads a line that is not a delta; `false` for an unknown type.
    fn whole_line(&mut self, kind: &str, parent: Option<&String>, subtype: Option<&RawValue>, line: &str) -> bool {
        let Ok(value) = serde_json::from_str::<Value>(line) else { return false };
        match kind {
            "assistant" => self.message(parent, &value),
            "user" => self.results_of_tools(&value),
            "result" => self.result(&value),
            "system" => {
                let subtype: String =
                    subtype.and_then(|subtype| serde_json::from_str(subtype.get()).ok()).unwrap_or_default();
                return self.news(&subtype, &value);
            }
            _ => return false,
        }
        true
    }
}

/// Why a turn failed. The program's own error type, or its ending, decides if the text does not.
fn failure(words: &str, word: &str, status: Option<u64>) -> Failure {
    let status = status.and_then(|status| u16::try_from(status).ok());
    let class = match word {
        "authentication_failed" | "authentication_error" | "permission_error" | "oauth_org_not_allowed" => {
            ErrorClass::Auth
        }
        "billing_error" | "error_max_budget_usd" | "error_max_turns" => ErrorClass::Quota,
        "rate_limit" | "rate_limit_error" | "overloaded" | "overloaded_error" => ErrorClass::RateLimit,
        "model_not_found" => ErrorClass::ModelUnavailable,
        "server_error" | "api_error" => ErrorClass::Network,
        "invalid_request" | "invalid_request_error" => ErrorClass::InvalidRequest,
        _ => ErrorClass::Unknown,
    };
    let words = if words.trim().is_empty() { word.replace('_', " ") } else { words.to_owned() };
    let failure = classify(TITLE, &words, status);
    if failure.class == ErrorClass::Unknown && class != ErrorClass::Unknown {
        return Failure::of_class(class, TITLE, &words);
    }
    failure
}

fn usage(result: &Value) -> Usage {
    let tokens = |name: &str| result["usage"][name].as_u64();
    // Newer versions report a session total, and the difference as well.
    let since = result["model_usage_since_last_result"].as_object();
    // Avoids the negative zero of an empty sum.
    let cost = |models: &serde_json::Map<String, Value>| {
        models.values().filter_map(|model| model["costUSD"].as_f64()).fold(0.0, |sum, cost| sum + cost)
    };
    let since = since.map(cost);
    Usage {
        cost_usd: since.or_else(|| result["total_cost_usd"].as_f64()),
        input_tokens: tokens("input_tokens"),
        output_tokens: tokens("output_tokens"),
        cache_read: tokens("cache_read_input_tokens"),
        cache_creation: tokens("cache_creation_input_tokens"),
        duration_ms: result["duration_ms"].as_u64(),
        num_turns: result["num_turns"].as_u64(),
        premium_requests: None,
        credits: None,
        code_changes: None,
        model: None,
    }
}

impl StreamReader for ClaudeReader {
    fn read(&mut self, line: &str, events: &mut Vec<AgentEvent>) -> bool {
        let Ok(head) = serde_json::from_str::<Line<'_>>(line) else { return false };
        let is_known = match (head.kind.as_ref(), head.event) {
            ("stream_event", Some(piece)) => self.piece(head.parent_tool_use_id, piece).is_some(),
            (kind, _) if QUIET.contains(&kind) => true,
            (kind, _) => self.whole_line(kind, head.parent_tool_use_id.as_ref(), head.subtype, line),
        };
        if !is_known && let Ok(raw) = serde_json::from_str::<Box<RawValue>>(line) {
            self.events_out.push(AgentEvent::Unknown { kind: head.kind.into_owned(), raw });
        }
        events.append(&mut self.events_out);
        true
    }

    fn is_over(&self) -> bool {
        self.terminal != Terminal::Missing
    }

    fn finish(&mut self, events: &mut Vec<AgentEvent>) -> StreamEnd {
        // A stream that was cut off keeps its partial blocks; one that ended normally discards them.
        if self.is_over() {
            let mut left: Vec<BlockKey> =
                self.current.drain().flat_map(|(_, current)| current.open).map(|(_, key)| key).collect();
            left.sort();
            self.events_out.extend(left.into_iter().map(AgentEvent::BlockDiscarded));
        }
        let text = std::mem::take(&mut self.result_text);
        if self.tally.text.is_empty() && !text.is_empty() {
            let id = format!("result-{}", self.session_id.as_deref().unwrap_or_default());
            self.emit(AgentEvent::BlockEnded(BlockEnd::Message { id, content: text }));
        }
        events.append(&mut self.events_out);
        StreamEnd {
            text: std::mem::take(&mut self.tally.text),
            usage: std::mem::take(&mut self.usage),
            session_id: self.session_id.take(),
            model: self.model.take(),
            terminal: self.terminal,
            failure: self.failure.take(),
            aborted: false,
            open_tools: self.tally.open_tools(),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::agent::transcript::{ProcessEnd, judge};

    fn read(lines: &[Value]) -> (Vec<AgentEvent>, StreamEnd) {
        let (mut reader, mut events) = (ClaudeReader::new(), Vec::new());
        for line in lines {
            assert!(reader.read(&line.to_string(), &mut events), "{line}");
        }
        let end = reader.finish(&mut events);
        (events, end)
    }

    fn class(end: &StreamEnd) -> Option<&'static str> {
        judge("Claude Code", end, &ProcessEnd::default()).map(|failure| failure.class.as_str())
    }

    fn piece(event: &Value) -> Value {
        json!({ "type": "stream_event", "event": event, "parent_tool_use_id": null })
    }

    fn begins(id: &str) -> Value {
        piece(&json!({ "type": "message_start", "message": { "id": id } }))
    }

    fn text(index: u64, text: &str) -> Value {
        piece(
            &json!({ "type": "content_block_delta", "index": index, "delta": { "type": "text_delta", "text": text } }),
        )
    }

    fn whole(id: &str, block: &Value) -> Value {
        json!({ "type": "assistant", "message": { "id": id, "model": "m", "content": [block] }, "parent_tool_use_id": null })
    }

    fn good() -> Value {
        json!({ "type": "result", "subtype": "success", "is_error": false, "session_id": "s", "result": "last words" })
    }

    #[test]
    fn whole_blocks_replace_their_pieces_with_and_without_streaming() {
        let said = whole("m", &json!({ "type": "text", "text": "whole" }));
        for lines in [vec![begins("m"), text(0, "wr"), text(0, "ong"), said.clone(), good()], vec![said, good()]] {
            let (events, end) = read(&lines);
            assert_eq!((end.text.as_str(), class(&end)), ("whole", None));
            let ends: Vec<&AgentEvent> =
                events.iter().filter(|event| matches!(event, AgentEvent::BlockEnded(_))).collect();
            let [AgentEvent::BlockEnded(BlockEnd::Message { id, .. })] = ends[..] else { panic!("{events:?}") };
            assert_eq!(id, "m-0");
        }
    }

    #[test]
    fn blocks_of_one_message_keep_their_places() {
        let lines = [
            begins("m"),
            whole("m", &json!({ "type": "thinking", "thinking": "hm" })),
            text(1, "a"),
            whole("m", &json!({ "type": "text", "text": "a" })),
            whole("m", &json!({ "type": "tool_use", "id": "t", "name": "Bash", "input": { "command": "x" } })),
            json!({ "type": "user", "message": { "content": [{ "type": "tool_result", "tool_use_id": "t", "content": "out" }] } }),
            begins("n"),
            whole("n", &json!({ "type": "text", "text": "done" })),
            good(),
        ];
        let (events, end) = read(&lines);
        assert_eq!((end.text.as_str(), class(&end)), ("done", None));
        let ids: Vec<&str> = events
            .iter()
            .filter_map(|event| match event {
                AgentEvent::BlockEnded(
                    BlockEnd::Reasoning { id, .. } | BlockEnd::Message { id, .. } | BlockEnd::Tool { id, .. },
                ) => Some(id.as_str()),
                _ => None,
            })
            .collect();
        assert_eq!(ids, ["m-0", "m-1", "t", "n-0"]);
    }

    #[test]
    fn a_stream_that_is_given_up_leaves_a_discarded_block() {
        let said = whole("new", &json!({ "type": "text", "text": "y" }));
        let (events, end) = read(&[begins("old"), text(0, "x"), begins("new"), text(0, "y"), said, good()]);
        let discarded = |event: &&AgentEvent| matches!(event, AgentEvent::BlockDiscarded(key) if key.id == "old-0");
        assert_eq!((events.iter().filter(discarded).count(), end.text.as_str()), (1, "y"));
    }

    #[test]
    fn a_sub_agent_speaks_within_its_call_and_is_no_part_of_the_answer() {
        let mut aside = whole("sub", &json!({ "type": "text", "text": "hidden" }));
        aside["parent_tool_use_id"] = json!("call");
        let (events, end) = read(&[aside, whole("m", &json!({ "type": "text", "text": "shown" })), good()]);
        let start = BlockStart::Message { id: "sub-0".to_owned(), parent: Some("call".to_owned()) };
        assert!(matches!(&events[0], AgentEvent::BlockStarted(begun) if *begun == start), "{events:?}");
        assert_eq!(end.text, "shown");
    }

    #[test]
    fn errors_are_failures_and_no_messages() {
        let error = json!({
            "type": "assistant", "is_api_error_message": true, "error": "rate_limit", "api_error_status": 429,
            "message": { "id": "x", "model": "<synthetic>", "content": [{ "type": "text", "text": "API Error: no" }] },
        });
        let bad = json!({ "type": "result", "subtype": "success", "is_error": true, "api_error_status": 429, "result": "API Error: no" });
        let (events, end) = read(&[error, bad]);
        assert!(events.is_empty(), "{events:?}");
        assert_eq!(class(&end), Some("rate-limit"));
        for (result, expected) in [
            (json!({ "type": "result", "subtype": "error_max_turns", "is_error": true }), "quota"),
            (
                json!({ "type": "result", "subtype": "error_during_execution", "errors": ["connect ECONNREFUSED"] }),
                "network",
            ),
            (json!({ "type": "result", "subtype": "success" }), "unknown"),
        ] {
            assert_eq!(class(&read(&[result]).1), Some(expected));
        }
        assert_eq!(class(&read(&[text(0, "x")]).1), Some("stream-broken"));
    }

    #[test]
    fn a_result_without_a_message_is_shown_as_one() {
        let (events, end) = read(&[good()]);
        assert_eq!((end.text.as_str(), events.len()), ("last words", 1));
    }

    #[test]
    fn figures_are_those_of_the_turn() {
        let mut result = good();
        result["total_cost_usd"] = json!(3.0);
        result["usage"] = json!({ "input_tokens": 1, "output_tokens": 2, "cache_read_input_tokens": 3 });
        assert_eq!(read(&[result.clone()]).1.usage.cost_usd, Some(3.0));
        result["model_usage_since_last_result"] = json!({ "a": { "costUSD": 0.5 }, "b": { "costUSD": 0.25 } });
        let usage = read(&[result]).1.usage;
        assert_eq!((usage.cost_usd, usage.input_tokens, usage.output_tokens), (Some(0.75), Some(1), Some(2)));
        assert_eq!((usage.cache_read, usage.cache_creation, usage.premium_requests), (Some(3), None, None));
    }

    #[test]
    fn rubbish_breaks_nothing_and_unknown_kinds_are_kept() {
        let (mut reader, mut events) = (ClaudeReader::new(), Vec::new());
        for line in ["", "hello", "[1]", "null", "{", "{}", r#"{"type":7}"#] {
            assert!(!reader.read(line, &mut events), "{line}");
        }
        for line in [
            r#"{"type":"brand_new"}"#,
            r#"{"type":"system","subtype":"brand_new"}"#,
            r#"{"type":"stream_event","event":{"type":7}}"#,
        ] {
            events.clear();
            assert!(reader.read(line, &mut events), "{line}");
            assert!(matches!(&events[..], [AgentEvent::Unknown { .. }]), "{line} {events:?}");
        }
    }
}

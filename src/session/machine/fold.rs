//! The state of a log so far: the one place where events are folded into state.
//!
//! A live session applies each event as it writes it, a restarted one applies what the store has, and a recording
//! applies the events that it translates. All of them get the same state because they run the same code.

use std::collections::{HashMap, HashSet, VecDeque};

use crate::model::{
    AnsweredBy, BlockKey, BlockKind, Callback, MOST_DENIED, PromptId, RequestId, RequestOutcome, Response, Seq,
    ToolError, ToolResult, TurnActivity, TurnId, Usage,
};
use crate::store::{EndedBlock, OpenTurn};

/// The state that follows from a turn's events.
#[derive(Clone, Debug, Default, PartialEq)]
pub(in crate::session) struct Fold {
    reasoning: HashMap<String, OpenBlock>,
    messages: HashMap<String, OpenBlock>,
    tools: HashMap<String, OpenBlock>,
    /// The agent's own turn that is open.
    agent_turn: Option<TurnId>,
    answer: Answer,
}

#[derive(Clone, Debug, PartialEq)]
struct OpenBlock {
    start: Seq,
    /// The tool call of the sub-agent that it comes from.
    parent: Option<String>,
    content: String,
    deltas: u64,
}

/// Permissions of a turn that are remembered.
const MOST_PERMISSIONS: usize = 1_000;

/// A permission that the agent asked for in the turn.
#[derive(Clone, Debug, PartialEq)]
struct AskedPermission {
    request: RequestId,
    /// What would have been done.
    line: String,
    /// A rule, the mode or a timeout denied it.
    is_denied: bool,
}

/// What a turn has produced.
#[derive(Clone, Debug, Default, PartialEq)]
pub(in crate::session) struct Answer {
    /// What the agent said since its last tool call.
    pub text: String,
    /// What it cost, as far as the agent reported it.
    pub usage: Usage,
    /// Prompts that were added to the turn while it ran.
    pub steered_by: Vec<PromptId>,
    /// Messages of sub-agents to the agent: not part of the answer.
    asides: HashSet<String>,
    /// How often the agent has begun to work in the turn.
    steps: u32,
    /// The tools it has started. What was denied is filled in at the end.
    activity: TurnActivity,
    /// The calls of the activity's reports.
    reporting: VecDeque<String>,
    permissions: VecDeque<AskedPermission>,
}

impl Answer {
    fn add_text(&mut self, content: &str) {
        if !self.text.is_empty() && !content.is_empty() {
            self.text.push_str("\n\n");
        }
        self.text.push_str(content);
    }

    /// What the agent did.
    pub fn activity(&mut self) -> TurnActivity {
        let mut activity = std::mem::take(&mut self.activity);
        let denied = self.permissions.drain(..).filter(|asked| asked.is_denied).map(|asked| asked.line);
        activity.denied = denied.collect();
        activity.denied.drain(..activity.denied.len().saturating_sub(MOST_DENIED));
        activity
    }

    fn tool_started(&mut self, call: &str, name: &str, arguments: &str) {
        if self.activity.tool_started(name, arguments) {
            self.reporting.push_back(call.to_owned());
            if self.reporting.len() > self.activity.reports.len() {
                self.reporting.pop_front();
            }
        }
    }

    fn tool_returned(&mut self, call: &str, content: &str) {
        if let Some(report) = self.reporting.iter().rposition(|reporting| reporting == call) {
            self.activity.report_returned(report, content);
        }
    }

    fn permission_asked(&mut self, request: &RequestId, line: String) {
        if self.permissions.len() >= MOST_PERMISSIONS {
            self.permissions.pop_front();
        }
        self.permissions.push_back(AskedPermission { request: request.clone(), line, is_denied: false });
    }

    fn set_denied(&mut self, request: &RequestId, is_denied: bool) {
        if let Some(asked) = self.permissions.iter_mut().rev().find(|asked| asked.request == *request) {
            asked.is_denied = is_denied;
        }
    }
}

/// What an event does beyond the state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::session) enum Effect {
    None,
    /// It is a piece of the block that began with this number.
    Delta {
        block: Seq,
    },
    /// It ends a block, whose pieces are no longer needed.
    Ended(EndedBlock),
}

impl Fold {
    /// Applies an event.
    pub fn apply(&mut self, seq: Seq, response: &Response) -> Effect {
        let Response::Callback(callback) = response else { return Effect::None };
        match callback {
            Callback::StartReasoning { reasoning_id, parent_tool_call_id } => {
                start(&mut self.reasoning, reasoning_id, seq, parent_tool_call_id.as_ref())
            }
            Callback::StartMessage { message_id, parent_tool_call_id } => {
                if parent_tool_call_id.is_some() {
                    self.answer.asides.insert(message_id.clone());
                }
                start(&mut self.messages, message_id, seq, parent_tool_call_id.as_ref())
            }
            Callback::StartToolExecution { tool_call_id, parent_tool_call_id, tool_name, tool_arguments } => {
                // What the agent said before a tool call is not its answer.
                self.answer.text = String::new();
                self.answer.tool_started(tool_call_id, tool_name, tool_arguments);
                start(&mut self.tools, tool_call_id, seq, parent_tool_call_id.as_ref())
            }
            Callback::Reasoning { reasoning_id, delta } => extend(&mut self.reasoning, reasoning_id, delta),
            Callback::Message { message_id, delta } => extend(&mut self.messages, message_id, delta),
            Callback::ToolExecution { tool_call_id, delta } => extend(&mut self.tools, tool_call_id, delta),
            Callback::EndReasoning { reasoning_id, .. } => end(&mut self.reasoning, reasoning_id, seq),
            Callback::EndMessage { message_id, complete_content, incomplete } => {
                if !incomplete && !self.answer.asides.contains(message_id) {
                    self.answer.add_text(complete_content);
                }
                end(&mut self.messages, message_id, seq)
            }
            Callback::EndToolExecution { tool_call_id, result, .. } => {
                if let Some(result) = result {
                    self.answer.tool_returned(tool_call_id, &result.content);
                }
                end(&mut self.tools, tool_call_id, seq)
            }
            Callback::AgentStart { turn_id } => {
                self.agent_turn = Some(turn_id.clone());
                self.answer.steps += 1;
                Effect::None
            }
            Callback::AgentEnd { .. } => {
                self.agent_turn = None;
                Effect::None
            }
            Callback::Usage(usage) => {
                self.answer.usage.add(usage);
                Effect::None
            }
            // A prompt that did not wait while a turn ran has steered it.
            Callback::UserPrompt { prompt_id, queued: false, .. }
            | Callback::GeneratedUserPrompt { prompt_id: Some(prompt_id), queued: Some(false), .. } => {
                self.answer.steered_by.push(*prompt_id);
                Effect::None
            }
            Callback::PermissionRequested { request_id, kind, title, detail, .. } => {
                let line = TurnActivity::line_of_permission(kind, title, detail);
                self.answer.permission_asked(request_id, line);
                Effect::None
            }
            Callback::PermissionAnswered { request_id, decision, by, .. } => {
                let nobody_decided = matches!(by, AnsweredBy::Rule | AnsweredBy::Mode | AnsweredBy::Timeout);
                self.answer.set_denied(request_id, nobody_decided && *decision == RequestOutcome::Deny);
                Effect::None
            }
            // One that the agent did not take into the turn was queued again before.
            Callback::PromptCancelled { prompt_id } => {
                self.remove_steered(*prompt_id);
                Effect::None
            }
            Callback::UserPrompt { .. }
            | Callback::PromptChanged { .. }
            | Callback::QueueReordered { .. }
            | Callback::Idle {}
            | Callback::GeneratedUserPrompt { .. }
            | Callback::PermissionAllowed { .. }
            | Callback::QuestionAsked { .. }
            | Callback::QuestionAnswered { .. }
            | Callback::ContextUsage(_)
            | Callback::BackgroundTasks { .. }
            | Callback::Notice { .. }
            | Callback::UnknownEvent { .. }
            | Callback::TitleChanged { .. }
            | Callback::StateChanged { .. } => Effect::None,
        }
    }

    /// A turn begins: the answer of the last one is cleared.
    pub fn begin_turn(&mut self) {
        self.answer = Answer::default();
    }

    /// A turn did not begin after all.
    pub fn restore_answer(&mut self, answer: Answer) {
        self.answer = answer;
    }

    /// The turn is over: what it has produced belongs to its outcome, and a session at rest does not hold it.
    pub fn take_answer(&mut self) -> Answer {
        std::mem::take(&mut self.answer)
    }

    /// What the turn has produced so far.
    pub fn answer(&self) -> &Answer {
        &self.answer
    }

    /// A prompt that was added to the turn is no longer part of it.
    pub fn remove_steered(&mut self, prompt: PromptId) {
        self.answer.steered_by.retain(|steered| *steered != prompt);
    }

    /// The store refused the answer to a request.
    pub fn take_back_answer(&mut self, request: &RequestId) {
        self.answer.set_denied(request, false);
    }

    /// How often the agent has begun to work in the turn.
    pub fn steps(&self) -> u32 {
        self.answer.steps
    }

    pub fn agent_turn(&self) -> Option<&TurnId> {
        self.agent_turn.as_ref()
    }

    /// The ids of tool calls that have started and not ended.
    pub fn open_tools(&self) -> impl Iterator<Item = &str> {
        self.tools.keys().map(String::as_str)
    }

    pub fn runs_tools(&self) -> bool {
        !self.tools.is_empty()
    }

    /// What an open block has said so far.
    pub fn content(&self, key: &BlockKey) -> Option<&str> {
        Some(self.blocks(key.kind).get(&key.id)?.content.as_str())
    }

    /// The tool call of the sub-agent that an open block comes from.
    pub fn parent(&self, key: &BlockKey) -> Option<String> {
        self.blocks(key.kind).get(&key.id)?.parent.clone()
    }

    pub fn is_open(&self, key: &BlockKey) -> bool {
        self.blocks(key.kind).contains_key(&key.id)
    }

    /// The ends that close everything that is open, in the order in which it began, with what was said so far. `reason`
    /// becomes the error of tools.
    pub fn closing_responses(&self, reason: &str) -> Vec<(BlockKey, Response)> {
        let kinds = [BlockKind::Reasoning, BlockKind::Message, BlockKind::Tool];
        let mut open: Vec<_> = kinds
            .into_iter()
            .flat_map(|kind| self.blocks(kind).iter().map(move |(id, block)| (block.start, kind, id, block)))
            .collect();
        open.sort_by_key(|(start, ..)| *start);
        let closing = |kind, id: &String, block: &OpenBlock| {
            (BlockKey::new(kind, id), closing_response(kind, id, &block.content, reason))
        };
        open.into_iter().map(|(_, kind, id, block)| closing(kind, id, block)).collect()
    }

    /// The end that closes one block with its content so far.
    pub fn closing_response(&self, key: &BlockKey, reason: &str) -> Option<Response> {
        self.blocks(key.kind).get(&key.id).map(|block| closing_response(key.kind, &key.id, &block.content, reason))
    }

    fn blocks(&self, kind: BlockKind) -> &HashMap<String, OpenBlock> {
        match kind {
            BlockKind::Reasoning => &self.reasoning,
            BlockKind::Message => &self.messages,
            BlockKind::Tool => &self.tools,
        }
    }
}

/// Rebuilds the state of what was open when the server ended, from its events.
pub(in crate::session) struct Replay {
    fold: Fold,
    /// The turn's own events follow this one.
    begun: Option<Seq>,
}

impl Replay {
    /// The events that are to be applied follow `open.after`.
    pub fn new(open: &OpenTurn) -> Self {
        Self { fold: Fold::default(), begun: open.begun }
    }

    pub fn apply(&mut self, seq: Seq, response: &Response) {
        if self.begun.is_some_and(|begun| seq > begun) {
            self.begin_turn();
        }
        self.fold.apply(seq, response);
    }

    pub fn finish(mut self) -> Fold {
        self.begin_turn();
        self.fold
    }

    fn begin_turn(&mut self) {
        if self.begun.take().is_some() {
            self.fold.begin_turn();
        }
    }
}

fn start(blocks: &mut HashMap<String, OpenBlock>, id: &str, seq: Seq, parent: Option<&String>) -> Effect {
    let block = OpenBlock { start: seq, parent: parent.cloned(), content: String::new(), deltas: 0 };
    blocks.insert(id.to_owned(), block);
    Effect::None
}

fn extend(blocks: &mut HashMap<String, OpenBlock>, id: &str, delta: &str) -> Effect {
    let Some(block) = blocks.get_mut(id) else { return Effect::None };
    block.content.push_str(delta);
    block.deltas += 1;
    Effect::Delta { block: block.start }
}

fn end(blocks: &mut HashMap<String, OpenBlock>, id: &str, seq: Seq) -> Effect {
    match blocks.remove(id) {
        Some(block) => Effect::Ended(EndedBlock { start: block.start, end: seq, deltas: block.deltas }),
        None => Effect::None,
    }
}

fn closing_response(kind: BlockKind, id: &str, content: &str, reason: &str) -> Response {
    let (id, content) = (id.to_owned(), content.to_owned());
    match kind {
        BlockKind::Reasoning => {
            Callback::EndReasoning { reasoning_id: id, complete_content: content, incomplete: true }
        }
        BlockKind::Message => Callback::EndMessage { message_id: id, complete_content: content, incomplete: true },
        BlockKind::Tool => Callback::EndToolExecution {
            tool_call_id: id,
            // The output so far is dropped from the log with the deltas, so the end must carry it.
            result: (!content.is_empty()).then(|| ToolResult { content, ..ToolResult::default() }),
            error: Some(ToolError { message: reason.to_owned(), code: Some("interrupted".to_owned()) }),
        },
    }
    .into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folded(log: &[&str]) -> Fold {
        let mut fold = Fold::default();
        for (seq, json) in (1..).zip(log) {
            fold.apply(seq, &Response::from_json(json).expect("one of ours"));
        }
        fold
    }

    #[test]
    fn open_blocks_are_closed_in_order_with_what_they_said() {
        let mut fold = folded(&[
            r#"{"callback":"onStartMessage","messageId":"m"}"#,
            r#"{"callback":"onStartToolExecution","toolCallId":"t","toolName":"x","toolArguments":""}"#,
            r#"{"callback":"onToolExecution","toolCallId":"t","delta":"out"}"#,
            r#"{"callback":"onMessage","messageId":"m","delta":"he"}"#,
            r#"{"callback":"onMessage","messageId":"m","delta":"llo"}"#,
        ]);
        let closing = fold.closing_responses("lost");
        let json: Vec<String> = closing.iter().map(|(_, response)| response.to_json()).collect();
        assert_eq!(
            json,
            [
                r#"{"callback":"onEndMessage","messageId":"m","completeContent":"hello","incomplete":true}"#,
                r#"{"callback":"onEndToolExecution","toolCallId":"t","result":{"content":"out"},"error":{"message":"lost","code":"interrupted"}}"#,
            ]
        );
        let ended = EndedBlock { start: 1, end: 9, deltas: 2 };
        assert_eq!(fold.apply(9, &closing[0].1), Effect::Ended(ended));
        assert!(!fold.is_open(&BlockKey::new(BlockKind::Message, "m")));
        assert!(fold.is_open(&BlockKey::new(BlockKind::Tool, "t")));
    }

    #[test]
    fn tools_reports_and_what_nobody_could_allow_are_the_activity() {
        let asked = |id: u32, kind: &str, detail: &str| {
            format!(
                r#"{{"callback":"onPermissionRequested","requestId":"request-{id}","kind":"{kind}","title":"t","detail":"{detail}","options":[]}}"#
            )
        };
        let answered = |id: u32, decision: &str, by: &str| {
            format!(
                r#"{{"callback":"onPermissionAnswered","requestId":"request-{id}","decision":"{decision}","by":"{by}"}}"#
            )
        };
        let started = |name: &str, arguments: &str| {
            let arguments = serde_json::to_string(arguments).expect("text");
            format!(
                r#"{{"callback":"onStartToolExecution","toolCallId":"{name}","toolName":"{name}","toolArguments":{arguments}}}"#
            )
        };
        let ended = |name: &str, content: &str| {
            format!(r#"{{"callback":"onEndToolExecution","toolCallId":"{name}","result":{{"content":"{content}"}}}}"#)
        };
        let log = [
            started("bash", ""),
            asked(1, "shell", "rm -rf x"),
            answered(1, "deny", "rule"),
            asked(2, "shell", "make"),
            answered(2, "deny", "page"),
            asked(3, "url", "http://x"),
            asked(4, "write", "/x"),
            answered(4, "deny", "mode"),
            answered(3, "deny", "timeout"),
            asked(5, "read", "/y"),
            answered(5, "allow-once", "rule"),
            started("flightdeck-job_boolean_true", r#"{"reason":"done"}"#),
            started("flightdeck_job_prepare_document", ""),
            ended("flightdeck_job_prepare_document", "plan.md"),
            ended("flightdeck-job_boolean_true", "something else"),
        ];
        let mut fold = folded(&log.iter().map(String::as_str).collect::<Vec<_>>());
        let activity = fold.take_answer().activity();
        assert_eq!(activity.tools, ["bash", "job_boolean_true", "job_prepare_document"]);
        let texts: Vec<&str> = activity.reports.iter().map(|report| report.text.as_str()).collect();
        assert_eq!(texts, ["done", "plan.md"], "an agent may say what it reports only at the end");
        assert_eq!(activity.denied, ["shell: rm -rf x", "url: http://x", "write: /x"]);
    }

    #[test]
    fn only_complete_messages_after_the_last_tool_call_are_the_answer() {
        let fold = folded(&[
            r#"{"callback":"onStartMessage","messageId":"a"}"#,
            r#"{"callback":"onEndMessage","messageId":"a","completeContent":"before"}"#,
            r#"{"callback":"onStartToolExecution","toolCallId":"t","toolName":"x","toolArguments":""}"#,
            r#"{"callback":"onEndToolExecution","toolCallId":"t"}"#,
            r#"{"callback":"onStartMessage","messageId":"b"}"#,
            r#"{"callback":"onEndMessage","messageId":"b","completeContent":"half","incomplete":true}"#,
            r#"{"callback":"onStartMessage","messageId":"s","parentToolCallId":"t"}"#,
            r#"{"callback":"onEndMessage","messageId":"s","completeContent":"aside"}"#,
            r#"{"callback":"onStartMessage","messageId":"c"}"#,
            r#"{"callback":"onEndMessage","messageId":"c","completeContent":"whole"}"#,
            r#"{"callback":"onStartMessage","messageId":"d"}"#,
            r#"{"callback":"onEndMessage","messageId":"d","completeContent":"answer"}"#,
        ]);
        assert_eq!(fold.answer().text, "whole\n\nanswer");
    }
}

//! What an agent says about its blocks and turns, written as events.

use std::collections::{HashMap, VecDeque};

use super::fold::{Effect, Fold};
use crate::agent::{BlockEnd, BlockStart};
use crate::model::{BlockKey, BlockKind, Callback, Response, Seq, TurnId};
use crate::store::EndedBlock;

/// Reasoning without a word that is followed at once; more is written as it comes.
const MOST_SILENT: usize = 256;
/// Closed blocks that are remembered.
const MOST_CLOSED: usize = 256;

/// Where events are written.
pub(in crate::session) trait Entries {
    /// The number that the next event gets.
    fn next_seq(&self) -> Seq;
    /// Numbers an event; `block` is the start of the block that it is a piece of.
    fn push(&mut self, response: Response, block: Option<Seq>);
    /// The pieces of a block are no longer needed.
    fn ended(&mut self, block: EndedBlock);
}

/// Writes events and keeps the state that follows from them. Starts and ends that an agent leaves out are added.
#[derive(Clone, Debug, Default)]
pub(in crate::session) struct Transcript {
    fold: Fold,
    /// Reasoning that began and has said nothing yet, with the tool call of its sub-agent. Models may keep it to
    /// themselves, and then it is not written.
    silent: HashMap<String, Option<String>>,
    /// Blocks that were closed because the agent had not ended them, the latest last. What it says about them later
    /// comes too late, except from a sub-agent, which may work on while the agent itself goes on: its tool call is here.
    closed: VecDeque<(BlockKey, Option<String>)>,
}

impl Transcript {
    /// Continues a log with this state.
    pub fn resume(fold: Fold) -> Self {
        Self { fold, ..Self::default() }
    }

    pub fn fold(&self) -> &Fold {
        &self.fold
    }

    pub fn fold_mut(&mut self) -> &mut Fold {
        &mut self.fold
    }

    /// A turn begins: the answer of the last one is cleared, and ids of its messages may come again. Those of tool calls
    /// may not: after a restart an agent ends calls that were closed before.
    pub fn begin_turn(&mut self) {
        self.fold.begin_turn();
        self.closed.retain(|(key, _)| key.kind == BlockKind::Tool);
    }

    /// Writes an event.
    pub fn write(&mut self, log: &mut impl Entries, response: Response) -> Seq {
        let seq = log.next_seq();
        match self.fold.apply(seq, &response) {
            Effect::None => log.push(response, None),
            Effect::Delta { block } => log.push(response, Some(block)),
            Effect::Ended(block) => {
                log.push(response, None);
                log.ended(block);
            }
        }
        seq
    }

    pub fn start_block(&mut self, log: &mut impl Entries, start: BlockStart) {
        match start {
            BlockStart::Reasoning { id, parent } if self.silent.len() < MOST_SILENT => {
                self.silent.entry(id).or_insert(parent);
            }
            start => self.write_start(log, start),
        }
    }

    fn write_start(&mut self, log: &mut impl Entries, start: BlockStart) {
        let (key, callback) = started(start);
        self.closed.retain(|(closed, _)| *closed != key);
        // A second start of an open block is ignored.
        if !self.fold.is_open(&key) {
            self.write(log, callback.into());
        }
    }

    pub fn extend_block(&mut self, log: &mut impl Entries, key: BlockKey, delta: String) {
        let says_nothing = key.kind == BlockKind::Reasoning && delta.is_empty();
        if !self.fold.is_open(&key) && (says_nothing || self.is_too_late(&key)) {
            return;
        }
        self.ensure_started(log, &key);
        let BlockKey { kind, id } = key;
        let callback = match kind {
            BlockKind::Reasoning => Callback::Reasoning { reasoning_id: id, delta },
            BlockKind::Message => Callback::Message { message_id: id, delta },
            BlockKind::Tool => Callback::ToolExecution { tool_call_id: id, delta },
        };
        self.write(log, callback.into());
    }

    pub fn end_block(&mut self, log: &mut impl Entries, mut end: BlockEnd) {
        let mut says_nothing = false;
        if let BlockEnd::Reasoning { id, content } = &mut end
            && content.trim().is_empty()
        {
            says_nothing = true;
            // What was said of it stays: the end replaces the pieces.
            let said = self.fold.content(&BlockKey::new(BlockKind::Reasoning, id.as_str()));
            said.unwrap_or_default().clone_into(content);
        }
        let (key, callback) = ended(end);
        if !self.fold.is_open(&key) && (says_nothing || self.is_too_late(&key)) {
            self.silent.remove(&key.id);
            return;
        }
        self.ensure_started(log, &key);
        self.write(log, callback.into());
    }

    /// Ends a block with its content so far, which is not part of the answer.
    pub fn discard_block(&mut self, log: &mut impl Entries, key: &BlockKey, reason: &str) {
        // Not remembered as closed: some agents start it again under the same id.
        if let Some(response) = self.fold.closing_response(key, reason) {
            self.write(log, response);
        }
    }

    fn close_block(&mut self, log: &mut impl Entries, key: BlockKey, response: Response) {
        if self.closed.len() >= MOST_CLOSED {
            self.closed.pop_front();
        }
        let parent = self.fold.parent(&key);
        self.closed.push_back((key, parent));
        self.write(log, response);
    }

    /// Whether a block has been closed and is not begun again.
    fn is_too_late(&self, key: &BlockKey) -> bool {
        let closed = self.closed.iter().find(|(closed, _)| closed == key);
        closed.is_some_and(|(key, parent)| parent.is_none() || key.kind == BlockKind::Tool)
    }

    pub fn close_blocks(&mut self, log: &mut impl Entries, reason: &str) {
        self.silent.clear();
        for (key, response) in self.fold.closing_responses(reason) {
            self.close_block(log, key, response);
        }
    }

    /// Whether the agent has an open turn.
    pub fn agent_works(&self) -> bool {
        self.fold.agent_turn().is_some()
    }

    /// The agent begins a step of the turn with this id; it had that many in earlier attempts. The agent's own ids may
    /// start again with each prompt.
    pub fn start_agent_turn(&mut self, log: &mut impl Entries, turn: &TurnId, steps_before: u32) {
        self.write_agent_end(log);
        let turn_id = match self.fold.steps() + steps_before {
            0 => turn.clone(),
            steps => format!("{turn}.{}", steps + 1).into(),
        };
        self.write(log, Callback::AgentStart { turn_id }.into());
    }

    /// Writes the end of the agent's own turn, if one is open. No block of it ends later.
    pub fn write_agent_end(&mut self, log: &mut impl Entries) {
        if let Some(turn_id) = self.fold.agent_turn().cloned() {
            self.close_blocks(log, "the agent ended its turn without it");
            self.write(log, Callback::AgentEnd { turn_id }.into());
        }
    }

    fn ensure_started(&mut self, log: &mut impl Entries, key: &BlockKey) {
        if !self.fold.is_open(key) {
            let silent = self.silent.remove(&key.id).filter(|_| key.kind == BlockKind::Reasoning).flatten();
            let closed = self.closed.iter().find(|(closed, _)| closed == key).and_then(|(_, parent)| parent.clone());
            self.write_start(log, missing_start(key, silent.or(closed)));
        }
    }
}

fn started(start: BlockStart) -> (BlockKey, Callback) {
    match start {
        BlockStart::Reasoning { id, parent } => (
            BlockKey::new(BlockKind::Reasoning, &id),
            Callback::StartReasoning { reasoning_id: id, parent_tool_call_id: parent },
        ),
        BlockStart::Message { id, parent } => (
            BlockKey::new(BlockKind::Message, &id),
            Callback::StartMessage { message_id: id, parent_tool_call_id: parent },
        ),
        BlockStart::Tool { id, parent, name, arguments } => (
            BlockKey::new(BlockKind::Tool, &id),
            Callback::StartToolExecution {
                tool_call_id: id,
                parent_tool_call_id: parent,
                tool_name: name,
                tool_arguments: arguments,
            },
        ),
    }
}

/// The start of a block that an agent left out.
fn missing_start(key: &BlockKey, parent: Option<String>) -> BlockStart {
    let id = key.id.clone();
    match key.kind {
        BlockKind::Reasoning => BlockStart::Reasoning { id, parent },
        BlockKind::Message => BlockStart::Message { id, parent },
        BlockKind::Tool => BlockStart::Tool { id, parent: None, name: "unknown".to_owned(), arguments: String::new() },
    }
}

fn ended(end: BlockEnd) -> (BlockKey, Callback) {
    match end {
        BlockEnd::Reasoning { id, content } => (
            BlockKey::new(BlockKind::Reasoning, &id),
            Callback::EndReasoning { reasoning_id: id, complete_content: content, incomplete: false },
        ),
        BlockEnd::Message { id, content } => (
            BlockKey::new(BlockKind::Message, &id),
            Callback::EndMessage { message_id: id, complete_content: content, incomplete: false },
        ),
        BlockEnd::Tool { id, result, error } => {
            (BlockKey::new(BlockKind::Tool, &id), Callback::EndToolExecution { tool_call_id: id, result, error })
        }
    }
}

//! What an agent says about its blocks and turns, written as events.

use super::fold::{Effect, Fold};
use crate::agent::{BlockEnd, BlockStart};
use crate::model::{BlockKey, BlockKind, Callback, Response, Seq, TurnId};
use crate::store::EndedBlock;

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
    /// The agent said that its turn ended. The end is written right before what follows, so that `onAgentEnd` and
    /// `onIdle` are adjacent at the end of a turn.
    agent_turn_ended: bool,
}

impl Transcript {
    /// Continues a log with this state.
    pub fn resume(fold: Fold) -> Self {
        Self { fold, agent_turn_ended: false }
    }

    pub fn fold(&self) -> &Fold {
        &self.fold
    }

    pub fn fold_mut(&mut self) -> &mut Fold {
        &mut self.fold
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
        let (key, callback) = started(start);
        // A second start of an open block is ignored.
        if !self.fold.is_open(&key) {
            self.write(log, callback.into());
        }
    }

    pub fn extend_block(&mut self, log: &mut impl Entries, key: BlockKey, delta: String) {
        self.ensure_started(log, &key);
        let BlockKey { kind, id } = key;
        let callback = match kind {
            BlockKind::Reasoning => Callback::Reasoning { reasoning_id: id, delta },
            BlockKind::Message => Callback::Message { message_id: id, delta },
            BlockKind::Tool => Callback::ToolExecution { tool_call_id: id, delta },
        };
        self.write(log, callback.into());
    }

    pub fn end_block(&mut self, log: &mut impl Entries, end: BlockEnd) {
        let (key, callback) = ended(end);
        self.ensure_started(log, &key);
        self.write(log, callback.into());
    }

    /// Ends a block with its content so far, which is not part of the answer.
    pub fn discard_block(&mut self, log: &mut impl Entries, key: &BlockKey, reason: &str) {
        if let Some(response) = self.fold.closing_response(key, reason) {
            self.write(log, response);
        }
    }

    pub fn close_blocks(&mut self, log: &mut impl Entries, reason: &str) {
        for response in self.fold.closing_responses(reason) {
            self.write(log, response);
        }
    }

    /// Whether the agent has an open turn.
    pub fn agent_works(&self) -> bool {
        self.fold.agent_turn().is_some()
    }

    pub fn start_agent_turn(&mut self, log: &mut impl Entries, turn_id: TurnId) {
        self.write_agent_end(log);
        self.write(log, Callback::AgentStart { turn_id }.into());
    }

    /// The agent reports that its turn ended.
    pub fn note_agent_end(&mut self) {
        self.agent_turn_ended = self.agent_works();
    }

    /// Writes an end that was noted before, because something follows it.
    pub fn write_noted_end(&mut self, log: &mut impl Entries) {
        if self.agent_turn_ended {
            self.write_agent_end(log);
        }
    }

    /// Writes the end of the agent's own turn, if one is open.
    pub fn write_agent_end(&mut self, log: &mut impl Entries) {
        self.agent_turn_ended = false;
        if let Some(turn_id) = self.fold.agent_turn().cloned() {
            self.write(log, Callback::AgentEnd { turn_id }.into());
        }
    }

    fn ensure_started(&mut self, log: &mut impl Entries, key: &BlockKey) {
        if !self.fold.is_open(key) {
            self.start_block(log, missing_start(key));
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
fn missing_start(key: &BlockKey) -> BlockStart {
    let id = key.id.clone();
    match key.kind {
        BlockKind::Reasoning => BlockStart::Reasoning { id, parent: None },
        BlockKind::Message => BlockStart::Message { id, parent: None },
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

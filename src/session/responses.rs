//! Which responses the parts of a block become.

use crate::agent::{BlockEnd, BlockStart};
use crate::model::{BlockKey, BlockKind, Callback};

/// The start of a block.
pub(super) fn start(start: BlockStart) -> (BlockKey, Callback) {
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
pub(super) fn made_up_start(key: &BlockKey) -> BlockStart {
    let id = key.id.clone();
    match key.kind {
        BlockKind::Reasoning => BlockStart::Reasoning { id, parent: None },
        BlockKind::Message => BlockStart::Message { id, parent: None },
        BlockKind::Tool => BlockStart::Tool { id, parent: None, name: "unknown".to_owned(), arguments: String::new() },
    }
}

/// A piece of a block.
pub(super) fn delta(key: &BlockKey, delta: String) -> Callback {
    let id = key.id.clone();
    match key.kind {
        BlockKind::Reasoning => Callback::Reasoning { reasoning_id: id, delta },
        BlockKind::Message => Callback::Message { message_id: id, delta },
        BlockKind::Tool => Callback::ToolExecution { tool_call_id: id, delta },
    }
}

/// The end of a block.
pub(super) fn end(end: BlockEnd) -> (BlockKey, Callback) {
    match end {
        BlockEnd::Reasoning { id, content } => (
            BlockKey::new(BlockKind::Reasoning, &id),
            Callback::EndReasoning { reasoning_id: id, complete_content: content },
        ),
        BlockEnd::Message { id, content } => {
            (BlockKey::new(BlockKind::Message, &id), Callback::EndMessage { message_id: id, complete_content: content })
        }
        BlockEnd::Tool { id, result, error } => {
            (BlockKey::new(BlockKind::Tool, &id), Callback::EndToolExecution { tool_call_id: id, result, error })
        }
    }
}

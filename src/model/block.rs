//! Blocks: the parts of a turn that have a start, data and an end.

/// What a block holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum BlockKind {
    /// What the model thinks before it responds.
    Reasoning,
    /// What the agent says.
    Message,
    /// A tool call: arguments, output, result.
    Tool,
}

/// A block's identity within its session: ids are unique per kind only.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct BlockKey {
    /// What the block holds.
    pub kind: BlockKind,
    /// The id the agent gave it.
    pub id: String,
}

impl BlockKey {
    /// The key of the block of `kind` that the agent calls `id`.
    pub fn new(kind: BlockKind, id: impl Into<String>) -> Self {
        Self { kind, id: id.into() }
    }
}

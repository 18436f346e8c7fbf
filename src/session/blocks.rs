//! Which blocks of a session are open, and what they have said so far.

use std::collections::HashMap;

use crate::model::{BlockKey, BlockKind, Callback, Response, Seq, ToolError, ToolResult};
use crate::store::EndedBlock;

/// Open blocks, in the order in which they began. The same code follows a live turn and rebuilds one after a restart,
/// so the two cannot disagree.
#[derive(Debug, Default)]
pub(super) struct Blocks {
    open: HashMap<BlockKey, OpenBlock>,
}

#[derive(Debug)]
struct OpenBlock {
    start: Seq,
    content: String,
    deltas: u64,
}

impl Blocks {
    pub fn is_open(&self, key: &BlockKey) -> bool {
        self.open.contains_key(key)
    }

    pub fn start(&mut self, key: BlockKey, seq: Seq) {
        self.open.insert(key, OpenBlock { start: seq, content: String::new(), deltas: 0 });
    }

    /// Notes a delta; gives the number of the block's start.
    pub fn delta(&mut self, key: &BlockKey, delta: &str) -> Option<Seq> {
        let block = self.open.get_mut(key)?;
        block.content.push_str(delta);
        block.deltas += 1;
        Some(block.start)
    }

    /// Notes the end of a block; gives what is to be dropped from the store.
    pub fn end(&mut self, key: &BlockKey, end: Seq) -> Option<EndedBlock> {
        let block = self.open.remove(key)?;
        Some(EndedBlock { start: block.start, end, deltas: block.deltas })
    }

    /// The ends that close everything that is open, with what was said so far. `reason` becomes the error of tools.
    pub fn closing_responses(&self, reason: &str) -> Vec<(BlockKey, Response)> {
        let mut open: Vec<_> = self.open.iter().collect();
        open.sort_by_key(|(_, block)| block.start);
        open.into_iter()
            .map(|(key, block)| (key.clone(), closing_response(key, block.content.clone(), reason)))
            .collect()
    }

    /// The end that closes one block with what it said so far.
    pub fn closing_response(&self, key: &BlockKey, reason: &str) -> Option<Response> {
        self.open.get(key).map(|block| closing_response(key, block.content.clone(), reason))
    }

    /// Follows a response that is in the log already.
    pub fn replay(&mut self, seq: Seq, response: &Response) {
        let Response::Callback(callback) = response else { return };
        match callback {
            Callback::StartReasoning { reasoning_id: id, .. } => {
                self.start(BlockKey::new(BlockKind::Reasoning, id), seq);
            }
            Callback::StartMessage { message_id: id, .. } => {
                self.start(BlockKey::new(BlockKind::Message, id), seq);
            }
            Callback::StartToolExecution { tool_call_id: id, .. } => {
                self.start(BlockKey::new(BlockKind::Tool, id), seq);
            }
            Callback::Reasoning { reasoning_id: id, delta } => {
                self.delta(&BlockKey::new(BlockKind::Reasoning, id), delta);
            }
            Callback::Message { message_id: id, delta } => {
                self.delta(&BlockKey::new(BlockKind::Message, id), delta);
            }
            Callback::ToolExecution { tool_call_id: id, delta } => {
                self.delta(&BlockKey::new(BlockKind::Tool, id), delta);
            }
            Callback::EndReasoning { reasoning_id: id, .. } => {
                self.end(&BlockKey::new(BlockKind::Reasoning, id), seq);
            }
            Callback::EndMessage { message_id: id, .. } => {
                self.end(&BlockKey::new(BlockKind::Message, id), seq);
            }
            Callback::EndToolExecution { tool_call_id: id, .. } => {
                self.end(&BlockKey::new(BlockKind::Tool, id), seq);
            }
            _ => {}
        }
    }
}

fn closing_response(key: &BlockKey, content: String, reason: &str) -> Response {
    let id = key.id.clone();
    match key.kind {
        BlockKind::Reasoning => Callback::EndReasoning { reasoning_id: id, complete_content: content },
        BlockKind::Message => Callback::EndMessage { message_id: id, complete_content: content },
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

    #[test]
    fn what_is_open_is_closed_in_order_with_what_it_said() {
        let mut blocks = Blocks::default();
        let (message, tool) = (BlockKey::new(BlockKind::Message, "m"), BlockKey::new(BlockKind::Tool, "t"));
        blocks.start(message.clone(), 2);
        blocks.start(tool.clone(), 3);
        blocks.delta(&tool, "out");
        assert_eq!(blocks.delta(&message, "he"), Some(2));
        blocks.delta(&message, "llo");
        let closing = blocks.closing_responses("lost");
        assert_eq!(closing[0].1.to_json(), r#"{"callback":"onEndMessage","messageId":"m","completeContent":"hello"}"#);
        assert_eq!(
            closing[1].1.to_json(),
            r#"{"callback":"onEndToolExecution","toolCallId":"t","result":{"content":"out"},"error":{"message":"lost","code":"interrupted"}}"#
        );
        assert_eq!(blocks.end(&message, 9), Some(EndedBlock { start: 2, end: 9, deltas: 2 }));
        assert!(!blocks.is_open(&message) && blocks.is_open(&tool));
    }

    #[test]
    fn a_replayed_log_gives_the_same_open_blocks() {
        let log = [
            r#"{"callback":"onStartMessage","messageId":"a"}"#,
            r#"{"callback":"onMessage","messageId":"a","delta":"x"}"#,
            r#"{"callback":"onEndMessage","messageId":"a","completeContent":"x"}"#,
            r#"{"callback":"onStartReasoning","reasoningId":"r"}"#,
            r#"{"callback":"onReasoning","reasoningId":"r","delta":"hm"}"#,
        ];
        let mut blocks = Blocks::default();
        for (seq, json) in (1..).zip(log) {
            blocks.replay(seq, &Response::from_json(json).expect("ours"));
        }
        let closing = blocks.closing_responses("");
        assert_eq!(closing.len(), 1);
        assert!(closing[0].1.to_json().contains(r#""completeContent":"hm""#));
    }
}

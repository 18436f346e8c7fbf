//! An answer that is sent as a whole.

use crate::capture::{Answer, CaptureError, ErrorKind, Piece, StopReason, ToolCall};
use crate::model::Usage;

/// A run of pieces of the same kind.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::http) enum Block {
    Reasoning(String),
    Text(String),
}

/// A complete answer.
#[derive(Debug)]
pub(in crate::http) struct Whole {
    /// In order.
    pub blocks: Vec<Block>,
    pub calls: Vec<ToolCall>,
    pub stop: StopReason,
    pub usage: Option<Usage>,
}

impl Whole {
    /// Waits for the end of an answer.
    pub async fn of(answer: &mut Answer) -> Result<Self, CaptureError> {
        let (mut blocks, mut all_calls) = (Vec::new(), Vec::new());
        while let Some(piece) = answer.next().await {
            match (piece, blocks.last_mut()) {
                (Piece::Reasoning(more), Some(Block::Reasoning(text)))
                | (Piece::Text(more), Some(Block::Text(text))) => {
                    text.push_str(&more);
                }
                (Piece::Reasoning(text), _) => blocks.push(Block::Reasoning(text)),
                (Piece::Text(text), _) => blocks.push(Block::Text(text)),
                (Piece::Calls(calls), _) => all_calls.extend(calls),
                (Piece::End { stop, usage }, _) => return Ok(Self { blocks, calls: all_calls, stop, usage }),
                (Piece::Failed(error), _) => return Err(error),
            }
        }
        Err(CaptureError::new(ErrorKind::Failed, "The answer ended before it was complete; send the request again."))
    }

    /// All text.
    pub fn text(&self) -> String {
        self.blocks.iter().map(|block| if let Block::Text(text) = block { text.as_str() } else { "" }).collect()
    }

    /// All reasoning.
    pub fn reasoning(&self) -> String {
        self.blocks.iter().map(|block| if let Block::Reasoning(text) = block { text.as_str() } else { "" }).collect()
    }
}

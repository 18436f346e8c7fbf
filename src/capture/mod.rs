//! An agent's seat as a model for somebody else's orchestrator: the caller owns the tools and the loop, an agent's
//! session answers as the model, and every tool call is handed to the caller. No tool ever runs here.
//!
//! `conversation` and `answer` are what every dialect in `http` translates to and from.

mod answer;
mod captures;
mod conversation;
mod error;

pub use answer::{Answer, Origin, Piece, Reading, Recording, StopReason};
pub use captures::{Captures, Mode, ModelEntry};
pub use conversation::{
    AnswerFormat, Image, Message, Part, Request, Tool, ToolCall, ToolChoice, ToolResult, images_of, is_json, text_of,
};
pub use error::{CaptureError, ErrorKind};

//! An agent's seat as a model for somebody else's orchestrator: the caller owns the tools and the loop, an agent's
//! session answers as the model, and every tool call is handed to the caller. No tool ever runs here.
//!
//! `conversation` and `answer` are what every dialect in `http` translates to and from.

//!
//! `captures` finds or makes the agent's session for each request, `seat` is one such session, `waiting` are those that wait
//! for their callers, and `fingerprint` tells whether a request continues a conversation. `rendering` writes a history as
//! one prompt, `compliance` checks what a caller demands, and `recorder` turns a model's blocks into pieces.
//!
//! What must always hold here:
//!
//! - No tool runs here. The barriers are in the runtime, and nothing configures them.
//! - A session of an agent is stored before the agent has it, and removed after the agent has deleted it, so a crash leaves
//!   nothing behind.
//! - A held session is continued by its own token, with the same conversation, once. Everything else starts a new session,
//!   which is always correct.
//! - A caller that never reads costs the size of its answer.

mod answer;
mod captures;
mod compliance;
mod conversation;
mod error;
mod failure;
mod fingerprint;
mod opening;
mod recorder;
mod rendering;
mod seat;
mod settings;
mod turn;
mod waiting;

pub use answer::{Answer, Origin, Piece, Reading, Recording, StopReason};
pub use captures::{Accounting, CaptureFigures, Captures, CapturesParts, Mode, ModelEntry};
pub use conversation::{
    AnswerFormat, Image, Message, Part, Request, Tool, ToolCall, ToolChoice, ToolResult, images_of, is_json, text_of,
};
pub use error::{CaptureError, ErrorKind};
pub use settings::CaptureSettings;

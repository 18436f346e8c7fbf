//! Turns at a terminal: `run`, `attach` and `logs`, and what they share.
//!
//! What must always hold here:
//!
//! - The answer goes to standard output, everything else to standard error.
//! - What an agent asks is shown with every hidden character visible, and only what is typed after it is an answer.
//! - Ending a command never ends a session.

mod arguments;
mod asked;
mod asking;
mod attach;
mod composer;
mod console;
mod ending;
mod followed_turn;
mod inbox;
mod logs;
mod position;
mod prompt_input;
mod reply;
mod run;
mod target;
mod tool_line;
mod transcript;

pub(super) use arguments::{AnswerFlags, AttachFlags, DecideFlags, DenyFlags, InterruptFlags, LogsFlags, RunFlags};
pub(super) use attach::attach;
pub(super) use inbox::inbox;
pub(super) use logs::logs;
pub(super) use reply::{allow, answer, deny, interrupt};
pub(super) use run::run;
pub(super) use target::session_named;

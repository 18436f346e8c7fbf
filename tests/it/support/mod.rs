//! What tests share: a server of their own, and a client that can misbehave.

mod client;
mod copilot;
mod port;
mod raw;
mod server;
mod session;
mod written_log;

pub use client::{EventStream, Http, Reply, SseEvent};
pub use copilot::{CopilotServer, Program, byok};
pub use port::free_port;
pub use raw::{RawConnection, RawReply, exchange};
pub use server::{Ended, Server, ServerBuilder};
pub use session::{TestSession, callbacks, message_text};
pub use written_log::{WrittenLog, write_log};

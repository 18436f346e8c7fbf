//! What tests share: a server of their own, and a client that can misbehave.

mod client;
mod copilot;
mod github;
mod port;
mod raw;
mod server;
mod session;

pub use client::{EventStream, Http, Reply, SseEvent};
pub use copilot::{CopilotServer, Program, bare, byok};
pub use github::{FakeGitHub, Person};
pub use port::free_port;
pub use raw::{RawConnection, RawReply, exchange};
pub use server::{Ended, Server, ServerBuilder};
pub use session::{TestSession, callbacks, message_text};

//! What tests share: a server of their own, and a client that can misbehave.

mod client;
mod server;
mod session;

pub use client::{EventStream, Http, Reply, SseEvent};
pub use server::Server;
pub use session::{TestSession, callbacks, message_text};

//! What tests share: a server of their own, and a client that can misbehave.

mod client;
mod copilot;
mod github;
pub mod markdown;
mod port;
mod processes;
mod puppet;
mod raw;
mod receiver;
mod running;
mod server;
mod session;
pub mod source;
#[cfg(unix)]
mod terminal;
mod written_log;

pub use client::{EventStream, Http, Reply, SseEvent};
pub use copilot::{CopilotServer, Program, agent_figure, agents, bare, byok, programs_of};
pub use github::{FakeGitHub, Person};
pub use port::free_port;
pub use processes::{
    a_moment, children_of, descendants_of, described, eventually, id_in, is_alive, send_signal, until_childless,
    until_gone,
};
pub use puppet::{Puppet, PuppetSession};
pub use raw::{RawConnection, RawReply, exchange};
pub use receiver::{Reaction, Receiver};
pub use running::Running;
pub use server::{Ended, Server, ServerBuilder, page};
pub use session::{TestSession, assert_notice_is_known, callbacks, message_text};
#[cfg(unix)]
pub use terminal::Terminal;
pub use written_log::{WrittenLog, write_log};

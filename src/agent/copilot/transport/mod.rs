//! The programs and the wire: which processes run, and how the messages of one process reach its sessions.

mod frames;
mod opening;
mod server;
mod servers;
mod tap;

pub(super) use opening::Opening;
pub(super) use server::{Server, plain, reason};
pub(super) use servers::{Lease, Servers};
pub(super) use tap::{FromProgram, Queue};

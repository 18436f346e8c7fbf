//! The processes and the protocol: which programs are running, and how the messages of one process reach its sessions.

mod frames;
mod inbox;
mod message;
mod opening;
mod server;
mod servers;
mod tap;

pub(super) use frames::read_frame;
#[cfg(test)]
pub(super) use frames::write_frame;
pub(super) use message::{Frame, FromProgram};
pub(super) use opening::Opening;
pub(super) use server::{Server, plain, reason};
pub(super) use servers::{Lease, Servers, SharedLiveness};
pub(super) use tap::{Queue, Tap};

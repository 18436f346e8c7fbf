//! Child processes: spawned as leaders of their own group, ended politely and then not, with the last words they wrote
//! to standard error.
//!
//! What must always hold here: a child never outlives its owner. It ends by its closed stdin, by a signal to its group,
//! by the parent-death signal on Linux (through `setpriv`, because this crate has no unsafe code), and when its owner is
//! dropped.

mod capture;
mod child;
mod stderr_tail;

pub use capture::{Capture, CaptureError, Captured};
pub use child::{ChildProcess, ProcessSpec, SpawnError};
pub use stderr_tail::StderrTail;

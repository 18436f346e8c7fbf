//! Child processes: spawned as leaders of their own group, ended politely and then not, with the last words they wrote
//! to standard error, and never lost sight of.
//!
//! What must always hold here: a child never outlives its owner. It ends by its closed stdin, by a signal to its group,
//! by the parent-death signal on Linux (through `setpriv`, because this crate has no unsafe code), when its owner is
//! dropped, or at the next start, where its note is found. Every child carries a random mark in its environment, which
//! everything that it starts inherits: so what a dead child left running is found too. Nobody is ended for a process
//! number alone: only who carries the mark, and it is looked at again right before the signal.
//!
//! Finding processes works on Linux and, through `ps`, on macOS; figures are there on Linux only. On Windows the seam
//! (`system/`) is there and does nothing.

mod capture;
mod child;
mod figures;
mod ledger;
mod marker;
mod printable;
mod signal;
mod stderr_tail;
mod supervisor;
mod sweep;
mod system;

pub use capture::{Capture, CaptureError, Captured};
pub use child::{ChildProcess, Exit, ProcessSpec, SpawnError};
pub use figures::{ProcessFigures, ProcessProbe};
pub use printable::printable;
pub use stderr_tail::StderrTail;
pub use supervisor::{LedgerError, Orphan, Supervisor};

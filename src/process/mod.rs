//! Child processes: started as leaders of their own process group, stopped with SIGTERM and then SIGKILL, with the end
//! of their standard error kept, and always cleaned up.
//!
//! Invariants: a child never outlives its owner. It is stopped by closing its stdin, by a signal to its group, by the
//! parent-death signal on Linux (through `setpriv`, because this crate has no unsafe code), when its owner is dropped,
//! or at the next start, by its process record. Every child carries a random mark in its environment, which everything
//! it starts inherits, so processes that a crashed child left running are found too. A process is never killed by its
//! id alone: it must carry the mark, which is checked again right before the signal.
//!
//! Finding processes works on Linux and, through `ps`, on macOS; resource use is reported only on Linux. On Windows,
//! `system/` does nothing yet.

mod capture;
mod check_run;
mod child;
mod figures;
mod ledger;
mod marker;
mod output_tail;
mod printable;
mod signal;
mod supervisor;
mod sweep;
mod system;

pub use capture::{Capture, CaptureError, Captured};
pub use check_run::{CheckEnd, run_check};
pub use child::{ChildProcess, Exit, ProcessSpec, SpawnError};
pub use figures::{ProcessFigures, ProcessProbe};
pub use output_tail::OutputTail;
pub use printable::printable;
pub use supervisor::{LedgerError, Orphan, Supervisor};

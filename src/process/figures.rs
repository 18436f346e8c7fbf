//! The resource use of a child and of everything it started.

use std::time::Duration;

use super::marker::Marker;
use super::system;
use crate::model::Timestamp;

/// The resource use of a process and of everything it started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProcessFigures {
    /// Resident memory; shared memory is counted for each process.
    pub resident_bytes: u64,
    /// CPU time since its start, including children that have exited.
    pub cpu: Duration,
    /// The number of processes, including itself.
    pub processes: usize,
    /// The start time.
    pub started_at: Timestamp,
}

/// Reads the resource use of a child without owning it.
#[derive(Clone, Debug)]
pub struct ProcessProbe {
    pub(super) pid: u32,
    pub(super) marker: Marker,
}

impl ProcessProbe {
    /// The child's process id.
    pub fn pid(&self) -> u32 {
        self.pid
    }

    /// Its current resource use; `None` if it has exited or the platform does not report it. Reads every process of the
    /// machine: run it on a blocking thread.
    pub fn figures(&self) -> Option<ProcessFigures> {
        system::figures(self.pid, &self.marker)
    }
}

//! What a child and everything below it use.

use std::time::Duration;

use super::marker::Marker;
use super::system;
use crate::model::Timestamp;

/// The figures of a process and of everything that it has started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProcessFigures {
    /// Memory that is in use right now; what processes share is counted for each.
    pub resident_bytes: u64,
    /// Processor time since its start, that of ended children included.
    pub cpu: Duration,
    /// How many processes there are, itself included.
    pub processes: usize,
    /// When it began.
    pub started_at: Timestamp,
}

/// Looks at a child without owning it.
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

    /// What it uses now; `None` when it is gone, and where the system does not say. Reads something of every process of
    /// the machine, so it is no work for a thread that others wait for.
    pub fn figures(&self) -> Option<ProcessFigures> {
        system::figures(self.pid, &self.marker)
    }
}

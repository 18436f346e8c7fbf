//! What the operating system knows about processes. One file per system, all with the same functions: Linux reads
//! `/proc`, macOS asks `ps`, and elsewhere nothing is known, so nothing is found and nothing is ended.

#[cfg(not(any(target_os = "linux", target_os = "macos")))]
mod absent;
#[cfg(target_os = "linux")]
mod linux;
#[cfg(any(target_os = "macos", all(unix, test)))]
mod ps;

#[cfg(not(any(target_os = "linux", target_os = "macos")))]
pub(super) use absent::{boot, figures, kin, look, signal_carrier, started};
#[cfg(target_os = "linux")]
pub(super) use linux::{boot, figures, kin, look, signal_carrier, started};
#[cfg(target_os = "macos")]
pub(super) use ps::{boot, figures, kin, look, signal_carrier, started};

/// What a look at all processes found.
#[derive(Debug, Default)]
pub(super) struct Look {
    pub carriers: Vec<Carrier>,
    /// Somebody shows no environment at all. It may be in the middle of becoming another program, for a moment; whoever
    /// wants to be sure looks again.
    pub is_unsure: bool,
}

/// A process that carries a mark.
#[derive(Debug, PartialEq, Eq)]
#[cfg_attr(
    not(any(target_os = "linux", target_os = "macos")),
    allow(dead_code, reason = "that platform does not search for processes")
)]
pub(super) struct Carrier {
    pub pid: u32,
    /// For people.
    pub name: String,
}

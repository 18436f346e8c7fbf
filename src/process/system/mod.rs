//! Process information from the operating system. One file per platform, all with the same functions: Linux reads
//! `/proc`, macOS runs `ps`, and other platforms find and kill nothing.

#[cfg(not(any(target_os = "linux", target_os = "macos")))]
mod absent;
#[cfg(target_os = "linux")]
mod linux;
#[cfg(any(target_os = "macos", all(unix, test)))]
mod ps;

#[cfg(not(any(target_os = "linux", target_os = "macos")))]
pub(super) use absent::{ancestors, boot, figures, look, signal_carrier, started};
#[cfg(target_os = "linux")]
pub(super) use linux::{ancestors, boot, figures, look, signal_carrier, started};
#[cfg(target_os = "macos")]
pub(super) use ps::{ancestors, boot, figures, look, signal_carrier, started};

/// The result of a search through all processes.
#[derive(Debug, Default)]
pub(super) struct Look {
    pub carriers: Vec<Carrier>,
    /// A process shows no environment at all. It may be in the middle of `exec`, so a caller that must be certain
    /// searches again.
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
    /// The process name, for display.
    pub name: String,
}

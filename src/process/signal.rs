//! Signals to processes and to their groups.

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Signal {
    Terminate,
    Kill,
}

#[cfg(unix)]
mod unix {
    use rustix::process::{Pid, Signal as Unix, getpgid, kill_process_group};

    use super::Signal;

    impl Signal {
        pub fn to_unix(self) -> Unix {
            match self {
                Self::Terminate => Unix::TERM,
                Self::Kill => Unix::KILL,
            }
        }
    }

    pub fn pid(id: u32) -> Option<Pid> {
        i32::try_from(id).ok().and_then(Pid::from_raw)
    }

    /// Whether the signal would reach this process too.
    pub fn is_own_group(id: u32) -> bool {
        pid(id).is_none_or(|group| getpgid(None).is_ok_and(|own| own == group))
    }

    /// The process group of a process.
    pub fn group_of(id: u32) -> Option<u32> {
        let group = getpgid(Some(pid(id)?)).ok()?;
        u32::try_from(group.as_raw_nonzero().get()).ok()
    }

    pub fn signal_group(id: u32, signal: Signal) {
        if let Some(Err(error)) = pid(id).map(|group| kill_process_group(group, signal.to_unix())) {
            tracing::debug!(%error, id, "the process group has already exited");
        }
    }
}

#[cfg(unix)]
pub(super) use unix::{group_of, is_own_group, pid, signal_group};

#[cfg(not(unix))]
pub(super) fn group_of(_: u32) -> Option<u32> {
    None
}

#[cfg(not(unix))]
pub(super) fn signal_group(_: u32, _: Signal) {
    // The child itself is killed by tokio when it is dropped; a job object for its children comes with Windows support.
}

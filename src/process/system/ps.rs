//! macOS: `ps` shows the environment of the user's own processes. Resource use is not reported.

use std::process::Command;

use super::{Carrier, Look};
#[cfg(target_os = "macos")]
use crate::process::figures::ProcessFigures;
use crate::process::marker::Marker;
use crate::process::signal::{self, Signal};

/// Lists every process with its command line, followed by its environment.
#[cfg(not(target_os = "linux"))]
const ALL: [&str; 7] = ["-A", "-E", "-ww", "-o", "pid=", "-o", "command="];
/// For tests on Linux, whose `ps` has different options.
#[cfg(target_os = "linux")]
const ALL: [&str; 2] = ["axeww", "-opid=,command="];

/// Not available cheaply; the random mark is enough to detect a reboot.
pub fn boot() -> String {
    String::new()
}

/// The start time of a process as an opaque value; `None` if it has exited.
pub fn started(pid: u32) -> Option<String> {
    let text = ps(&["-o", "lstart=", "-p", &pid.to_string()]);
    let text = text.trim();
    (!text.is_empty()).then(|| text.to_owned())
}

/// Finds every process that carries the mark.
pub fn look(marker: &Marker) -> Look {
    let entry = marker.entry();
    Look { carriers: ps(&ALL).lines().filter_map(|line| carrier(line, &entry)).collect(), is_unsure: false }
}

fn carrier(line: &str, entry: &str) -> Option<Carrier> {
    let (pid, command) = line.trim_start().split_once(' ')?;
    if !command.split_whitespace().any(|word| word == entry) {
        return None;
    }
    let program = command.split_whitespace().next().unwrap_or_default();
    let name = program.rsplit('/').next().unwrap_or_default().to_owned();
    Some(Carrier { pid: pid.parse().ok()?, name })
}

/// This process and its parent, which are never killed as orphans.
pub fn ancestors() -> Vec<u32> {
    let parent = rustix::process::getppid().and_then(|parent| u32::try_from(parent.as_raw_nonzero().get()).ok());
    std::iter::once(std::process::id()).chain(parent).collect()
}

/// Sends a signal to a process, and to the group it leads, if it still carries the mark. Returns whether it did.
pub fn signal_carrier(pid: u32, marker: &Marker, what: Signal) -> bool {
    let Some(id) = signal::pid(pid) else { return false };
    if !look(marker).carriers.iter().any(|carrier| carrier.pid == pid) {
        return false;
    }
    let leads = rustix::process::getpgid(Some(id)).is_ok_and(|group| group == id);
    if leads && !signal::is_own_group(pid) {
        signal::signal_group(pid, what);
    }
    if let Err(error) = rustix::process::kill_process(id, what.to_unix()) {
        tracing::debug!(%error, pid, "the process has already exited");
    }
    true
}

/// Not reported on this platform.
#[cfg(target_os = "macos")]
pub fn figures(_: u32, _: &Marker) -> Option<ProcessFigures> {
    None
}

fn ps(arguments: &[&str]) -> String {
    // A fixed locale and time zone, so that times are comparable.
    let output = Command::new("ps").args(arguments).env("LC_ALL", "C").env("TZ", "UTC").output();
    match output {
        Ok(output) => String::from_utf8_lossy(&output.stdout).into_owned(),
        Err(error) => {
            tracing::warn!(%error, "cannot run ps, so processes left over from agents are not found");
            String::new()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_whole_variable_counts_and_the_name_is_short() {
        let marker = Marker::new();
        let entry = marker.entry();
        let found =
            carrier(&format!("  42 /usr/bin/sleep 1000 HOME=/h {entry} PATH=/bin"), &entry).expect("carries it");
        assert_eq!(found, Carrier { pid: 42, name: "sleep".to_owned() });
        for line in ["", "42", "42 sleep 1000 HOME=/h", &format!("42 sleep {entry}0"), &format!("42 sleep X{entry}")] {
            assert_eq!(carrier(line, &entry), None, "{line}");
        }
    }

    #[tokio::test]
    async fn a_real_process_is_found_and_ended_by_its_mark_only() {
        assert_eq!(boot(), boot());
        let (marker, other) = (Marker::new(), Marker::new());
        let (name, value) = marker.variable();
        let mut child = tokio::process::Command::new("sleep").arg("1000").env(name, value).spawn().expect("started");
        let pid = child.id().expect("running");
        assert!(started(pid).is_some() && !ancestors().contains(&pid));
        // The environment is visible after `exec`.
        while look(&marker).carriers.is_empty() {
            tokio::task::yield_now().await;
        }
        assert_eq!(look(&marker).carriers, [Carrier { pid, name: "sleep".to_owned() }]);
        assert!(look(&other).carriers.is_empty());
        assert!(!signal_carrier(pid, &other, Signal::Kill));
        assert!(matches!(child.try_wait(), Ok(None)), "somebody else's mark ends nobody");
        assert!(signal_carrier(pid, &marker, Signal::Terminate));
        child.wait().await.expect("ended");
        assert!(started(pid).is_none());
    }
}

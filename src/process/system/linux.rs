//! Linux: reads `/proc`.

use std::collections::BTreeSet;
use std::fs;
use std::time::Duration;

use rustix::process::{PidfdFlags, pidfd_open, pidfd_send_signal};

use super::{Carrier, Look};
use crate::model::Timestamp;
use crate::process::figures::ProcessFigures;
use crate::process::marker::Marker;
use crate::process::signal::{self, Signal};

/// The id of this boot: process ids and start times are valid only within one boot.
pub fn boot() -> String {
    fs::read_to_string("/proc/sys/kernel/random/boot_id").map(|text| text.trim().to_owned()).unwrap_or_default()
}

/// The start time of a process as an opaque value; `None` if it has exited.
pub fn started(pid: u32) -> Option<String> {
    stat(pid).map(|stat| stat.started_ticks.to_string())
}

/// Finds every process that carries the mark.
pub fn look(marker: &Marker) -> Look {
    let entry = marker.entry();
    let mut look = Look::default();
    for pid in pids() {
        let Some(environment) = environment(pid) else { continue };
        let is_empty = environment.is_empty();
        if !is_empty && !holds(&environment, &entry) {
            continue;
        }
        match stat(pid) {
            Some(stat) if is_empty => look.is_unsure |= !stat.is_kernels,
            Some(stat) => look.carriers.push(Carrier { pid, name: stat.name }),
            None => {}
        }
    }
    look
}

/// This process and its ancestors, which are never killed as orphans.
pub fn ancestors() -> Vec<u32> {
    let mut ancestors = vec![std::process::id()];
    while let Some(parent) =
        ancestors.last().and_then(|pid| stat(*pid)).map(|stat| stat.parent).filter(|parent| *parent > 0)
    {
        ancestors.push(parent);
    }
    ancestors
}

/// Sends a signal to a process, and to the group it leads, if it still carries the mark. Returns whether it did.
pub fn signal_carrier(pid: u32, marker: &Marker, what: Signal) -> bool {
    let Some(id) = signal::pid(pid) else { return false };
    // The descriptor refers to the process it was opened for. If that process exits and its id is reused, the signal
    // goes nowhere.
    let descriptor = pidfd_open(id, PidfdFlags::empty());
    if !carries(pid, &marker.entry()) {
        return false;
    }
    if stat(pid).is_some_and(|stat| stat.group == pid) && !signal::is_own_group(pid) {
        signal::signal_group(pid, what);
    }
    let sent = match descriptor {
        Ok(descriptor) => pidfd_send_signal(descriptor, what.to_unix()),
        // The kernel does not support process descriptors.
        Err(rustix::io::Errno::NOSYS | rustix::io::Errno::PERM) => rustix::process::kill_process(id, what.to_unix()),
        Err(error) => Err(error),
    };
    if let Err(error) = sent {
        tracing::debug!(%error, pid, "the process has already exited");
    }
    true
}

/// The resource use of a process, its descendants, and every other process that carries its mark.
pub fn figures(root: u32, marker: &Marker) -> Option<ProcessFigures> {
    let all: Vec<Stat> = pids().filter_map(stat).collect();
    let first = all.iter().find(|stat| stat.pid == root)?;
    let mut family = BTreeSet::from([root]);
    loop {
        let before = family.len();
        family.extend(all.iter().filter(|stat| family.contains(&stat.parent)).map(|stat| stat.pid).collect::<Vec<_>>());
        if family.len() == before {
            break;
        }
    }
    let entry = marker.entry();
    let is_family = |stat: &&Stat| family.contains(&stat.pid) || carries(stat.pid, &entry);
    let members: Vec<&Stat> = all.iter().filter(is_family).collect();
    let ticks_per_second = rustix::param::clock_ticks_per_second().max(1);
    let ticks: u64 = members.iter().map(|stat| stat.processor_ticks).sum();
    let pages: u64 = members.iter().map(|stat| stat.resident_pages).sum();
    let started_millis =
        boot_time()?.saturating_mul(1_000) + first.started_ticks.saturating_mul(1_000) / ticks_per_second;
    Some(ProcessFigures {
        resident_bytes: pages * u64::try_from(rustix::param::page_size()).unwrap_or(4_096),
        cpu: Duration::from_millis(ticks.saturating_mul(1_000) / ticks_per_second),
        processes: members.len(),
        started_at: Timestamp::from_millis(i64::try_from(started_millis).unwrap_or(i64::MAX)),
    })
}

/// `PF_KTHREAD` of the kernel's process flags.
const KERNEL_THREAD: u64 = 0x0020_0000;

/// One line of `/proc/PID/stat`.
#[derive(Debug)]
struct Stat {
    pid: u32,
    name: String,
    parent: u32,
    group: u32,
    /// A kernel thread, which has no environment.
    is_kernels: bool,
    /// Its own CPU time and that of children it has waited for, so that the time of exited children still counts.
    processor_ticks: u64,
    started_ticks: u64,
    resident_pages: u64,
}

fn pids() -> impl Iterator<Item = u32> {
    let entries = fs::read_dir("/proc").into_iter().flatten();
    entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
}

/// Parses the entry of a living process; zombies return `None`.
fn stat(pid: u32) -> Option<Stat> {
    parse(pid, &fs::read_to_string(format!("/proc/{pid}/stat")).ok()?)
}

fn parse(pid: u32, text: &str) -> Option<Stat> {
    // The name is chosen by the program and may contain anything, even parentheses.
    let (head, rest) = text.rsplit_once(')')?;
    let name = head.split_once('(')?.1.to_owned();
    let fields: Vec<&str> = rest.split_whitespace().collect();
    // The first of these is the third field of the line.
    let number = |field: usize| fields.get(field - 3).and_then(|text| text.parse::<u64>().ok());
    if matches!(*fields.first()?, "Z" | "X" | "x") {
        return None;
    }
    Some(Stat {
        pid,
        name,
        parent: u32::try_from(number(4)?).ok()?,
        group: u32::try_from(number(5)?).ok()?,
        is_kernels: number(9)? & KERNEL_THREAD != 0,
        processor_ticks: number(14)? + number(15)? + number(16)? + number(17)?,
        started_ticks: number(22)?,
        resident_pages: number(24)?,
    })
}

/// Returns `None` for other users' processes, which cannot be our children.
fn environment(pid: u32) -> Option<Vec<u8>> {
    fs::read(format!("/proc/{pid}/environ")).ok()
}

fn holds(environment: &[u8], entry: &str) -> bool {
    environment.split(|byte| *byte == 0).any(|variable| variable == entry.as_bytes())
}

fn carries(pid: u32, entry: &str) -> bool {
    environment(pid).is_some_and(|environment| holds(&environment, entry))
}

/// Seconds since 1970.
fn boot_time() -> Option<u64> {
    fs::read_to_string("/proc/stat").ok()?.lines().find_map(|line| line.strip_prefix("btime "))?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_may_hold_anything_and_a_zombie_is_nobody() {
        let rest = "7 5 1 0 -1 4194304 1 2 3 4 10 20 30 40 20 0 9 0 999 4096 12 0";
        let stat = parse(5, &format!("5 (a) S (b)) S {rest}")).expect("a line");
        assert_eq!((stat.name.as_str(), stat.parent, stat.group), ("a) S (b)", 7, 5));
        assert_eq!((stat.processor_ticks, stat.started_ticks, stat.resident_pages), (100, 999, 12));
        assert!(parse(5, &format!("5 (a) Z {rest}")).is_none());
        assert!(parse(5, "5 (a) S 1").is_none());
    }

    #[tokio::test]
    async fn whoever_shows_no_environment_leaves_a_look_unsure() {
        // The state of a process during `exec`, but permanent.
        let mut child = tokio::process::Command::new("sleep").arg("1000").env_clear().spawn().expect("started");
        let pid = child.id().expect("running");
        while environment(pid).is_none_or(|environment| !environment.is_empty()) {
            tokio::task::yield_now().await;
        }
        let look = look(&Marker::new());
        assert!(look.is_unsure && look.carriers.is_empty(), "{look:?}");
        child.kill().await.expect("killed");
    }

    #[test]
    fn this_process_is_known_and_its_own_kin() {
        let own = std::process::id();
        assert!(started(own).is_some());
        assert_eq!(ancestors().first(), Some(&own));
        assert!(ancestors().len() > 1, "whoever started the test");
        let figures = figures(own, &Marker::new()).expect("Linux");
        assert!(figures.resident_bytes > 100_000 && figures.processes >= 1, "{figures:?}");
        assert!(figures.started_at.as_millis() > 1_600_000_000_000, "{figures:?}");
    }
}

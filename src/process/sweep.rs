//! Ending everything that carries a mark: the child, the tools it has started, and what those have started.

use std::collections::BTreeSet;
use std::time::Duration;

use tokio::time::Instant;

use super::ledger::Identity;
use super::marker::Marker;
use super::signal::Signal;
use super::system::{self, Carrier};

/// How long processes have after they were asked to end.
const GRACE: Duration = Duration::from_secs(2);
/// How long they may take to be gone after they were killed.
const GONE_WITHIN: Duration = Duration::from_secs(2);
const LOOK_AGAIN_AFTER: Duration = Duration::from_millis(20);
/// What is started while the others are killed is found by looking again, a few times.
const LOOKS_AT_ONCE: usize = 5;

/// What a sweep did.
#[derive(Debug)]
pub(super) struct Swept {
    /// Whoever was there.
    pub ended: BTreeSet<Carrier>,
    /// Whether nobody is left.
    pub is_clean: bool,
}

/// Asks everybody who carries the mark to end, waits, and kills who is left. `noted` is the child as it was written
/// down: a process with its number that began at another time is somebody else, whatever it carries.
pub(super) async fn sweep(marker: &Marker, noted: Option<&Identity>) -> Swept {
    let kill_from = Instant::now() + GRACE;
    let give_up_at = kill_from + GONE_WITHIN;
    let mut ended = BTreeSet::new();
    loop {
        let (found, now) = (find(marker, noted).await, Instant::now());
        if found.is_empty() || now >= give_up_at {
            return Swept { ended, is_clean: found.is_empty() };
        }
        for carrier in found {
            let is_new = ended.insert(carrier.clone());
            if now >= kill_from {
                system::signal_carrier(carrier.pid, marker, Signal::Kill);
            } else if is_new {
                system::signal_carrier(carrier.pid, marker, Signal::Terminate);
            }
        }
        tokio::time::sleep(LOOK_AGAIN_AFTER).await;
    }
}

/// Kills everybody who carries the mark, for owners that cannot wait. Gives whether nobody was left.
pub(super) fn kill_at_once(marker: &Marker) -> bool {
    for _ in 0..LOOKS_AT_ONCE {
        let found = carriers(marker, None);
        if found.is_empty() {
            return true;
        }
        for carrier in found {
            system::signal_carrier(carrier.pid, marker, Signal::Kill);
        }
    }
    false
}

async fn find(marker: &Marker, noted: Option<&Identity>) -> Vec<Carrier> {
    let (marker, noted) = (marker.clone(), noted.cloned());
    // Looking reads something of every process of the machine.
    let found = tokio::task::spawn_blocking(move || carriers(&marker, noted.as_ref())).await;
    found.unwrap_or_else(|error| {
        tracing::error!(%error, "looking for processes failed");
        Vec::new()
    })
}

fn carriers(marker: &Marker, noted: Option<&Identity>) -> Vec<Carrier> {
    let kin = system::kin();
    let is_somebody_else =
        |pid: u32| noted.is_some_and(|noted| noted.pid == pid && noted.started.is_some() && !noted.is_alive());
    let mut found = system::carriers(marker);
    found.retain(|carrier| !kin.contains(&carrier.pid) && !is_somebody_else(carrier.pid));
    found
}

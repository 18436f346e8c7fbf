//! Kills every process that carries a mark: the child, the tools it started, and everything those started.

use std::collections::BTreeMap;
use std::time::Duration;

use tokio::time::Instant;

use super::ledger::Identity;
use super::marker::Marker;
use super::signal::{Signal, group_of};
use super::system::{self, Carrier, Look};

/// How long processes have to exit after SIGTERM.
const GRACE: Duration = Duration::from_secs(2);
/// How long they may take to disappear after SIGKILL.
const GONE_WITHIN: Duration = Duration::from_secs(2);
/// A process in the middle of `exec` shows its environment after this long at the latest. One that still shows none has
/// none.
const UNSURE_FOR: Duration = Duration::from_millis(500);
const LOOK_AGAIN_AFTER: Duration = Duration::from_millis(20);
/// How often to search again, to find processes that were started while others were killed.
const LOOKS_AT_ONCE: usize = 5;

/// The result of a sweep.
#[derive(Debug)]
pub(super) struct Swept {
    /// The processes that were found: ids and names.
    pub ended: BTreeMap<u32, String>,
    /// Whether no process is left.
    pub is_clean: bool,
}

/// Sends SIGTERM to every process that carries the mark, waits, and kills the rest. `noted` is the recorded child: a
/// process with the same id but another start time is a different process, whatever mark it carries.
pub(super) async fn sweep(marker: &Marker, noted: Option<&Identity>) -> Swept {
    let begun = Instant::now();
    let kill_from = begun + GRACE;
    let give_up_at = kill_from + GONE_WITHIN;
    // Since when no process was found.
    let mut empty_since = None;
    let mut ended = BTreeMap::new();
    loop {
        let Look { carriers, is_unsure } = look(marker, noted).await;
        let now = Instant::now();
        if carriers.is_empty() {
            let since = *empty_since.get_or_insert(now);
            if !is_unsure || now >= since + UNSURE_FOR {
                return Swept { ended, is_clean: true };
            }
        } else {
            empty_since = None;
            if now >= give_up_at {
                return Swept { ended, is_clean: false };
            }
        }
        let what = if now >= kill_from { Signal::Kill } else { Signal::Terminate };
        for Carrier { pid, name } in carriers {
            let is_asked = what == Signal::Terminate && ended.contains_key(&pid);
            if !is_asked && system::signal_carrier(pid, marker, what) {
                ended.insert(pid, name);
            }
        }
        tokio::time::sleep(LOOK_AGAIN_AFTER).await;
    }
}

/// Kills every process that carries the mark, for owners that cannot wait. Returns whether no process was left.
pub(super) fn kill_at_once(marker: &Marker) -> bool {
    for _ in 0..LOOKS_AT_ONCE {
        let Look { carriers, is_unsure } = look_now(marker, None);
        if carriers.is_empty() {
            return !is_unsure;
        }
        for carrier in carriers {
            system::signal_carrier(carrier.pid, marker, Signal::Kill);
        }
    }
    false
}

/// Kills every process that carries the mark and belongs to that process group. Returns the killed processes.
pub(super) fn end_group(marker: &Marker, group: u32) -> Vec<Carrier> {
    let Look { mut carriers, .. } = look_now(marker, None);
    carriers.retain(|carrier| group_of(carrier.pid) == Some(group));
    carriers.retain(|carrier| system::signal_carrier(carrier.pid, marker, Signal::Kill));
    carriers
}

async fn look(marker: &Marker, noted: Option<&Identity>) -> Look {
    let (marker, noted) = (marker.clone(), noted.cloned());
    // The search reads every process of the machine.
    let look = tokio::task::spawn_blocking(move || look_now(&marker, noted.as_ref())).await;
    look.unwrap_or_else(|error| {
        tracing::error!(%error, "process search failed");
        Look { carriers: Vec::new(), is_unsure: true }
    })
}

fn look_now(marker: &Marker, noted: Option<&Identity>) -> Look {
    let ancestors = system::ancestors();
    let is_somebody_else =
        |pid: u32| noted.is_some_and(|noted| noted.pid == pid && noted.started.is_some() && !noted.is_alive());
    let mut look = system::look(marker);
    look.carriers.retain(|carrier| !ancestors.contains(&carrier.pid) && !is_somebody_else(carrier.pid));
    look
}

//! The conformance checks: each assumption of capture, tried on the installed program at the level of the protocol.
//!
//! What must always hold here: the program runs on the scripted model, with a home and working folders of its own, so
//! nothing of the user's is touched. No wait is without a limit: a broken program fails checks, it never hangs them. A
//! check that cannot run has failed. What was seen is always a sentence with figures, also if the check passed.

mod client;
mod deny;
mod hold;
mod lifecycle;
mod ordering;
mod probe;
mod registration;
mod rig;
mod session_plan;
mod trace;
mod vocabulary;

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use futures_util::StreamExt as _;

use crate::agent::program::FoundProgram;
use crate::agent::{Area, AssumptionResult, BoxFuture, Capability, ConformanceReport};
use crate::model::Timestamp;

use super::{Copilot, CopilotSettings};
use probe::{Answers, HookAnswer, Probe, Step};
use rig::Rig;
use session_plan::{SessionPlan, call_of, city_tool, tool};
use trace::Trace;

/// Checks that run at the same time, each in a session of its own.
const AT_ONCE: usize = 12;
/// How many steps of `patience` one check may take.
const STEPS_OF_PATIENCE: u32 = 4;
/// Between two looks at what a program changes without saying so.
const LOOK_AGAIN_AFTER: Duration = Duration::from_millis(20);
/// The pieces in which time is counted.
const PIECE: Duration = Duration::from_secs(1);

const BOTH: &[Capability] = &[Capability::Hold, Capability::Destroy];
const HOLD: &[Capability] = &[Capability::Hold];
const DESTROY: &[Capability] = &[Capability::Destroy];

/// What was seen: as assumed, or not.
type Seen = Result<String, String>;

/// An assumption and how it is tried.
struct Assumption {
    id: &'static str,
    text: &'static str,
    why: &'static str,
    capabilities: &'static [Capability],
    check: for<'a> fn(&'a Rig) -> BoxFuture<'a, Seen>,
}

/// Every assumption, area by area.
const AREAS: [(Area, &[Assumption]); 7] = [
    (Area::Ordering, ordering::ASSUMPTIONS),
    (Area::Deny, deny::ASSUMPTIONS),
    (Area::Lifecycle, lifecycle::ASSUMPTIONS),
    (Area::Registration, registration::ASSUMPTIONS),
    (Area::Hold, hold::ASSUMPTIONS),
    (Area::Client, client::ASSUMPTIONS),
    (Area::Vocabulary, vocabulary::ASSUMPTIONS),
];

/// Runs every check. The error says why the program could not be started at all.
pub(super) async fn run(
    program: FoundProgram,
    settings: &CopilotSettings,
    patience: Duration,
) -> Result<ConformanceReport, String> {
    let (at, began) = (now(), Instant::now());
    let path = program.path.display().to_string();
    let rig = Rig::start(program, settings, patience).await?;
    let mut checks = Vec::new();
    // What the vocabulary is compared with is known when all other checks have run.
    let (others, last): (Vec<_>, Vec<_>) = AREAS.into_iter().partition(|(area, _)| *area != Area::Vocabulary);
    for areas in [others, last] {
        let all: Vec<BoxFuture<'_, AssumptionResult>> = areas
            .into_iter()
            .flat_map(|(area, assumptions)| assumptions.iter().map(move |assumption| (area, assumption)))
            .map(|(area, assumption)| -> BoxFuture<'_, _> { Box::pin(check(&rig, area, assumption)) })
            .collect();
        let mut checked = futures_util::stream::iter(all).buffered(AT_ONCE);
        while let Some(result) = checked.next().await {
            checks.push(result);
        }
    }
    let version = rig.server.version.clone();
    rig.end().await;
    let milliseconds = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
    Ok(ConformanceReport { runtime: Copilot::NAME.to_owned(), program: path, version, at, milliseconds, checks })
}

async fn check(rig: &Rig, area: Area, assumption: &Assumption) -> AssumptionResult {
    let limit = rig.patience * STEPS_OF_PATIENCE;
    let outcome = within(limit, (assumption.check)(rig)).await;
    let seen = outcome
        .unwrap_or_else(|| Err(format!("the check was not finished within {}", humantime::format_duration(limit))));
    AssumptionResult {
        id: assumption.id.to_owned(),
        area,
        assumption: assumption.text.to_owned(),
        why: assumption.why.to_owned(),
        capabilities: assumption.capabilities.to_vec(),
        passed: seen.is_ok(),
        seen: seen.unwrap_or_else(|seen| seen),
    }
}

/// Waits that long; `None` if it took longer. The time is counted in pieces, so that a machine that stood still for a while,
/// and the program with it, loses one piece and not all patience with the program.
async fn within<T>(limit: Duration, awaited: impl Future<Output = T>) -> Option<T> {
    let mut awaited = std::pin::pin!(awaited);
    let mut left = limit;
    while !left.is_zero() {
        let piece = left.min(PIECE);
        if let Ok(done) = tokio::time::timeout(piece, awaited.as_mut()).await {
            return Some(done);
        }
        left -= piece;
    }
    None
}

fn now() -> Timestamp {
    let since_epoch = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Timestamp::from_millis(i64::try_from(since_epoch.as_millis()).unwrap_or(i64::MAX))
}

/// Fails a check with what was seen unless a condition holds.
fn expect(holds: bool, seen: impl FnOnce() -> String) -> Result<(), String> {
    if holds { Ok(()) } else { Err(seen()) }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_machine_that_stood_still_takes_no_more_than_a_piece_of_the_patience() {
        const LIMIT: Duration = Duration::from_secs(15);
        let (sender, receiver) = tokio::sync::oneshot::channel();
        let waiting = tokio::spawn(within(LIMIT, receiver));
        tokio::task::yield_now().await;
        tokio::time::advance(2 * LIMIT).await;
        tokio::task::yield_now().await;
        sender.send("late").expect("it still waits");
        assert_eq!(waiting.await.expect("no panic"), Some(Ok("late")));
        let began = tokio::time::Instant::now();
        assert_eq!(within(LIMIT, std::future::pending::<()>()).await, None);
        let took = began.elapsed();
        assert!(took >= LIMIT && took < LIMIT + PIECE, "{took:?}");
    }

    #[test]
    fn every_assumption_has_a_name_of_its_own_in_its_area_and_says_why_it_matters() {
        let mut names = BTreeSet::new();
        for (area, assumptions) in AREAS {
            assert!(!assumptions.is_empty(), "{area}");
            for assumption in assumptions {
                let id = assumption.id;
                assert!(id.starts_with(&format!("{area}.")), "{id}");
                assert!(names.insert(id), "{id} is there twice");
                assert!(assumption.text.len() > 20 && assumption.why.len() > 20, "{id}");
                assert_eq!(assumption.capabilities.is_empty(), area == Area::Vocabulary, "{id}");
            }
        }
    }
}

//! The session's rules under random commands, agents, crashes, restarts and slow or refusing stores.
//!
//! One seed is one run, and the same seed is always the same run. A failure names its seed; to replay it with a trace
//! of every step, set `SIMULATION_SEED`. `SIMULATION_RUNS` runs more of them.

mod agent;
mod checks;
mod random;
mod store;
mod world;

use random::Random;
use world::World;

const RUNS: u64 = 200;
const STEPS: usize = 1_000;

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok().and_then(|text| text.parse().ok())
}

/// One run: random steps, then steps without failures until everything has ended.
fn run(seed: u64, trace: bool) -> Run {
    let mut world = World::new(Random::new(seed), trace);
    for _ in 0..STEPS {
        world.step();
    }
    world.settle();
    world.check_settled();
    let log = world.log();
    let has = |text: &str| log.iter().any(|event| event.contains(text));
    Run { steps: world.steps(), kept_requests: has("request-kept"), continued_work: has("You were cut off") }
}

/// What happened in a run.
struct Run {
    steps: usize,
    kept_requests: bool,
    continued_work: bool,
}

#[test]
fn no_sequence_of_events_breaks_a_session() {
    if let Some(seed) = number("SIMULATION_SEED") {
        run(seed, true);
        return;
    }
    let runs = number("SIMULATION_RUNS").unwrap_or(RUNS);
    let begun = std::time::Instant::now();
    let (mut steps, mut kept, mut continued) = (0, 0, 0);
    for seed in 0..runs {
        let outcome = std::panic::catch_unwind(|| run(seed, false));
        match outcome {
            Ok(run) => {
                steps += run.steps;
                kept += usize::from(run.kept_requests);
                continued += usize::from(run.continued_work);
            }
            Err(panic) => {
                eprintln!("seed {seed} failed; replay it with SIMULATION_SEED={seed}");
                std::panic::resume_unwind(panic);
            }
        }
    }
    assert!(kept > 0 && continued > 0, "requests outlived their turns: {kept}, {continued}");
    let per_second = steps as u128 * 1_000_000 / begun.elapsed().as_micros().max(1);
    eprintln!(
        "{runs} runs, {steps} steps, {per_second} steps a second; requests outlived turns in {kept}, continued in {continued}"
    );
}

#[test]
fn the_same_seed_is_the_same_run() {
    let log = |seed| {
        let mut world = World::new(Random::new(seed), false);
        (0..STEPS).for_each(|_| world.step());
        world.log()
    };
    assert_eq!(log(7), log(7));
    assert_ne!(log(7), log(8));
}

//! Project tasks: `cargo xtask test`, `browser`, `screenshots`, `icons`, `lint`, `bench`, `chaos`, `fuzz`, `fuzz-api`, `proxies`.
//!
//! Each task installs what it needs beyond the toolchain.

mod agents;
mod bench;
mod browser;
mod chaos;
mod deny;
mod fuzz;
mod fuzz_api;
mod lint;
mod npm;
mod proxies;
mod pypi;
mod shell;
mod test;

use std::process::ExitCode;

const USAGE: &str = "usage: cargo xtask TASK

  test [FILTER…]           install what the tests need, then run all tests (or the Rust tests that match)
  browser [FILTER]         run the tests of the pages in Chromium (or those that match)
  screenshots              take the screenshots for the documentation
  icons                    draw the icons of the installed app (web/icons)
  lint                     run rustfmt, clippy, rustdoc and cargo-deny; warnings are errors
  bench                    run the benchmarks and write docs/benchmarks.md
  chaos [KILLS]            kill the server at random points under load and compare what viewers saw with the store
  fuzz [TARGET [SECONDS]]  fuzz the readers of agents' output (needs a nightly toolchain)
  fuzz-api [EXAMPLES]      send generated requests to a real server and compare its replies with its OpenAPI document
  proxies                  test the configurations in docs/remote-access.md with nginx and Caddy";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let outcome = match arguments.split_first().map(|(task, rest)| (task.as_str(), rest)) {
        Some(("test", filters)) => test::test(filters),
        Some(("browser", [])) => browser::tests(None),
        Some(("browser", [filter])) => browser::tests(Some(filter)),
        Some(("screenshots", [])) => browser::screenshots(),
        Some(("icons", [])) => browser::icons(),
        Some(("lint", [])) => lint::lint(),
        Some(("bench", [])) => bench::bench(),
        Some(("chaos", [])) => chaos::chaos("100"),
        Some(("chaos", [kills])) => chaos::chaos(kills),
        Some(("fuzz", [])) => fuzz::fuzz(None, None),
        Some(("fuzz", [target])) => fuzz::fuzz(Some(target), None),
        Some(("fuzz", [target, seconds])) => fuzz::fuzz(Some(target), Some(seconds)),
        Some(("fuzz-api", [])) => fuzz_api::fuzz_api(None),
        Some(("fuzz-api", [examples])) => fuzz_api::fuzz_api(Some(examples)),
        Some(("proxies", [])) => proxies::proxies(),
        _ => {
            eprintln!("{USAGE}");
            return ExitCode::from(2);
        }
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("xtask: {error}");
            ExitCode::FAILURE
        }
    }
}

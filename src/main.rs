//! The binary: parse, run, exit code.

use std::process::ExitCode;

/// glibc's allocator keeps most of what long messages took; `docs/benchmarks.md` has the figures.
#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

fn main() -> ExitCode {
    flightdeck::cli::run()
}

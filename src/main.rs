//! The binary: parse, run, exit code.

use std::process::ExitCode;

/// glibc's allocator keeps most of the memory that long messages took; `docs/benchmarks.md` has the figures.
#[cfg(target_os = "linux")]
#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

fn main() -> ExitCode {
    flightdeck::cli::run()
}

//! `cargo xtask fuzz`: the stream readers on input that nobody thought of.

use std::path::PathBuf;
use std::process::Command;

use crate::npm;
use crate::shell::{run, works, workspace};

/// The targets, and the recordings that their corpus begins with.
const TARGETS: [(&str, &str); 4] =
    [("copilot-headless", "headless"), ("claude", "claude"), ("acp", "acp"), ("sdk", "sdk")];
const VERSION: &str = "0.13.2";
const SECONDS: u64 = 60;

/// Fuzzes one target or all, each for that many seconds. What is found new stays in the corpus.
pub fn fuzz(target: Option<&str>, seconds: Option<&str>) -> Result<(), String> {
    let seconds: u64 = match seconds {
        Some(text) => text.parse().map_err(|_| format!("{text:?} is no number of seconds"))?,
        None => SECONDS,
    };
    let wanted: Vec<_> = TARGETS.iter().filter(|(name, _)| target.is_none_or(|target| target == *name)).collect();
    if wanted.is_empty() {
        let names: Vec<&str> = TARGETS.iter().map(|(name, _)| *name).collect();
        return Err(format!("there is no such target; there are: {}", names.join(", ")));
    }
    let driver = driver()?;
    for (name, recordings) in wanted {
        let tests = workspace().join("tests");
        let mut command = nightly(Command::new(&driver));
        command
            .args(["fuzz", "run", "--fuzz-dir"])
            .arg(workspace().join("fuzz"))
            .arg(name)
            .arg(tests.join("fuzz_corpus").join(name))
            .arg(tests.join("transcripts").join(recordings))
            .args(["--", &format!("-max_total_time={seconds}"), "-timeout=10", "-rss_limit_mb=2048"]);
        run(&mut command)?;
    }
    Ok(())
}

/// The sanitisers need a nightly toolchain; everything else here does not.
fn nightly(mut command: Command) -> Command {
    command.env_remove("CARGO").env("RUSTUP_TOOLCHAIN", "nightly").current_dir(workspace());
    command
}

/// Where cargo-fuzz is. Installed when it is not there.
fn driver() -> Result<PathBuf, String> {
    let mut version = Command::new("cargo");
    version.arg("--version");
    if !works(&mut nightly(version)) {
        return Err("fuzzing needs a nightly toolchain: run `rustup toolchain install nightly`".to_owned());
    }
    let folder = npm::cache().join("flightdeck-test-fuzz");
    let program = folder.join("bin").join(format!("cargo-fuzz{}", std::env::consts::EXE_SUFFIX));
    if !program.exists() {
        let mut install = Command::new("cargo");
        install.args(["install", "cargo-fuzz", "--locked", "--version", VERSION, "--root"]).arg(&folder);
        run(&mut install)?;
    }
    Ok(program)
}

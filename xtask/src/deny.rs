//! `cargo deny`: licences, bans and sources of all dependencies, and known vulnerabilities where those can be looked up.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::npm;
use crate::shell::{run, workspace};

const VERSION: &str = "0.20.2";

/// Checks the dependencies as `deny.toml` says.
pub fn check() -> Result<(), String> {
    let program = program()?;
    run(deny(&program).args(["check", "licenses", "bans", "sources"]))?;
    // The advisory database is a git repository, which not every machine can reach.
    match run(deny(&program).args(["fetch", "db"])) {
        Ok(()) => run(deny(&program).args(["check", "advisories"])),
        Err(error) => {
            eprintln!("xtask: advisories are not checked: {error}");
            Ok(())
        }
    }
}

fn deny(program: &Path) -> Command {
    let mut command = Command::new(program);
    command.current_dir(workspace());
    command
}

/// Where cargo-deny is. Installed when it is missing, without optimisation: building it takes longer than running it.
fn program() -> Result<PathBuf, String> {
    let folder = npm::cache().join(format!("flightdeck-cargo-deny-{VERSION}"));
    let program = folder.join("bin").join(format!("cargo-deny{}", std::env::consts::EXE_SUFFIX));
    if !program.exists() {
        let mut install = Command::new("cargo");
        install.args(["install", "cargo-deny", "--locked", "--debug", "--version", VERSION, "--root"]).arg(&folder);
        run(&mut install)?;
    }
    Ok(program)
}

//! The real agents that tests talk to, installed from npm into a cache of their own.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::shell::{run, works};

/// Exact versions: what a test sees must not change under it.
const PACKAGES: [(&str, &str); 3] =
    [("@github/copilot", "1.0.102"), ("@github/copilot-sdk", "1.0.14"), ("opencode-ai", "1.18.33")];

/// Installs what is missing. Gives the folder.
pub fn install() -> Result<PathBuf, String> {
    let folder = cache().join("flightdeck-test-agents");
    if PACKAGES.iter().all(|(name, version)| is_installed(&folder, name, version)) {
        return Ok(folder);
    }
    ensure_npm()?;
    std::fs::create_dir_all(&folder).map_err(|error| format!("{} cannot be made: {error}", folder.display()))?;
    let mut npm = Command::new("npm");
    npm.args(["install", "--no-audit", "--no-fund", "--no-save", "--loglevel=error", "--prefix"]).arg(&folder);
    npm.args(PACKAGES.map(|(name, version)| format!("{name}@{version}")));
    run(&mut npm)?;
    Ok(folder)
}

fn cache() -> PathBuf {
    let home = || std::env::var_os("HOME").map_or_else(std::env::temp_dir, |home| PathBuf::from(home).join(".cache"));
    std::env::var_os("XDG_CACHE_HOME").map_or_else(home, PathBuf::from)
}

fn is_installed(folder: &Path, name: &str, version: &str) -> bool {
    std::fs::read_to_string(folder.join("node_modules").join(name).join("package.json"))
        .is_ok_and(|text| text.contains(&format!("\"version\": \"{version}\"")))
}

/// npm comes with Node.js; on Debian and its kin we can get both.
fn ensure_npm() -> Result<(), String> {
    if works(Command::new("npm").arg("--version")) {
        return Ok(());
    }
    if works(Command::new("apt-get").arg("--version")) {
        run(Command::new("apt-get").args(["update", "--quiet"]))?;
        run(Command::new("apt-get").args(["install", "--yes", "--quiet", "nodejs", "npm"]))?;
        return Ok(());
    }
    Err("npm is needed to install the real agents that the tests talk to; install Node.js 20 or newer".to_owned())
}

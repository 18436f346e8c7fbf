//! npm packages in folders of their own, so that the machine's Node.js stays unchanged.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::shell::{apt_get_install, run, works};

/// Exact versions: what a test sees must not change under it.
pub type Package = (&'static str, &'static str);

/// Installs what is missing below the user's cache and returns the folder.
pub fn install(folder_name: &str, packages: &[Package]) -> Result<PathBuf, String> {
    let folder = cache().join(folder_name);
    if packages.iter().all(|(name, version)| is_installed(&folder, name, version)) {
        return Ok(folder);
    }
    ensure_npm()?;
    std::fs::create_dir_all(&folder).map_err(|error| format!("cannot create {}: {error}", folder.display()))?;
    let mut npm = Command::new("npm");
    npm.args(["install", "--no-audit", "--no-fund", "--no-save", "--loglevel=error", "--prefix"]).arg(&folder);
    npm.args(packages.iter().map(|(name, version)| format!("{name}@{version}")));
    run(&mut npm)?;
    Ok(folder)
}

/// The user's cache folder.
pub fn cache() -> PathBuf {
    let home = || std::env::var_os("HOME").map_or_else(std::env::temp_dir, |home| PathBuf::from(home).join(".cache"));
    std::env::var_os("XDG_CACHE_HOME").map_or_else(home, PathBuf::from)
}

fn is_installed(folder: &Path, name: &str, version: &str) -> bool {
    std::fs::read_to_string(folder.join("node_modules").join(name).join("package.json"))
        .is_ok_and(|text| text.contains(&format!("\"version\": \"{version}\"")))
}

/// npm comes with Node.js; on Debian and its derivatives both are installed.
fn ensure_npm() -> Result<(), String> {
    if works(Command::new("npm").arg("--version")) {
        return Ok(());
    }
    apt_get_install(&["nodejs", "npm"]).ok_or("installing the test agents needs npm: install Node.js 20 or newer")?
}

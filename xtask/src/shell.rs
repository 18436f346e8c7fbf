//! Running other programs.

use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Instant;

/// The root of the workspace, wherever the task is called from.
pub fn workspace() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).parent().map(PathBuf::from).unwrap_or_default()
}

/// A cargo command in the workspace. It does not see that another cargo runs this program: build scripts of dependencies
/// compare these variables, and would compile half of the workspace again when somebody calls cargo directly.
pub fn cargo(arguments: &[&str]) -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.args(arguments).current_dir(workspace());
    for (name, _) in std::env::vars_os() {
        let text = name.to_string_lossy();
        if text.starts_with("CARGO_PKG_") || text.starts_with("CARGO_MANIFEST_") {
            command.env_remove(&name);
        }
    }
    command
}

/// Prints a command, runs it and prints how long it took. An error names the command.
pub fn run(command: &mut Command) -> Result<(), String> {
    let shown = format!("{command:?}").replace('"', "");
    eprintln!("$ {shown}");
    let began = Instant::now();
    let status = command.status();
    eprintln!("took {} s: {shown}", began.elapsed().as_secs());
    match status {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("`{shown}` failed: {status}")),
        Err(error) => Err(format!("`{shown}` cannot be started: {error}")),
    }
}

/// Runs a command as [`run`] does and returns its standard output.
pub fn read(command: &mut Command) -> Result<String, String> {
    let shown = format!("{command:?}").replace('"', "");
    eprintln!("$ {shown}");
    let output = command.stderr(Stdio::inherit()).output().map_err(|error| format!("`{shown}`: {error}"))?;
    if !output.status.success() {
        return Err(format!("`{shown}` failed: {}", output.status));
    }
    String::from_utf8(output.stdout).map_err(|error| format!("`{shown}` wrote output that is not UTF-8: {error}"))
}

/// Whether a command runs and succeeds.
pub fn works(command: &mut Command) -> bool {
    command.output().is_ok_and(|output| output.status.success())
}

/// Installs packages on Debian and its derivatives; `None` elsewhere.
pub fn apt_get_install(packages: &[&str]) -> Option<Result<(), String>> {
    if !works(Command::new("apt-get").arg("--version")) {
        return None;
    }
    let update = run(Command::new("apt-get").args(["update", "--quiet"]));
    Some(update.and_then(|()| run(Command::new("apt-get").args(["install", "--yes", "--quiet"]).args(packages))))
}

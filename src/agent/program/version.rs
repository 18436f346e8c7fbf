//! Reads the version of a program.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use tokio::process::Command;

use super::FoundProgram;

/// The timeout for `--version`.
const ANSWER_WITHIN: Duration = Duration::from_secs(10);

/// The version of a program, from the npm package next to the executable or else from the program itself.
pub(super) async fn version_of(program: &FoundProgram, environment: &BTreeMap<String, String>) -> Option<String> {
    if let Some(version) = version_beside(&program.path) {
        return Some(version);
    }
    said_version(program, environment).await
}

/// The version that the program itself prints.
pub(super) async fn said_version(program: &FoundProgram, environment: &BTreeMap<String, String>) -> Option<String> {
    let mut arguments = program.leading_arguments.clone();
    arguments.push("--version".to_owned());
    let said = run(&program.path, &arguments, environment).await?;
    version_in(&said)
}

/// The output of a program, if it exits successfully and in time.
pub(super) async fn run(
    program: &Path,
    arguments: &[String],
    environment: &BTreeMap<String, String>,
) -> Option<String> {
    let mut command = Command::new(program);
    command
        .args(arguments)
        .env_clear()
        .envs(environment)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .kill_on_drop(true);
    let output = tokio::time::timeout(ANSWER_WITHIN, command.output()).await.ok()?.ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned())
}

/// The version in the `package.json` of the executable's folder.
fn version_beside(path: &Path) -> Option<String> {
    let text = std::fs::read_to_string(path.parent()?.join("package.json")).ok()?;
    let description: serde_json::Value = serde_json::from_str(&text).ok()?;
    description["version"].as_str().map(str::to_owned)
}

/// The first word that looks like a version.
fn version_in(text: &str) -> Option<String> {
    text.split_whitespace()
        .map(|word| word.trim_start_matches('v').trim_end_matches(['.', ',']))
        .find(|word| {
            let mut parts = word.split('.');
            let is_number = |part: Option<&str>| part.is_some_and(|part| part.parse::<u32>().is_ok());
            is_number(parts.next()) && is_number(parts.next())
        })
        .map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_is_found_in_what_programs_print() {
        for (text, version) in [
            ("GitHub Copilot CLI 1.0.102.\nRun 'copilot update'", Some("1.0.102")),
            ("v0.4.2", Some("0.4.2")),
            ("2.1.0 (Claude Code)", Some("2.1.0")),
            ("welcome", None),
        ] {
            assert_eq!(version_in(text).as_deref(), version, "{text}");
        }
    }
}

//! `cargo xtask browser` and `cargo xtask screenshots`: the pages in a real Chromium, served by the real binary.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::npm::{self, Package};
use crate::shell::{apt_get_install, cargo, read, run, workspace};

/// The driver alone (it downloads no browser; Debian's is used), the accessibility rules, and what decrypts pushed messages.
const PACKAGES: [Package; 3] = [("playwright-core", "1.65.0"), ("axe-core", "4.14.0"), ("http_ece", "1.2.1")];
const BROWSERS: [&str; 3] = ["chromium", "chromium-browser", "google-chrome"];
/// Chromium without windows, as Debian names it.
const SHELL: &str = "chromium-headless-shell";
const TESTS: &str = "tests/browser";

/// Runs all browser tests, or those whose file name contains the filter, or else those whose name does.
pub fn tests(filter: Option<&str>) -> Result<(), String> {
    let all = test_files()?;
    let (files, name) = match filter {
        None => (all, None),
        Some(filter) => {
            let named: Vec<PathBuf> = all.iter().filter(|path| file_name(path).contains(filter)).cloned().collect();
            if named.is_empty() { (containing(&all, filter)?, Some(filter)) } else { (named, None) }
        }
    };
    let mut node = node()?;
    // A file that hangs is a failure. Its steps have time limits of their own in the harness.
    node.args(["--test", "--test-reporter=spec", "--test-concurrency=2", "--test-timeout=600000"]);
    if let Some(name) = name {
        node.arg(format!("--test-name-pattern={}", literally(name)));
    }
    run(node.args(files))
}

/// Takes the screenshots of the documentation.
pub fn screenshots() -> Result<(), String> {
    run_script("screenshots.mjs")
}

/// Draws the icons of the installed app.
pub fn icons() -> Result<(), String> {
    run_script("icons.mjs")
}

fn run_script(name: &str) -> Result<(), String> {
    let script = workspace().join(TESTS).join(name);
    if !script.exists() {
        return Err(format!("{} does not exist", script.display()));
    }
    run(node()?.arg(script))
}

/// Measures the first paint of long sessions with a binary. Returns rows of a table.
pub fn first_paint(binary: &Path) -> Result<String, String> {
    let script = workspace().join(TESTS).join("firstPaint.mjs");
    read(node()?.env("TEST_BINARY", binary).arg(script))
}

/// Measures how smoothly long sessions scroll, with a binary. Returns rows of a table.
pub fn scrolling(binary: &Path) -> Result<String, String> {
    let script = workspace().join(TESTS).join("scrolling.mjs");
    read(node()?.env("TEST_BINARY", binary).arg(script))
}

/// Node.js with every environment variable that the harness in `tests/browser/support` needs.
fn node() -> Result<Command, String> {
    let driver = npm::install("flightdeck-test-browser", &PACKAGES)?;
    let chromium = ensure_chromium()?;
    let shell = ensure_shell().unwrap_or_else(|| chromium.clone());
    let agents = crate::agents::install()?;
    // As the Rust tests build it: a plain build has other features of dependencies, and would compile half of them again.
    run(&mut cargo(&["test", "--workspace", "--no-run", "--quiet"]))?;
    let own = std::env::current_exe().map_err(|error| format!("cannot find the target folder: {error}"))?;
    let binary = own.with_file_name(format!("flightdeck{}", std::env::consts::EXE_SUFFIX));
    let mut node = Command::new("node");
    node.current_dir(workspace())
        .env("TEST_BROWSER", driver)
        .env("TEST_CHROMIUM", chromium)
        .env("TEST_CHROMIUM_SHELL", shell)
        .env("TEST_AGENTS", agents)
        .env("TEST_BINARY", binary);
    Ok(node)
}

fn ensure_chromium() -> Result<PathBuf, String> {
    if let Some(program) = BROWSERS.into_iter().find_map(program_on_path) {
        return Ok(program);
    }
    let missing = "testing the pages needs Chromium: install it so that `chromium --version` works";
    apt_get_install(&["chromium"]).ok_or(missing)??;
    program_on_path(BROWSERS[0]).ok_or_else(|| missing.to_owned())
}

/// Most tests do with less than the whole browser; where there is none, they use that.
fn ensure_shell() -> Option<PathBuf> {
    if program_on_path(SHELL).is_none() {
        let _ = apt_get_install(&[SHELL])?;
    }
    program_on_path(SHELL)
}

/// The driver needs the full path.
fn program_on_path(name: &str) -> Option<PathBuf> {
    let folders = std::env::var_os("PATH")?;
    std::env::split_paths(&folders).map(|folder| folder.join(name)).find(|path| path.is_file())
}

fn test_files() -> Result<Vec<PathBuf>, String> {
    let folder = workspace().join(TESTS);
    let entries = std::fs::read_dir(&folder).map_err(|error| format!("cannot read {}: {error}", folder.display()))?;
    let mut files: Vec<PathBuf> = entries
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| file_name(path).ends_with(".test.mjs"))
        .collect();
    files.sort();
    Ok(files)
}

/// The files with a test of that name. None is an error: the filter is probably mistyped.
fn containing(files: &[PathBuf], text: &str) -> Result<Vec<PathBuf>, String> {
    let holds = |path: &PathBuf| std::fs::read_to_string(path).is_ok_and(|content| content.contains(text));
    let files: Vec<PathBuf> = files.iter().filter(|path| holds(path)).cloned().collect();
    if files.is_empty() { Err(format!("no browser test matches {text:?}")) } else { Ok(files) }
}

fn file_name(path: &Path) -> String {
    path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

/// Escapes a text, because Node.js takes a regular expression.
fn literally(text: &str) -> String {
    text.chars().fold(String::new(), |mut pattern, letter| {
        if !letter.is_alphanumeric() && !letter.is_whitespace() {
            pattern.push('\\');
        }
        pattern.push(letter);
        pattern
    })
}

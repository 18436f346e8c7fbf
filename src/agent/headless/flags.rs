//! The flags that an installed program supports, read from its `--help`, and arguments built from them.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;

use crate::agent::program::FoundProgram;
use crate::process::Capture;

/// The timeout for `--help`.
const HELP_WITHIN: Duration = Duration::from_secs(20);
/// The most `--help` output that is read.
const LONGEST_HELP: usize = 1024 * 1024;

/// The flags in a program's `--help`.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct KnownFlags {
    /// `None` if the help could not be read; then every flag counts as supported.
    flags: Option<BTreeSet<String>>,
    help: String,
}

impl KnownFlags {
    pub fn read(help: &str) -> Self {
        let is_end = |letter: char| !(letter.is_ascii_alphanumeric() || letter == '-');
        let flags = help
            .split_whitespace()
            .map(|word| word.trim_start_matches(['(', '[', '`', '\'', '"']))
            .filter(|word| word.starts_with("--"))
            .map(|word| word.split(is_end).next().unwrap_or_default().to_owned())
            .filter(|flag| flag.len() > 2);
        Self { flags: Some(flags.collect()), help: help.to_owned() }
    }

    pub fn know(&self, flag: &str) -> bool {
        self.flags.as_ref().is_none_or(|flags| flags.contains(flag))
    }

    /// Whether the help of a flag mentions a value. A flag that is not listed accepts any value.
    pub fn takes(&self, flag: &str, value: &str) -> bool {
        let Some(at) = self.help.find(flag) else { return true };
        let lines = self.help[at..].lines();
        // The description of a flag ends where the next one begins.
        let mut own = lines.enumerate().take_while(|(line, text)| *line == 0 || !text.trim_start().starts_with('-'));
        own.any(|(_, text)| text.split(|letter: char| !letter.is_ascii_alphanumeric()).any(|word| word == value))
    }
}

type Asked = (PathBuf, Option<String>, Arc<KnownFlags>);

/// The help of one program, read once per version.
#[derive(Debug, Default)]
pub(super) struct Help(Mutex<Option<Asked>>);

impl Help {
    pub async fn flags(&self, program: &FoundProgram, environment: &BTreeMap<String, String>) -> Arc<KnownFlags> {
        let known = self.0.lock().clone();
        if let Some((path, version, flags)) = known
            && path == program.path
            && version == program.version
        {
            return flags;
        }
        let flags = Arc::new(ask(program, environment).await);
        *self.0.lock() = Some((program.path.clone(), program.version.clone(), Arc::clone(&flags)));
        flags
    }
}

async fn ask(program: &FoundProgram, environment: &BTreeMap<String, String>) -> KnownFlags {
    let words = program.leading_arguments.iter().map(String::as_str).chain(["--help"]);
    let capture = Capture {
        program: program.path.clone(),
        arguments: words.map(OsString::from).collect(),
        environment: environment.iter().map(|(name, value)| (name.into(), value.into())).collect(),
        working_directory: std::env::temp_dir(),
        time_limit: HELP_WITHIN,
        byte_limit: LONGEST_HELP,
    };
    match capture.run().await {
        Ok(captured) if captured.success => KnownFlags::read(&String::from_utf8_lossy(&captured.output)),
        Ok(captured) => {
            tracing::warn!(program = %program.path.display(), words = %captured.stderr, "cannot read the program's --help");
            KnownFlags::default()
        }
        Err(error) => {
            tracing::warn!(program = %program.path.display(), %error, "cannot read the program's --help");
            KnownFlags::default()
        }
    }
}

/// The arguments of one invocation. Unsupported flags are omitted and reported.
#[derive(Debug)]
pub(super) struct Arguments<'a> {
    known: &'a KnownFlags,
    words: Vec<String>,
    pub left_out: Vec<&'static str>,
}

impl<'a> Arguments<'a> {
    /// Starts with arguments that every version supports.
    pub fn new(known: &'a KnownFlags, words: &[&str]) -> Self {
        Self { known, words: words.iter().map(|word| (*word).to_owned()).collect(), left_out: Vec::new() }
    }

    pub fn known(&self) -> &'a KnownFlags {
        self.known
    }

    pub fn flag(&mut self, flag: &'static str) {
        if self.check(flag) {
            self.words.push(flag.to_owned());
        }
    }

    pub fn flag_if(&mut self, flag: &'static str, wanted: bool) {
        if wanted {
            self.flag(flag);
        }
    }

    /// A flag and its value as one argument, so that a value is never parsed as a flag.
    pub fn value(&mut self, flag: &'static str, value: &str) {
        if self.check(flag) {
            self.words.push(format!("{flag}={value}"));
        }
    }

    /// A flag that every version supports although the help does not list it.
    pub fn hidden_value(&mut self, flag: &'static str, value: &str) {
        self.words.push(format!("{flag}={value}"));
    }

    fn check(&mut self, flag: &'static str) -> bool {
        let is_known = self.known.know(flag);
        if !is_known && !self.left_out.contains(&flag) {
            self.left_out.push(flag);
        }
        is_known
    }

    pub fn into_words(self) -> Vec<String> {
        self.words
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HELP: &str = "Usage: x [OPTIONS]\n\
        \x20 -p, --prompt <text>  Execute (see --silent)\n\
        \x20     --reasoning-effort <level>\n          Set it [possible values: low, xhigh]\n\
        \x20     --allowedTools, --allowed-tools <tools...>\n\
        \x20     --stream <mode>  [possible values: on, off, max]\n";

    #[test]
    fn flags_are_found_in_a_help_and_others_are_left_out_and_named() {
        let known = KnownFlags::read(HELP);
        let mut arguments = Arguments::new(&known, &["-s"]);
        arguments.flag("--prompt");
        arguments.flag_if("--silent", false);
        arguments.value("--allowedTools", "a b");
        arguments.value("--model", "m");
        arguments.value("--model", "m");
        arguments.flag("--nope");
        assert_eq!(arguments.left_out, ["--model", "--nope"]);
        assert_eq!(arguments.into_words(), ["-s", "--prompt", "--allowedTools=a b"]);
        assert!(known.know("--silent") && known.know("--allowed-tools") && !known.know("--"));
    }

    #[test]
    fn the_values_of_a_flag_stand_in_its_own_lines() {
        let known = KnownFlags::read(HELP);
        assert!(known.takes("--reasoning-effort", "xhigh") && !known.takes("--reasoning-effort", "max"));
        assert!(known.takes("--not-there", "anything"));
    }

    #[test]
    fn a_program_that_gives_no_help_is_taken_to_know_everything() {
        assert!(KnownFlags::default().know("--anything"));
    }

    #[cfg(unix)]
    #[tokio::test]
    async fn a_program_is_asked_once_for_each_of_its_versions() {
        let folder = tempfile::tempdir().expect("a folder");
        let (path, asked) = (folder.path().join("agent"), folder.path().join("asked"));
        std::fs::write(&path, format!("#!/bin/sh\necho x >> {}\necho ' --one'\n", asked.display())).expect("written");
        std::fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o755)).expect("set");
        let mut program = FoundProgram {
            path,
            leading_arguments: Vec::new(),
            native: true,
            version: Some("1".to_owned()),
            source: crate::agent::program::ProgramSource::Path,
            found_at: 0,
        };
        let (help, environment) = (Help::default(), BTreeMap::new());
        for (version, times) in [("1", 1), ("1", 1), ("2", 2)] {
            program.version = Some(version.to_owned());
            let flags = help.flags(&program, &environment).await;
            assert!(flags.know("--one") && !flags.know("--two"));
            assert_eq!(std::fs::read_to_string(&asked).expect("asked").lines().count(), times);
        }
    }
}

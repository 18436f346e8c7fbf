//! Runs the machine's git so that it writes nothing in the repository, and runs no program that the repository names.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::FolderError;
use crate::process::{Capture, Captured};

const TIME_LIMIT: Duration = Duration::from_secs(10);
/// The most output of a short command.
const SMALL_ANSWER: usize = 64 * 1024;
const CONFIGURATION_BYTES: usize = 1024 * 1024;

/// Settings that override those of a repository.
const SETTINGS: [&str; 12] = [
    // These would run a program to find changes, or start a daemon.
    "core.fsmonitor=false",
    "core.hooksPath=/dev/null",
    "core.pager=cat",
    "core.untrackedCache=false",
    "diff.external=",
    // This would write the index, whatever GIT_OPTIONAL_LOCKS says.
    "diff.autoRefreshIndex=false",
    // Missing parts of a partial clone would be fetched, by a program that the repository names.
    "protocol.allow=never",
    "submodule.recurse=false",
    // A folder that only looks like a repository does not count.
    "safe.bareRepository=explicit",
    "color.ui=false",
    // Non-ASCII names in patches are quoted, so that they are text whatever their bytes are.
    "core.quotePath=true",
    // Part of a split index would be written beside the repository's own.
    "core.splitIndex=false",
];

/// The environment variables that git gets: those that locate the user's settings and programs.
const PASSED_ON: [&str; 6] = ["PATH", "HOME", "XDG_CONFIG_HOME", "USERPROFILE", "SystemRoot", "TMPDIR"];
const VARIABLES: [(&str, &str); 8] = [
    // Otherwise git would also refresh its index.
    ("GIT_OPTIONAL_LOCKS", "0"),
    ("GIT_TERMINAL_PROMPT", "0"),
    ("GIT_ASKPASS", "true"),
    ("GIT_NO_LAZY_FETCH", "1"),
    ("GIT_ALLOW_PROTOCOL", "none"),
    ("GIT_PAGER", "cat"),
    // The messages are parsed.
    ("LC_ALL", "C"),
    ("LANGUAGE", "C"),
];

/// git in one repository.
#[derive(Debug)]
pub(super) struct Git {
    program: PathBuf,
    /// The top of the repository's files.
    pub top: PathBuf,
    /// Further settings, which turn off the repository's own filters.
    settings: Vec<OsString>,
    /// The names of these filters.
    filters: Vec<Vec<u8>>,
    /// Variables that direct what git writes into a store of our own.
    store: Vec<(&'static str, OsString)>,
}

/// A git command with everything that can be said about it.
#[derive(Debug, Default)]
pub(super) struct Call<'a> {
    /// Options of git itself.
    pub options: Vec<OsString>,
    /// The command and its arguments.
    pub arguments: Vec<OsString>,
    /// Taken literally.
    pub paths: &'a [&'a Path],
    pub input: &'a [u8],
    /// The most output; 0 for that of a short command.
    pub byte_limit: usize,
}

impl Call<'_> {
    pub fn new<'b>(arguments: impl IntoIterator<Item = &'b str>) -> Self {
        Self { arguments: arguments.into_iter().map(OsString::from).collect(), ..Self::default() }
    }

    pub fn with(mut self, argument: impl Into<OsString>) -> Self {
        self.arguments.push(argument.into());
        self
    }
}

impl Git {
    /// The repository of a folder. `folder` has its symbolic links resolved.
    pub async fn of(folder: &Path) -> Result<Self, FolderError> {
        let program = program().ok_or(FolderError::NoGit)?;
        let mut git =
            Self { program, top: folder.to_owned(), settings: Vec::new(), filters: Vec::new(), store: Vec::new() };
        let answer = git.run(&["rev-parse", "--show-toplevel"], &[], SMALL_ANSWER).await;
        let answer = match answer {
            Err(FolderError::GitRefused { message, .. })
                if message.contains("not a git repository") || message.contains("must be run in a work tree") =>
            {
                return Err(FolderError::NoRepository(folder.to_owned()));
            }
            other => other?,
        };
        let top = path_of_bytes(answer.output.strip_suffix(b"\n").unwrap_or(&answer.output));
        // A repository may name any folder as its work tree; only one that contains this folder is accepted.
        let top = top.canonicalize().map_err(|_| FolderError::NoRepository(folder.to_owned()))?;
        if !folder.starts_with(&top) {
            return Err(FolderError::NoRepository(folder.to_owned()));
        }
        git.top = top;
        (git.filters, git.settings) = git.without_filters().await?;
        Ok(git)
    }

    /// Whether the configuration names programs for this filter.
    pub fn has_filter(&self, name: &[u8]) -> bool {
        self.filters.iter().any(|filter| filter == name)
    }

    /// The same, with everything that git writes going to other places than the repository.
    pub fn writing_to(mut self, variables: Vec<(&'static str, OsString)>) -> Self {
        self.store = variables;
        self
    }

    /// Settings that turn off every filter. git would run a filter for each file that may have changed, and the
    /// repository's own configuration chooses the program.
    async fn without_filters(&self) -> Result<(Vec<Vec<u8>>, Vec<OsString>), FolderError> {
        let answer = self.run(&["config", "--null", "--name-only", "--list"], &[], CONFIGURATION_BYTES).await?;
        let refused = |message: &str| FolderError::GitRefused { path: self.top.clone(), message: message.to_owned() };
        if !answer.complete {
            return Err(refused("its configuration is too long"));
        }
        let (mut filters, mut settings) = (Vec::new(), Vec::new());
        for name in answer.output.split(|byte| *byte == 0).filter(|name| name.starts_with(b"filter.")) {
            // git would read the part after it as the value, and the filter would still run.
            if name.contains(&b'=') {
                return Err(refused("its configuration has a filter that cannot be turned off"));
            }
            let end = name.iter().rposition(|byte| *byte == b'.').unwrap_or(0);
            filters.extend(name.get(b"filter.".len()..end).map(<[u8]>::to_vec));
            for setting in ["clean=", "smudge=", "process=", "required=false"] {
                let mut whole = os_string(&name[..=end]);
                whole.push(setting);
                settings.push(whole);
            }
        }
        filters.dedup();
        settings.dedup();
        Ok((filters, settings))
    }

    /// Runs a git command at the top of the repository. `paths` are taken literally.
    pub async fn run(&self, arguments: &[&str], paths: &[&Path], byte_limit: usize) -> Result<Captured, FolderError> {
        self.call(Call { paths, byte_limit, ..Call::new(arguments.iter().copied()) }).await
    }

    /// The output of a short command, without the line's end.
    pub async fn line(&self, call: Call<'_>) -> Result<String, FolderError> {
        let answer = self.call(call).await?;
        Ok(String::from_utf8_lossy(&answer.output).trim_end().to_owned())
    }

    /// Runs any git command at the top of the repository.
    pub async fn call(&self, call: Call<'_>) -> Result<Captured, FolderError> {
        let mut all: Vec<OsString> = ["--no-pager", "--literal-pathspecs"].map(OsString::from).to_vec();
        for setting in SETTINGS.iter().map(OsStr::new).chain(self.settings.iter().map(OsString::as_os_str)) {
            all.push("-c".into());
            all.push(setting.to_owned());
        }
        all.extend(call.options);
        all.extend(call.arguments);
        if !call.paths.is_empty() {
            all.push("--".into());
            all.extend(call.paths.iter().map(|path| path.as_os_str().to_owned()));
        }
        let mut environment = environment();
        environment.extend(self.store.iter().map(|(name, value)| (OsString::from(name), value.clone())));
        let capture = Capture {
            program: self.program.clone(),
            arguments: all,
            environment,
            working_directory: self.top.clone(),
            time_limit: TIME_LIMIT,
            byte_limit: if call.byte_limit == 0 { SMALL_ANSWER } else { call.byte_limit },
        };
        let captured = capture.run_with_input(call.input).await?;
        if captured.success {
            Ok(captured)
        } else {
            let message = captured.stderr.trim().trim_start_matches("fatal: ").to_owned();
            Err(FolderError::GitRefused { path: self.top.clone(), message })
        }
    }
}

fn environment() -> BTreeMap<OsString, OsString> {
    let passed_on = PASSED_ON.iter().filter_map(|name| Some((OsString::from(name), std::env::var_os(name)?)));
    let fixed = VARIABLES.iter().map(|(name, value)| (OsString::from(name), OsString::from(value)));
    passed_on.chain(fixed).collect()
}

/// Searches the `PATH`, so that a missing git gets an error of its own.
fn program() -> Option<PathBuf> {
    let name = format!("git{}", std::env::consts::EXE_SUFFIX);
    let folders = std::env::var_os("PATH")?;
    std::env::split_paths(&folders)
        .filter(|folder| folder.is_absolute())
        .map(|folder| folder.join(&name))
        .find(|path| path.is_file())
}

/// File names are bytes, because they may not be UTF-8.
#[cfg(unix)]
pub(super) fn os_string(bytes: &[u8]) -> OsString {
    std::os::unix::ffi::OsStringExt::from_vec(bytes.to_vec())
}

#[cfg(not(unix))]
pub(super) fn os_string(bytes: &[u8]) -> OsString {
    String::from_utf8_lossy(bytes).into_owned().into()
}

/// A path as git writes and reads it.
#[cfg(unix)]
pub(super) fn bytes_of_path(path: &Path) -> Vec<u8> {
    std::os::unix::ffi::OsStrExt::as_bytes(path.as_os_str()).to_vec()
}

#[cfg(not(unix))]
pub(super) fn bytes_of_path(path: &Path) -> Vec<u8> {
    path.to_string_lossy().replace('\\', "/").into_bytes()
}

pub(super) fn path_of_bytes(bytes: &[u8]) -> PathBuf {
    os_string(bytes).into()
}

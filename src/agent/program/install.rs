//! Installs an agent's program from npm into the data folder, without root and without changes elsewhere.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use tokio::io::AsyncReadExt as _;

use super::find::private_folder;
use super::native::{behind_loader, file_names};
use super::version::said_version;
use super::{FoundProgram, ProgramSource};
use crate::process::{ProcessSpec, Supervisor};

/// How often progress is reported.
const REPORT_EVERY: Duration = Duration::from_millis(500);

/// A program that can be installed.
#[derive(Clone, Copy, Debug)]
pub struct Installable {
    /// The program's name, and the agent's.
    pub name: &'static str,
    /// Its npm package.
    pub package: &'static str,
}

/// The progress of an install.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InstallStep {
    /// npm is running.
    Downloading {
        /// The number of bytes on disk so far.
        bytes: u64,
    },
    /// npm has finished; the program is being checked.
    Checking,
}

/// Why an install failed.
#[derive(Debug, thiserror::Error)]
pub enum InstallError {
    /// npm is not installed.
    #[error("installing {package} needs npm: install Node.js 20 or newer, which includes it")]
    NoNpm {
        /// The package.
        package: &'static str,
    },
    /// npm failed.
    #[error("npm could not install {package}: {reason}")]
    Npm {
        /// The package.
        package: String,
        /// The end of npm's output.
        reason: String,
    },
    /// The package contains no working program.
    #[error("{package} was installed, but it contains no program `{name}` that runs on this machine")]
    NoProgram {
        /// The package.
        package: String,
        /// The expected program.
        name: &'static str,
    },
    /// The folder is not writable.
    #[error("cannot write to {}", folder.display())]
    Folder {
        /// The folder.
        folder: PathBuf,
        /// The cause.
        #[source]
        source: std::io::Error,
    },
}

impl Installable {
    /// The programs that can be installed.
    pub const ALL: [Self; 2] = [
        Self { name: "copilot", package: "@github/copilot" },
        Self { name: "claude", package: "@anthropic-ai/claude-code" },
    ];

    /// Installs the given version, or the latest one, into `data_folder`. The previous install stays until the new one
    /// works.
    pub async fn install(
        self,
        data_folder: &Path,
        version: Option<&str>,
        environment: &BTreeMap<String, String>,
        mut tell: impl FnMut(InstallStep),
    ) -> Result<FoundProgram, InstallError> {
        let target = private_folder(data_folder, self.name);
        let fresh = target.with_extension("new");
        let refused = |folder: &Path| {
            let folder = folder.to_owned();
            move |source| InstallError::Folder { folder, source }
        };
        remove(&fresh).map_err(refused(&fresh))?;
        std::fs::create_dir_all(&fresh).map_err(refused(&fresh))?;
        let outcome = self.install_into(&fresh, version, environment, &mut tell).await;
        if let Err(error) = outcome {
            if let Err(left) = remove(&fresh) {
                tracing::warn!(error = %left, folder = %fresh.display(), "cannot remove the files of a failed install");
            }
            return Err(error);
        }
        let old = target.with_extension("old");
        remove(&old).map_err(refused(&old))?;
        if target.exists() {
            std::fs::rename(&target, &old).map_err(refused(&target))?;
        }
        std::fs::rename(&fresh, &target).map_err(refused(&target))?;
        remove(&old).map_err(refused(&old))?;
        self.program_in(&target, environment).await.ok_or_else(|| self.no_program(version))
    }

    /// Removes what an install left behind that was given up halfway.
    pub(super) fn discard_unfinished(self, data_folder: &Path) {
        let fresh = private_folder(data_folder, self.name).with_extension("new");
        if let Err(error) = remove(&fresh) {
            tracing::warn!(%error, folder = %fresh.display(), "cannot remove the files of a cancelled install");
        }
    }

    async fn install_into(
        self,
        folder: &Path,
        version: Option<&str>,
        environment: &BTreeMap<String, String>,
        tell: &mut impl FnMut(InstallStep),
    ) -> Result<(), InstallError> {
        let on_path = environment.get("PATH").map(String::as_str).unwrap_or_default();
        let npm = std::env::split_paths(on_path)
            .flat_map(|folder| file_names("npm").into_iter().map(move |file| folder.join(file)))
            .find(|file| file.is_file())
            .ok_or(InstallError::NoNpm { package: self.package })?;
        let package = self.package_name(version);
        let failed = |reason: String| InstallError::Npm { package: package.clone(), reason };
        let fixed = ["install", "--no-audit", "--no-fund", "--no-save", "--loglevel=error", "--prefix"];
        let mut arguments: Vec<String> = fixed.map(str::to_owned).to_vec();
        arguments.extend([folder.display().to_string(), package.clone()]);
        let spec = ProcessSpec { program: npm, arguments, environment: environment.clone(), working_directory: None };
        let (mut child, stdin, mut stdout) =
            Supervisor::without_ledger().spawn(&spec).map_err(|error| failed(error.to_string()))?;
        drop(stdin);
        let mut said = Vec::new();
        let mut talking = true;
        let mut report = tokio::time::interval(REPORT_EVERY);
        let ended = loop {
            tokio::select! {
                ended = child.wait() => break ended,
                read = stdout.read_buf(&mut said), if talking => talking = matches!(read, Ok(1..)),
                _ = report.tick() => {
                    let place = folder.to_owned();
                    let bytes = tokio::task::spawn_blocking(move || size_of(&place)).await.unwrap_or_default();
                    tell(InstallStep::Downloading { bytes });
                }
            }
        };
        if !child.succeeded() {
            let words = child.stderr_text().await;
            return Err(failed(if words.is_empty() { ended } else { words }));
        }
        tell(InstallStep::Checking);
        self.program_in(folder, environment).await.map(drop).ok_or_else(|| self.no_program(version))
    }

    fn package_name(self, version: Option<&str>) -> String {
        format!("{}@{}", self.package, version.unwrap_or("latest"))
    }

    fn no_program(self, version: Option<&str>) -> InstallError {
        InstallError::NoProgram { package: self.package_name(version), name: self.name }
    }

    /// The program in an install, if it can report its version.
    async fn program_in(self, folder: &Path, environment: &BTreeMap<String, String>) -> Option<FoundProgram> {
        let bin = folder.join("node_modules/.bin");
        let path = file_names(self.name).into_iter().map(|file| bin.join(file)).find(|file| file.is_file())?;
        let (path, native) = behind_loader(&path, self.package, self.name);
        let mut program = FoundProgram {
            path,
            leading_arguments: Vec::new(),
            native,
            version: None,
            source: ProgramSource::Private,
            found_at: 0,
        };
        // Runs the program, which fails if it was built for another platform.
        program.version = said_version(&program, environment).await;
        program.version.is_some().then_some(program)
    }
}

fn remove(folder: &Path) -> std::io::Result<()> {
    match std::fs::remove_dir_all(folder) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// The size of a folder on disk. Files may appear and disappear meanwhile.
fn size_of(folder: &Path) -> u64 {
    let mut waiting = vec![folder.to_owned()];
    let mut bytes = 0;
    while let Some(folder) = waiting.pop() {
        for entry in std::fs::read_dir(&folder).into_iter().flatten().flatten() {
            match entry.metadata() {
                Ok(file) if file.is_dir() => waiting.push(entry.path()),
                Ok(file) => bytes += file.len(),
                Err(_) => {}
            }
        }
    }
    bytes
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    const COPILOT: Installable = Installable { name: "copilot", package: "@github/copilot" };

    /// An environment whose npm is the given script; `$6` is the folder to install into.
    fn with_npm(folder: &Path, script: &str) -> BTreeMap<String, String> {
        let bin = folder.join("bin");
        std::fs::create_dir_all(&bin).expect("made");
        std::fs::write(bin.join("npm"), format!("#!/bin/sh\n{script}\n")).expect("written");
        std::fs::set_permissions(bin.join("npm"), std::fs::Permissions::from_mode(0o755)).expect("set");
        [("PATH".to_owned(), format!("{}:/usr/bin:/bin", bin.display()))].into()
    }

    const GOOD: &str = "bin=$7/node_modules/.bin; mkdir -p $bin; printf '#!/bin/sh\\necho 9.8.7\\n' > $bin/copilot; \
                        chmod +x $bin/copilot";

    #[tokio::test]
    async fn a_program_is_installed_below_the_data_folder_and_tried() {
        let folder = tempfile::tempdir().expect("a folder");
        let environment = with_npm(folder.path(), GOOD);
        let mut steps = Vec::new();
        let program = COPILOT.install(folder.path(), None, &environment, |step| steps.push(step)).await.expect("done");
        assert_eq!(program.version.as_deref(), Some("9.8.7"));
        assert!(program.path.starts_with(folder.path().canonicalize().expect("there").join("agents/copilot")));
        assert_eq!(steps.last(), Some(&InstallStep::Checking));
    }

    #[tokio::test]
    async fn an_install_that_fails_says_why_and_leaves_the_old_one() {
        let folder = tempfile::tempdir().expect("a folder");
        let good = with_npm(folder.path(), GOOD);
        COPILOT.install(folder.path(), None, &good, |_| {}).await.expect("done");
        for (script, word) in [("echo 'E404 no such package' >&2; exit 1", "E404"), ("exit 0", "no program")] {
            let bad = with_npm(folder.path(), script);
            let error = COPILOT.install(folder.path(), Some("0.0.0"), &bad, |_| {}).await.expect_err("failed");
            assert!(error.to_string().contains(word), "{error}");
            assert!(error.to_string().contains("@github/copilot@0.0.0"), "{error}");
            assert!(folder.path().join("agents/copilot/node_modules/.bin/copilot").exists());
            assert!(!folder.path().join("agents/copilot.new").exists(), "nothing half done is left");
        }
        let error = COPILOT.install(folder.path(), None, &BTreeMap::new(), |_| {}).await.expect_err("no npm");
        assert!(error.to_string().contains("Node.js"), "{error}");
    }
}

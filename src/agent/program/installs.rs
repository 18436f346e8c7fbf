//! Installs that a server runs in the background, one at a time for each program.

use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;
use std::sync::Arc;

use parking_lot::Mutex;
use schemars::JsonSchema;
use serde::Serialize;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::{InstallStep, Installable};
use crate::model::redact;

/// The state of an install.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum InstallStage {
    /// None was started since the server runs.
    #[default]
    None,
    /// npm is running.
    Downloading,
    /// The program is being tried.
    Checking,
    /// Done.
    Succeeded,
    /// It failed, or was cancelled.
    Failed,
}

/// The current install of a program, or the last one.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct InstallProgress {
    /// Its state.
    #[serde(rename = "state")]
    pub stage: InstallStage,
    /// The npm package.
    pub package: &'static str,
    /// The bytes on disk so far.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bytes: Option<u64>,
    /// The installed version.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// Why it failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
}

impl InstallProgress {
    /// Whether it has not ended.
    pub fn is_running(&self) -> bool {
        matches!(self.stage, InstallStage::Downloading | InstallStage::Checking)
    }
}

struct Install {
    progress: InstallProgress,
    cancelled: CancellationToken,
}

/// All installs of a server. Clones share them.
#[derive(Clone)]
#[expect(clippy::struct_field_names, reason = "the installs are what it is about")]
pub struct Installs {
    data_folder: PathBuf,
    /// By the program's name.
    installs: Arc<Mutex<HashMap<&'static str, Install>>>,
    tasks: TaskTracker,
    stopping: CancellationToken,
}

impl Installs {
    /// Installs below this data folder.
    pub fn in_folder(data_folder: PathBuf) -> Self {
        Self { data_folder, installs: Arc::default(), tasks: TaskTracker::new(), stopping: CancellationToken::new() }
    }

    /// Starts an install unless one of the same program is running. `done` is called when it succeeded.
    pub fn begin(
        &self,
        program: Installable,
        environment: BTreeMap<String, String>,
        done: impl FnOnce() + Send + 'static,
    ) -> InstallProgress {
        let mut installs = self.installs.lock();
        if let Some(running) = installs.get(program.name).filter(|install| install.progress.is_running()) {
            return running.progress.clone();
        }
        let cancelled = self.stopping.child_token();
        let progress =
            InstallProgress { stage: InstallStage::Downloading, package: program.package, ..Default::default() };
        installs.insert(program.name, Install { progress: progress.clone(), cancelled: cancelled.clone() });
        drop(installs);
        let this = self.clone();
        self.tasks.spawn(async move { this.run(program, environment, cancelled, done).await });
        progress
    }

    /// The state of a program's install.
    pub fn progress(&self, program: Installable) -> InstallProgress {
        let installs = self.installs.lock();
        let known = installs.get(program.name).map(|install| install.progress.clone());
        known.unwrap_or_else(|| InstallProgress { package: program.package, ..Default::default() })
    }

    /// Cancels a running install. What was installed before stays.
    pub fn cancel(&self, program: Installable) {
        if let Some(install) = self.installs.lock().get(program.name) {
            install.cancelled.cancel();
        }
    }

    /// Cancels all installs and waits for their end.
    pub async fn shut_down(&self) {
        self.stopping.cancel();
        self.tasks.close();
        self.tasks.wait().await;
    }

    async fn run(
        &self,
        program: Installable,
        environment: BTreeMap<String, String>,
        cancelled: CancellationToken,
        done: impl FnOnce(),
    ) {
        let tell = |step| {
            self.change(program, |progress| match step {
                InstallStep::Downloading { bytes } => progress.bytes = Some(bytes),
                InstallStep::Checking => progress.stage = InstallStage::Checking,
            });
        };
        let install = program.install(&self.data_folder, None, &environment, tell);
        // Dropping the install ends npm.
        let outcome = cancelled.run_until_cancelled(install).await;
        match outcome {
            Some(Ok(found)) => {
                // Whoever learns of the success must find the program.
                done();
                self.change(program, |progress| {
                    progress.stage = InstallStage::Succeeded;
                    progress.version = found.version;
                });
            }
            Some(Err(error)) => {
                tracing::warn!(program = program.name, error = &error as &dyn std::error::Error, "an install failed");
                self.fail(program, redact(&with_causes(&error)).into_owned());
            }
            None => {
                program.discard_unfinished(&self.data_folder);
                self.fail(program, "The install was cancelled.".to_owned());
            }
        }
    }

    fn fail(&self, program: Installable, message: String) {
        self.change(program, |progress| {
            progress.stage = InstallStage::Failed;
            progress.message = Some(message);
        });
    }

    fn change(&self, program: Installable, change: impl FnOnce(&mut InstallProgress)) {
        if let Some(install) = self.installs.lock().get_mut(program.name) {
            change(&mut install.progress);
        }
    }
}

/// An error with its causes, as one sentence.
fn with_causes(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(inner) = cause {
        text = format!("{text}: {inner}");
        cause = inner.source();
    }
    text
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;
    use std::path::Path;
    use std::sync::atomic::{AtomicBool, Ordering};

    use super::*;

    const PROGRAM: Installable = Installable { name: "copilot", package: "@github/copilot" };

    fn with_npm(folder: &Path, script: &str) -> BTreeMap<String, String> {
        let npm = folder.join("npm");
        std::fs::write(&npm, format!("#!/bin/sh\n{script}\n")).expect("written");
        std::fs::set_permissions(&npm, std::fs::Permissions::from_mode(0o755)).expect("set");
        [("PATH".to_owned(), format!("{}:/usr/bin:/bin", folder.display()))].into()
    }

    async fn ended(installs: &Installs) -> InstallProgress {
        while installs.progress(PROGRAM).is_running() {
            tokio::task::yield_now().await;
        }
        installs.progress(PROGRAM)
    }

    #[tokio::test]
    async fn an_install_runs_in_the_background_and_says_how_it_ended() {
        let folder = tempfile::tempdir().expect("a folder");
        let installs = Installs::in_folder(folder.path().to_owned());
        assert_eq!(installs.progress(PROGRAM).stage, InstallStage::None);
        let good = "bin=$7/node_modules/.bin; mkdir -p $bin; printf '#!/bin/sh\\necho 9.8.7\\n' > $bin/copilot; \
                    chmod +x $bin/copilot";
        let is_done = Arc::new(AtomicBool::new(false));
        let done = Arc::clone(&is_done);
        let begun = installs.begin(PROGRAM, with_npm(folder.path(), good), move || done.store(true, Ordering::Relaxed));
        assert_eq!((begun.stage, begun.package), (InstallStage::Downloading, "@github/copilot"));
        let end = ended(&installs).await;
        assert_eq!((end.stage, end.version.as_deref()), (InstallStage::Succeeded, Some("9.8.7")));
        assert!(is_done.load(Ordering::Relaxed));
        installs.begin(PROGRAM, with_npm(folder.path(), "echo 'E404 gone' >&2; exit 1"), || {});
        let end = ended(&installs).await;
        assert_eq!(end.stage, InstallStage::Failed);
        assert!(end.message.expect("why").contains("E404 gone"));
    }

    #[tokio::test]
    async fn a_second_start_joins_the_first_and_a_cancelled_install_ends() {
        let folder = tempfile::tempdir().expect("a folder");
        let installs = Installs::in_folder(folder.path().to_owned());
        let endless = with_npm(folder.path(), "echo x >> \"$7/../starts\"; exec sleep 1000");
        installs.begin(PROGRAM, endless.clone(), || {});
        assert!(installs.begin(PROGRAM, endless, || {}).is_running());
        installs.cancel(PROGRAM);
        let end = ended(&installs).await;
        assert_eq!((end.stage, end.message.as_deref()), (InstallStage::Failed, Some("The install was cancelled.")));
        installs.shut_down().await;
    }
}

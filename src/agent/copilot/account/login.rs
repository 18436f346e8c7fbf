//! Logs in with `copilot login --device-code`: shows the code and the URL, and waits for the result.

use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::process::ChildStdout;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::authentication::Authentication;
use crate::agent::copilot::program::{is_whole_cli, with_leading};
use crate::agent::copilot::settings::CopilotSettings;
use crate::agent::copilot::transport::Servers;
use crate::agent::copilot::transport::reason;
use crate::agent::{BoxFuture, Login, LoginProgress, LoginRequest, LoginStage};
use crate::model::redact;
use crate::process::{ChildProcess, ProcessSpec};

/// How long to wait for the code.
const CODE_WITHIN: Duration = Duration::from_secs(30);
/// How long a cancelled login may take to exit.
const END_WITHIN: Duration = Duration::from_millis(200);

/// The current login, if any.
pub(in crate::agent::copilot) struct DeviceLogin {
    shared: Arc<Shared>,
    /// Cancels the current login.
    under_way: Mutex<CancellationToken>,
    tasks: TaskTracker,
}

struct Shared {
    settings: CopilotSettings,
    servers: Arc<Servers>,
    authentication: Arc<Authentication>,
    progress: watch::Sender<LoginProgress>,
}

fn is_under_way(progress: &LoginProgress) -> bool {
    matches!(progress.stage, LoginStage::Starting | LoginStage::Waiting)
}

impl DeviceLogin {
    pub fn new(settings: CopilotSettings, servers: Arc<Servers>, authentication: Arc<Authentication>) -> Self {
        let progress = watch::Sender::new(LoginProgress::default());
        Self {
            shared: Arc::new(Shared { settings, servers, authentication, progress }),
            under_way: Mutex::default(),
            tasks: TaskTracker::new(),
        }
    }

    pub async fn shut_down(&self) {
        self.under_way.lock().cancel();
        self.tasks.close();
        self.tasks.wait().await;
    }
}

impl Login for DeviceLogin {
    fn begin(&self, request: LoginRequest) -> BoxFuture<'_, LoginProgress> {
        let begun = self.shared.progress.send_if_modified(|progress| {
            let begins = !is_under_way(progress);
            if begins {
                *progress = LoginProgress { stage: LoginStage::Starting, ..LoginProgress::default() };
            }
            begins
        });
        if begun {
            let cancelled = CancellationToken::new();
            self.under_way.lock().clone_from(&cancelled);
            // A separate task, because the caller may disconnect.
            self.tasks.spawn(Arc::clone(&self.shared).log_in(request, cancelled));
        }
        Box::pin(async move {
            let mut progress = self.shared.progress.subscribe();
            let settled = progress.wait_for(|progress| progress.stage != LoginStage::Starting);
            // If it takes longer, the client polls for the state.
            let _ = tokio::time::timeout(CODE_WITHIN, settled).await.is_ok();
            self.progress()
        })
    }

    fn progress(&self) -> LoginProgress {
        self.shared.progress.borrow().clone()
    }

    fn cancel(&self) -> BoxFuture<'_, ()> {
        Box::pin(async move {
            self.under_way.lock().cancel();
            let _ = self.shared.progress.subscribe().wait_for(|progress| !is_under_way(progress)).await;
        })
    }
}

impl Shared {
    /// Runs one login.
    async fn log_in(self: Arc<Self>, request: LoginRequest, cancelled: CancellationToken) {
        let outcome = match cancelled.run_until_cancelled(self.start(request)).await {
            None => Err("The login was cancelled.".to_owned()),
            Some(Err(reason)) => Err(reason),
            Some(Ok((child, stdout))) => self.follow(child, stdout, cancelled).await,
        };
        let (stage, message) = match outcome {
            Ok(message) => {
                // A program that is already running does not see the new login.
                self.servers.renew().await;
                self.authentication.forget();
                (LoginStage::Succeeded, message)
            }
            Err(message) => (LoginStage::Failed, message),
        };
        let message = Some(redact(&message).into_owned());
        self.progress.send_replace(LoginProgress { stage, message, ..LoginProgress::default() });
    }

    async fn start(&self, request: LoginRequest) -> Result<(ChildProcess, ChildStdout), String> {
        let program = self.servers.programs.find().await?;
        if !is_whole_cli(&program) {
            return Err(format!(
                "{} is the server alone and cannot log in; install the whole CLI with `flightdeck agents install copilot`, \
                 or set GH_TOKEN",
                program.path.display()
            ));
        }
        if request.plain_text {
            let params = serde_json::json!({ "settings": { "storeTokenPlaintext": true } });
            let server = self.servers.get().await.map_err(|error| error.to_string())?;
            server.ask_with("user.settings.set", params).await?;
        }
        let mut arguments = with_leading(&program, &["login", "--device-code"]);
        if let Some(host) = request.host {
            arguments.extend(["--host".to_owned(), host]);
        }
        let spec = ProcessSpec {
            program: program.path,
            arguments,
            environment: self.settings.environment.clone(),
            working_directory: None,
        };
        let (child, stdin, stdout) = self.settings.supervisor.spawn(&spec).map_err(|error| reason(&error))?;
        drop(stdin);
        Ok((child, stdout))
    }

    /// Reports the code as soon as it is known, then waits for the result. Returns the account, or why the login
    /// failed.
    async fn follow(
        &self,
        mut child: ChildProcess,
        stdout: ChildStdout,
        cancelled: CancellationToken,
    ) -> Result<String, String> {
        let mut lines = BufReader::new(stdout).lines();
        let mut last = String::new();
        let reading = async {
            while let Ok(Some(line)) = lines.next_line().await {
                if let Some((address, code)) = code_in(&line) {
                    self.progress.send_replace(LoginProgress {
                        stage: LoginStage::Waiting,
                        address: Some(address),
                        code: Some(code),
                        message: None,
                    });
                } else if !line.trim().is_empty() {
                    line.trim().clone_into(&mut last);
                }
            }
            child.wait().await
        };
        match cancelled.run_until_cancelled(reading).await {
            None => {
                child.end(END_WITHIN).await;
                Err("The login was cancelled.".to_owned())
            }
            Some(_) if child.succeeded() => Ok(last),
            Some(status) => Err(failure(&child.stderr_text().await, &status)),
        }
    }
}

/// The address and the code in "To authenticate, visit ADDRESS and enter code CODE".
fn code_in(line: &str) -> Option<(String, String)> {
    let (_, rest) = line.split_once("visit ")?;
    let (address, rest) = rest.split_once(' ')?;
    let (_, code) = rest.split_once("code ")?;
    let code = code.split_whitespace().next()?.trim_end_matches('.');
    (address.starts_with("http") && !code.is_empty()).then(|| (address.to_owned(), code.to_owned()))
}

fn failure(words: &str, status: &str) -> String {
    // Printed on every machine without a clipboard, and never the cause.
    let last = words.lines().rfind(|line| !line.contains("clipboard") && !line.trim().is_empty());
    let reason = last.map_or_else(|| format!("copilot login failed with {status}"), |line| line.trim().to_owned());
    if reason.contains("not saved") {
        format!(
            "{reason} Copilot found no usable key store on this machine; log in again with \"plainText\": true to \
                 keep the token in Copilot's own folder."
        )
    } else {
        reason
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_and_address_are_found_in_what_the_program_prints() {
        let line = "To authenticate, visit https://github.com/login/device and enter code ABCD-1234";
        let expected = ("https://github.com/login/device".to_owned(), "ABCD-1234".to_owned());
        assert_eq!(code_in(line), Some(expected));
        for other in ["Waiting for authorization...", "visit us and enter code x", ""] {
            assert_eq!(code_in(other), None, "{other}");
        }
    }

    #[test]
    fn a_failure_is_the_programs_last_word_that_matters() {
        let words = "Login failed: the code has expired.\nFailed to copy to clipboard. Please visit x";
        assert_eq!(failure(words, "exit status: 1"), "Login failed: the code has expired.");
        assert!(failure("", "exit status: 1").contains("exit status: 1"));
        assert!(failure("Login succeeded, but the token was not saved.", "1").contains("plainText"));
    }
}

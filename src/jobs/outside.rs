//! What a run does outside: sessions, prompts, commands, and looking at its folder.
//!
//! Everything has a key made of the task's id and a number, so that doing it again after a restart finds what the first time
//! left.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use sha2::{Digest as _, Sha256};
use tokio_util::sync::CancellationToken;

use super::entry::{Command, DEFAULT_MODEL, Plan, Task};
use super::gate_view::{ChangedFile, ChangedFiles, GateView};
use super::machine::Input;
use super::record::{CommandEnd, TurnEnd, TurnVerdict};
use crate::agent::agent_environment;
use crate::folder;
use crate::model::{
    ErrorClass, JobId, PermissionMode, PermissionPolicy, PromptAuthor, PromptOutcome, PromptVerdict, Response,
    SessionId, SessionJob, SessionOrigin, SessionState, TaskId, TurnActivity, Usage, hex,
};
use crate::process::{CheckEnd, ProcessSpec, Supervisor, run_check};
use crate::session::{CreateError, NewPrompt, NewSession, PromptError, SessionError, Sessions};
use crate::store::{EventPage, StoreHealth};

/// How long a command may take that does not say.
const COMMAND_LIMIT: Duration = Duration::from_mins(10);
/// How long to wait before a session is opened again that there was no room for.
const ROOM_WAIT: Duration = Duration::from_secs(1);
/// Events at the end of a session's log in which its last error is looked for.
const ERROR_WINDOW: usize = 64;
/// Larger files are told apart by their size and time.
const HASHED_BYTES: u64 = 4 * 1024 * 1024;

/// What a run needs to act.
pub(super) struct Outside {
    pub sessions: Sessions,
    pub supervisor: Supervisor,
    pub plan: Arc<Plan>,
    /// The job; `None` for a task outside a job.
    pub job: Option<JobId>,
    pub working_directory: Option<PathBuf>,
}

/// A turn that did not finish.
pub(super) fn not_finished(verdict: TurnVerdict, reason: impl Into<String>) -> TurnEnd {
    TurnEnd { verdict, reason: Some(reason.into()), activity: TurnActivity::default(), usage: Usage::default() }
}

/// The policy of a task's sessions: what the task says, or else the files of the folder and nothing else.
pub(super) fn permissions(task: &Task) -> PermissionPolicy {
    let given = task.permissions.clone().unwrap_or_default();
    PermissionPolicy { mode: given.mode.unwrap_or(PermissionMode::Folder), rules: given.rules }
}

/// What is done with this key again is not done a second time.
fn key(task: TaskId, what: &str, number: u32) -> String {
    format!("flightdeck/{task}/{what}-{number}")
}

impl Outside {
    fn task(&self, name: &str) -> Option<&Task> {
        self.plan.tasks.get(name)
    }

    /// Opens a session for a task, or finds the one that was opened before.
    pub async fn open_session(&self, opening: Opening) -> Input {
        let Opening { task, task_name, work_id, number, model, is_driving, unwanted } = opening;
        let impossible = |reason: String| Input::OpenFailed {
            task,
            number,
            end: not_finished(TurnVerdict::Impossible, format!("cannot open a session: {reason}")),
        };
        let Some(definition) = self.task(&task_name) else { return impossible(format!("no task {task_name:?}")) };
        let mut options = serde_json::Map::new();
        if !definition.mcp_servers.is_empty() {
            options.insert("mcpServers".to_owned(), definition.mcp_servers.clone().into());
        }
        let role = if is_driving { "driving" } else { "work" };
        let new = NewSession {
            runtime: definition.runtime.clone(),
            model: Some(model.clone()).filter(|model| model != DEFAULT_MODEL),
            working_directory: self
                .working_directory
                .as_ref()
                .map(|folder| folder.to_string_lossy().into_owned())
                .unwrap_or_default(),
            title: Some(format!("{} · {task_name} ({role})", self.plan.job_name)),
            effort: definition.effort.clone(),
            permissions: Some(permissions(definition)),
            system_prompt: None,
            options,
            budget: definition.budget.unwrap_or_default(),
            origin: SessionOrigin::Job,
            job: self.job.map(|job_id| SessionJob {
                job_id,
                job_name: self.plan.job_name.clone(),
                task_id: task,
                task_name: task_name.clone(),
                work_id,
                is_driving,
            }),
            idempotency_key: Some(key(task, "session", number)),
        };
        loop {
            match self.sessions.create(new.clone()).await {
                Ok(session) => {
                    // The model that the session got, which may be the user's default.
                    let summary = self.sessions.store().session(session.id()).await.ok().flatten();
                    let model =
                        summary.map(|summary| summary.profile.model).filter(|name| !name.is_empty()).unwrap_or(model);
                    return Input::SessionOpened { task, number, session: session.id(), model };
                }
                // Room will be made, or somebody stops the job.
                Err(error @ CreateError::TooMany { .. }) => tokio::select! {
                    () = tokio::time::sleep(ROOM_WAIT) => {}
                    () = unwanted.cancelled() => return impossible(error.to_string()),
                },
                Err(CreateError::Store(_)) => self.store_is_writable().await,
                // The run ends with the server, and continues with it.
                Err(CreateError::ShuttingDown) => std::future::pending().await,
                Err(error) => return impossible(error.to_string()),
            }
        }
    }

    /// Sends a prompt and waits for the end of its turn. One that was sent before is not sent again. A turn that was cut off
    /// counts as interrupted by the restart if the server was restarted since the prompt was sent.
    pub async fn send_prompt(&self, sending: Sending) -> Input {
        let Sending { task, number, session, .. } = sending;
        Input::TurnEnded { task, number, end: self.turn(&sending, session).await }
    }

    async fn turn(&self, sending: &Sending, id: SessionId) -> TurnEnd {
        let crashed = |reason: String| not_finished(TurnVerdict::Crashed, reason);
        let impossible = |reason: String| not_finished(TurnVerdict::Impossible, reason);
        loop {
            let session = match self.sessions.get(id).await {
                Ok(session) => session,
                Err(SessionError::Store(_)) => {
                    self.store_is_writable().await;
                    continue;
                }
                Err(SessionError::ShuttingDown) => return std::future::pending().await,
                Err(error) => return crashed(format!("{id}: {error}")),
            };
            let prompt = NewPrompt {
                text: sending.text.clone(),
                author: PromptAuthor::Task,
                idempotency_key: Some(key(sending.task, "prompt", sending.number)),
                ..NewPrompt::default()
            };
            let was_cut_off = sending.is_recovered && self.is_over(sending, id).await;
            let accepted = match session.prompt(prompt).await {
                Ok(accepted) => accepted,
                Err(PromptError::Session(SessionError::Store(_))) => {
                    self.store_is_writable().await;
                    continue;
                }
                Err(PromptError::Session(SessionError::ShuttingDown)) => return std::future::pending().await,
                Err(PromptError::Session(error)) => return crashed(format!("{id}: {error}")),
                Err(error) => return impossible(error.to_string()),
            };
            let outcome = session.outcome(accepted.prompt);
            let outcome = match sending.timeout {
                None => outcome.await,
                Some(limit) => {
                    let Ok(outcome) = tokio::time::timeout(limit, outcome).await else {
                        // An error means that the turn has just ended.
                        let _ = session.interrupt().await;
                        return crashed(format!("the turn took longer than {}", humantime::format_duration(limit)));
                    };
                    outcome
                }
            };
            return match outcome {
                Ok(outcome) => self.turn_end(id, outcome, was_cut_off).await,
                Err(SessionError::Store(_)) => {
                    self.store_is_writable().await;
                    continue;
                }
                Err(SessionError::ShuttingDown) => std::future::pending().await,
                Err(error) => crashed(format!("{id}: {error}")),
            };
        }
    }

    /// Whether the turn of a prompt that was sent before is over.
    async fn is_over(&self, sending: &Sending, session: SessionId) -> bool {
        let key = key(sending.task, "prompt", sending.number);
        let known = self.sessions.store().prompt_by_key(session, key).await.ok().flatten();
        known.is_some_and(|prompt| prompt.outcome.is_some())
    }

    /// Waits until a session has no open requests and does nothing. Requests may outlive the turn of their agent; their
    /// answers begin a turn of their own.
    async fn rests(&self, session: SessionId) {
        let mut changes = self.sessions.session_feed().watch();
        loop {
            changes.borrow_and_update();
            let busy = [SessionState::Working, SessionState::Waiting, SessionState::Starting, SessionState::Recovering];
            let summary = self.sessions.store().session(session).await.ok().flatten();
            if summary.is_none_or(|summary| summary.pending == 0 && !busy.contains(&summary.state)) {
                return;
            }
            if changes.changed().await.is_err() {
                return;
            }
        }
    }

    async fn has_requests(&self, session: SessionId) -> bool {
        let summary = self.sessions.store().session(session).await.ok().flatten();
        summary.is_some_and(|summary| summary.pending > 0)
    }

    async fn turn_end(&self, session: SessionId, outcome: PromptOutcome, was_cut_off: bool) -> TurnEnd {
        let (verdict, reason) = match outcome.verdict {
            PromptVerdict::Succeeded => (TurnVerdict::Finished, None),
            PromptVerdict::Failed => (TurnVerdict::Crashed, Some(self.last_error(session, outcome.error_class).await)),
            PromptVerdict::Interrupted if outcome.error_class == Some(ErrorClass::Budget) => {
                (TurnVerdict::Impossible, Some("the budget is spent".to_owned()))
            }
            // The agent is gone, and its request is still open: whoever answers it lets the task continue.
            PromptVerdict::Interrupted if self.has_requests(session).await => {
                self.rests(session).await;
                (TurnVerdict::Interrupted, None)
            }
            PromptVerdict::Interrupted if was_cut_off => (TurnVerdict::Interrupted, None),
            PromptVerdict::Interrupted => (TurnVerdict::Stopped, None),
            PromptVerdict::Dropped => (TurnVerdict::Crashed, Some(format!("{session} was closed"))),
        };
        TurnEnd { verdict, reason, activity: outcome.activity, usage: outcome.usage }
    }

    /// What a session's agent said about its failure.
    async fn last_error(&self, session: SessionId, class: Option<ErrorClass>) -> String {
        let page = EventPage { after: 0, before: Some(u64::MAX), limit: ERROR_WINDOW, max_bytes: usize::MAX };
        let events = self.sessions.store().events(session, page).await.map(|(events, _)| events).unwrap_or_default();
        let error = events.iter().rev().find_map(|event| {
            match std::str::from_utf8(&event.body).ok().and_then(Response::from_json) {
                Some(Response::SessionError(trouble)) => Some(trouble.message),
                _ => None,
            }
        });
        match (error, class) {
            (Some(message), _) => message.trim_end_matches('.').to_owned(),
            (None, Some(class)) => format!("the agent failed ({class})"),
            (None, None) => "the agent failed".to_owned(),
        }
    }

    /// Runs the command that checks the work.
    pub async fn run_command(&self, task: TaskId, command: &Command) -> Input {
        let failed = |problem: String| CommandEnd { exit: None, problem: Some(problem), output: String::new() };
        let limit = command.timeout.as_deref().and_then(|text| humantime::parse_duration(text).ok());
        let limit = limit.unwrap_or(COMMAND_LIMIT);
        let Some((program, arguments)) = command.run.split_first() else {
            return Input::CommandEnded { task, end: failed("names no program".to_owned()) };
        };
        let is_missing = self.working_directory.as_ref().is_some_and(|folder| !folder.is_dir());
        if is_missing {
            return Input::CommandEnded { task, end: failed("cannot run: the working directory is gone".to_owned()) };
        }
        let settings = self.sessions.settings();
        let spec = ProcessSpec {
            program: PathBuf::from(program),
            arguments: arguments.to_vec(),
            environment: agent_environment(std::env::vars(), &settings.agent_environment),
            working_directory: self.working_directory.clone(),
        };
        let (end, output) = run_check(&self.supervisor, &spec, limit).await;
        let end = match end {
            CheckEnd::Exited(exit) => {
                let problem = exit.signal.map(|signal| format!("was killed by signal {signal}"));
                CommandEnd { exit: exit.code, problem, output }
            }
            CheckEnd::TimedOut => {
                let problem = format!("took longer than {}", humantime::format_duration(limit));
                CommandEnd { exit: None, problem: Some(problem), output }
            }
            CheckEnd::NotStarted(error) => failed(format!("cannot be started: {error}")),
        };
        Input::CommandEnded { task, end }
    }

    /// Closes a session; one that is closed or gone is closed.
    pub async fn close_session(&self, session: SessionId) -> Input {
        loop {
            let closed = match self.sessions.get(session).await {
                Ok(session) => session.close().await,
                Err(error) => Err(error),
            };
            match closed {
                Ok(()) | Err(SessionError::Closed | SessionError::NotFound | SessionError::NotClosed) => {
                    return Input::SessionClosed { session };
                }
                Err(SessionError::ShuttingDown) => return std::future::pending().await,
                Err(SessionError::Store(_)) => self.store_is_writable().await,
                Err(SessionError::Unsupported(reason)) => {
                    tracing::warn!(%session, reason, "a session of a task could not be closed");
                    return Input::SessionClosed { session };
                }
            }
        }
    }

    /// Closes a session that was opened and that nobody needs any more, if there is one.
    pub async fn discard_session(&self, task: TaskId, number: u32) -> Input {
        loop {
            let store = self.sessions.store();
            let found = match store.flush().await {
                Ok(()) => store.session_by_creation_key(key(task, "session", number)).await,
                Err(error) => Err(error),
            };
            match found {
                Ok(Some((session, _))) => {
                    self.close_session(session).await;
                    return Input::SessionDiscarded { task, number };
                }
                Ok(None) => return Input::SessionDiscarded { task, number },
                Err(_) => self.store_is_writable().await,
            }
        }
    }

    /// What changed in the folder, as a person is shown it.
    pub async fn changes(&self) -> Option<ChangedFiles> {
        let folder = self.working_directory.as_ref()?.canonicalize().ok()?;
        let list = folder::changes(&folder, &self.sessions.settings().roots).await.ok()?;
        let hashing = move || {
            let file = |change: &folder::Change| ChangedFile {
                path: change.shown_path(),
                kind: serde_json::to_value(change.kind)
                    .ok()
                    .and_then(|kind| Some(kind.as_str()?.to_owned()))
                    .unwrap_or_default(),
                added: change.added,
                removed: change.removed,
                content: content_hash(&list.repository.join(&change.path)),
            };
            ChangedFiles { files: list.changes.iter().map(file).collect(), truncated: list.truncated }
        };
        tokio::task::spawn_blocking(hashing).await.ok()
    }

    /// What a person is shown.
    pub async fn view(
        &self,
        title: String,
        prompt: Option<String>,
        works: Vec<super::gate_view::WorkResult>,
    ) -> GateView {
        GateView { title, prompt, works, changes: self.changes().await }
    }

    /// Waits until the store takes writes again.
    pub async fn store_is_writable(&self) {
        let mut health = self.sessions.store().health();
        // A moment first: what failed may have failed for another reason, and must not be tried without a pause.
        tokio::time::sleep(ROOM_WAIT).await;
        let _ = health.wait_for(|health| matches!(health, StoreHealth::Good)).await;
    }
}

/// A session that is to be opened.
pub(super) struct Opening {
    pub task: TaskId,
    pub task_name: String,
    pub work_id: u32,
    pub number: u32,
    pub model: String,
    pub is_driving: bool,
    /// Cancelled when nobody needs it any more.
    pub unwanted: CancellationToken,
}

/// A prompt that is to be sent.
pub(super) struct Sending {
    pub task: TaskId,
    pub number: u32,
    pub session: SessionId,
    pub text: String,
    pub timeout: Option<Duration>,
    /// The server was restarted since.
    pub is_recovered: bool,
}

/// What tells one content of a file from another. `None` for what is no file.
fn content_hash(path: &std::path::Path) -> Option<String> {
    let metadata = std::fs::symlink_metadata(path).ok()?;
    if metadata.is_symlink() {
        let target = std::fs::read_link(path).ok()?;
        return Some(hex(&Sha256::digest(target.to_string_lossy().as_bytes()))[..16].to_owned());
    }
    if !metadata.is_file() {
        return None;
    }
    let content = if metadata.len() <= HASHED_BYTES {
        std::fs::read(path).ok()?
    } else {
        format!("{} {:?}", metadata.len(), metadata.modified().ok()).into_bytes()
    };
    Some(hex(&Sha256::digest(content))[..16].to_owned())
}

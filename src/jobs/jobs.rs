//! All jobs and tasks of a server: started, found, continued after a restart, and shut down.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use schemars::JsonSchema;
use serde::Serialize;
use sha2::{Digest as _, Sha256};
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::entries::Entries;
use super::entry::{Plan, Task};
use super::job_feed::{JobFeed, JobFeedEntry};
use super::machine::{Borrowed, Machine, RunDefinition};
use super::outside::Outside;
use super::preview::{Preview, preview};
use super::progress::Progress;
use super::record::View;
use super::run::{Answer, Command, Run, RunParts, records};
use super::run_log::RunLog;
use super::settings::JobSettings;
use super::statistics::JobStatistics;
use super::task_ids::TaskIds;
use super::{JobError, history};
use crate::model::{JobId, JobStatus, SessionId, SessionOrigin, StreamId, TaskId, Timestamp, hex};
use crate::process::Supervisor;
use crate::session::{Sessions, check_working_directory, now};
use crate::store::{
    CreationKey, JobCreation, JobFilter, JobSummary, NewJob, NewTaskRun, Store, StoreError, StoredJob, StoredTaskRun,
    TaskOwner,
};

/// How long a finished job is listed among those that run.
const RECENTLY: Duration = Duration::from_hours(1);
/// Reader positions are saved this long after the first change.
const SAVE_AFTER: Duration = Duration::from_millis(500);
/// How often finished runs that nobody reads leave the memory.
const UNLOADING_ROUND: Duration = Duration::from_mins(1);

/// What [`Jobs`] is made of.
pub struct JobsParts {
    /// The sessions that tasks use.
    pub sessions: Sessions,
    /// Starts the commands that check work.
    pub supervisor: Supervisor,
    /// The configured settings.
    pub settings: JobSettings,
    /// Cancelled when the server begins to shut down.
    pub stopping: CancellationToken,
}

/// The jobs of a server. Clones share them.
#[derive(Clone)]
pub struct Jobs {
    shared: Arc<Shared>,
}

struct Shared {
    sessions: Sessions,
    supervisor: Supervisor,
    settings: JobSettings,
    entries: Entries,
    runs: tokio::sync::Mutex<HashMap<StreamId, Arc<Run>>>,
    ids: Arc<TaskIds>,
    feed: Arc<JobFeed>,
    statistics: JobStatistics,
    positions_changed: Arc<Notify>,
    stopping: CancellationToken,
    actors: TaskTracker,
    /// Sessions that were opened before this moment do not keep an entry from being installed.
    started: Timestamp,
}

/// What a caller wants to start.
#[derive(Clone, Debug, Default)]
pub struct NewJobRequest {
    /// The job's name.
    pub name: String,
    /// Where it works: an absolute path.
    pub working_directory: String,
    /// What the user gives it.
    pub user_input: String,
    /// Models by category that replace the entry's.
    pub models: std::collections::BTreeMap<String, String>,
    /// Who starts it.
    pub origin: SessionOrigin,
    /// The caller's own key: a repetition with the same key gets the job of the first call.
    pub idempotency_key: Option<String>,
    /// Whether input that the job needs may be missing, and input that it does not need is ignored, as portal clients expect.
    pub takes_any_input: bool,
}

/// A task that can be started in a session.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TaskOffer {
    /// Its name.
    pub name: String,
    /// Whether it needs input.
    pub require_user_input: bool,
}

impl Jobs {
    /// The jobs in a store. [`Self::restore`] continues what an earlier run of the server left.
    pub fn new(parts: JobsParts) -> Self {
        let JobsParts { sessions, supervisor, settings, stopping } = parts;
        let entries = Entries::new(sessions.clone(), settings.clone());
        Self {
            shared: Arc::new(Shared {
                sessions,
                supervisor,
                settings,
                entries,
                runs: tokio::sync::Mutex::default(),
                ids: Arc::default(),
                feed: Arc::default(),
                statistics: JobStatistics::default(),
                positions_changed: Arc::new(Notify::new()),
                stopping,
                actors: TaskTracker::new(),
                started: now(),
            }),
        }
    }

    fn store(&self) -> &Store {
        self.shared.sessions.store()
    }

    /// The entries that jobs come from.
    pub fn entries(&self) -> &Entries {
        &self.shared.entries
    }

    /// What all jobs are doing.
    pub fn feed(&self) -> &Arc<JobFeed> {
        &self.shared.feed
    }

    /// Figures of all jobs.
    pub fn statistics(&self) -> &JobStatistics {
        &self.shared.statistics
    }

    /// Cancelled when the server begins to shut down.
    pub fn stopping(&self) -> &CancellationToken {
        &self.shared.stopping
    }

    /// Continues the jobs and tasks that an earlier run of the server left, and starts the background work.
    pub async fn restore(&self) -> Result<(), StoreError> {
        for job in self.store().unsettled_jobs().await? {
            self.continue_run(StreamId::Job(job)).await;
        }
        for task in self.store().unsettled_task_runs().await? {
            self.continue_run(StreamId::Task(task)).await;
        }
        let jobs = self.clone();
        self.shared.actors.spawn(async move { jobs.save_positions_as_they_change().await });
        let jobs = self.clone();
        self.shared.actors.spawn(async move { jobs.unload_as_they_fall_idle().await });
        Ok(())
    }

    /// Whether a job or a task is not over yet.
    pub async fn has_unsettled_runs(&self) -> Result<bool, StoreError> {
        let has_jobs = !self.store().unsettled_jobs().await?.is_empty();
        Ok(has_jobs || !self.store().unsettled_task_runs().await?.is_empty())
    }

    async fn continue_run(&self, stream: StreamId) {
        // One that cannot be read must not prevent the others from being continued.
        if let Err(error) = self.run(stream).await {
            tracing::error!(run = %stream, %error, "could not continue a job of the last run");
        }
    }

    /// Ends everything that runs here; it continues after the next start.
    pub async fn shut_down(&self) {
        self.shared.stopping.cancel();
        self.shared.actors.close();
        self.shared.actors.wait().await;
        self.save_positions().await;
    }

    /// Starts a job. It is in the store when this returns.
    pub async fn start(&self, mut request: NewJobRequest) -> Result<JobId, JobError> {
        if self.shared.stopping.is_cancelled() {
            return Err(JobError::ShuttingDown);
        }
        let key = request.idempotency_key.clone().map(|key| CreationKey { key, fingerprint: fingerprint(&request) });
        if let Some(key) = &key
            && let Some((id, known)) = self.store().job_by_creation_key(key.key.clone()).await?
        {
            return if known == key.fingerprint { Ok(id) } else { Err(JobError::KeyReused) };
        }
        let (plan, working_directory) = self.prepare(&request).await?;
        let has_input = !request.user_input.trim().is_empty();
        match (plan.requires_user_input(), has_input) {
            (true, false) if !request.takes_any_input => return Err(JobError::UserInputRequired(request.name)),
            (false, true) if request.takes_any_input => request.user_input.clear(),
            (false, true) => return Err(JobError::UserInputNotAllowed(request.name)),
            (true, _) | (false, false) => {}
        }
        let new = NewJob {
            name: request.name,
            plan: serde_json::to_string(&plan).expect("plain values"),
            working_directory,
            user_input: request.user_input,
            origin: request.origin,
            key,
            now: now(),
        };
        match self.store().create_job(new).await? {
            JobCreation::New(id) => {
                self.run(StreamId::Job(id)).await?;
                Ok(id)
            }
            JobCreation::Known(id) => Ok(id),
            JobCreation::KeyReused => Err(JobError::KeyReused),
        }
    }

    /// What a job would do, without starting anything.
    pub async fn preview(&self, request: &NewJobRequest) -> Result<Preview, JobError> {
        let (plan, working_directory) = self.prepare(request).await?;
        let available =
            self.shared.sessions.runtimes().listed_models(&self.shared.sessions.settings().default_runtime).await;
        Ok(preview(&plan, &working_directory, &request.user_input, &available))
    }

    /// Checks a request and returns what the job will do, and where.
    async fn prepare(&self, request: &NewJobRequest) -> Result<(Plan, std::path::PathBuf), JobError> {
        let roots = &self.shared.sessions.settings().roots;
        let folder = check_working_directory(request.working_directory.trim(), roots).await?;
        let folder = folder.ok_or(JobError::NoWorkingDirectory)?;
        let entry = self.shared.entries.in_force(Some(&folder)).await?;
        let names = || entry.entry().jobs.keys().cloned().collect();
        let Some(mut plan) = entry.plan(&request.name) else {
            return Err(match self.shared.entries.untrusted(&folder).await? {
                Some(loaded) if loaded.entry.as_ref().is_some_and(|entry| entry.job(&request.name).is_some()) => {
                    JobError::EntryNotTrusted {
                        path: loaded.path().map(|path| path.display().to_string()).unwrap_or_default(),
                    }
                }
                _ => JobError::NoSuchJob { name: request.name.clone(), known: names() },
            });
        };
        for (category, model) in &request.models {
            let known = plan.models.get_mut(category).map(|known| std::mem::replace(known, model.clone()));
            let Some(known) = known else {
                return Err(JobError::NoSuchCategory {
                    name: category.clone(),
                    known: plan.models.keys().cloned().collect(),
                });
            };
            if category == "driving" {
                // The first attempts are on the driving model.
                plan.driving_session_retries
                    .iter_mut()
                    .filter(|retry| retry.model_id == known)
                    .for_each(|retry| retry.model_id.clone_from(model));
            }
        }
        Ok((plan, folder))
    }

    /// The tasks that can be started in a session.
    pub async fn tasks(&self, folder: Option<&Path>) -> Result<Vec<TaskOffer>, JobError> {
        let entry = self.shared.entries.in_force(folder).await?;
        let offer = |(name, task): (&String, &Task)| TaskOffer {
            name: name.clone(),
            require_user_input: task.require_user_input,
        };
        Ok(entry.tasks().iter().map(offer).collect())
    }

    /// Starts a task in somebody's session.
    pub async fn start_task(&self, name: &str, session: SessionId, user_input: &str) -> Result<TaskId, JobError> {
        let summary = self.store().session(session).await?.ok_or(JobError::SessionNotFound)?;
        if summary.closed_at.is_some() {
            return Err(JobError::SessionNotFound);
        }
        let entry = self.shared.entries.in_force(summary.profile.working_directory.as_deref()).await?;
        let plan = entry.task_plan(name).ok_or_else(|| JobError::NoSuchTask {
            name: name.to_owned(),
            known: entry.tasks().keys().cloned().collect(),
        })?;
        if let Some(task) = plan.tasks.get(name)
            && needs_job_tools(task)
            && !self.shared.sessions.has_job_tools(&summary)
        {
            let runtime = &summary.profile.runtime;
            return Err(JobError::NoJobTools {
                task: name.to_owned(),
                session: session.to_string(),
                reason: format!(
                    "the runtime {runtime} gets them over MCP, and only if jobs.tools_in_all_sessions is set when the session starts"
                ),
            });
        }
        let ids = self.shared.ids.take(self.store(), 1).await?;
        let task = ids.first().copied().ok_or(JobError::ShuttingDown)?;
        let new = NewTaskRun {
            task,
            name: name.to_owned(),
            plan: serde_json::to_string(&plan).expect("plain values"),
            session,
            user_input: user_input.to_owned(),
            now: now(),
        };
        self.store().create_task_run(new).await?;
        self.run(StreamId::Task(task)).await?;
        Ok(task)
    }

    /// A job.
    pub async fn job(&self, id: JobId) -> Result<Arc<Run>, JobError> {
        self.run(StreamId::Job(id)).await
    }

    /// The run that a task belongs to, and the task's view of its log.
    pub async fn task(&self, id: TaskId) -> Result<(Arc<Run>, View), JobError> {
        let stored = self.store().task(id).await?.ok_or(JobError::TaskNotFound)?;
        let stream = match stored.owner {
            TaskOwner::Job { job, .. } => StreamId::Job(job),
            TaskOwner::Session(_) => StreamId::Task(id),
        };
        Ok((self.run(stream).await?, View::Task(id)))
    }

    /// Stops a job. One that is over stays what it was.
    pub async fn stop(&self, id: JobId) -> Result<JobStatus, JobError> {
        let run = self.job(id).await?;
        match run.ask(Command::Stop).await {
            None | Some(Ok(()) | Err(JobError::Over(_))) => Ok(run.log.progress().status),
            Some(Err(error)) => Err(error),
        }
    }

    /// Stops a task of a job. One that borrows a session cannot be stopped.
    pub async fn stop_task(&self, id: TaskId) -> Result<(), JobError> {
        let (run, _) = self.task(id).await?;
        if matches!(run.log.stream(), StreamId::Task(_)) {
            return if run.log.ended_at().is_some() {
                Err(JobError::TaskNotFound)
            } else {
                Err(JobError::TaskCannotClose)
            };
        }
        run.ask(|reply| Command::StopTask(id, reply)).await.unwrap_or(Err(JobError::TaskNotFound))
    }

    /// Continues a failed or stopped job with what failed.
    pub async fn retry(&self, id: JobId) -> Result<(), JobError> {
        let run = self.job(id).await?;
        if let Some(answer) = run.ask(Command::Retry).await {
            return answer;
        }
        match run.log.progress().status {
            JobStatus::Succeeded => return Err(JobError::Succeeded),
            JobStatus::Running => return Err(JobError::ShuttingDown),
            JobStatus::Failed | JobStatus::Canceled => {}
        }
        let stored = self.store().job(id).await?.ok_or(JobError::NotFound)?;
        let parts = self.parts_of_job(&stored)?;
        self.drive(&run, parts).await?;
        run.ask(Command::Retry).await.unwrap_or(Err(JobError::ShuttingDown))
    }

    /// A person decides about what waits.
    pub async fn answer(&self, id: JobId, answer: Answer) -> Result<(), JobError> {
        let run = self.job(id).await?;
        let waiting_id = answer.waiting_id.clone();
        match run.ask(|reply| Command::Answer(answer, reply)).await {
            Some(answer) => answer,
            None => Err(match run.log.progress().answered.get(&waiting_id) {
                Some(answered) => JobError::GateAnswered { approved: answered.approved, by: answered.by },
                None => JobError::GateClosed,
            }),
        }
    }

    /// Jobs that run, or ended a short while ago.
    pub async fn running(&self) -> Result<Vec<JobSummary>, JobError> {
        let since =
            Timestamp::from_millis(now().as_millis().saturating_sub(i64::try_from(RECENTLY.as_millis()).unwrap_or(0)));
        Ok(self.store().recent_jobs(since).await?)
    }

    /// A page of jobs, newest first.
    pub async fn list(&self, filter: JobFilter) -> Result<Vec<JobSummary>, JobError> {
        Ok(self.store().jobs(filter).await?)
    }

    /// A job as it is stored.
    pub async fn stored(&self, id: JobId) -> Result<StoredJob, JobError> {
        self.store().job(id).await?.ok_or(JobError::NotFound)
    }

    /// What a job did, work by work.
    pub async fn history(&self, id: JobId) -> Result<Vec<history::WorkHistory>, JobError> {
        let records = records(self.store(), StreamId::Job(id)).await?;
        Ok(history::works(&records))
    }

    /// Whether a session that was opened since the server started is open: then no entry may be installed.
    pub async fn has_open_sessions(&self) -> Result<bool, JobError> {
        use crate::model::SessionState;
        for state in SessionState::ALL.into_iter().filter(|state| *state != SessionState::Closed) {
            let filter = crate::store::SessionFilter { state: Some(state), after: None, limit: 1, job: None };
            let found = self.store().sessions(filter).await?;
            if found.iter().any(|session| session.created_at >= self.shared.started) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// A run, from memory or from the store. One that is not over is driven.
    async fn run(&self, stream: StreamId) -> Result<Arc<Run>, JobError> {
        let mut runs = self.shared.runs.lock().await;
        if let Some(run) = runs.get(&stream) {
            return Ok(Arc::clone(run));
        }
        let (parts, is_settled) = match stream {
            StreamId::Job(id) => {
                let stored = self.store().job(id).await?.ok_or(JobError::NotFound)?;
                (self.parts_of_job(&stored)?, stored.summary.run.is_settled)
            }
            StreamId::Task(id) => {
                let stored = self.store().task(id).await?.ok_or(JobError::TaskNotFound)?;
                let TaskOwner::Session(stored) = stored.owner else { return Err(JobError::TaskNotFound) };
                (self.parts_of_task(id, &stored).await?, stored.run.is_settled)
            }
            StreamId::Session(_) => return Err(JobError::NotFound),
        };
        let mut progress = Progress::default();
        let records = records(self.store(), stream).await?;
        for (record, time) in &records {
            progress.apply(record, *time);
        }
        if let StreamId::Task(task) = stream {
            progress.end_with_task(task);
        }
        let next_seq = self.store().next_seq(stream).await?;
        let settings = &self.shared.settings;
        let log = RunLog::new(
            stream,
            self.store().clone(),
            progress,
            next_seq.saturating_sub(1),
            settings.closed_grace,
            settings.readers,
        );
        let stopping = self.shared.stopping.clone();
        let run = Arc::new(Run::new(log, Arc::clone(&self.shared.positions_changed), stopping));
        runs.insert(stream, Arc::clone(&run));
        if !is_settled && !self.shared.stopping.is_cancelled() {
            let machine = Machine::replay(parts.definition.clone(), records.iter().map(|(record, _)| record));
            self.shared.actors.spawn(run.drive(parts, machine, next_seq));
        } else if let StreamId::Job(id) = stream {
            let entry = JobFeedEntry::new(id, parts.definition.plan.job_name.clone(), &run.log.progress());
            self.shared.feed.publish_if_unknown(entry);
        }
        Ok(run)
    }

    /// Drives a run that was over.
    async fn drive(&self, run: &Arc<Run>, parts: RunParts) -> Result<(), JobError> {
        let stream = run.log.stream();
        // Two callers must not start two actors.
        let _runs = self.shared.runs.lock().await;
        if !run.is_driven() {
            let records = records(self.store(), stream).await?;
            let machine = Machine::replay(parts.definition.clone(), records.iter().map(|(record, _)| record));
            let next_seq = self.store().next_seq(stream).await?;
            self.shared.actors.spawn(run.drive(parts, machine, next_seq));
        }
        Ok(())
    }

    fn parts_of_job(&self, stored: &StoredJob) -> Result<RunParts, JobError> {
        let plan = read_plan(&stored.plan)?;
        let summary = &stored.summary;
        let definition =
            RunDefinition { plan: Arc::clone(&plan), user_input: summary.user_input.clone(), borrowed: None };
        let outside = self.outside(plan, Some(summary.id), Some(summary.working_directory.clone()));
        Ok(self.parts(outside, definition))
    }

    async fn parts_of_task(&self, id: TaskId, stored: &StoredTaskRun) -> Result<RunParts, JobError> {
        let plan = read_plan(&stored.plan)?;
        let session = self.store().session(stored.session).await?;
        let (model, folder) = match session {
            Some(session) => (session.profile.model, session.profile.working_directory),
            None => (String::new(), None),
        };
        let borrowed = Borrowed { task_id: id, task_name: stored.name.clone(), session: stored.session, model };
        let definition =
            RunDefinition { plan: Arc::clone(&plan), user_input: stored.user_input.clone(), borrowed: Some(borrowed) };
        let outside = self.outside(plan, None, folder);
        Ok(self.parts(outside, definition))
    }

    fn outside(&self, plan: Arc<Plan>, job: Option<JobId>, working_directory: Option<std::path::PathBuf>) -> Outside {
        Outside {
            sessions: self.shared.sessions.clone(),
            supervisor: self.shared.supervisor.clone(),
            plan,
            job,
            working_directory,
        }
    }

    fn parts(&self, outside: Outside, definition: RunDefinition) -> RunParts {
        let (ids, feed) = (Arc::clone(&self.shared.ids), Arc::clone(&self.shared.feed));
        RunParts { outside, definition, ids, feed, statistics: self.shared.statistics.clone() }
    }

    async fn save_positions_as_they_change(&self) {
        loop {
            tokio::select! {
                () = self.shared.stopping.cancelled() => return,
                () = self.shared.positions_changed.notified() => {}
            }
            tokio::select! {
                () = self.shared.stopping.cancelled() => return,
                () = tokio::time::sleep(SAVE_AFTER) => {}
            }
            self.save_positions().await;
        }
    }

    async fn save_positions(&self) {
        let runs: Vec<Arc<Run>> = self.shared.runs.lock().await.values().cloned().collect();
        for run in runs {
            let positions = run.log.unsaved_positions().await;
            if positions.is_empty() {
                continue;
            }
            match self.store().save_reader_positions(positions.clone()).await {
                Ok(()) => run.log.positions_saved(&positions).await,
                // They stay unsaved and are saved with the next change.
                Err(error) => tracing::warn!(%error, "could not save the positions of readers of a job"),
            }
        }
    }

    async fn unload_as_they_fall_idle(&self) {
        loop {
            tokio::select! {
                () = self.shared.stopping.cancelled() => return,
                () = tokio::time::sleep(UNLOADING_ROUND) => {}
            }
            self.save_positions().await;
            let mut runs = self.shared.runs.lock().await;
            let grace = self.shared.settings.closed_grace;
            runs.retain(|_, run| {
                let is_old = run.log.ended_at().is_some_and(|ended| now().since(ended) > grace);
                run.is_driven() || !is_old || Arc::strong_count(run) > 1
            });
        }
    }
}

fn read_plan(json: &str) -> Result<Arc<Plan>, JobError> {
    serde_json::from_str(json).map(Arc::new).map_err(|error| JobError::InvalidEntry(error.to_string()))
}

/// Whether a task can only be done with the tools of jobs.
fn needs_job_tools(task: &Task) -> bool {
    let Some(criteria) = &task.criteria else { return false };
    let required = criteria.tool_executed.iter().flatten().any(|tool| tool.starts_with("job_"));
    required || criteria.condition.is_some()
}

/// What a repetition with the same key must match.
fn fingerprint(request: &NewJobRequest) -> String {
    let asked = serde_json::json!([request.name, request.working_directory, request.user_input, request.models]);
    hex(&Sha256::digest(asked.to_string()))
}

//! One run: a job, or a task outside a job. An actor drives its rules while it is not over.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use parking_lot::Mutex;
use tokio::sync::{Notify, mpsc, oneshot};
use tokio::task::{AbortHandle, JoinSet};
use tokio_util::sync::CancellationToken;

use super::JobError;
use super::job_feed::{JobFeed, JobFeedEntry};
use super::machine::{Effect, EffectKey, Input, Machine, Refused, RunDefinition};
use super::outside::{Opening, Outside, Sending};
use super::record::{Record, Subject};
use super::run_log::RunLog;
use super::statistics::JobStatistics;
use super::task_ids::TaskIds;
use crate::model::{AnsweredBy, Happening, HappeningKind, JobStatus, Seq, StreamId, TaskId};
use crate::session::now;
use crate::store::{Append, Change, EventPage, EventRow, Store, StoreError};

/// Records that are read at once.
const PAGE: usize = 1_000;
/// Bytes that are read at once.
const PAGE_BYTES: usize = 4 * 1024 * 1024;
/// Commands that may wait for one run.
const COMMANDS_IN_FLIGHT: usize = 8;

/// A job, or a task outside a job.
pub struct Run {
    pub(super) log: RunLog,
    pub(super) positions_changed: Arc<Notify>,
    pub(super) stopping: CancellationToken,
    commands: Mutex<Option<mpsc::Sender<Command>>>,
}

/// What somebody wants of a run.
pub(super) enum Command {
    Stop(Reply),
    StopTask(TaskId, Reply),
    Retry(Reply),
    Answer(Answer, Reply),
}

type Reply = oneshot::Sender<Result<(), JobError>>;

/// A person's decision.
#[derive(Clone, Debug)]
pub struct Answer {
    /// What it is about.
    pub waiting_id: String,
    /// The digest of what the person was shown.
    pub digest: String,
    /// Whether the job goes on.
    pub approved: bool,
    /// What the person said.
    pub note: Option<String>,
    /// Where the answer comes from.
    pub by: AnsweredBy,
}

/// What the actor of a run is made of.
pub(super) struct RunParts {
    pub outside: Outside,
    pub definition: RunDefinition,
    pub ids: Arc<TaskIds>,
    pub feed: Arc<JobFeed>,
    pub statistics: JobStatistics,
}

/// All records of a log, with the number of the next one.
pub(super) async fn records(
    store: &Store,
    stream: StreamId,
) -> Result<Vec<(Record, crate::model::Timestamp)>, StoreError> {
    let (mut records, mut after) = (Vec::new(), 0);
    loop {
        let page = EventPage { after, before: None, limit: PAGE, max_bytes: PAGE_BYTES };
        let (events, more) = store.events(stream, page).await?;
        after = events.last().map_or(after, |event| event.seq);
        for event in events {
            match serde_json::from_slice(&event.body) {
                Ok(record) => records.push((record, event.time)),
                // A record of a later version: what it means is unknown here, and the rest still counts.
                Err(error) => tracing::error!(%stream, seq = event.seq, %error, "a record of a job cannot be read"),
            }
        }
        if !more {
            return Ok(records);
        }
    }
}

impl Run {
    pub(super) fn new(log: RunLog, positions_changed: Arc<Notify>, stopping: CancellationToken) -> Self {
        Self { log, positions_changed, stopping, commands: Mutex::new(None) }
    }

    /// Its log.
    pub fn log(&self) -> &RunLog {
        &self.log
    }

    /// Cancelled when the server begins to shut down.
    pub fn stopping(&self) -> &CancellationToken {
        &self.stopping
    }

    /// Whether an actor drives it.
    pub(super) fn is_driven(&self) -> bool {
        self.commands.lock().as_ref().is_some_and(|commands| !commands.is_closed())
    }

    /// Asks the actor. `None` if there is none.
    pub(super) async fn ask(&self, command: impl FnOnce(Reply) -> Command) -> Option<Result<(), JobError>> {
        let commands = self.commands.lock().clone()?;
        let (reply, answer) = oneshot::channel();
        commands.send(command(reply)).await.ok()?;
        answer.await.ok()
    }

    /// The actor that drives it from where its log ends. Nothing happens before the actor is polled.
    pub(super) fn drive(
        self: &Arc<Self>,
        parts: RunParts,
        machine: Machine,
        next_seq: Seq,
    ) -> impl Future<Output = ()> + use<> {
        let (sender, receiver) = mpsc::channel(COMMANDS_IN_FLIGHT);
        *self.commands.lock() = Some(sender);
        let recovered = machine.effects().iter().map(Effect::key).collect();
        let actor = Actor {
            run: Arc::clone(self),
            store: parts.outside.sessions.store().clone(),
            outside: Arc::new(parts.outside),
            definition: parts.definition,
            ids: parts.ids,
            feed: parts.feed,
            statistics: parts.statistics,
            machine,
            next_seq,
            effects: JoinSet::new(),
            running: HashMap::new(),
            recovered,
            is_stale: false,
        };
        actor.run(receiver)
    }
}

struct Actor {
    run: Arc<Run>,
    store: Store,
    outside: Arc<Outside>,
    definition: RunDefinition,
    ids: Arc<TaskIds>,
    feed: Arc<JobFeed>,
    statistics: JobStatistics,
    machine: Machine,
    next_seq: Seq,
    effects: JoinSet<(EffectKey, Input)>,
    running: HashMap<EffectKey, Running>,
    /// What was under way when the server was last stopped.
    recovered: HashSet<EffectKey>,
    /// Something could not be written: the state is ahead of the log.
    is_stale: bool,
}

/// Something that is being done outside.
struct Running {
    handle: AbortHandle,
    /// Cancelled when it is no longer wanted.
    unwanted: CancellationToken,
}

impl Actor {
    async fn run(mut self, mut commands: mpsc::Receiver<Command>) {
        let stopping = self.run.stopping.clone();
        if !self.machine.has_begun() {
            self.take(Input::Begin).await;
        }
        self.publish();
        loop {
            if self.is_stale {
                self.reload().await;
            }
            self.reconcile();
            if self.machine.is_settled() && self.running.is_empty() {
                commands.close();
                // What was sent before that is still answered; a retry goes on.
                while let Some(command) = commands.recv().await {
                    self.carry_out(command).await;
                }
                if self.machine.is_settled() {
                    return self.settle().await;
                }
                let (sender, receiver) = mpsc::channel(COMMANDS_IN_FLIGHT);
                *self.run.commands.lock() = Some(sender);
                commands = receiver;
                continue;
            }
            tokio::select! {
                biased;
                // Turns that the shutdown cuts off must not count as ended: the run continues after the restart.
                () = stopping.cancelled() => return,
                command = commands.recv() => match command {
                    Some(command) => self.carry_out(command).await,
                    None => return,
                },
                Some(ended) = self.effects.join_next(), if !self.effects.is_empty() => match ended {
                    Ok((key, input)) => {
                        self.running.remove(&key);
                        self.recovered.remove(&key);
                        if !stopping.is_cancelled() {
                            self.take(input).await;
                        }
                    }
                    Err(error) if error.is_panic() => {
                        tracing::error!(run = %self.run.log.stream(), error = %error, "a step of a job ended in a panic");
                        self.running.retain(|_, running| !running.handle.is_finished());
                    }
                    Err(_) => {}
                },
            }
        }
    }

    async fn carry_out(&mut self, command: Command) {
        match command {
            Command::Stop(reply) => {
                let _ = reply.send(self.give(Input::Stop).await);
            }
            Command::StopTask(task, reply) => {
                let _ = reply.send(self.give(Input::StopTask(task)).await);
            }
            Command::Retry(reply) => {
                let _ = reply.send(self.give(Input::Retry).await);
            }
            Command::Answer(answer, reply) => {
                let _ = reply.send(self.answer(answer).await);
            }
        }
    }

    async fn answer(&mut self, answer: Answer) -> Result<(), JobError> {
        let Answer { waiting_id, digest, approved, note, by } = answer;
        let waiting = self.machine.waiting().find(|waiting| waiting.id == waiting_id).cloned();
        let Some(waiting) = waiting else { return Err(self.why_not_waiting(&waiting_id)) };
        if waiting.digest != digest {
            return Err(JobError::GateChanged);
        }
        let view = self.view(waiting.subject).await;
        if view.digest() != digest {
            self.give(Input::Shown { subject: waiting.subject, view }).await?;
            return Err(JobError::GateChanged);
        }
        self.give(Input::Answered { waiting_id, approved, note, by }).await
    }

    fn why_not_waiting(&self, waiting_id: &str) -> JobError {
        match self.run.log.progress().answered.get(waiting_id) {
            Some(answered) => JobError::GateAnswered { approved: answered.approved, by: answered.by },
            None => JobError::GateClosed,
        }
    }

    async fn view(&self, subject: Subject) -> super::gate_view::GateView {
        let (title, prompt) = self.machine.question(subject);
        self.outside.view(title, prompt, self.machine.results().to_vec()).await
    }

    /// Takes in what happened outside. What cannot be written is tried again once the store takes writes.
    async fn take(&mut self, input: Input) {
        // Every other error means that it came too late.
        if let Err(JobError::Store(error)) = self.give(input).await {
            tracing::warn!(run = %self.run.log.stream(), %error, "a job waits until the store takes writes");
        }
    }

    /// Hands an input to the machine and commits what follows.
    async fn give(&mut self, input: Input) -> Result<(), JobError> {
        let ids = self.ids.take(&self.store, self.machine.starts_at_once()).await;
        self.is_stale = ids.is_err();
        let mut ids = ids?.into_iter();
        let mut take = || ids.next().expect("as many as can start at once");
        let records = self.machine.step(input, &mut take);
        self.ids.give_back(ids);
        let records = records.map_err(|refused| self.refusal(refused))?;
        if records.is_empty() {
            return Ok(());
        }
        let committed = self.commit(&records).await;
        self.is_stale = committed.is_err();
        committed
    }

    fn refusal(&self, refused: Refused) -> JobError {
        match refused {
            Refused::Over => JobError::Over(self.machine.status()),
            Refused::Running => JobError::NotStopped,
            Refused::Succeeded => JobError::Succeeded,
            Refused::NotWaiting => JobError::GateClosed,
            Refused::NoSuchTask => JobError::TaskNotFound,
            Refused::Borrowed => JobError::TaskCannotClose,
        }
    }

    async fn commit(&mut self, records: &[Record]) -> Result<(), JobError> {
        let time = now();
        let stream = self.run.log.stream();
        // A task in a person's session is part of that session, which people are notified of.
        let is_job = matches!(stream, StreamId::Job(_));
        let mut changes = Vec::new();
        for record in records {
            match record {
                Record::WorkStarted { work_id, task_id, .. } => {
                    changes.push(Change::TaskCreated { task: *task_id, work_id: *work_id });
                }
                // A person was told that the decision counts.
                Record::WaitingAnswered { waiting_id, .. } => {
                    changes.push(Change::PersonDecided);
                    changes.extend(is_job.then(|| Change::HappeningOver(waiting_id.clone())));
                }
                Record::WaitingOpened { waiting_id, subject, view, .. } if is_job => {
                    changes.push(Change::Happened(Happening {
                        key: waiting_id.clone(),
                        kind: HappeningKind::NeedsYou,
                        reason: subject.kind().to_owned(),
                        text: Happening::shortened(&view.title),
                        duration_ms: None,
                    }));
                }
                Record::JobRetried {} => changes.push(Change::ReadersReopened),
                _ => {}
            }
        }
        let (status, error) = (self.machine.status(), self.machine.error().map(str::to_owned));
        let was = self.run.log.progress();
        let has_ended = status != JobStatus::Running;
        if was.ended_at.is_some() != has_ended {
            // After the status, which settles what the job asked for.
            let ended = self.end_happening(status, error.as_deref(), was.started_at.map(|began| time.since(began)));
            let ended = ended.filter(|_| is_job);
            changes.push(Change::RunStatus { status, error, ended_at: has_ended.then_some(time) });
            changes.extend(ended.map(Change::Happened));
        }
        let body = |record: &Record| Bytes::from(serde_json::to_vec(record).expect("plain values"));
        let events: Vec<EventRow> = (self.next_seq..)
            .zip(records)
            .map(|(seq, record)| EventRow { seq, time, block: None, body: body(record) })
            .collect();
        let last = self.next_seq + events.len() as u64 - 1;
        self.store.append_checked(Append { stream, time, events, ended_blocks: Vec::new(), changes }).await?;
        self.next_seq = last + 1;
        if records.iter().any(|record| matches!(record, Record::JobRetried {})) {
            self.run.log.reopen_readers().await;
        }
        self.run.log.append(records, time, last);
        self.count(records);
        self.publish();
        Ok(())
    }

    /// Counts what the committed records end.
    fn count(&self, records: &[Record]) {
        for record in records {
            match record {
                Record::WorkStopped { succeeded, .. } => self.statistics.work_ended(*succeeded),
                Record::JobSucceeded {} => self.statistics.job_ended("succeeded"),
                Record::JobFailed {} => self.statistics.job_ended("failed"),
                Record::JobCanceled {} => self.statistics.job_ended("canceled"),
                _ => {}
            }
        }
    }

    /// What people are notified of when a job ends. One that somebody stopped is no news.
    fn end_happening(&self, status: JobStatus, error: Option<&str>, took: Option<Duration>) -> Option<Happening> {
        let kind = match status {
            JobStatus::Succeeded => HappeningKind::Finished,
            JobStatus::Failed => HappeningKind::Failed,
            JobStatus::Running | JobStatus::Canceled => return None,
        };
        // A job may be retried and end again.
        let key = format!("end-{}", self.next_seq);
        let text = Happening::shortened(error.unwrap_or_default());
        let duration_ms = took.and_then(|took| u64::try_from(took.as_millis()).ok());
        Some(Happening { key, kind, reason: String::new(), text, duration_ms })
    }

    fn publish(&self) {
        if let (StreamId::Job(id), name) = (self.run.log.stream(), self.definition.plan.job_name.clone()) {
            self.feed.post(JobFeedEntry::new(id, name, &self.run.log.progress()));
        }
    }

    /// Nothing could be written: the state is what the log says.
    async fn reload(&mut self) {
        let stopping = self.run.stopping.clone();
        loop {
            tokio::select! {
                () = stopping.cancelled() => return,
                () = self.outside.store_is_writable() => {}
            }
            let stream = self.run.log.stream();
            let read = async {
                Ok::<_, StoreError>((records(&self.store, stream).await?, self.store.next_seq(stream).await?))
            };
            match read.await {
                Ok((records, next_seq)) => {
                    self.machine = Machine::replay(self.definition.clone(), records.iter().map(|(record, _)| record));
                    self.next_seq = next_seq;
                    self.is_stale = false;
                    return;
                }
                Err(error) => tracing::warn!(run = %stream, %error, "the log of a job cannot be read"),
            }
        }
    }

    /// Begins what the state asks for, and ends what it no longer asks for.
    fn reconcile(&mut self) {
        let wanted = self.machine.effects();
        let keys: HashSet<EffectKey> = wanted.iter().map(Effect::key).collect();
        self.running.retain(|key, running| {
            let is_wanted = keys.contains(key);
            if !is_wanted {
                running.unwanted.cancel();
            }
            // A session that is being opened cannot be stopped halfway: it is closed when it is open.
            let stays = is_wanted || matches!(key, EffectKey::OpenSession(..));
            if !stays {
                running.handle.abort();
            }
            stays
        });
        for effect in wanted {
            let key = effect.key();
            if !self.running.contains_key(&key) {
                let unwanted = CancellationToken::new();
                let handle = self.begin(effect, unwanted.clone());
                self.running.insert(key, Running { handle, unwanted });
            }
        }
    }

    fn begin(&mut self, effect: Effect, unwanted: CancellationToken) -> AbortHandle {
        let key = effect.key();
        let outside = Arc::clone(&self.outside);
        match effect {
            Effect::OpenSession { task, number, model, is_driving } => {
                let (work_id, task_name) = self.machine.work_of(task).unwrap_or_default();
                let opening = Opening { task, task_name, work_id, number, model, is_driving, unwanted };
                self.effects.spawn(async move { (key, outside.open_session(opening).await) })
            }
            Effect::SendPrompt { task, number, session, text } => {
                let timeout = self.machine.work_of(task).and_then(|(_, name)| self.timeout_of(&name));
                let is_recovered = self.recovered.contains(&key);
                let sending = Sending { task, number, session, text, timeout, is_recovered };
                self.effects.spawn(async move { (key, outside.send_prompt(sending).await) })
            }
            Effect::RunCommand { task, command, .. } => {
                self.effects.spawn(async move { (key, outside.run_command(task, &command).await) })
            }
            Effect::CloseSession { session } => {
                self.effects.spawn(async move { (key, outside.close_session(session).await) })
            }
            Effect::DiscardSession { task, number } => {
                self.effects.spawn(async move { (key, outside.discard_session(task, number).await) })
            }
            Effect::Show { subject } => {
                let (title, prompt) = self.machine.question(subject);
                let works = self.machine.results().to_vec();
                let view = async move { Input::Shown { subject, view: outside.view(title, prompt, works).await } };
                self.effects.spawn(async move { (key, view.await) })
            }
        }
    }

    fn timeout_of(&self, task: &str) -> Option<std::time::Duration> {
        let text = self.definition.plan.tasks.get(task)?.timeout.as_deref()?;
        humantime::parse_duration(text).ok()
    }

    /// Everything is over, and nothing is left to do after a restart.
    async fn settle(&self) {
        let append = Append {
            stream: self.run.log.stream(),
            time: now(),
            events: Vec::new(),
            ended_blocks: Vec::new(),
            changes: vec![Change::RunSettled],
        };
        if let Err(error) = self.store.append_checked(append).await {
            // The next start finds that there is nothing to do.
            tracing::warn!(run = %self.run.log.stream(), %error, "could not record that a job is settled");
        }
    }
}

//! The service that answers requests: it finds or makes the agent's session for each, within limits.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Map;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::compliance::Demands;
use super::fingerprint::{self, Fingerprint};
use super::opening::Start;
use super::seat;
use super::settings::CaptureSettings;
use super::turn::{Input, Turn, after_last_answer};
use super::waiting::{Entry, Place, Waiting, WaitsFor};
use super::{Answer, CaptureError, ErrorKind, Message, Origin, Recording, Request, ToolChoice};
use crate::agent::{Freshness, Runtimes};
use crate::model::{Day, Timestamp, Usage};
use crate::store::{CaptureCall, CaptureSession, Store, StoreError, UsageReport};

/// What happens to the agent's session after an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// It waits for the caller's next request.
    Hold,
    /// It is destroyed.
    Destroy,
}

/// A model that callers may name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelEntry {
    /// The id.
    pub id: String,
    /// The name for display.
    pub name: String,
}

/// What is going on now.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CaptureFigures {
    /// Answers that are being made.
    pub answering: usize,
    /// Requests that wait for a place.
    pub queued: usize,
    /// Sessions of agents that wait for their callers, in memory.
    pub waiting: usize,
    /// The same on the agents' disks.
    pub on_disk: usize,
    /// Answers whose callers hung up.
    pub unheard: usize,
}

/// Budgets and sums that sessions and captures share.
pub trait Accounting: Send + Sync {
    /// Adds to what was used today.
    fn add(&self, usage: &Usage);
    /// Why no further request may be answered, if a budget forbids it.
    fn refusal(&self) -> Option<String>;
}

/// No budgets.
impl Accounting for () {
    fn add(&self, _: &Usage) {}

    fn refusal(&self) -> Option<String> {
        None
    }
}

/// What captures are made of.
pub struct CapturesParts {
    /// The runtimes.
    pub runtimes: Runtimes,
    /// The store.
    pub store: Store,
    /// Settings.
    pub settings: CaptureSettings,
    /// An empty folder, in which the agent's sessions work.
    pub folder: PathBuf,
    /// Budgets.
    pub accounting: Arc<dyn Accounting>,
    /// The time.
    pub now: fn() -> Timestamp,
}

/// All captures; clones share them.
#[derive(Clone)]
pub struct Captures(Arc<Shared>);

pub(super) struct Shared {
    pub runtimes: Runtimes,
    pub settings: CaptureSettings,
    pub folder: PathBuf,
    pub waiting: Waiting,
    pub stopping: CancellationToken,
    store: Store,
    accounting: Arc<dyn Accounting>,
    now: fn() -> Timestamp,
    places: Arc<Semaphore>,
    queued: AtomicUsize,
    tasks: TaskTracker,
}

/// How often sessions whose time is over are looked for.
const SWEEP_EVERY: Duration = Duration::from_mins(1);

impl Captures {
    /// Captures that answer nothing yet: [`Self::restore`] comes first.
    pub fn new(parts: CapturesParts) -> Self {
        let CapturesParts { runtimes, store, settings, folder, accounting, now } = parts;
        let places = Arc::new(Semaphore::new(settings.concurrent));
        Self(Arc::new(Shared {
            runtimes,
            settings,
            folder,
            waiting: Waiting::default(),
            stopping: CancellationToken::new(),
            store,
            accounting,
            now,
            places,
            queued: AtomicUsize::new(0),
            tasks: TaskTracker::new(),
        }))
    }

    /// Finds the sessions that the last run left: those with open calls wait for their callers, all others are deleted.
    pub async fn restore(&self) -> Result<(), StoreError> {
        for session in self.0.store.capture_sessions().await? {
            let waits_for = session.waits_for.as_deref().and_then(|json| serde_json::from_str::<WaitsFor>(json).ok());
            match waits_for {
                Some(waits_for) if session.expires_at > (self.0.now)() => {
                    self.0.waiting.add(&session.id, waits_for, Place::OnDisk, usize::MAX);
                }
                _ => {
                    let shared = Arc::clone(&self.0);
                    self.0.tasks.spawn(async move { shared.forget(&session.id).await });
                }
            }
        }
        let shared = Arc::clone(&self.0);
        self.0.tasks.spawn(async move { shared.sweep().await });
        Ok(())
    }

    /// Starts to answer a request of the holder of a token.
    pub async fn answer(&self, request: Request, token: &str, mode: Option<Mode>) -> Result<Answer, CaptureError> {
        let shared = &self.0;
        check(&request)?;
        let demands = Demands::of(&request)?;
        let model = self.model(&request.model).await?;
        if let Some(refusal) = shared.accounting.refusal() {
            return Err(CaptureError::new(ErrorKind::Limited, refusal).with_code("insufficient_quota"));
        }
        let mode = mode.unwrap_or(shared.settings.mode);
        let whole = fingerprint::whole(&request, &model);
        if let Some(answer) = shared.waiting.hear_again(token, &whole) {
            return Ok(answer);
        }
        let place = shared.place().await?;
        let found = if mode == Mode::Hold { shared.find(&request, &model, token) } else { None };
        let origin = match (&found, mode) {
            (Some(_), _) => Origin::Held,
            (None, Mode::Hold) => Origin::Fresh,
            (None, Mode::Destroy) => Origin::Destroyed,
        };
        let recording = Recording::new(origin);
        shared.waiting.record(token, &whole, &recording);
        shared.keep_until_heard(token, whole, &recording);
        let answer = recording.reader();
        let turn = Turn {
            request: Arc::new(request),
            model,
            token: token.to_owned(),
            mode,
            input: if found.is_some() { Input::Tail } else { Input::Conversation },
            demands,
            recording,
            deadline: Instant::now() + shared.settings.deadline,
            begun: std::time::Instant::now(),
            place: Some(place),
        };
        shared.begin(turn, found).await;
        Ok(answer)
    }

    /// The agent's name of a model.
    async fn model(&self, name: &str) -> Result<String, CaptureError> {
        if name.trim().is_empty() {
            return Err(CaptureError::invalid("model", "The model is missing; GET /v1/models lists all models."));
        }
        let (shared, wanted) = (&self.0, self.0.settings.model(name));
        let choice = shared.runtimes.choose(&shared.settings.runtime, &wanted, &Map::new()).await.map_err(|error| {
            let message =
                format!("The model {name:?} does not exist: {error}. Aliases can be set in [capture.aliases].");
            CaptureError { param: Some("model".to_owned()), ..CaptureError::new(ErrorKind::NotFound, message) }
                .with_code("model_not_found")
        })?;
        if choice.runtime.name() != shared.settings.runtime {
            let message = format!(
                "The model {name:?} belongs to the runtime {}, which cannot be used as a model.",
                choice.runtime.name()
            );
            return Err(CaptureError::invalid("model", message));
        }
        Ok(choice.model)
    }

    /// The models that callers may name, then the aliases.
    pub async fn models(&self) -> Vec<ModelEntry> {
        let shared = &self.0;
        let Ok(runtime) = shared.runtimes.named(&shared.settings.runtime) else { return Vec::new() };
        let list = runtime.models(Freshness::Recent).await;
        let known = list.models.into_iter().map(|model| ModelEntry { id: model.id, name: model.name });
        let aliases = shared.settings.aliases.iter().filter(|(name, _)| !name.ends_with('*'));
        let aliases = aliases.map(|(name, model)| ModelEntry { id: name.clone(), name: model.clone() });
        known.chain(aliases).collect()
    }

    /// What is going on now.
    pub fn figures(&self) -> CaptureFigures {
        let shared = &self.0;
        let (waiting, on_disk) = shared.waiting.count();
        CaptureFigures {
            answering: shared.settings.concurrent.saturating_sub(shared.places.available_permits()),
            queued: shared.queued.load(Ordering::Relaxed),
            waiting,
            on_disk,
            unheard: shared.waiting.unheard(),
        }
    }

    /// Ends all answers. Sessions with open calls stay on the agent's disk, all others are destroyed.
    pub async fn shut_down(&self) {
        self.0.stopping.cancel();
        self.0.tasks.close();
        self.0.tasks.wait().await;
    }
}

/// Refuses what no model could answer.
fn check(request: &Request) -> Result<(), CaptureError> {
    if request.messages.is_empty() {
        return Err(CaptureError::invalid("messages", "There is no message to answer; send at least one."));
    }
    if matches!(request.messages.last(), Some(Message::Assistant { .. })) {
        let message = "The last message is the model's own. An agent cannot continue it; end with a user message or tool results.";
        return Err(CaptureError::invalid("messages", message));
    }
    if let ToolChoice::Named(name) = &request.tool_choice
        && !request.tools.iter().any(|tool| tool.name == *name)
    {
        let message = format!("tool_choice names the tool {name:?}, which is not among the tools.");
        return Err(CaptureError::invalid("tool_choice", message));
    }
    if request.tool_choice == ToolChoice::Required && request.tools.is_empty() {
        return Err(CaptureError::invalid("tool_choice", "tool_choice demands a tool call, but there are no tools."));
    }
    for tool in &request.tools {
        if let Err(error) = jsonschema::meta::validate(&tool.parameters) {
            let message = format!("The parameters of the tool {:?} are not a valid JSON Schema: {error}.", tool.name);
            return Err(CaptureError::invalid("tools", message));
        }
    }
    Ok(())
}

impl Shared {
    /// Waits for a place, in a short queue.
    async fn place(&self) -> Result<OwnedSemaphorePermit, CaptureError> {
        let full = || {
            let message = format!(
                "{} requests are being answered and {} wait; try again later (capture.concurrent, capture.queue).",
                self.settings.concurrent, self.settings.queue
            );
            CaptureError::new(ErrorKind::Limited, message)
                .with_code("too_many_requests")
                .with_retry_after(Duration::from_secs(1))
        };
        if let Ok(place) = Arc::clone(&self.places).try_acquire_owned() {
            return Ok(place);
        }
        if self.queued.fetch_add(1, Ordering::Relaxed) >= self.settings.queue {
            self.queued.fetch_sub(1, Ordering::Relaxed);
            return Err(full());
        }
        let _leaves = Leaves(&self.queued);
        match tokio::time::timeout(self.settings.queue_for, Arc::clone(&self.places).acquire_owned()).await {
            Ok(Ok(place)) => Ok(place),
            _ => Err(full()),
        }
    }

    /// Takes the session that waits for this request, if there is one.
    fn find(&self, request: &Request, model: &str, token: &str) -> Option<(String, Entry)> {
        let tail = after_last_answer(&request.messages);
        let before = &request.messages[..request.messages.len() - tail.len()];
        if before.is_empty() {
            return None;
        }
        let conversation = fingerprint::conversation(request, model, before);
        let calls: Vec<&str> = tail
            .iter()
            .filter_map(|message| match message {
                Message::Tool(result) => Some(result.call.as_str()),
                _ => None,
            })
            .collect();
        if calls.is_empty() {
            self.waiting.take_by_conversation(token, &conversation)
        } else {
            self.waiting.take_by_calls(token, &calls, &conversation)
        }
    }

    /// Gives a turn to the session that was found, or to a new one.
    async fn begin(self: &Arc<Self>, turn: Turn, found: Option<(String, Entry)>) {
        let mut turn = turn;
        let start = match found {
            None => Start::New,
            Some((session, entry)) => match entry.place {
                Place::Connected { turns, .. } => match turns.send(turn).await {
                    Ok(()) => return,
                    Err(refused) => {
                        // It ended in this moment.
                        turn = refused.0;
                        turn.start_afresh();
                        Start::New
                    }
                },
                Place::OnDisk => Start::Resume { session, calls: entry.waits_for.calls },
            },
        };
        let shared = Arc::clone(self);
        self.tasks.spawn(seat::run(shared, turn, start));
    }

    /// An answer is kept until its caller has it, or for a while after the caller hung up.
    fn keep_until_heard(self: &Arc<Self>, token: &str, request: Fingerprint, recording: &Recording) {
        let (shared, token, recording) = (Arc::clone(self), token.to_owned(), recording.clone());
        self.tasks.spawn(async move {
            let mut reading = recording.reading();
            tokio::select! {
                _ = reading.wait_for(|reading| *reading == super::Reading::Delivered) => {}
                () = seat::unheard(recording.reading(), shared.settings.unheard) => {}
                () = shared.stopping.cancelled() => {}
            }
            shared.waiting.forget(&token, &request, &recording);
        });
    }

    /// A session waits for its caller.
    pub fn offer(&self, session: &str, waits_for: WaitsFor, place: Place) {
        if let Some(leaves) = self.waiting.add(session, waits_for, place, self.settings.waiting) {
            leaves.cancel();
        }
    }

    /// Cancelled when the session has to leave the memory.
    pub fn leave_token(&self, session: &str) -> CancellationToken {
        self.waiting.leave_token(session).unwrap_or_default()
    }

    /// Stores a session, and what it waits for.
    pub async fn keep(&self, session: &str, waits_for: Option<&WaitsFor>) -> Result<(), StoreError> {
        let life = if waits_for.is_some() { self.settings.hold } else { self.settings.hold + self.settings.deadline };
        let expires_at = (self.now)().as_millis().saturating_add(i64::try_from(life.as_millis()).unwrap_or(i64::MAX));
        let session = CaptureSession {
            id: session.to_owned(),
            runtime: self.settings.runtime.clone(),
            waits_for: waits_for.and_then(|waits_for| serde_json::to_string(waits_for).ok()),
            expires_at: Timestamp::from_millis(expires_at),
        };
        self.store.put_capture_session(session).await
    }

    /// The agent waits for results; a later process can give them too.
    pub async fn keep_waiting(&self, session: &str) {
        let Some(waits_for) = self.waiting.waits_for(session) else { return };
        if let Err(error) = self.keep(session, Some(&waits_for)).await {
            tracing::warn!(%error, session, "a held session was not recorded; it will not survive a restart");
        }
    }

    /// Deletes a session that no connection has from the agent's disk.
    pub async fn forget(&self, session: &str) {
        let Ok(runtime) = self.runtimes.named(&self.settings.runtime) else { return };
        match runtime.discard_session(session.to_owned()).await {
            Ok(()) => self.forgotten(session).await,
            // It stays recorded and is tried again.
            Err(error) => {
                tracing::warn!(error, session, "a captured session could not be deleted from the agent's disk");
            }
        }
    }

    /// The agent has deleted a session.
    pub async fn forgotten(&self, session: &str) {
        if let Err(error) = self.store.remove_capture_session(session.to_owned()).await {
            tracing::warn!(%error, session, "a captured session could not be removed from the store");
        }
    }

    /// Deletes sessions whose time is over.
    async fn sweep(&self) {
        let every = SWEEP_EVERY.min(self.settings.hold / 2).max(Duration::from_millis(100));
        loop {
            tokio::select! {
                () = tokio::time::sleep(every) => {}
                () = self.stopping.cancelled() => return,
            }
            let now = (self.now)().as_millis();
            let keep = i64::try_from(self.settings.keep_log.as_millis()).unwrap_or(i64::MAX);
            if let Err(error) = self.store.expire_capture_calls(Timestamp::from_millis(now.saturating_sub(keep))).await
            {
                tracing::warn!(%error, "old captures could not be deleted from the log");
            }
            let all = self.store.capture_sessions().await.unwrap_or_default();
            for session in all.into_iter().filter(|session| session.expires_at <= (self.now)()) {
                if self.waiting.remove_from_disk(&session.id) {
                    self.forget(&session.id).await;
                }
            }
        }
    }

    /// Counts what a model call used.
    pub fn account(self: &Arc<Self>, model: &str, usage: &Usage) {
        self.accounting.add(usage);
        let report = UsageReport {
            day: Day::of((self.now)()),
            runtime: self.settings.runtime.clone(),
            model: usage.model.clone().unwrap_or_else(|| model.to_owned()),
            usage: usage.clone(),
        };
        let shared = Arc::clone(self);
        self.tasks.spawn(async move {
            if let Err(error) = shared.store.add_usage(report).await {
                tracing::warn!(%error, "the usage of a capture was not recorded");
            }
        });
    }

    /// Writes a finished answer to the log.
    pub fn note(&self, turn: &Turn, outcome: &'static str, error: Option<String>, usage: Option<Usage>) {
        let duration_ms = u64::try_from(turn.begun.elapsed().as_millis()).unwrap_or(u64::MAX);
        let started = (self.now)().as_millis().saturating_sub(i64::try_from(duration_ms).unwrap_or(0));
        tracing::debug!(token = turn.token, model = turn.model, outcome, duration_ms, "captured");
        self.store.add_capture_call(CaptureCall {
            at: Timestamp::from_millis(started),
            token_id: turn.token.clone(),
            dialect: turn.request.dialect.to_owned(),
            model: turn.model.clone(),
            mode: turn.recording.origin().as_str().to_owned(),
            tools: u32::try_from(turn.request.tools.len()).unwrap_or(u32::MAX),
            outcome: outcome.to_owned(),
            error,
            usage: usage.unwrap_or_default(),
            duration_ms,
        });
    }
}

/// Leaves the queue when dropped.
struct Leaves<'a>(&'a AtomicUsize);

impl Drop for Leaves<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

//! All sessions of a server: found, loaded once, created, deleted, restored at startup and shut down.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Weak};

use parking_lot::Mutex;
use tokio::sync::{Notify, OnceCell, mpsc};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::actor::{Actor, SessionServices};
use super::answerers::Answerers;
use super::create::{self, CreateError, NewSession};
use super::day_usage::DayUsage;
use super::folder_rules::FolderRules;
use super::live_settings::LiveSettings;
use super::operations::Operations;
use super::presence::Presence;
use super::readers::Readers;
use super::rest::Rest;
use super::session_feed::{SessionFeed, SessionStatus};
use super::settings::JobTools;
use super::statistics::SessionStatistics;
use super::tail::TailBudget;
use super::turn_observer::{TurnObserver, TurnObserverSlot};
use super::viewers::Viewers;
use super::{Session, SessionError, SessionLog, SessionSettings, clock};
use crate::agent::Runtimes;
use crate::model::{Day, SessionId, SessionState, SessionSummary, Usage};
use crate::store::{CommitObserver, Creation, SessionFilter, Store, StoreError, StoredSession};

/// Commands that may wait for one session.
const COMMANDS_IN_FLIGHT: usize = 8;

/// What [`Sessions`] is made of.
pub struct SessionsParts {
    /// The store.
    pub store: Store,
    /// The available agents.
    pub runtimes: Runtimes,
    /// The configured settings.
    pub settings: SessionSettings,
    /// Cancelled when the server begins to shut down.
    pub stopping: CancellationToken,
}

/// The sessions of a server. Clones share them.
#[derive(Clone)]
pub struct Sessions {
    pub(super) shared: Arc<Shared>,
}

pub(super) struct Shared {
    pub(super) services: Arc<SessionServices>,
    pub(super) loaded: Mutex<HashMap<SessionId, LoadedSession>>,
    pub(super) positions_changed: Arc<Notify>,
    pub(super) stopping: CancellationToken,
    readers: Arc<AtomicUsize>,
    tails: TailBudget,
    actors: TaskTracker,
    pub(super) operations: Operations,
    pub(super) housekeeping: TaskTracker,
    /// One adoption at a time: two of the same session would make two of ours.
    pub(super) adopting: tokio::sync::Mutex<()>,
}

/// The place of a session that is loaded or being loaded, so that no session ever has two actors.
pub(super) type LoadedSession = Arc<OnceCell<Arc<Session>>>;

/// How a session is loaded.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Load {
    /// Just created: its agent is started at once.
    New,
    /// From an earlier run.
    Known,
    /// As `Known`, and its queued prompts run if so configured.
    AtStart,
}

impl Sessions {
    /// The sessions in a store. [`Self::restore`] closes what an earlier run left open.
    pub fn new(parts: SessionsParts) -> Self {
        let SessionsParts { store, runtimes, settings, stopping } = parts;
        let session_feed = Arc::new(SessionFeed::default());
        let stops = stopping.clone();
        runtimes.limit_processes(settings.agent_processes);
        let services = Arc::new(SessionServices {
            store,
            runtimes,
            settings: LiveSettings::new(settings),
            session_feed,
            answerers: Arc::default(),
            day_usage: DayUsage::default(),
            folder_rules: FolderRules::default(),
            statistics: SessionStatistics::default(),
            turn_observer: TurnObserverSlot::default(),
            presence: Arc::default(),
            unknown_events: AtomicU64::new(0),
            stopping: stops,
        });
        Self {
            shared: Arc::new(Shared {
                services,
                loaded: Mutex::default(),
                positions_changed: Arc::new(Notify::new()),
                stopping,
                readers: Arc::new(AtomicUsize::new(0)),
                tails: TailBudget::default(),
                actors: TaskTracker::new(),
                operations: Operations::default(),
                housekeeping: TaskTracker::new(),
                adopting: tokio::sync::Mutex::default(),
            }),
        }
    }

    /// Tells somebody about every turn from now on.
    pub fn observe_turns(&self, observer: Arc<dyn TurnObserver>) {
        self.shared.services.turn_observer.set(observer);
    }

    /// The store.
    pub fn store(&self) -> &Store {
        &self.shared.services.store
    }

    /// Whether the agent of a session has the job tools, with which it reports to a task.
    pub fn has_job_tools(&self, session: &SessionSummary) -> bool {
        let services = &self.shared.services;
        services.runtimes.named(&session.profile.runtime).is_ok_and(|runtime| {
            services.settings.current().job_tools(runtime.capabilities(), session.origin) != JobTools::None
        })
    }

    /// Adds what something other than a session used today.
    pub fn add_day_usage(&self, usage: &Usage) {
        self.shared.services.day_usage.add(Day::of(clock::now()), usage);
    }

    /// Why nothing more may be used today, if a budget forbids it.
    pub fn day_refusal(&self) -> Option<String> {
        let services = &self.shared.services;
        services.settings.current().budget.day_refusal(&services.day_usage.of(Day::of(clock::now())))
    }

    /// The available agents.
    pub fn runtimes(&self) -> &Runtimes {
        &self.shared.services.runtimes
    }

    /// The settings as they are now.
    pub fn settings(&self) -> Arc<SessionSettings> {
        self.shared.services.settings.current()
    }

    /// The configured model of sessions that choose none, if there is one.
    pub async fn default_model(&self) -> Option<String> {
        let settings = self.settings();
        let mut of_runtime = None;
        // Asking agents whether they are ready takes time.
        if !settings.runtime_defaults.is_empty()
            && let Ok(runtime) = self.runtimes().default_runtime(&settings.default_runtime).await
        {
            of_runtime = settings.runtime_defaults.get(runtime.name()).and_then(|defaults| defaults.model.clone());
        }
        of_runtime.or_else(|| Some(settings.default_model.clone()).filter(|model| !model.is_empty()))
    }

    /// Replaces the settings, for sessions that are open too. What was set when a session was loaded, such as how many
    /// readers it can have, changes when it is loaded again.
    pub fn replace_settings(&self, settings: SessionSettings) {
        self.runtimes().limit_processes(settings.agent_processes);
        self.shared.services.settings.replace(settings);
    }

    /// Figures of all sessions.
    pub fn statistics(&self) -> &SessionStatistics {
        &self.shared.services.statistics
    }

    /// Who is looking at which session or job.
    pub fn presence(&self) -> &Arc<Presence> {
        &self.shared.services.presence
    }

    /// Those who see the requests of all sessions and could answer them.
    pub fn answerers(&self) -> &Arc<Answerers> {
        &self.shared.services.answerers
    }

    /// What all sessions are doing.
    pub fn session_feed(&self) -> &Arc<SessionFeed> {
        &self.shared.services.session_feed
    }

    /// Cancelled when the server begins to shut down.
    pub fn stopping(&self) -> &CancellationToken {
        &self.shared.stopping
    }

    /// Readers attached right now, over all sessions.
    pub fn reader_count(&self) -> usize {
        self.shared.readers.load(Ordering::Relaxed)
    }

    /// Agent events of unknown kinds since startup.
    pub fn unknown_event_count(&self) -> u64 {
        self.shared.services.unknown_events.load(Ordering::Relaxed)
    }

    /// Agent processes that count against the limit, and sessions that wait for one.
    pub fn process_figures(&self) -> (usize, usize) {
        self.shared.services.runtimes.process_figures()
    }

    /// Creates a session and starts its agent. A repetition with the same key gets the session of the first call.
    pub async fn create(&self, new: NewSession) -> Result<Arc<Session>, CreateError> {
        if self.shared.stopping.is_cancelled() {
            return Err(CreateError::ShuttingDown);
        }
        let sessions = self.clone();
        let creating = async move {
            let services = &sessions.shared.services;
            let created =
                create::create(&services.store, &services.runtimes, &services.settings.current(), new).await?;
            let (id, how) = match created {
                Creation::New(id) => (id, Load::New),
                Creation::Known(id) => (id, Load::Known),
                Creation::KeyReused => return Err(CreateError::KeyReused),
                Creation::TooMany => {
                    return Err(CreateError::TooMany { limit: services.settings.current().open_sessions });
                }
            };
            sessions.load(id, how).await.map_err(|error| match error {
                SessionError::Store(error) => CreateError::Store(error),
                _ => CreateError::ShuttingDown,
            })
        };
        self.shared.operations.run(creating).await
    }

    /// A session, from memory or from the store.
    pub async fn get(&self, id: SessionId) -> Result<Arc<Session>, SessionError> {
        self.load(id, Load::Known).await
    }

    async fn load(&self, id: SessionId, how: Load) -> Result<Arc<Session>, SessionError> {
        let place = self.place_for(id);
        let loaded = if let Some(session) = place.get() {
            Ok(Arc::clone(session))
        } else {
            let sessions = self.clone();
            self.shared.operations.run(async move { sessions.fill(place, id, how).await }).await
        };
        match loaded {
            Ok(session) if session.log.head().deleted => Err(SessionError::NotFound),
            other => other,
        }
    }

    async fn fill(&self, place: LoadedSession, id: SessionId, how: Load) -> Result<Arc<Session>, SessionError> {
        let loaded = place.get_or_try_init(|| self.load_from_store(id, how)).await.map(Arc::clone);
        if loaded.is_err() {
            let mut all = self.shared.loaded.lock();
            // Only our own empty place is removed: another call may have put a session there since.
            if all.get(&id).is_some_and(|current| Arc::ptr_eq(current, &place) && !current.initialized()) {
                all.remove(&id);
            }
        }
        loaded
    }

    /// Loads a session that was just created, once `prepare` has written what belongs in it. Whoever asks for the session
    /// meanwhile waits.
    pub(super) async fn load_prepared<E: From<SessionError>>(
        &self,
        id: SessionId,
        prepare: impl Future<Output = Result<(), E>>,
    ) -> Result<Arc<Session>, E> {
        let place = self.place_for(id);
        let prepared = place.get_or_try_init(|| async {
            prepare.await?;
            Ok(self.load_from_store(id, Load::Known).await?)
        });
        let loaded = prepared.await.map(Arc::clone);
        if loaded.is_err() {
            self.shared.loaded.lock().remove(&id);
        }
        loaded
    }

    /// The place of a session. One whose actor ended (by a panic, or because the store rejected its events) is
    /// reloaded from the store.
    fn place_for(&self, id: SessionId) -> LoadedSession {
        let mut all = self.shared.loaded.lock();
        let place = all.entry(id).or_default();
        let is_lost = |session: &Arc<Session>| session.commands.is_closed() && !session.log.head().deleted;
        if place.get().is_some_and(is_lost) && !self.shared.stopping.is_cancelled() {
            tracing::error!(session = %id, "the session's actor ended unexpectedly; reloading the session");
            *place = LoadedSession::default();
        }
        Arc::clone(place)
    }

    async fn load_from_store(&self, id: SessionId, how: Load) -> Result<Arc<Session>, SessionError> {
        let shared = &self.shared;
        let store = &shared.services.store;
        if shared.stopping.is_cancelled() {
            return Err(SessionError::ShuttingDown);
        }
        // So that appends of an earlier actor that are still queued count too.
        store.flush().await?;
        let stored = store.load_session(id).await?.ok_or(SessionError::NotFound)?;
        let positions = store.reader_positions(id).await?;
        let log = Arc::new(SessionLog::new(
            id,
            store.clone(),
            stored.summary.last_seq,
            stored.summary.closed_at,
            Viewers::new(Arc::clone(&shared.readers)),
            shared.tails.clone(),
        ));
        let observer: Weak<dyn CommitObserver> = Arc::<SessionLog>::downgrade(&log);
        store.subscribe(id, observer);
        let (commands, receiver) = mpsc::channel(COMMANDS_IN_FLIGHT);
        let rest = Arc::new(Rest::new());
        let session = Arc::new(Session {
            id,
            log: Arc::clone(&log),
            readers: Readers::new(positions, shared.services.settings.current().readers_per_session),
            positions_changed: Arc::clone(&shared.positions_changed),
            closed_grace: shared.services.settings.current().closed_grace,
            first_new_seq: stored.next_seq,
            commands,
            rest: Arc::clone(&rest),
            operations: shared.operations.clone(),
            store: store.clone(),
            stopping: shared.stopping.clone(),
        });
        let actor = self.prepare_actor(log, stored, how).await?;
        shared.actors.spawn(actor.run(receiver, rest));
        Ok(session)
    }

    async fn prepare_actor(
        &self,
        log: Arc<SessionLog>,
        mut stored: StoredSession,
        how: Load,
    ) -> Result<Actor, StoreError> {
        let turn = stored.turn.take();
        let mut actor = Actor::new(Arc::clone(&self.shared.services), log, stored);
        match how {
            Load::New => actor.begin().await,
            Load::Known => actor.restore(turn).await?,
            Load::AtStart => {
                actor.restore(turn).await?;
                if self.shared.services.settings.current().resume_at_start {
                    actor.resume_queue().await;
                }
            }
        }
        Ok(actor)
    }

    /// Closes turns that an earlier run left open, and fills the inbox.
    pub async fn restore(&self) -> Result<(), SessionError> {
        let store = self.store();
        // Before any session continues: today's usage counts for its budget.
        let today = Day::of(clock::now());
        self.shared.services.day_usage.restore(today, store.usage_total(today, today).await?.usage);
        self.shared.services.folder_rules.reload(store).await?;
        if let Err(error) = store.settle_states().await {
            // Each is corrected when it is loaded; until then lists may show an old state.
            tracing::warn!(error = %error, "could not reset the session states of the last run");
        }
        let mut unfinished = store.unfinished_sessions().await?;
        if self.settings().resume_at_start {
            unfinished.extend(store.sessions_with_queued_prompts().await?);
        }
        for id in unfinished {
            // One session that cannot be read must not prevent the others from being served.
            if let Err(error) = self.load(id, Load::AtStart).await {
                tracing::error!(session = %id, error = %error, "could not restore a session of the last run");
            }
        }
        // So that the first request finds the turns of the last run closed.
        Ok(store.flush().await?)
    }

    /// Removes a rule of a folder; its sessions ask again when this returns. Returns whether there was such a rule.
    pub async fn remove_folder_rule(&self, id: u64) -> Result<bool, SessionError> {
        let sessions = self.clone();
        let removing = async move {
            let removed = sessions.store().remove_folder_rule(id).await?;
            sessions.shared.services.folder_rules.reload(sessions.store()).await?;
            Ok(removed)
        };
        self.shared.operations.run(removing).await
    }

    /// Ends a session and deletes it.
    pub async fn delete(&self, id: SessionId) -> Result<(), SessionError> {
        let sessions = self.clone();
        self.shared.operations.run(async move { sessions.end_and_delete(id).await }).await
    }

    async fn end_and_delete(&self, id: SessionId) -> Result<(), SessionError> {
        let session = self.get(id).await?;
        match session.close().await {
            // A full disk must not prevent deleting, which frees space.
            Ok(()) | Err(SessionError::Closed | SessionError::Store(_)) => {}
            Err(other) => return Err(other),
        }
        // Before its actor ends, so that the session is not reloaded as one that lost its actor.
        session.log.set_deleted();
        session.shut_down().await;
        let deleted = self.store().delete_session(id).await;
        self.shared.loaded.lock().remove(&id);
        deleted?;
        self.session_feed().post(SessionStatus::deleted(id));
        Ok(())
    }

    /// Interrupts turns, ends agents and saves reader positions. The log is complete when this returns.
    pub async fn shut_down(&self) {
        // Every actor watches this token, including one that is being started right now.
        self.shared.stopping.cancel();
        self.shared.operations.finish().await;
        self.shared.actors.close();
        self.shared.actors.wait().await;
        self.runtimes().shut_down().await;
        self.shared.housekeeping.close();
        self.shared.housekeeping.wait().await;
        self.save_positions().await;
    }

    /// Publishes the status of every open session, for readers of the inbox after a restart.
    pub(super) async fn fill_session_feed(&self, page_size: usize) -> Result<(), StoreError> {
        for state in SessionState::ALL.into_iter().filter(|state| *state != SessionState::Closed) {
            let mut after = None;
            loop {
                let page = self
                    .store()
                    .sessions(SessionFilter { state: Some(state), job: None, after, limit: page_size })
                    .await?;
                let is_last = page.len() < page_size;
                after = page.last().map(|summary| summary.id);
                for summary in page {
                    // A status that the session itself published is newer than this page.
                    self.session_feed().publish_if_unknown(SessionStatus::of_summary(summary));
                }
                if is_last {
                    break;
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{PermissionPolicy, SessionBudget, SessionOrigin, SessionProfile};
    use crate::store::{DataFolder, NewSessionRecord, StoreSettings};

    #[tokio::test]
    async fn the_inbox_has_every_open_session_however_many_there_are() {
        let root = tempfile::tempdir().expect("a folder");
        let folder = DataFolder::lock(root.path()).expect("locked");
        let store = Store::open(&folder, StoreSettings::default()).expect("opened");
        for _ in 0..5 {
            let profile = SessionProfile {
                title: None,
                title_is_given: false,
                runtime: "demo".to_owned(),
                model: "demo".to_owned(),
                effort: None,
                working_directory: None,
                permissions: PermissionPolicy::default(),
                system_prompt: None,
                options: serde_json::Map::new(),
                budget: SessionBudget::default(),
            };
            let (state, origin, now) = (SessionState::Ready, SessionOrigin::User, clock::now());
            let record = NewSessionRecord { profile, state, origin, job: None, key: None, now, most_open: 9 };
            store.create_session(record).await.expect("created");
        }
        let sessions = Sessions::new(SessionsParts {
            store: store.clone(),
            runtimes: Runtimes::new(Vec::new()),
            settings: SessionSettings::default(),
            stopping: CancellationToken::new(),
        });
        sessions.fill_session_feed(2).await.expect("filled");
        assert_eq!(sessions.session_feed().since(0).1.len(), 5);
        store.close().await;
    }
}

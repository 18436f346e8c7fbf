//! The backend's handle: opens the database, passes work to the writer, reads.

use std::path::PathBuf;
use std::sync::mpsc::{self, Sender};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, Weak};
use std::thread::JoinHandle;

use rusqlite::{Connection, OptionalExtension};
use rusqlite_migration::{Error as MigrationError, MigrationDefinitionError};
use tokio::sync::{Semaphore, oneshot, watch};

use super::boot::boot_id;
use super::checkpoint::{Checkpointer, WalBound};
use super::error::described;
use super::outcomes::{self, OutcomeNumbers};
use super::read_pool::{AT_ONCE, ReadPool};
use super::search::SearchFile;
use super::writer::{BUSY_TIMEOUT, DeathNotice, Job, WriteJob, Writer};
use super::{drop_range, events, reservation, retention, schema};
use crate::model::{Seq, StreamId};
use crate::store::observers::Observers;
use crate::store::{
    Answer, Append, CommitObserver, DataFolder, EventPage, Log, OutcomeSeq, StoreError, StoreHealth, StoreSettings,
    StoreStatistics, StoredEvent, Upkeep,
};

/// Everything in one `SQLite` file, with large outputs in files beside it.
pub(in crate::store) struct Sqlite {
    jobs: Sender<Job>,
    pool: Arc<ReadPool>,
    /// Reads that may run at the same time.
    reads: Arc<Semaphore>,
    pub(super) blobs: PathBuf,
    statistics: StoreStatistics,
    health: watch::Receiver<StoreHealth>,
    observers: Arc<Observers>,
    pub(super) newest_outcome: watch::Receiver<OutcomeSeq>,
    pub(super) happenings: watch::Receiver<u64>,
    pub(super) search: Arc<SearchFile>,
    damage: Arc<OnceLock<String>>,
    writer: Mutex<Option<JoinHandle<()>>>,
}

impl Sqlite {
    /// Opens the database of a locked folder, creating or migrating it as needed. Blocks.
    pub fn open(folder: &DataFolder, settings: StoreSettings) -> Result<Self, StoreError> {
        Self::open_with(folder, settings, WalBound::default())
    }

    pub(super) fn open_with(folder: &DataFolder, settings: StoreSettings, bound: WalBound) -> Result<Self, StoreError> {
        let emptied = folder.database_was_emptied();
        let path = folder
            .database()
            .map_err(|source| StoreError::Open { path: folder.path().join("flightdeck.db"), source: source.into() })?;
        let described = |error| described(error, &path);
        if emptied {
            return Err(StoreError::Damaged { path, source: "the file is empty".into() });
        }
        let connection = open_for_writing(&path, settings)?;
        let is_noted = note_open(&connection, &path)?;
        let drops_wait = drop_range::any_deferred(&connection).map_err(described)?;
        let outcomes = OutcomeNumbers::load(&connection).map_err(described)?;
        let pool = Arc::new(ReadPool::new(&path));
        let checkpointer = Checkpointer::start(&path, Arc::clone(&pool), bound)
            .map_err(|source| StoreError::Open { path: path.clone(), source })?;
        let (jobs, receiver) = mpsc::channel();
        let (health_sender, health) = watch::channel(StoreHealth::Good);
        let (outcome_sender, newest_outcome) = watch::channel(outcomes.last);
        let (happening_sender, happenings) = watch::channel(0);
        let statistics = StoreStatistics::default();
        let observers = Arc::new(Observers::default());
        let death = DeathNotice::new(health_sender.clone(), Arc::clone(&observers));
        let mut writer = Writer::new(connection, &path, receiver, health_sender, checkpointer);
        writer.statistics = statistics.clone();
        writer.observers = Arc::clone(&observers);
        writer.outcomes = outcomes;
        writer.newest_outcome = outcome_sender;
        writer.happenings = happening_sender;
        writer.drops_wait = drops_wait;
        writer.is_noted_open = is_noted;
        let search = Arc::new(SearchFile::new(folder.search_index()));
        writer.backlog = Arc::clone(&search.backlog);
        let thread = std::thread::Builder::new()
            .name("store".to_owned())
            .spawn(move || {
                let _death = death;
                writer.run();
            })
            .map_err(|source| StoreError::Open { path: path.clone(), source: source.into() })?;
        Ok(Self {
            jobs,
            pool,
            reads: Arc::new(Semaphore::new(AT_ONCE)),
            blobs: folder.blobs(),
            statistics,
            health,
            observers,
            newest_outcome,
            happenings,
            search,
            damage: Arc::default(),
            writer: Mutex::new(Some(thread)),
        })
    }

    pub(super) fn forget_pending_appends(&self, stream: StreamId) {
        self.send(Job::Forget(stream));
    }

    pub(super) fn read<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Connection) -> rusqlite::Result<T> + Send + 'static,
    ) -> Answer<'_, T> {
        let (pool, reads, damage) = (Arc::clone(&self.pool), Arc::clone(&self.reads), Arc::clone(&self.damage));
        Box::pin(async move {
            let permit = reads.acquire_owned().await.map_err(|_| StoreError::Closed)?;
            let read = tokio::task::spawn_blocking(move || {
                // Held until the read is done, not only until its caller is gone.
                let _permit = permit;
                pool.with(work).map_err(|error| described(error, pool.path()))
            });
            let outcome = read.await.unwrap_or(Err(StoreError::Closed));
            if let Err(error @ StoreError::Damaged { .. }) = &outcome {
                damage.get_or_init(|| error.to_string());
            }
            outcome
        })
    }

    pub(super) fn write<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Connection) -> rusqlite::Result<T> + Send + 'static,
    ) -> Answer<'_, T> {
        self.write_as(false, work)
    }

    /// As `write`, and what was written survives a power cut.
    pub(super) fn write_durably<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Connection) -> rusqlite::Result<T> + Send + 'static,
    ) -> Answer<'_, T> {
        self.write_as(true, work)
    }

    fn write_as<T: Send + 'static>(
        &self,
        durable: bool,
        work: impl FnOnce(&Connection) -> rusqlite::Result<T> + Send + 'static,
    ) -> Answer<'_, T> {
        let (reply, outcome) = oneshot::channel();
        self.send(Job::Write { durable, job: Box::new(Closure { work: Some(work), value: None, reply }) });
        self.answer_of(outcome)
    }

    /// The writer's result, or why there will be none.
    fn answer_of<T: Send + 'static>(&self, outcome: oneshot::Receiver<Result<T, StoreError>>) -> Answer<'_, T> {
        Box::pin(async move {
            match outcome.await {
                Ok(answer) => answer,
                Err(_) => Err(self.why_gone().await),
            }
        })
    }

    /// Why the writer dropped a job. A dying writer drops its jobs before it is reported dead, so this waits until the
    /// thread has ended.
    async fn why_gone(&self) -> StoreError {
        let mut health = self.health.clone();
        let died = health.wait_for(|health| matches!(health, StoreHealth::Dead { .. })).await.is_ok();
        if died { StoreError::WriterDied } else { StoreError::Closed }
    }

    /// If the writer has ended, the job is dropped, and its caller gets an error; appends, which have no caller that
    /// waits, are rejected.
    fn send(&self, job: Job) {
        self.statistics.queue.inc();
        if let Err(mpsc::SendError(Job::Append(append))) = self.jobs.send(job) {
            let is_dead = matches!(*self.health.borrow(), StoreHealth::Dead { .. });
            let error = if is_dead { StoreError::WriterDied } else { StoreError::Closed };
            self.observers.rejected(append.stream, &error);
        }
    }

    /// Makes the writer panic.
    #[cfg(test)]
    pub(in crate::store) fn kill_writer(&self) {
        self.send(Job::Panic);
    }

    #[cfg(test)]
    pub(super) fn running_reads(&self) -> usize {
        self.pool.running()
    }
}

impl Log for Sqlite {
    fn append(&self, append: Append) {
        self.send(Job::Append(append));
    }

    fn append_checked(&self, append: Append) -> Answer<'_, ()> {
        let (reply, outcome) = oneshot::channel();
        self.send(Job::Checked(append, reply));
        self.answer_of(outcome)
    }

    fn events(&self, stream: StreamId, page: EventPage) -> Answer<'_, (Vec<StoredEvent>, bool)> {
        self.read(move |connection| events::read_page(connection, stream, page))
    }

    fn block_start(&self, stream: StreamId, end: Seq) -> Answer<'_, Option<StoredEvent>> {
        self.read(move |connection| events::block_start(connection, stream, end))
    }

    fn prompt_events(&self, stream: StreamId) -> Answer<'_, Vec<StoredEvent>> {
        self.read(move |connection| events::prompts(connection, stream))
    }

    fn next_seq(&self, stream: StreamId) -> Answer<'_, Seq> {
        self.read(move |connection| events::next_seq(connection, stream))
    }

    fn subscribe(&self, stream: StreamId, observer: Weak<dyn CommitObserver>) {
        self.observers.subscribe(stream, observer);
    }
}

impl Upkeep for Sqlite {
    fn statistics(&self) -> &StoreStatistics {
        &self.statistics
    }

    fn health(&self) -> watch::Receiver<StoreHealth> {
        self.health.clone()
    }

    fn probe(&self) -> Answer<'_, ()> {
        let (reply, outcome) = oneshot::channel();
        self.send(Job::Probe(reply));
        self.answer_of(outcome)
    }

    fn damage(&self) -> Option<String> {
        self.damage.get().cloned()
    }

    fn problems(&self) -> Answer<'_, Vec<String>> {
        self.read(|connection| {
            let found: Vec<String> = connection
                .prepare("PRAGMA quick_check(5)")?
                .query_map([], |row| row.get(0))?
                .collect::<rusqlite::Result<_>>()?;
            Ok(found.into_iter().filter(|line| line != "ok").collect())
        })
    }

    fn used_bytes(&self) -> Answer<'_, u64> {
        Box::pin(async move {
            self.settle().await?;
            self.read(retention::used_bytes).await
        })
    }

    fn all_written(&self) -> Answer<'_, ()> {
        let (reply, outcome) = oneshot::channel();
        self.send(Job::AllWritten(reply));
        self.answer_of(outcome)
    }

    fn settle(&self) -> Answer<'_, ()> {
        let (settled, outcome) = oneshot::channel();
        self.send(Job::Settle(settled));
        self.answer_of(outcome)
    }

    fn close(&self) -> Answer<'_, ()> {
        Box::pin(async move {
            let noted = self
                .write_durably(|connection| {
                    connection.execute("DELETE FROM meta WHERE key = 'open_since_boot'", []).map(drop)
                })
                .await;
            let (closed, answer) = oneshot::channel();
            self.pool.close();
            self.search.close();
            self.send(Job::Close(closed));
            // An error means that the writer is gone already.
            let _ = answer.await;
            let thread = self.writer.lock().unwrap_or_else(PoisonError::into_inner).take();
            if thread.is_some_and(|thread| thread.join().is_err()) {
                tracing::error!("the writer thread panicked");
            }
            noted
        })
    }
}

struct Closure<W, T> {
    work: Option<W>,
    value: Option<T>,
    reply: oneshot::Sender<Result<T, StoreError>>,
}

impl<W, T> WriteJob for Closure<W, T>
where
    W: FnOnce(&Connection) -> rusqlite::Result<T> + Send,
    T: Send,
{
    fn run(&mut self, connection: &Connection) -> rusqlite::Result<()> {
        if let Some(work) = self.work.take() {
            self.value = Some(work(connection)?);
        }
        Ok(())
    }

    fn finish(self: Box<Self>, outcome: Result<(), StoreError>) {
        let answer = match (outcome, self.value) {
            (Ok(()), Some(value)) => Ok(value),
            (Ok(()), None) => Err(StoreError::Closed),
            (Err(error), _) => Err(error),
        };
        let _ = self.reply.send(answer);
    }
}

fn open_for_writing(path: &std::path::Path, settings: StoreSettings) -> Result<Connection, StoreError> {
    let described = |error| described(error, path);
    let mut connection = Connection::open(path).map_err(described)?;
    connection.busy_timeout(BUSY_TIMEOUT).map_err(described)?;
    connection.set_prepared_statement_cache_capacity(64);
    connection.pragma_update(None, "journal_mode", "WAL").map_err(described)?;
    connection.pragma_update(None, "journal_size_limit", 64 * 1024 * 1024).map_err(described)?;
    connection.pragma_update(None, "wal_autocheckpoint", 0).map_err(described)?;
    connection.pragma_update(None, "cache_size", -4_096).map_err(described)?;
    schema::MIGRATIONS.to_latest(&mut connection).map_err(|error| match error {
        MigrationError::RusqliteError { err, .. } => described(err),
        MigrationError::MigrationDefinition(MigrationDefinitionError::DatabaseTooFarAhead) => {
            StoreError::TooNew { path: path.to_owned() }
        }
        other => StoreError::Statement(other.into()),
    })?;
    let page_size: u64 = connection.query_row("PRAGMA page_size", [], |row| row.get(0)).map_err(described)?;
    // 0 would not lift an earlier limit; the largest number does.
    let pages = settings.max_bytes.map_or(0xffff_fffe, |bytes| (bytes / page_size).max(1));
    connection.pragma_update(None, "max_page_count", pages).map_err(described)?;
    Ok(connection)
}

/// The record that the database is open in a boot.
pub(super) fn write_note(connection: &Connection) -> rusqlite::Result<()> {
    connection.execute("INSERT OR REPLACE INTO meta (key, value) VALUES ('open_since_boot', ?1)", [boot_id()]).map(drop)
}

/// Records that the database is open in this boot. If it was left open in another boot, the machine went down
/// and the last commits may be missing, so all numbers skip those that may have been seen.
///
/// Returns whether the record is written. On a full disk it is not, and the server starts anyway, because deleting
/// sessions frees space; the writer writes the record with its first commit, before which nothing can be lost.
fn note_open(connection: &Connection, path: &std::path::Path) -> Result<bool, StoreError> {
    let described = |error| described(error, path);
    let boot = boot_id();
    let left_open: Option<String> = connection
        .query_row("SELECT value FROM meta WHERE key = 'open_since_boot'", [], |row| row.get(0))
        .optional()
        .map_err(described)?;
    let same_boot = left_open.as_ref().is_some_and(|earlier| !earlier.is_empty() && *earlier == boot);
    if same_boot {
        return Ok(true);
    }
    if left_open.is_some() {
        tracing::warn!("the machine went down while the server was running; skipping ahead in event numbers");
        reservation::jump(connection).map_err(described)?;
        outcomes::jump(connection).map_err(described)?;
    }
    match write_note(connection).map_err(described) {
        Ok(()) => Ok(true),
        Err(StoreError::Full(_) | StoreError::Disk(_)) if left_open.is_none() => Ok(false),
        Err(error) => Err(error),
    }
}

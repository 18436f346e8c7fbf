//! The store's handle: opens the database, passes work to the writer, reads.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

use rusqlite::{Connection, OptionalExtension};
use rusqlite_migration::{Error as MigrationError, MigrationDefinitionError};
use tokio::sync::{oneshot, watch};

use super::append::Append;
use super::boot::boot_id;
use super::checkpoint::Checkpointer;
use super::read_pool::ReadPool;
use super::writer::{BUSY_TIMEOUT, Job, WriteJob, Writer};
use super::{DataFolder, StoreError, StoreStatistics, drop_range, schema};
use crate::model::SessionId;

/// Whether the database takes writes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StoreHealth {
    /// It does.
    Good,
    /// It does not, for now; what was accepted is kept in memory and tried again.
    Refusing {
        /// For people.
        reason: String,
    },
}

/// How the database is to be opened.
#[derive(Clone, Copy, Debug, Default)]
pub struct StoreSettings {
    /// The database never grows beyond this.
    pub max_bytes: Option<u64>,
}

/// A handle on the database; clones share it.
#[derive(Clone)]
pub struct Store {
    shared: Arc<Shared>,
}

struct Shared {
    jobs: Sender<Job>,
    pool: Arc<ReadPool>,
    blobs: PathBuf,
    statistics: StoreStatistics,
    health: watch::Receiver<StoreHealth>,
    writer: Mutex<Option<JoinHandle<()>>>,
}

impl Store {
    /// Opens the database of a locked folder, making or migrating it as needed. Blocks.
    pub fn open(folder: &DataFolder, settings: StoreSettings) -> Result<Self, StoreError> {
        let emptied = folder.database_was_emptied();
        let path = folder
            .database()
            .map_err(|source| StoreError::Blob { path: folder.path().join("flightdeck.db"), source })?;
        let worded = |error| StoreError::from_sqlite(error, &path);
        if emptied {
            let source = rusqlite::Error::SqliteFailure(rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_NOTADB), None);
            return Err(StoreError::Damaged { path, source });
        }
        let connection = open_for_writing(&path, settings)?;
        note_open(&connection).map_err(worded)?;
        let drops_wait = drop_range::any_deferred(&connection).map_err(worded)?;
        let checkpointer = Checkpointer::start(&path).map_err(worded)?;
        let (jobs, receiver) = mpsc::channel();
        let (health_sender, health) = watch::channel(StoreHealth::Good);
        let statistics = StoreStatistics::default();
        let writer = Writer {
            connection,
            path: path.clone(),
            jobs: receiver,
            statistics: statistics.clone(),
            health: health_sender,
            checkpointer,
            reserved: HashMap::new(),
            kept: Vec::new(),
            refusal: None,
            drops_wait,
            settling: Vec::new(),
        };
        let thread = std::thread::Builder::new()
            .name("store".to_owned())
            .spawn(move || writer.run())
            .map_err(|source| StoreError::Blob { path: path.clone(), source })?;
        Ok(Self {
            shared: Arc::new(Shared {
                jobs,
                pool: Arc::new(ReadPool::new(&path)),
                blobs: folder.blobs(),
                statistics,
                health,
                writer: Mutex::new(Some(thread)),
            }),
        })
    }

    /// Appends events. Returns at once; the observer hears of the commit. The caller bounds how much it has under way.
    pub fn append(&self, append: Append) {
        self.send(Job::Append(append));
    }

    /// Appends events and waits for the commit; on an error nothing was written and nothing is kept.
    pub async fn append_checked(&self, append: Append) -> Result<(), StoreError> {
        let (reply, outcome) = oneshot::channel();
        self.send(Job::Checked(append, reply));
        outcome.await.unwrap_or(Err(StoreError::Closed))
    }

    /// What the store counts about itself.
    pub fn statistics(&self) -> &StoreStatistics {
        &self.shared.statistics
    }

    /// Whether the database takes writes, and when that changes.
    pub fn health(&self) -> watch::Receiver<StoreHealth> {
        self.shared.health.clone()
    }

    /// What `SQLite` finds wrong with the database; nothing when it is whole. Takes a while on a large one.
    pub async fn problems(&self) -> Result<Vec<String>, StoreError> {
        self.read(|connection| {
            let found: Vec<String> = connection
                .prepare("PRAGMA quick_check(5)")?
                .query_map([], |row| row.get(0))?
                .collect::<rusqlite::Result<_>>()?;
            Ok(found.into_iter().filter(|line| line != "ok").collect())
        })
        .await
    }

    /// Waits until everything that was given to the writer before is committed or kept.
    pub async fn flush(&self) -> Result<(), StoreError> {
        match self.all_written().await {
            Err(StoreError::Closed) => Err(StoreError::Closed),
            // What the disk refuses is kept, and whoever needs to know asks for it.
            _ => Ok(()),
        }
    }

    /// As [`Self::flush`], with an error when something is kept because the disk refuses it.
    pub async fn all_written(&self) -> Result<(), StoreError> {
        let (reply, answer) = oneshot::channel();
        self.send(Job::AllWritten(reply));
        answer.await.unwrap_or(Err(StoreError::Closed))
    }

    /// Waits until dropped rows are gone.
    pub async fn settle(&self) -> Result<(), StoreError> {
        let (settled, answer) = oneshot::channel();
        self.send(Job::Settle(settled));
        answer.await.map_err(|_| StoreError::Closed)
    }

    /// Writes what is left, notes the clean end, and closes the files.
    pub async fn close(&self) {
        let noted = self
            .write_durably(|connection| {
                connection.execute("DELETE FROM meta WHERE key = 'open_since_boot'", []).map(drop)
            })
            .await;
        if let Err(error) = noted {
            tracing::warn!(%error, "could not note the clean end");
        }
        let (closed, answer) = oneshot::channel();
        self.shared.pool.close();
        self.send(Job::Close(closed));
        // An error means that the writer is gone already.
        let _ = answer.await;
        let thread = self.shared.writer.lock().unwrap_or_else(PoisonError::into_inner).take();
        if thread.is_some_and(|thread| thread.join().is_err()) {
            tracing::error!("the store's thread ended in a panic");
        }
    }

    pub(super) fn blob_folder(&self) -> &Path {
        &self.shared.blobs
    }

    pub(super) fn forget_pending_appends(&self, session: SessionId) {
        self.send(Job::Forget(session));
    }

    pub(super) async fn read<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Connection) -> rusqlite::Result<T> + Send + 'static,
    ) -> Result<T, StoreError> {
        let pool = Arc::clone(&self.shared.pool);
        tokio::task::spawn_blocking(move || {
            pool.with(work).map_err(|error| StoreError::from_sqlite(error, pool.path()))
        })
        .await
        .unwrap_or(Err(StoreError::Closed))
    }

    pub(super) async fn write<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Connection) -> rusqlite::Result<T> + Send + 'static,
    ) -> Result<T, StoreError> {
        self.write_as(false, work).await
    }

    /// As `write`, and what was written survives a power cut.
    pub(super) async fn write_durably<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Connection) -> rusqlite::Result<T> + Send + 'static,
    ) -> Result<T, StoreError> {
        self.write_as(true, work).await
    }

    async fn write_as<T: Send + 'static>(
        &self,
        durable: bool,
        work: impl FnOnce(&Connection) -> rusqlite::Result<T> + Send + 'static,
    ) -> Result<T, StoreError> {
        let (reply, outcome) = oneshot::channel();
        self.send(Job::Write { durable, job: Box::new(Closure { work: Some(work), value: None, reply }) });
        outcome.await.unwrap_or(Err(StoreError::Closed))
    }

    fn send(&self, job: Job) {
        self.shared.statistics.queue.inc();
        // The writer outlives every handle but for the last moments of the process, and then nobody reads an answer.
        let _ = self.shared.jobs.send(job);
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

fn open_for_writing(path: &Path, settings: StoreSettings) -> Result<Connection, StoreError> {
    let worded = |error| StoreError::from_sqlite(error, path);
    let mut connection = Connection::open(path).map_err(worded)?;
    connection.busy_timeout(BUSY_TIMEOUT).map_err(worded)?;
    connection.set_prepared_statement_cache_capacity(64);
    connection.pragma_update(None, "journal_mode", "WAL").map_err(worded)?;
    connection.pragma_update(None, "journal_size_limit", 64 * 1024 * 1024).map_err(worded)?;
    connection.pragma_update(None, "wal_autocheckpoint", 0).map_err(worded)?;
    connection.pragma_update(None, "cache_size", -4_096).map_err(worded)?;
    schema::MIGRATIONS.to_latest(&mut connection).map_err(|error| match error {
        MigrationError::RusqliteError { err, .. } => worded(err),
        MigrationError::MigrationDefinition(MigrationDefinitionError::DatabaseTooFarAhead) => {
            StoreError::TooNew { path: path.to_owned() }
        }
        other => worded(rusqlite::Error::SqliteFailure(
            rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_ERROR),
            Some(other.to_string()),
        )),
    })?;
    let page_size: u64 = connection.query_row("PRAGMA page_size", [], |row| row.get(0)).map_err(worded)?;
    // 0 would not lift an earlier limit; the largest number does.
    let pages = settings.max_bytes.map_or(0xffff_fffe, |bytes| (bytes / page_size).max(1));
    connection.pragma_update(None, "max_page_count", pages).map_err(worded)?;
    Ok(connection)
}

/// Notes that the database is open in this boot. When it was left open in another boot, the machine went down with it
/// and the last commits may be missing, so every session's numbers jump over those that may have been seen.
fn note_open(connection: &Connection) -> rusqlite::Result<()> {
    let boot = boot_id();
    let left_open: Option<String> = connection
        .query_row("SELECT value FROM meta WHERE key = 'open_since_boot'", [], |row| row.get(0))
        .optional()?;
    if left_open.is_some_and(|earlier| earlier.is_empty() || earlier != boot) {
        tracing::warn!("the machine went down while the server ran; numbers of events jump ahead");
        connection.execute("UPDATE session SET seq_floor = seq_reserved", [])?;
    }
    connection.execute("INSERT OR REPLACE INTO meta (key, value) VALUES ('open_since_boot', ?1)", [boot]).map(drop)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use bytes::Bytes;

    use super::*;
    use crate::model::{PermissionPolicy, Seq, SessionBudget, SessionProfile, SessionState, Timestamp};
    use crate::store::{CommitObserver, EndedBlock, EventPage, EventRow};

    const TIME: Timestamp = Timestamp::from_millis(0);

    struct Nobody;

    impl CommitObserver for Nobody {
        fn committed(&self, _: Seq) {}
        fn rejected(&self, error: &StoreError) {
            panic!("{error}");
        }
    }

    async fn new_session(store: &Store) -> SessionId {
        let profile = SessionProfile {
            title: None,
            runtime: "demo".to_owned(),
            model: "demo".to_owned(),
            effort: None,
            working_directory: None,
            permissions: PermissionPolicy::default(),
            system_prompt: None,
            options: serde_json::Map::new(),
            budget: SessionBudget::default(),
        };
        store.create_session(profile, SessionState::Ready, TIME, 10).await.expect("created").expect("room")
    }

    /// Appends events with these numbers; with `block`, as deltas of the block that began with that number.
    fn append(
        store: &Store,
        session: SessionId,
        seqs: std::ops::RangeInclusive<Seq>,
        block: Option<Seq>,
        ended: Vec<EndedBlock>,
    ) {
        let events = seqs.map(|seq| EventRow { seq, time: TIME, block, body: Bytes::from(seq.to_string()) }).collect();
        let (changes, observer) = (Vec::new(), Arc::new(Nobody));
        store.append(Append { session, time: TIME, events, ended_blocks: ended, changes, observer });
    }

    async fn seqs(store: &Store, session: SessionId) -> Vec<Seq> {
        let page = EventPage { after: 0, before: None, limit: 100_000, max_bytes: usize::MAX };
        store.events(session, page).await.expect("read").0.iter().map(|event| event.seq).collect()
    }

    #[tokio::test]
    async fn after_a_power_cut_numbers_go_on_above_any_that_may_have_been_seen_and_after_a_crash_they_just_go_on() {
        let folder = tempfile::tempdir().expect("a folder");
        let folder = DataFolder::lock(folder.path()).expect("locked");
        let store = Store::open(&folder, StoreSettings::default()).expect("opened");
        let session = new_session(&store).await;
        append(&store, session, 1..=3, None, Vec::new());
        store.flush().await.expect("flushed");
        let next = async |store: &Store| store.load_session(session).await.expect("read").expect("there").next_seq;

        // As after a crash or a power cut: the note that the database is open is still there.
        let reopen = |boot: &str| {
            let connection = Connection::open(folder.database().expect("there")).expect("opened");
            let note = "INSERT OR REPLACE INTO meta (key, value) VALUES ('open_since_boot', ?1)";
            connection.execute(note, [boot]).expect("noted");
            Store::open(&folder, StoreSettings::default()).expect("opened")
        };
        store.close().await;
        let after_crash = reopen(&boot_id());
        assert_eq!(next(&after_crash).await, 4);
        after_crash.close().await;
        let after_power_cut = reopen("another boot");
        let first = next(&after_power_cut).await;
        assert!(first > 65_536, "{first}");
        append(&after_power_cut, session, first..=first, None, Vec::new());
        after_power_cut.flush().await.expect("flushed");
        after_power_cut.close().await;
        let after_another = reopen("yet another boot");
        assert!(next(&after_another).await > first + 1, "the next reservation counts");
        after_another.close().await;
        let after_clean_end = Store::open(&folder, StoreSettings::default()).expect("opened");
        let again = next(&after_clean_end).await;
        after_clean_end.close().await;
        let once_more = Store::open(&folder, StoreSettings::default()).expect("opened");
        assert_eq!(next(&once_more).await, again, "a clean end jumps nowhere");
        once_more.close().await;
    }

    #[tokio::test]
    async fn deltas_of_an_ended_block_are_gone_at_once_for_readers_and_soon_from_the_disk() {
        let folder = tempfile::tempdir().expect("a folder");
        let folder = DataFolder::lock(folder.path()).expect("locked");
        let store = Store::open(&folder, StoreSettings::default()).expect("opened");
        let session = new_session(&store).await;
        for deltas in [10, 9_000] {
            let start = seqs(&store, session).await.last().copied().unwrap_or(0) + 1;
            let other = start + deltas / 2;
            let end = start + deltas + 1;
            append(&store, session, start..=start, None, Vec::new());
            append(&store, session, start + 1..=other - 1, Some(start), Vec::new());
            // Another block's delta in between stays.
            append(&store, session, other..=other, Some(start + 1_000_000), Vec::new());
            append(&store, session, other + 1..=end - 1, Some(start), Vec::new());
            append(&store, session, end..=end, None, vec![EndedBlock { start, end, deltas: deltas - 1 }]);
            store.flush().await.expect("flushed");
            assert_eq!(
                seqs(&store, session).await.split_off(seqs(&store, session).await.len() - 3),
                [start, other, end]
            );
        }
        store.settle().await.expect("settled");
        let rows: u64 = store
            .read(|connection| connection.query_row("SELECT count(*) FROM event", [], |row| row.get(0)))
            .await
            .expect("read");
        assert_eq!(rows, 6, "the rows are really gone");
        store.close().await;
    }

    #[tokio::test]
    async fn a_job_that_fails_by_itself_does_not_take_others_with_it() {
        let folder = tempfile::tempdir().expect("a folder");
        let folder = DataFolder::lock(folder.path()).expect("locked");
        let store = Store::open(&folder, StoreSettings::default()).expect("opened");
        let session = new_session(&store).await;
        let wrong = store.write(|connection| connection.execute("INSERT INTO nothing VALUES (1)", []).map(drop));
        append(&store, session, 1..=2, None, Vec::new());
        assert!(matches!(wrong.await, Err(StoreError::Statement(_))));
        store.flush().await.expect("flushed");
        assert_eq!(seqs(&store, session).await, [1, 2]);
        assert_eq!(*store.health().borrow(), StoreHealth::Good);
        store.close().await;
    }
}

//! The writer thread: takes all queued jobs, commits them as one transaction, and announces the commit.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, TryRecvError};
use std::time::{Duration, Instant};

use rusqlite::Connection;
use tokio::sync::{oneshot, watch};

use super::checkpoint::Checkpointer;
use super::durability::Durability;
use super::error::described;
use super::file_identity::FileIdentity;
use super::outcomes::{self, OutcomeNumbers};
use super::reservation::Reservation;
use super::{append, backend, drop_range};
use crate::model::StreamId;
use crate::store::observers::Observers;
use crate::store::{Append, IndexBacklog, OutcomeSeq, StoreError, StoreHealth, StoreStatistics};

/// How long `SQLite` itself waits for a lock; only a checkpoint ever holds one, and briefly.
pub(super) const BUSY_TIMEOUT: Duration = Duration::from_secs(5);
/// Rows in one transaction, so that one flooding session does not make the others wait long.
const LARGEST_BATCH: usize = 4_096;
/// How often a refused transaction is retried.
const RETRY: Duration = Duration::from_millis(200);

/// Work that is not an append: runs in the batch's transaction and is notified of the result.
pub(super) trait WriteJob: Send {
    fn run(&mut self, connection: &Connection) -> rusqlite::Result<()>;
    fn finish(self: Box<Self>, outcome: Result<(), StoreError>);
}

type Reply = oneshot::Sender<Result<(), StoreError>>;

pub(super) enum Job {
    /// Must be written eventually; kept while the disk refuses it.
    Append(Append),
    /// Fails when the disk refuses it.
    Checked(Append, Reply),
    Write {
        durable: bool,
        job: Box<dyn WriteJob>,
    },
    /// The stream is being deleted: what is kept for it is dropped.
    Forget(StreamId),
    /// Answered when everything given before is written, or with the reason why it is not yet.
    AllWritten(Reply),
    /// Checks whether the files still exist.
    Probe(Reply),
    /// Answered when no dropped rows are left.
    Settle(Reply),
    Close(oneshot::Sender<()>),
    #[cfg(test)]
    Panic,
}

/// Reports that the writer is dead if its thread panics; dropped last.
pub(super) struct DeathNotice {
    health: watch::Sender<StoreHealth>,
    observers: Arc<Observers>,
}

impl DeathNotice {
    pub fn new(health: watch::Sender<StoreHealth>, observers: Arc<Observers>) -> Self {
        Self { health, observers }
    }
}

impl Drop for DeathNotice {
    fn drop(&mut self) {
        if std::thread::panicking() {
            // When the writer is reported dead, all appends have been rejected.
            self.observers.all_rejected(&StoreError::WriterDied);
            self.health.send_replace(StoreHealth::Dead { reason: StoreError::WriterDied.to_string() });
        }
    }
}

pub(super) struct Writer {
    connection: Connection,
    path: PathBuf,
    file: FileIdentity,
    jobs: Receiver<Job>,
    pub statistics: StoreStatistics,
    health: watch::Sender<StoreHealth>,
    pub observers: Arc<Observers>,
    /// Sessions that the search index must read.
    pub backlog: Arc<IndexBacklog>,
    checkpointer: Checkpointer,
    durability: Durability,
    /// Up to where each stream's numbers are reserved durably.
    reserved: HashMap<StreamId, Reservation>,
    pub outcomes: OutcomeNumbers,
    pub newest_outcome: watch::Sender<OutcomeSeq>,
    /// How many appends with happenings were committed since the start.
    pub happenings: watch::Sender<u64>,
    /// The record that the database is open is written.
    pub is_noted_open: bool,
    /// Appends that the disk refused, in order.
    kept: Vec<Append>,
    /// The error of the last refusal.
    refusal: Option<StoreError>,
    /// There may be rows to delete.
    pub drops_wait: bool,
    settling: Vec<Reply>,
}

/// What the thread does next.
enum Next {
    Batch(Vec<Job>),
    /// Nothing came in; there is time for housekeeping.
    Idle,
    End,
}

/// What a transaction needs to reserve.
struct Reservations {
    streams: HashMap<StreamId, Reservation>,
    outcomes: Option<OutcomeSeq>,
}

impl Writer {
    pub fn new(
        connection: Connection,
        path: &Path,
        jobs: Receiver<Job>,
        health: watch::Sender<StoreHealth>,
        checkpointer: Checkpointer,
    ) -> Self {
        Self {
            connection,
            path: path.to_owned(),
            file: FileIdentity::of(path),
            jobs,
            statistics: StoreStatistics::default(),
            health,
            observers: Arc::default(),
            backlog: Arc::default(),
            checkpointer,
            durability: Durability::default(),
            reserved: HashMap::new(),
            outcomes: OutcomeNumbers::default(),
            newest_outcome: watch::Sender::new(0),
            happenings: watch::Sender::new(0),
            is_noted_open: true,
            kept: Vec::new(),
            refusal: None,
            drops_wait: false,
            settling: Vec::new(),
        }
    }

    pub fn run(mut self) {
        loop {
            match self.next() {
                Next::Batch(batch) => {
                    if let Some(closed) = self.process(batch) {
                        self.retry_kept();
                        drop(self.connection);
                        self.checkpointer.end();
                        // The receiver is gone only when the process is being torn down.
                        let _ = closed.send(());
                        return;
                    }
                }
                Next::Idle => self.do_idle_work(),
                Next::End => return,
            }
        }
    }

    fn next(&mut self) -> Next {
        let first = if self.drops_wait {
            self.jobs.try_recv().map_err(|error| match error {
                TryRecvError::Empty => RecvTimeoutError::Timeout,
                TryRecvError::Disconnected => RecvTimeoutError::Disconnected,
            })
        } else if !self.kept.is_empty() || self.is_refusing() {
            self.jobs.recv_timeout(RETRY)
        } else {
            self.jobs.recv().map_err(|_| RecvTimeoutError::Disconnected)
        };
        match first {
            Ok(job) => {
                let mut weight = weight(&job);
                let mut batch = vec![job];
                while weight < LARGEST_BATCH {
                    let Ok(job) = self.jobs.try_recv() else { break };
                    weight += self::weight(&job);
                    batch.push(job);
                }
                self.statistics.queue.dec_by(i64::try_from(batch.len()).unwrap_or(i64::MAX));
                Next::Batch(batch)
            }
            Err(RecvTimeoutError::Timeout) => Next::Idle,
            Err(RecvTimeoutError::Disconnected) => Next::End,
        }
    }

    /// Returns the sender to answer when the batch asked for the end.
    fn process(&mut self, batch: Vec<Job>) -> Option<oneshot::Sender<()>> {
        let mut closing = None;
        let mut asked = Vec::new();
        let mut work = Vec::with_capacity(batch.len());
        for job in batch {
            match job {
                Job::Close(closed) => closing = Some(closed),
                Job::AllWritten(reply) => asked.push(reply),
                Job::Probe(reply) => {
                    self.check_file();
                    let _ = reply.send(Ok(()));
                }
                Job::Settle(settled) => {
                    self.drops_wait = true;
                    self.settling.push(settled);
                }
                Job::Forget(stream) => {
                    self.reserved.remove(&stream);
                    self.kept.retain(|append| append.stream != stream);
                    work.retain(
                        |job| !matches!(job, Job::Append(append) | Job::Checked(append, _) if append.stream == stream),
                    );
                }
                #[cfg(test)]
                Job::Panic => panic!("a test killed the writer"),
                other => work.push(other),
            }
        }
        if !self.kept.is_empty() {
            self.retry_kept();
        }
        if self.kept.is_empty() {
            self.commit(work);
        } else {
            self.refuse(work);
        }
        for reply in asked {
            let _ = reply.send(if self.kept.is_empty() { Ok(()) } else { Err(self.last_refusal()) });
        }
        closing
    }

    fn last_refusal(&self) -> StoreError {
        self.refusal.as_ref().map_or(StoreError::Closed, StoreError::copy)
    }

    /// While the disk refuses writes: appends are kept behind those that are kept already, prompts are refused, and
    /// other work is tried separately, because deleting frees space.
    fn refuse(&mut self, work: Vec<Job>) {
        for job in work {
            match job {
                Job::Append(append) => self.kept.push(append),
                Job::Checked(_, reply) => {
                    let _ = reply.send(Err(self.last_refusal()));
                }
                other => self.commit(vec![other]),
            }
        }
    }

    fn retry_kept(&mut self) {
        let kept = std::mem::take(&mut self.kept);
        if !kept.is_empty() {
            self.commit(kept.into_iter().map(Job::Append).collect());
        }
    }

    fn commit(&mut self, mut batch: Vec<Job>) {
        if batch.is_empty() {
            return;
        }
        let began = Instant::now();
        match self.transact(&mut batch) {
            Ok(failures) => {
                self.statistics.commit_seconds.observe(began.elapsed().as_secs_f64());
                self.announce(batch, failures);
                if self.kept.is_empty() {
                    self.report(StoreHealth::Good);
                }
            }
            Err(error) => {
                self.statistics.failures.inc();
                self.fail(batch, &error);
            }
        }
    }

    /// One transaction. Returns the jobs that failed by themselves; an error means that nothing was written.
    fn transact(&mut self, batch: &mut [Job]) -> Result<HashMap<usize, StoreError>, StoreError> {
        if !self.file.is_unchanged() {
            return Err(StoreError::Missing);
        }
        let path = self.path.clone();
        let described = |error| described(error, &path);
        let reservations = self.reservations(batch).map_err(described)?;
        let synced = self.sync_if(is_durable(batch, &reservations)).map_err(described)?;
        let transaction = self.connection.unchecked_transaction().map_err(described)?;
        if !self.is_noted_open {
            backend::write_note(&transaction).map_err(described)?;
        }
        let mut failures = HashMap::new();
        let (mut rows, mut bytes, mut last_outcome) = (0, 0, self.outcomes.last);
        for (position, job) in batch.iter_mut().enumerate() {
            let outcome = match job {
                Job::Append(append) | Job::Checked(append, _) => {
                    let written =
                        in_savepoint(&transaction, |connection| append::write(connection, append, &mut last_outcome));
                    if written.is_ok() {
                        rows += append.events.len();
                        bytes += append::bytes(append);
                    }
                    written
                }
                Job::Write { job, .. } => in_savepoint(&transaction, |connection| job.run(connection)),
                _ => continue,
            };
            match outcome.map_err(described) {
                Ok(()) => {}
                Err(error) if error.is_disk_error() => return Err(error),
                Err(error) => {
                    failures.insert(position, error);
                }
            }
        }
        for (stream, reservation) in &reservations.streams {
            reservation.save(&transaction, *stream).map_err(described)?;
        }
        if last_outcome > self.outcomes.last {
            outcomes::note_last(&transaction, last_outcome).map_err(described)?;
        }
        if let Some(bound) = reservations.outcomes {
            OutcomeNumbers::reserve(&transaction, bound).map_err(described)?;
        }
        transaction.commit().map_err(described)?;
        self.is_noted_open = true;
        self.reserved.extend(reservations.streams);
        self.outcomes.committed(last_outcome, reservations.outcomes);
        self.statistics.events.inc_by(rows as u64);
        self.statistics.synced_commits.inc_by(u64::from(synced));
        self.checkpointer.wrote(rows + batch.len(), bytes);
        self.drops_wait |= batch.iter().any(may_leave_drops);
        Ok(failures)
    }

    /// Sets whether the next commit waits for the disk, if it is not set so already.
    fn sync_if(&mut self, durable: bool) -> rusqlite::Result<bool> {
        if let Some(setting) = self.durability.change(durable)
            && let Err(error) = self.connection.pragma_update(None, "synchronous", setting)
        {
            self.durability.forget();
            return Err(error);
        }
        Ok(durable)
    }

    /// What numbers go beyond what is reserved.
    fn reservations(&mut self, batch: &[Job]) -> rusqlite::Result<Reservations> {
        let mut raised = HashMap::new();
        let mut ended = 0;
        for job in batch {
            let (Job::Append(append) | Job::Checked(append, _)) = job else { continue };
            ended += outcomes::count(append);
            let known = raised.get(&append.stream).or_else(|| self.reserved.get(&append.stream)).copied();
            let current = if let Some(current) = known {
                current
            } else {
                let loaded = Reservation::load(&self.connection, append.stream)?;
                self.reserved.insert(append.stream, loaded);
                loaded
            };
            let needed = current.covering(append);
            if needed != current {
                raised.insert(append.stream, needed);
            }
        }
        Ok(Reservations { streams: raised, outcomes: self.outcomes.reservation_for(ended) })
    }

    fn announce(&self, batch: Vec<Job>, mut failures: HashMap<usize, StoreError>) {
        // First, so that an observer of a commit finds its outcomes.
        self.newest_outcome.send_if_modified(|newest| {
            let is_newer = *newest < self.outcomes.last;
            *newest = self.outcomes.last;
            is_newer
        });
        for (position, job) in batch.into_iter().enumerate() {
            let outcome = failures.remove(&position).map_or(Ok(()), Err);
            match job {
                Job::Append(append) => match outcome {
                    Ok(()) => self.announce_commit(&append),
                    Err(error) => self.reject(&append, &error),
                },
                Job::Checked(append, reply) => {
                    if outcome.is_ok() {
                        self.announce_commit(&append);
                    }
                    let _ = reply.send(outcome);
                }
                Job::Write { job, .. } => job.finish(outcome),
                _ => {}
            }
        }
    }

    fn announce_commit(&self, append: &Append) {
        if append.has_happened() {
            self.happenings.send_modify(|count| *count += 1);
        }
        if let Some(last) = append.last_seq() {
            self.observers.committed(append.stream, last);
            if let Some(session) = append.stream.session()
                && append.has_more_than_deltas()
            {
                self.backlog.grew(session, last);
            }
        }
    }

    fn reject(&self, append: &Append, error: &StoreError) {
        tracing::error!(stream = %append.stream, %error, "the database rejected events");
        self.observers.rejected(append.stream, error);
    }

    fn fail(&mut self, batch: Vec<Job>, error: &StoreError) {
        let is_disk_error = error.is_disk_error();
        if is_disk_error {
            self.refusal = Some(error.copy());
            self.report(StoreHealth::Refusing { reason: error.to_string() });
        }
        let alone = batch.len() == 1;
        for job in batch {
            match job {
                Job::Append(append) if is_disk_error => self.kept.push(append),
                // One of several is the cause: each is tried separately, so that the others are not lost.
                Job::Append(_) | Job::Checked(..) if !alone && !is_disk_error => self.commit(vec![job]),
                Job::Append(append) => self.reject(&append, error),
                Job::Checked(_, reply) => {
                    let _ = reply.send(Err(error.copy()));
                }
                Job::Write { job, .. } => job.finish(Err(error.copy())),
                _ => {}
            }
        }
    }

    fn report(&self, health: StoreHealth) {
        self.health.send_if_modified(|current| {
            let changed = *current != health;
            if changed {
                match &health {
                    StoreHealth::Good => tracing::info!("the database is writable again"),
                    StoreHealth::Refusing { reason } | StoreHealth::Dead { reason } => {
                        tracing::error!(%reason, "the database is not writable");
                    }
                }
                *current = health;
            }
            changed
        });
    }

    /// Detects that the file is gone even when nothing is written.
    fn check_file(&mut self) {
        if !self.file.is_unchanged() {
            self.refusal = Some(StoreError::Missing);
            self.report(StoreHealth::Refusing { reason: StoreError::Missing.to_string() });
        }
    }

    /// Deleting rows may free the space that kept appends need, so it comes first.
    fn do_idle_work(&mut self) {
        if self.drops_wait {
            let dropped = self.connection.unchecked_transaction().and_then(|transaction| {
                let more = drop_range::drop_slice(&transaction)?;
                transaction.commit()?;
                Ok(more)
            });
            match dropped {
                Ok(true) => self.checkpointer.wrote(1_000, 0),
                Ok(false) => {
                    self.drops_wait = false;
                    for settled in self.settling.drain(..) {
                        let _ = settled.send(Ok(()));
                    }
                }
                Err(error) => {
                    // The ranges are in the store and are continued with the next write.
                    tracing::warn!(%error, "could not delete old rows; retrying later");
                    self.drops_wait = false;
                    for settled in self.settling.drain(..) {
                        let _ = settled.send(Err(StoreError::Disk(error.to_string().into())));
                    }
                }
            }
        }
        self.retry_kept();
        if self.kept.is_empty() && self.is_refusing() && self.has_room() {
            self.report(StoreHealth::Good);
        }
    }

    fn is_refusing(&self) -> bool {
        matches!(*self.health.borrow(), StoreHealth::Refusing { .. })
    }

    /// Tries a write that leaves nothing behind, so that a server which refused its last prompt and has nothing else
    /// to write detects that there is space again.
    fn has_room(&self) -> bool {
        // Two transactions: rows that go before they are committed may never reach the disk.
        let take = "INSERT OR REPLACE INTO meta (key, value) VALUES ('room', zeroblob(65536))";
        let give_back = "DELETE FROM meta WHERE key = 'room'";
        self.file.is_unchanged()
            && [take, give_back].into_iter().all(|statement| self.connection.execute(statement, []).is_ok())
    }
}

/// Whether something in the batch must survive a power cut.
fn is_durable(batch: &[Job], reservations: &Reservations) -> bool {
    let has_promise = batch.iter().any(|job| match job {
        Job::Append(append) | Job::Checked(append, _) => append.must_survive_power_cut(),
        Job::Write { durable, .. } => *durable,
        _ => false,
    });
    has_promise || !reservations.streams.is_empty() || reservations.outcomes.is_some()
}

fn weight(job: &Job) -> usize {
    match job {
        Job::Append(append) | Job::Checked(append, _) => append::weight(append),
        _ => 1,
    }
}

fn may_leave_drops(job: &Job) -> bool {
    match job {
        Job::Append(append) | Job::Checked(append, _) => !append.ended_blocks.is_empty(),
        Job::Write { .. } => true,
        _ => false,
    }
}

fn in_savepoint(
    connection: &Connection,
    work: impl FnOnce(&Connection) -> rusqlite::Result<()>,
) -> rusqlite::Result<()> {
    connection.prepare_cached("SAVEPOINT job")?.execute([])?;
    let outcome = work(connection);
    if outcome.is_err() && !connection.is_autocommit() {
        connection.prepare_cached("ROLLBACK TO job")?.execute([])?;
    }
    if !connection.is_autocommit() {
        connection.prepare_cached("RELEASE job")?.execute([])?;
    }
    outcome
}

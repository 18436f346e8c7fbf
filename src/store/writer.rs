//! The writer's thread: takes whatever has come in, commits it as one transaction, announces it.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, RecvTimeoutError, TryRecvError};
use std::time::{Duration, Instant};

use rusqlite::Connection;
use tokio::sync::{oneshot, watch};

use super::append::Append;
use super::checkpoint::Checkpointer;
use super::drop_range;
use super::{StoreError, StoreHealth, StoreStatistics};
use crate::model::{Seq, SessionId};

/// How long `SQLite` itself waits for a lock; only a checkpoint ever holds one, and briefly.
pub(super) const BUSY_TIMEOUT: Duration = Duration::from_secs(5);
/// Rows in one transaction, so that one flooding session does not make the others wait long.
const LARGEST_BATCH: usize = 4_096;
/// How often a refused transaction is tried again.
const RETRY: Duration = Duration::from_millis(200);

/// Work that is not an append: runs in the batch's transaction and hears how that ended.
pub(super) trait WriteJob: Send {
    fn run(&mut self, connection: &Connection) -> rusqlite::Result<()>;
    fn finish(self: Box<Self>, outcome: Result<(), StoreError>);
}

pub(super) enum Job {
    /// Must be written in the end; kept while the disk refuses.
    Append(Append),
    /// Refused with an error when the disk refuses.
    Checked(Append, oneshot::Sender<Result<(), StoreError>>),
    Write {
        durable: bool,
        job: Box<dyn WriteJob>,
    },
    /// The session is being deleted: what is kept for it is of no more use.
    Forget(SessionId),
    /// Answered when everything given before is written, or with the reason why it is not yet.
    AllWritten(oneshot::Sender<Result<(), StoreError>>),
    /// Answered when no dropped rows are left.
    Settle(oneshot::Sender<()>),
    Close(oneshot::Sender<()>),
}

pub(super) struct Writer {
    pub connection: Connection,
    pub path: PathBuf,
    pub jobs: Receiver<Job>,
    pub statistics: StoreStatistics,
    pub health: watch::Sender<StoreHealth>,
    pub checkpointer: Checkpointer,
    /// Up to where each session's numbers are reserved durably.
    pub reserved: HashMap<SessionId, Seq>,
    /// Appends that the disk refused, in order.
    pub kept: Vec<Append>,
    /// What the disk said when it last refused.
    pub refusal: Option<rusqlite::Error>,
    /// Rows may wait to be dropped.
    pub drops_wait: bool,
    pub settling: Vec<oneshot::Sender<()>>,
}

/// What the thread does next.
enum Next {
    Batch(Vec<Job>),
    /// Nothing came in; there is time for housekeeping.
    Idle,
    End,
}

impl Writer {
    pub fn run(mut self) {
        loop {
            match self.next() {
                Next::Batch(batch) => {
                    if let Some(closed) = self.process(batch) {
                        self.retry_kept();
                        drop(self.connection);
                        self.checkpointer.end();
                        // Nobody waits any more only when the process is being torn down.
                        let _ = closed.send(());
                        return;
                    }
                }
                Next::Idle => self.keep_house(),
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

    /// Gives the sender to answer when the batch asked for the end.
    fn process(&mut self, batch: Vec<Job>) -> Option<oneshot::Sender<()>> {
        let mut closing = None;
        let mut asked = Vec::new();
        let mut work = Vec::with_capacity(batch.len());
        for job in batch {
            match job {
                Job::Close(closed) => closing = Some(closed),
                Job::AllWritten(reply) => asked.push(reply),
                Job::Settle(settled) => {
                    self.drops_wait = true;
                    self.settling.push(settled);
                }
                Job::Forget(session) => {
                    self.reserved.remove(&session);
                    self.kept.retain(|append| append.session != session);
                    work.retain(|job| {
                        !matches!(job, Job::Append(append) | Job::Checked(append, _) if append.session == session)
                    });
                }
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
        let error = self.refusal.as_ref().map_or_else(full, copy);
        StoreError::from_sqlite(error, &self.path)
    }

    /// While the disk refuses: appends are kept behind those that wait already, prompts are refused, and other work
    /// is tried by itself, because deleting is what makes room.
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

    /// One transaction. Gives the jobs that failed by themselves; an error means that nothing was written.
    fn transact(&mut self, batch: &mut [Job]) -> rusqlite::Result<HashMap<usize, rusqlite::Error>> {
        let reservations = self.reservations(batch)?;
        let durable =
            !reservations.is_empty() || batch.iter().any(|job| matches!(job, Job::Write { durable: true, .. }));
        self.connection.pragma_update(None, "synchronous", if durable { "FULL" } else { "NORMAL" })?;
        let transaction = self.connection.unchecked_transaction()?;
        let mut failures = HashMap::new();
        let mut written = 0;
        for (position, job) in batch.iter_mut().enumerate() {
            let outcome = match job {
                Job::Append(append) => {
                    append.write(&transaction)?;
                    written += append.events.len();
                    continue;
                }
                Job::Checked(append, _) => in_savepoint(&transaction, |connection| append.write(connection)),
                Job::Write { job, .. } => in_savepoint(&transaction, |connection| job.run(connection)),
                Job::Forget(_) | Job::AllWritten(_) | Job::Settle(_) | Job::Close(_) => continue,
            };
            match outcome {
                Ok(()) => {
                    if let Job::Checked(append, _) = job {
                        written += append.events.len();
                    }
                }
                Err(error) if StoreError::from_sqlite(copy(&error), &self.path).is_the_disks() => return Err(error),
                Err(error) => {
                    failures.insert(position, error);
                }
            }
        }
        let mut bounds = Vec::new();
        for position in reservations {
            if let Job::Append(append) | Job::Checked(append, _) = &batch[position]
                && let Some(last) = append.last_seq()
            {
                bounds.push((append.session, append.reserve(&transaction, last)?));
            }
        }
        transaction.commit()?;
        self.reserved.extend(bounds);
        self.statistics.events.inc_by(written as u64);
        self.checkpointer.wrote(written + batch.len());
        self.drops_wait |= batch.iter().any(may_leave_drops);
        Ok(failures)
    }

    /// The appends whose numbers go beyond what is reserved.
    fn reservations(&mut self, batch: &[Job]) -> rusqlite::Result<Vec<usize>> {
        let mut beyond = Vec::new();
        for (position, job) in batch.iter().enumerate() {
            let (Job::Append(append) | Job::Checked(append, _)) = job else { continue };
            let Some(last) = append.last_seq() else { continue };
            let bound = if let Some(bound) = self.reserved.get(&append.session) {
                *bound
            } else {
                let bound = self
                    .connection
                    .prepare_cached("SELECT seq_reserved FROM session WHERE id = ?1")?
                    .query_row([append.session.number()], |row| row.get(0))
                    .or_else(|error| match error {
                        rusqlite::Error::QueryReturnedNoRows => Ok(Seq::MAX),
                        other => Err(other),
                    })?;
                self.reserved.insert(append.session, bound);
                bound
            };
            if last > bound {
                beyond.push(position);
            }
        }
        Ok(beyond)
    }

    fn announce(&self, batch: Vec<Job>, mut failures: HashMap<usize, rusqlite::Error>) {
        for (position, job) in batch.into_iter().enumerate() {
            let outcome = match failures.remove(&position) {
                Some(error) => Err(StoreError::from_sqlite(error, &self.path)),
                None => Ok(()),
            };
            match job {
                Job::Append(append) => {
                    if let Some(last) = append.last_seq() {
                        append.observer.committed(last);
                    }
                }
                Job::Checked(append, reply) => {
                    if let (Ok(()), Some(last)) = (&outcome, append.last_seq()) {
                        append.observer.committed(last);
                    }
                    let _ = reply.send(outcome);
                }
                Job::Write { job, .. } => job.finish(outcome),
                Job::Forget(_) | Job::AllWritten(_) | Job::Settle(_) | Job::Close(_) => {}
            }
        }
    }

    fn fail(&mut self, batch: Vec<Job>, error: &rusqlite::Error) {
        let worded = StoreError::from_sqlite(copy(error), &self.path);
        let the_disks = worded.is_the_disks();
        if the_disks {
            self.refusal = Some(copy(error));
            self.report(StoreHealth::Refusing { reason: worded.to_string() });
        }
        let alone = batch.len() == 1;
        for job in batch {
            match job {
                Job::Append(append) if the_disks => self.kept.push(append),
                // One of several is to blame: each is tried alone, so that the others are not lost with it.
                Job::Append(append) if !alone => self.commit(vec![Job::Append(append)]),
                Job::Append(append) => {
                    tracing::error!(session = %append.session, error = %error, "the database rejected events");
                    append.observer.rejected(&worded);
                }
                Job::Checked(_, reply) => {
                    let _ = reply.send(Err(StoreError::from_sqlite(copy(error), &self.path)));
                }
                Job::Write { job, .. } => job.finish(Err(StoreError::from_sqlite(copy(error), &self.path))),
                Job::Forget(_) | Job::AllWritten(_) | Job::Settle(_) | Job::Close(_) => {}
            }
        }
    }

    fn report(&self, health: StoreHealth) {
        self.health.send_if_modified(|current| {
            let changed = *current != health;
            if changed {
                match &health {
                    StoreHealth::Good => tracing::info!("the database takes writes again"),
                    StoreHealth::Refusing { reason } => tracing::error!(%reason, "the database refuses writes"),
                }
                *current = health;
            }
            changed
        });
    }

    /// Rows that are to go may be what stands in the way of what is kept, so they go first.
    fn keep_house(&mut self) {
        if self.drops_wait {
            let dropped = self.connection.unchecked_transaction().and_then(|transaction| {
                let more = drop_range::drop_slice(&transaction)?;
                transaction.commit()?;
                Ok(more)
            });
            match dropped {
                Ok(true) => self.checkpointer.wrote(1_000),
                Ok(false) => {
                    self.drops_wait = false;
                    for settled in self.settling.drain(..) {
                        let _ = settled.send(());
                    }
                }
                Err(error) => {
                    // The ranges are in the store and are taken up with the next write.
                    tracing::warn!(%error, "could not drop old rows yet");
                    self.drops_wait = false;
                    self.settling.clear();
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
    /// to write notices that there is room again.
    fn has_room(&self) -> bool {
        // Two transactions: rows that go before they are committed may never reach the disk.
        let take = "INSERT OR REPLACE INTO meta (key, value) VALUES ('room', zeroblob(65536))";
        let give_back = "DELETE FROM meta WHERE key = 'room'";
        [take, give_back].into_iter().all(|statement| self.connection.execute(statement, []).is_ok())
    }
}

fn weight(job: &Job) -> usize {
    match job {
        Job::Append(append) | Job::Checked(append, _) => append.weight(),
        _ => 1,
    }
}

fn may_leave_drops(job: &Job) -> bool {
    match job {
        Job::Append(append) | Job::Checked(append, _) => !append.ended_blocks.is_empty(),
        Job::Write { .. } => true,
        Job::Forget(_) | Job::AllWritten(_) | Job::Settle(_) | Job::Close(_) => false,
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

/// `SQLite`'s errors cannot be cloned; what matters of them can.
fn copy(error: &rusqlite::Error) -> rusqlite::Error {
    match error {
        rusqlite::Error::SqliteFailure(code, message) => rusqlite::Error::SqliteFailure(*code, message.clone()),
        other => rusqlite::Error::SqliteFailure(
            rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_ERROR),
            Some(other.to_string()),
        ),
    }
}

fn full() -> rusqlite::Error {
    rusqlite::Error::SqliteFailure(rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_FULL), None)
}

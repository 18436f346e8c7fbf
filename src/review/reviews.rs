//! The changes of a session's folder: shown, copied, reverted, undone.

use std::collections::{HashMap, VecDeque};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use parking_lot::Mutex;
use tokio::sync::{Semaphore, watch};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::ReviewError;
use super::kept::{KeptRevert, KeptReverts, NewRevert};
use super::record::{Outcome, Record, TurnRecord};
use super::room;
use super::snapshots::{Observer, Wanted};
use crate::folder::{Comparison, FileDiff, FolderError, Patch, Since, SnapshotStore, TreeChange, Until, compare};
use crate::model::{SessionId, Timestamp, TurnId};
use crate::session::{Sessions, now};

/// Snapshots taken at a time: a large repository keeps a disk busy for seconds.
pub(super) const TAKEN_AT_ONCE: u32 = 2;
/// Comparisons that are remembered, so that the files of a list are compared as they were listed.
const MOST_VIEWS: usize = 64;

/// What [`Reviews`] works with.
pub struct ReviewsParts {
    /// Where snapshots and copies are kept, a folder for each session.
    pub folder: PathBuf,
    /// The sessions.
    pub sessions: Sessions,
    /// Cancelled when the server begins to shut down.
    pub stopping: CancellationToken,
}

/// The changes of all sessions' folders. Clones share everything.
#[derive(Clone)]
pub struct Reviews {
    shared: Arc<Shared>,
}

pub(super) struct Shared {
    pub parts: ReviewsParts,
    /// Snapshots that are wanted, by session. A session that is listed here has a task that takes them.
    pub waiting: Mutex<HashMap<SessionId, VecDeque<Wanted>>>,
    /// How many have been taken.
    pub finished: watch::Sender<u64>,
    pub taking: Semaphore,
    /// About how much all of them take on the disk.
    pub total_bytes: AtomicU64,
    pub tasks: TaskTracker,
    views: Mutex<VecDeque<View>>,
    /// One at a time: two reverts of a file must not both find it as it was shown.
    reverting: tokio::sync::Mutex<()>,
}

struct View {
    id: String,
    session: SessionId,
    comparison: Arc<Comparison>,
}

/// A session and its folder, with symbolic links resolved.
#[derive(Clone, Debug)]
pub struct Target {
    /// The session.
    pub session: SessionId,
    /// Its folder.
    pub folder: PathBuf,
}

/// Since when, and until when.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReviewScope {
    /// Since the last commit.
    Commit,
    /// Since the first turn of the session began.
    Session,
    /// From the beginning of a turn to its end.
    Turn(TurnId),
}

/// The changes in a scope.
#[derive(Debug)]
pub struct Review {
    /// A name under which this comparison is remembered for a while.
    pub view: String,
    /// What changed.
    pub comparison: Arc<Comparison>,
    /// Since when; unknown for the last commit.
    pub since: Option<Timestamp>,
    /// Until when, if not until now.
    pub until: Option<Timestamp>,
}

/// The change of one file.
#[derive(Debug)]
pub struct FileReview {
    /// Which.
    pub file: TreeChange,
    /// The difference.
    pub diff: FileDiff,
    /// Why it cannot be reverted, if that is so.
    pub reason_against_revert: Option<String>,
}

/// The two moments of a scope.
struct Moments {
    since: Since,
    until: Until,
    since_time: Option<Timestamp>,
    until_time: Option<Timestamp>,
}

impl Reviews {
    /// Reviews that know nothing yet.
    pub fn new(parts: ReviewsParts) -> Self {
        let shared = Shared {
            parts,
            waiting: Mutex::default(),
            finished: watch::Sender::new(0),
            taking: Semaphore::new(TAKEN_AT_ONCE as usize),
            total_bytes: AtomicU64::new(0),
            tasks: TaskTracker::new(),
            views: Mutex::default(),
            reverting: tokio::sync::Mutex::default(),
        };
        Self { shared: Arc::new(shared) }
    }

    /// Takes snapshots of every turn from now on, and deletes what belongs to sessions that are gone.
    pub fn start(&self) {
        let observer = Observer(Arc::downgrade(&self.shared));
        self.shared.parts.sessions.observe_turns(Arc::new(observer));
        self.shared.tasks.spawn(Arc::clone(&self.shared).clean_up());
    }

    /// Waits for the tasks, which end because the server stops.
    pub async fn shut_down(&self) {
        self.shared.tasks.close();
        self.shared.tasks.wait().await;
    }

    /// The turns of a session that are known, oldest first.
    pub async fn turns(&self, session: SessionId) -> Vec<TurnRecord> {
        self.record(session).await.turns
    }

    /// Whether a session was in a turn at some moment between these two.
    pub async fn was_in_a_turn(&self, session: SessionId, since: Timestamp, until: Option<Timestamp>) -> bool {
        self.shared.settled(session).await;
        let overlaps = |turn: &TurnRecord| {
            turn.ended_at.is_none_or(|end| end >= since) && until.is_none_or(|until| turn.started_at <= until)
        };
        self.turns(session).await.iter().any(overlaps)
    }

    /// What can be undone, newest first.
    pub async fn kept(&self, session: SessionId) -> Vec<KeptRevert> {
        let kept = self.shared.kept_of(session);
        tokio::task::spawn_blocking(move || kept.list()).await.unwrap_or_default()
    }

    /// The changes in a scope.
    pub async fn changes(&self, target: &Target, scope: &ReviewScope) -> Result<Review, ReviewError> {
        if *scope != ReviewScope::Commit {
            self.shared.settled(target.session).await;
        }
        let moments = moments(&self.record(target.session).await, scope)?;
        let store = self.shared.store_of(target.session);
        let comparison = compare(&target.folder, &self.roots(), &store, &moments.since, &moments.until).await?;
        if let Since::Snapshot(snapshot) = &moments.since
            && snapshot.repository != comparison.repository.to_string_lossy()
        {
            let message = format!("The folder belonged to another repository then: {}.", snapshot.repository);
            return Err(ReviewError::NoSnapshot(message));
        }
        let comparison = Arc::new(comparison);
        let view = self.remember(target.session, &comparison);
        Ok(Review { view, comparison, since: moments.since_time, until: moments.until_time })
    }

    /// The change of one file, as a view listed it if that is still remembered.
    pub async fn file(
        &self,
        target: &Target,
        scope: &ReviewScope,
        view: Option<&str>,
        path: &str,
    ) -> Result<FileReview, ReviewError> {
        let comparison = self.comparison(target, scope, view).await?;
        let file = comparison.file(path)?.clone();
        let store = self.shared.store_of(target.session);
        let diff = comparison.diff(&target.folder, &store, &file).await?;
        let reason_against_revert = comparison.reason_against_revert(&target.folder, &store, &file).await?;
        Ok(FileReview { file, diff, reason_against_revert })
    }

    /// One file or all as a patch.
    pub async fn patch(
        &self,
        target: &Target,
        scope: &ReviewScope,
        view: Option<&str>,
        path: Option<&str>,
    ) -> Result<Patch, ReviewError> {
        let comparison = self.comparison(target, scope, view).await?;
        let file = path.map(|path| comparison.file(path)).transpose()?;
        let store = self.shared.store_of(target.session);
        Ok(comparison.patch(&target.folder, &store, file).await?)
    }

    /// Reverts a file, or one hunk of it, if it is as `state` names it. Done whole or not at all, even if the caller
    /// hangs up.
    pub async fn revert(
        &self,
        target: Target,
        scope: ReviewScope,
        path: String,
        hunk: Option<usize>,
        state: String,
    ) -> Result<KeptRevert, ReviewError> {
        let reviews = self.clone();
        let reverting = async move {
            let _turn = reviews.shared.reverting.lock().await;
            let review = reviews.changes(&target, &scope).await?;
            let found = review.comparison.file(&path).map_err(|_| FolderError::ChangedSince(path.clone()))?;
            if found.state() != state {
                return Err(FolderError::ChangedSince(path).into());
            }
            let store = reviews.shared.store_of(target.session);
            let roots = reviews.roots();
            let paths = review.comparison.reverted(&target.folder, &roots, &store, &path, hunk).await?;
            let kept = reviews.shared.kept_of(target.session);
            let repository = review.comparison.repository.clone();
            let write = move || {
                kept.revert(&NewRevert { path: &path, hunk, at: now(), repository: &repository, paths: &paths })
            };
            tokio::task::spawn_blocking(write).await.map_err(|_| ReviewError::ShuttingDown)?
        };
        self.shared.tasks.spawn(reverting).await.map_err(|_| ReviewError::ShuttingDown)?
    }

    /// Undoes a revert, unless its file has changed since.
    pub async fn undo(&self, session: SessionId, number: u64) -> Result<KeptRevert, ReviewError> {
        let reviews = self.clone();
        let undoing = async move {
            let _turn = reviews.shared.reverting.lock().await;
            let (kept, roots) = (reviews.shared.kept_of(session), reviews.roots());
            let write = move || kept.undo(number, |path| is_below(path, &roots));
            tokio::task::spawn_blocking(write).await.map_err(|_| ReviewError::ShuttingDown)?
        };
        self.shared.tasks.spawn(undoing).await.map_err(|_| ReviewError::ShuttingDown)?
    }

    async fn comparison(
        &self,
        target: &Target,
        scope: &ReviewScope,
        view: Option<&str>,
    ) -> Result<Arc<Comparison>, ReviewError> {
        let remembered = {
            let views = self.shared.views.lock();
            let is_it = |known: &&View| view == Some(known.id.as_str()) && known.session == target.session;
            views.iter().find(is_it).map(|known| Arc::clone(&known.comparison))
        };
        match remembered {
            Some(comparison) => Ok(comparison),
            None => Ok(self.changes(target, scope).await?.comparison),
        }
    }

    fn remember(&self, session: SessionId, comparison: &Arc<Comparison>) -> String {
        let id = uuid::Uuid::new_v4().simple().to_string();
        let mut views = self.shared.views.lock();
        views.push_back(View { id: id.clone(), session, comparison: Arc::clone(comparison) });
        if views.len() > MOST_VIEWS {
            views.pop_front();
        }
        id
    }

    async fn record(&self, session: SessionId) -> Record {
        let folder = self.shared.folder_of(session);
        tokio::task::spawn_blocking(move || Record::read(&folder)).await.unwrap_or_default()
    }

    fn roots(&self) -> Vec<PathBuf> {
        self.shared.parts.sessions.settings().roots.clone()
    }
}

impl Shared {
    /// Everything of one session.
    pub fn folder_of(&self, session: SessionId) -> PathBuf {
        self.parts.folder.join(session.to_string())
    }

    pub fn store_of(&self, session: SessionId) -> SnapshotStore {
        SnapshotStore::in_folder(room::snapshots(&self.folder_of(session)))
    }

    fn kept_of(&self, session: SessionId) -> KeptReverts {
        KeptReverts::in_folder(self.folder_of(session).join("reverts"))
    }
}

/// Which two moments a scope compares.
fn moments(record: &Record, scope: &ReviewScope) -> Result<Moments, ReviewError> {
    let taken = |outcome: &Outcome, when: &str| match outcome {
        Outcome::Snapshot(snapshot) => Ok(snapshot.clone()),
        Outcome::Skipped(reason) => {
            Err(ReviewError::NoSnapshot(format!("There is no snapshot of the folder {when}. {reason}")))
        }
    };
    match scope {
        ReviewScope::Commit => {
            Ok(Moments { since: Since::LastCommit, until: Until::Now, since_time: None, until_time: None })
        }
        ReviewScope::Session => {
            let Some((time, first)) = &record.first else {
                let message = "No turn has begun in this session since Flightdeck started keeping folder snapshots.";
                return Err(ReviewError::NoSnapshot(message.to_owned()));
            };
            let since = Since::Snapshot(taken(first, "from the beginning of the session")?);
            Ok(Moments { since, until: Until::Now, since_time: Some(*time), until_time: None })
        }
        ReviewScope::Turn(id) => {
            let position = record.turns.iter().position(|turn| turn.turn == *id);
            let position = position.ok_or_else(|| ReviewError::NoTurn(id.to_string()))?;
            let (turn, next) = (&record.turns[position], record.turns.get(position + 1));
            let since = Since::Snapshot(taken(&turn.start, "from the beginning of this turn")?);
            // A turn that was cut off with the server ended before the next one began.
            let (until, until_time) = match (&turn.end, next) {
                (Some(end), _) => (Until::Snapshot(taken(end, "from the end of this turn")?), turn.ended_at),
                (None, Some(next)) => {
                    let end = taken(&next.start, "from the end of this turn")?;
                    (Until::Snapshot(end), Some(next.started_at))
                }
                (None, None) => (Until::Now, None),
            };
            Ok(Moments { since, until, since_time: Some(turn.started_at), until_time })
        }
    }
}

fn is_below(path: &Path, roots: &[PathBuf]) -> bool {
    roots.is_empty() || roots.iter().any(|root| root.canonicalize().is_ok_and(|root| path.starts_with(root)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::folder::Snapshot;

    fn outcome(tree: &str) -> Outcome {
        Outcome::Snapshot(Snapshot { tree: tree.to_owned(), repository: "/r".to_owned(), large: Vec::new() })
    }

    fn turn(number: u32, end: Option<Outcome>) -> TurnRecord {
        TurnRecord {
            turn: TurnId::from(format!("turn-{number}")),
            prompt: None,
            started_at: Timestamp::from_millis(i64::from(number)),
            start: outcome(&format!("start-{number}")),
            ended_at: end.as_ref().map(|_| Timestamp::from_millis(i64::from(number) + 1)),
            end,
        }
    }

    fn trees(record: &Record, scope: &ReviewScope) -> (Option<String>, Option<String>) {
        let moments = moments(record, scope).expect("known");
        let since = if let Since::Snapshot(snapshot) = moments.since { Some(snapshot.tree) } else { None };
        let until = if let Until::Snapshot(snapshot) = moments.until { Some(snapshot.tree) } else { None };
        (since, until)
    }

    #[test]
    fn a_turn_ends_with_its_snapshot_or_the_next_turn_or_now() {
        let mut record = Record::default();
        record.begin(turn(1, Some(outcome("end-1"))));
        record.begin(turn(2, None));
        record.begin(turn(3, None));
        let check = |scope, since: Option<&str>, until: Option<&str>| {
            assert_eq!(trees(&record, &scope), (since.map(str::to_owned), until.map(str::to_owned)));
        };
        check(ReviewScope::Commit, None, None);
        check(ReviewScope::Session, Some("start-1"), None);
        check(ReviewScope::Turn("turn-1".into()), Some("start-1"), Some("end-1"));
        check(ReviewScope::Turn("turn-2".into()), Some("start-2"), Some("start-3"));
        check(ReviewScope::Turn("turn-3".into()), Some("start-3"), None);
        assert!(matches!(moments(&record, &ReviewScope::Turn("turn-9".into())), Err(ReviewError::NoTurn(_))));
    }

    #[test]
    fn a_missing_snapshot_has_its_reason() {
        let mut record = Record::default();
        assert!(matches!(moments(&record, &ReviewScope::Session), Err(ReviewError::NoSnapshot(_))));
        record.begin(TurnRecord { start: Outcome::Skipped("It was huge.".to_owned()), ..turn(1, None) });
        for scope in [ReviewScope::Session, ReviewScope::Turn("turn-1".into())] {
            let error = moments(&record, &scope).err().expect("no snapshot").to_string();
            assert!(error.ends_with("It was huge."), "{error}");
        }
    }
}

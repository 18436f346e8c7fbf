//! What only this backend has: its thread, its files and its WAL.

use std::sync::Arc;
use std::sync::mpsc;
use std::time::Duration;

use tempfile::TempDir;

use super::Sqlite;
use super::checkpoint::WalBound;
use super::events::{JOBS, TASKS};
use super::read_pool::AT_ONCE;
use super::sessions::OF_JOB;
use crate::model::{Seq, SessionId, TaskId};
use crate::store::suite::jobs::new_job;
use crate::store::suite::{self, events, new_session, observe, seqs};
use crate::store::{
    Append, DataFolder, EndedBlock, EventPage, Log, Store, StoreError, StoreHealth, StoreSettings, Upkeep,
};

struct Opened {
    backend: Arc<Sqlite>,
    store: Store,
    root: TempDir,
    _folder: DataFolder,
}

fn open() -> Opened {
    open_with(WalBound::default())
}

fn open_with(bound: WalBound) -> Opened {
    let root = tempfile::tempdir().expect("a folder");
    let folder = DataFolder::lock(&root.path().join("data")).expect("locked");
    let backend = Arc::new(Sqlite::open_with(&folder, StoreSettings::default(), bound).expect("opened"));
    Opened { store: Store::on(Arc::clone(&backend) as _), backend, root, _folder: folder }
}

fn deltas(session: SessionId, seqs: std::ops::RangeInclusive<Seq>, block: Seq) -> Append {
    let mut append = events(session, seqs);
    append.events.iter_mut().for_each(|event| event.block = Some(block));
    append
}

#[tokio::test]
async fn deltas_of_an_ended_block_are_gone_at_once_for_readers_and_soon_from_the_disk() {
    let Opened { backend, store, .. } = &open();
    let session = new_session(store).await;
    for count in [10, 9_000] {
        let start = seqs(store, session).await.last().copied().unwrap_or(0) + 1;
        let (other, end) = (start + count / 2, start + count + 1);
        store.append(events(session, start..=start));
        store.append(deltas(session, start + 1..=other - 1, start));
        // Another block's delta in between stays.
        store.append(deltas(session, other..=other, start + 1_000_000));
        store.append(deltas(session, other + 1..=end - 1, start));
        let mut last = events(session, end..=end);
        last.ended_blocks = vec![EndedBlock { start, end, deltas: count - 1 }];
        store.append(last);
        store.flush().await.expect("flushed");
        let all = seqs(store, session).await;
        assert_eq!(all[all.len() - 3..], [start, other, end]);
    }
    store.settle().await.expect("settled");
    let rows: u64 = backend
        .read(|connection| connection.query_row("SELECT count(*) FROM event", [], |row| row.get(0)))
        .await
        .expect("read");
    assert_eq!(rows, 6, "the rows are really gone");
    store.close().await;
}

#[tokio::test]
async fn a_job_that_fails_by_itself_does_not_take_others_with_it() {
    let Opened { backend, store, .. } = &open();
    let session = new_session(store).await;
    let wrong = backend.write(|connection| connection.execute("INSERT INTO nothing VALUES (1)", []).map(drop));
    store.append(events(session, 1..=2));
    assert!(matches!(wrong.await, Err(StoreError::Statement(_))));
    store.flush().await.expect("flushed");
    assert_eq!(seqs(store, session).await, [1, 2]);
    assert_eq!(*store.health().borrow(), StoreHealth::Good);
    store.close().await;
}

#[tokio::test]
async fn a_dead_writer_is_noticed_and_nothing_vanishes_silently() {
    let Opened { backend, store, .. } = &open();
    let session = new_session(store).await;
    let heard = observe(store, session);
    backend.kill_writer();
    // Queued behind the job that kills the writer, or sent after its death: it is rejected either way.
    store.append(events(session, 1..=1));
    let checked = store.append_checked(events(session, 2..=2)).await;
    assert!(matches!(checked, Err(StoreError::WriterDied)), "{checked:?}");
    let reason = store.died().await;
    assert!(reason.contains("stopped unexpectedly") && !reason.contains("shutting down"), "{reason}");
    assert!(matches!(*store.health().borrow(), StoreHealth::Dead { .. }));
    let rejected = heard.rejected.lock().expect("heard").len();
    assert!(rejected >= 1);
    store.append(events(session, 3..=3));
    assert_eq!(heard.rejected.lock().expect("heard").len(), rejected + 1);
    assert!(matches!(store.flush().await, Err(StoreError::WriterDied)));
    assert!(matches!(store.probe().await, Err(StoreError::WriterDied)));
    assert!(seqs(store, session).await.is_empty(), "reading still works");
    store.close().await;
}

#[tokio::test]
async fn a_store_that_is_closed_did_not_die() {
    let Opened { store, .. } = &open();
    let session = new_session(store).await;
    store.close().await;
    let late = store.append_checked(events(session, 1..=1)).await;
    assert!(matches!(late, Err(StoreError::Closed)), "{late:?}");
    assert!(!matches!(*store.health().borrow(), StoreHealth::Dead { .. }));
}

#[tokio::test]
async fn a_database_that_is_deleted_while_it_is_open_refuses_writes_until_it_is_back() {
    let Opened { store, root, .. } = &open();
    let session = new_session(store).await;
    store.append_checked(events(session, 1..=1)).await.expect("appended");
    let (data, away) = (root.path().join("data"), root.path().join("away"));
    std::fs::rename(&data, &away).expect("moved");
    store.probe().await.expect("answered");
    assert!(matches!(*store.health().borrow(), StoreHealth::Refusing { .. }), "noticed although nobody writes");
    let refused = store.append_checked(events(session, 2..=2)).await;
    assert!(matches!(refused, Err(StoreError::Missing)), "{refused:?}");
    store.append(events(session, 2..=2));
    assert!(matches!(store.all_written().await, Err(StoreError::Missing)));

    std::fs::rename(&away, &data).expect("moved back");
    let mut health = store.health();
    health.wait_for(|health| *health == StoreHealth::Good).await.expect("good again");
    store.flush().await.expect("flushed");
    assert_eq!(seqs(store, session).await, [1, 2], "what was accepted is written");
    store.close().await;
}

#[tokio::test]
async fn ids_of_jobs_and_tasks_end_before_their_logs_would_be_mixed_up() {
    let Opened { backend, store, .. } = &open();
    let used = format!(
        "INSERT INTO sqlite_sequence (name, seq) VALUES ('job', {});
         INSERT INTO meta (key, value) VALUES ('last_task', '{}')",
        JOBS - 2,
        TASKS - 3
    );
    backend.write(move |connection| connection.execute_batch(&used)).await.expect("written");
    let job = new_job(store).await;
    assert_eq!(job.number(), JOBS - 1);
    let refused = store.create_job(suite::jobs::job()).await;
    assert!(matches!(refused, Err(StoreError::NoMoreIds)), "{refused:?}");
    assert_eq!(store.unsettled_jobs().await.expect("read"), [job], "nothing is left of the refused one");
    let refused = store.reserve_task_ids(3).await;
    assert!(matches!(refused, Err(StoreError::NoMoreIds)), "{refused:?}");
    assert_eq!(store.reserve_task_ids(2).await.expect("reserved"), TASKS - 2);
    let last = TaskId::from_number(TASKS - 1);
    store.append_checked(events(last, 1..=2)).await.expect("appended");
    assert_eq!((seqs(store, job).await.len(), seqs(store, last).await.len()), (0, 2));
    store.close().await;
}

#[tokio::test]
async fn sessions_of_a_job_and_jobs_to_settle_are_found_by_index() {
    let Opened { backend, store, .. } = &open();
    for (query, index) in [
        (
            format!("SELECT id FROM session WHERE id < ?1 AND ?3 IS NULL AND {OF_JOB} ORDER BY id DESC"),
            "session_by_job",
        ),
        ("SELECT id FROM job WHERE is_settled = 0 ORDER BY id".to_owned(), "job_unsettled"),
        ("SELECT id FROM task WHERE is_settled = 0 ORDER BY id".to_owned(), "task_unsettled"),
    ] {
        let plan = backend
            .read(move |connection| {
                let mut statement = connection.prepare(&format!("EXPLAIN QUERY PLAN {query}"))?;
                let lines: Vec<String> =
                    statement.raw_query().mapped(|row| row.get(3)).collect::<rusqlite::Result<_>>()?;
                Ok(lines.join("; "))
            })
            .await
            .expect("read");
        assert!(plan.contains(index) && !plan.contains("TEMP B-TREE"), "{plan}");
    }
    store.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn no_more_reads_run_at_once_than_there_may_be() {
    let Opened { backend, store, .. } = &open();
    let (arrived, arrivals) = mpsc::channel();
    let (release, released) = mpsc::channel::<()>();
    let released = Arc::new(std::sync::Mutex::new(released));
    let reads: Vec<_> = (0..3 * AT_ONCE)
        .map(|_| {
            let (backend, arrived, released) = (Arc::clone(backend), arrived.clone(), Arc::clone(&released));
            tokio::spawn(async move {
                backend
                    .read(move |_| {
                        arrived.send(()).expect("heard");
                        let _ = released.lock().expect("not poisoned").recv();
                        Ok(())
                    })
                    .await
            })
        })
        .collect();
    for _ in 0..AT_ONCE {
        arrivals.recv().expect("arrived");
    }
    assert_eq!(backend.running_reads(), AT_ONCE);
    assert!(arrivals.try_recv().is_err(), "the others wait");
    drop(release);
    for read in reads {
        read.await.expect("ended").expect("read");
    }
    store.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_wal_stays_bounded_although_a_read_never_ends() {
    const BOUND: u64 = 4 * 1024 * 1024;
    let opened = open_with(WalBound { bytes: BOUND, patience: Duration::from_millis(10) });
    let Opened { backend, store, root, .. } = &opened;
    let session = new_session(store).await;
    let (begun, beginning) = mpsc::channel();
    let endless = {
        let backend = Arc::clone(backend);
        tokio::spawn(async move {
            backend
                .read(move |connection| {
                    // Reads in a transaction, so that it keeps the WAL from being emptied until it ends.
                    let transaction = connection.unchecked_transaction()?;
                    transaction.query_row("SELECT count(*) FROM session", [], |row| row.get::<_, u64>(0))?;
                    begun.send(()).expect("heard");
                    transaction.query_row(
                        "WITH RECURSIVE number (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM number)
                         SELECT n FROM number WHERE n < 0",
                        [],
                        |row| row.get::<_, u64>(0),
                    )
                })
                .await
        })
    };
    beginning.recv().expect("begun");
    let wal = root.path().join("data/flightdeck.db-wal");
    let mut largest = 0;
    let mut last = 0;
    for seq in 1.. {
        let mut append = events(session, seq..=seq);
        append.events[0].body = vec![b'x'; 1024 * 1024].into();
        store.append_checked(append).await.expect("appended");
        largest = largest.max(std::fs::metadata(&wal).expect("there").len());
        if seq >= 32 && endless.is_finished() {
            last = seq;
            break;
        }
    }
    assert!(largest < 3 * BOUND, "{largest}");
    let outcome = endless.await.expect("ended");
    assert!(outcome.is_err(), "the read that was in the way was interrupted");
    let page = EventPage { after: last - 1, before: None, limit: 100, max_bytes: usize::MAX };
    assert_eq!(backend.events(session.into(), page).await.expect("read").0.len(), 1);
    backend.settle().await.expect("settled");
    store.close().await;
}

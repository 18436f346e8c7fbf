//! What must hold for jobs.

use super::sessions::odd_folder;
use super::{Ending, Medium, TIME, changes, events, new_record, new_session, seqs};
use crate::model::{JobId, JobStatus, SessionJob, SessionOrigin, SessionState, StreamId, TaskId, Timestamp};
use crate::store::{
    Change, Creation, CreationKey, JobCreation, JobFilter, JobSummary, NewJob, NewSessionRecord, ReaderPosition,
    RunState, SessionFilter, Store, StoreError, StoredJob,
};

fn at(millis: i64) -> Timestamp {
    Timestamp::from_millis(millis)
}

pub(in crate::store) fn job() -> NewJob {
    NewJob {
        name: "deliver".to_owned(),
        plan: r#"{"work":{"kind":"Seq"}}"#.to_owned(),
        working_directory: odd_folder(),
        user_input: "do $it".to_owned(),
        origin: SessionOrigin::Api,
        key: None,
        now: TIME,
    }
}

fn keyed(fingerprint: &str) -> NewJob {
    NewJob { key: Some(CreationKey { key: "k".to_owned(), fingerprint: fingerprint.to_owned() }), ..job() }
}

pub(in crate::store) async fn new_job(store: &Store) -> JobId {
    match store.create_job(job()).await.expect("created") {
        JobCreation::New(id) => id,
        other => panic!("{other:?}"),
    }
}

fn ended(status: JobStatus, error: Option<&str>, ended_at: i64) -> Change {
    Change::RunStatus { status, error: error.map(str::to_owned), ended_at: Some(at(ended_at)) }
}

async fn run(store: &Store, job: JobId) -> RunState {
    store.job(job).await.expect("read").expect("there").summary.run
}

pub(super) async fn a_job_is_created_once_per_key(medium: &Medium) {
    let store = medium.open();
    let create = async |new| store.create_job(new).await.expect("answered");
    let JobCreation::New(id) = create(keyed("same")).await else { panic!("not new") };
    assert_eq!(create(keyed("same")).await, JobCreation::Known(id));
    assert_eq!(create(keyed("other")).await, JobCreation::KeyReused);
    let by_key = store.job_by_creation_key("k".to_owned()).await.expect("read");
    assert_eq!(by_key, Some((id, "same".to_owned())));
    assert!(matches!(create(job()).await, JobCreation::New(other) if other != id), "without a key each is new");
    let JobCreation::New(newest) = create(job()).await else { panic!("not new") };
    store.delete_job(newest).await.expect("deleted");
    assert!(matches!(create(job()).await, JobCreation::New(new) if new > newest), "an id is never given twice");
    store.close().await;
}

pub(super) async fn a_job_survives_a_power_cut(medium: &Medium) {
    let store = medium.open();
    let synced = store.statistics().synced_commits.get();
    let JobCreation::New(id) = store.create_job(keyed("f")).await.expect("created") else { panic!("not new") };
    if let Medium::Sqlite { .. } = medium {
        assert!(store.statistics().synced_commits.get() > synced, "the commit waited for the disk");
    }
    store.append_checked(events(id, 1..=3)).await.expect("appended");
    let store = medium.restart(store, Ending::PowerCut).await;
    let StoredJob { summary, plan, next_seq } = store.job(id).await.expect("read").expect("there");
    let NewJob { name, plan: planned, working_directory, user_input, origin, .. } = job();
    assert_eq!(plan, planned);
    assert!(next_seq > 3 && next_seq == store.next_seq(id).await.expect("read"), "{next_seq}");
    let run = RunState { status: JobStatus::Running, error: None, started_at: TIME, ended_at: None, is_settled: false };
    // In memory a power cut takes the events, on `SQLite` the test can only pretend so.
    let last_seq = summary.last_seq;
    assert_eq!(summary, JobSummary { id, name, working_directory, user_input, origin, run, last_seq });
    assert_eq!(store.create_job(keyed("f")).await.expect("answered"), JobCreation::Known(id));
    assert_eq!(store.unsettled_jobs().await.expect("read"), [id]);
    store.close().await;
}

pub(super) async fn a_job_ends_settles_and_runs_again(medium: &Medium) {
    let store = medium.open();
    let (id, other) = (new_job(&store).await, new_job(&store).await);
    let mut append = events(id, 1..=2);
    append.changes = vec![ended(JobStatus::Failed, Some("the agent is gone"), 7)];
    store.append_checked(append).await.expect("appended");
    let store = medium.restart(store, Ending::Crash).await;
    let failed = RunState {
        status: JobStatus::Failed,
        error: Some("the agent is gone".to_owned()),
        started_at: TIME,
        ended_at: Some(at(7)),
        is_settled: false,
    };
    assert_eq!(run(&store, id).await, failed);
    let stored = store.job(id).await.expect("read").expect("there");
    assert_eq!((stored.summary.last_seq, stored.next_seq), (2, 3));
    assert_eq!(store.unsettled_jobs().await.expect("read"), [id, other], "its sessions may be open");
    store.append_checked(changes(id, vec![Change::RunSettled])).await.expect("appended");
    assert_eq!(run(&store, id).await, RunState { is_settled: true, ..failed });
    assert_eq!(store.unsettled_jobs().await.expect("read"), [other]);
    let again = Change::RunStatus { status: JobStatus::Running, error: None, ended_at: None };
    store.append_checked(changes(id, vec![again])).await.expect("appended");
    assert_eq!(run(&store, id).await, run(&store, other).await, "as new");
    assert_eq!(store.unsettled_jobs().await.expect("read"), [id, other]);
    // The old run may say that it is settled after a retry has begun.
    store.append_checked(changes(id, vec![Change::RunSettled])).await.expect("appended");
    assert_eq!(store.unsettled_jobs().await.expect("read"), [id, other], "a run that goes on is not settled");
    let both = vec![ended(JobStatus::Canceled, None, 9), Change::RunSettled];
    store.append_checked(changes(id, both)).await.expect("appended");
    assert_eq!(store.unsettled_jobs().await.expect("read"), [other], "changes are applied in order");
    store.close().await;
}

pub(super) async fn jobs_are_listed_newest_first_and_by_status(medium: &Medium) {
    let store = medium.open();
    let mut ids = Vec::new();
    for _ in 0..4 {
        ids.push(new_job(&store).await);
    }
    for (id, ended_at) in [(ids[1], 20), (ids[2], 10)] {
        let append = changes(id, vec![ended(JobStatus::Succeeded, None, ended_at), Change::RunSettled]);
        store.append_checked(append).await.expect("appended");
    }
    store.append_checked(events(ids[0], 1..=5)).await.expect("appended");
    let names = |found: Vec<JobSummary>| found.into_iter().map(|job| job.id).collect::<Vec<_>>();
    let list =
        async |status, before, limit| names(store.jobs(JobFilter { status, before, limit }).await.expect("read"));
    assert_eq!(list(None, None, 2).await, [ids[3], ids[2]]);
    assert_eq!(list(None, Some(ids[2]), 9).await, [ids[1], ids[0]]);
    assert_eq!(list(Some(JobStatus::Running), None, 9).await, [ids[3], ids[0]]);
    assert_eq!(list(Some(JobStatus::Succeeded), Some(ids[2]), 9).await, [ids[1]]);
    assert_eq!(list(Some(JobStatus::Failed), None, 9).await, []);
    let recent = async |since| names(store.recent_jobs(at(since)).await.expect("read"));
    assert_eq!(recent(10).await, [ids[3], ids[1], ids[0]]);
    assert_eq!(recent(9).await, [ids[3], ids[2], ids[1], ids[0]]);
    let all = store.jobs(JobFilter { status: None, before: None, limit: 9 }).await.expect("read");
    assert_eq!(all.iter().map(|job| job.last_seq).collect::<Vec<_>>(), [0, 0, 0, 5]);
    assert_eq!(all[3], store.job(ids[0]).await.expect("read").expect("there").summary);
    store.close().await;
}

pub(super) async fn a_deleted_job_leaves_nothing_but_its_sessions(medium: &Medium) {
    let store = medium.open();
    let (id, other) = (new_job(&store).await, new_job(&store).await);
    let first = store.reserve_task_ids(2).await.expect("reserved");
    let (task, others) = (TaskId::from_number(first), TaskId::from_number(first + 1));
    let mut readers = Vec::new();
    for (job, task) in [(id, task), (other, others)] {
        let mut append = events(job, 1..=4);
        append.changes = vec![Change::TaskCreated { task, work_id: 3 }];
        store.append_checked(append).await.expect("appended");
        for stream in [StreamId::Job(job), task.into()] {
            let token = "a".to_owned();
            readers.push(ReaderPosition { stream, token, position: 1, done: false, seen_at: TIME });
        }
    }
    store.save_reader_positions(readers).await.expect("saved");
    let (job_name, task_name) = ("deliver".to_owned(), "code".to_owned());
    let work = SessionJob { job_id: id, job_name, task_id: task, task_name, work_id: 3, is_driving: false };
    let created = store.create_session(NewSessionRecord { job: Some(work), ..new_record() }).await.expect("created");
    let Creation::New(session) = created else { panic!("{created:?}") };
    store.delete_job(id).await.expect("deleted");
    store.settle().await.expect("settled");
    let is_there = async |job: JobId, task: TaskId| {
        let (log, mut readers) = (seqs(&store, job).await.len(), 0);
        for stream in [StreamId::Job(job), task.into()] {
            readers += store.reader_positions(stream).await.expect("read").len();
        }
        let job = store.job(job).await.expect("read").is_some();
        (job, store.task(task).await.expect("read").is_some(), log, readers)
    };
    assert_eq!(is_there(id, task).await, (false, false, 0, 0));
    assert_eq!(is_there(other, others).await, (true, true, 4, 2), "another job stays");
    assert_eq!(store.unsettled_jobs().await.expect("read"), [other]);
    let filter = SessionFilter { state: None, job: Some(id), after: None, limit: 9 };
    assert_eq!(store.sessions(filter).await.expect("read")[0].id, session, "sessions are deleted by themselves");
    store.delete_job(id).await.expect("twice is harmless");
    store.close().await;
}

pub(super) async fn a_change_in_a_log_where_it_does_not_belong_is_rejected(medium: &Medium) {
    let store = medium.open();
    let (session, job) = (new_session(&store).await, new_job(&store).await);
    let first = store.reserve_task_ids(2).await.expect("reserved");
    let (task, unknown) = (TaskId::from_number(first), TaskId::from_number(first + 1));
    let created = |task| Change::TaskCreated { task, work_id: 0 };
    store.append_checked(changes(job, vec![created(task)])).await.expect("appended");
    let wrong = [
        (StreamId::Session(session), Change::RunSettled),
        (session.into(), ended(JobStatus::Failed, None, 1)),
        (session.into(), created(unknown)),
        (job.into(), Change::State(SessionState::Ready, None)),
        (job.into(), Change::ClosedAt(None)),
        (unknown.into(), created(unknown)),
        (unknown.into(), Change::Title("no".to_owned())),
        // How far a task of a job has come is in the log of the job.
        (task.into(), ended(JobStatus::Failed, None, 1)),
    ];
    for (stream, change) in wrong {
        let mut append = events(stream, 1..=1);
        append.changes = vec![change];
        let outcome = store.append_checked(append.clone()).await;
        assert!(matches!(outcome, Err(StoreError::Statement(_))), "{append:?}: {outcome:?}");
        assert!(seqs(&store, stream).await.is_empty(), "nothing of it is written: {append:?}");
    }
    assert_eq!(run(&store, job).await.status, JobStatus::Running);
    assert!(store.task(unknown).await.expect("read").is_none());
    store.close().await;
}

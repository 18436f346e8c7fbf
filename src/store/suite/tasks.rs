//! What must hold for tasks.

use super::jobs::new_job;
use super::{Ending, Medium, TIME, changes, events, new_session, seqs};
use crate::model::{JobStatus, SessionId, TaskId, Timestamp};
use crate::store::{
    Change, NewTaskRun, ReaderPosition, RunState, Store, StoreError, StoredTask, StoredTaskRun, TaskOwner,
};

async fn next_task(store: &Store) -> TaskId {
    TaskId::from_number(store.reserve_task_ids(1).await.expect("reserved"))
}

fn borrowed(task: TaskId, session: SessionId) -> NewTaskRun {
    let (name, plan, user_input) = ("code".to_owned(), r#"{"prompt":"x"}"#.to_owned(), "input".to_owned());
    NewTaskRun { task, name, plan, session, user_input, now: TIME }
}

async fn find(store: &Store, task: TaskId) -> StoredTaskRun {
    let found = store.task(task).await.expect("read");
    let Some(StoredTask { owner: TaskOwner::Session(run), .. }) = found else { panic!("{found:?}") };
    *run
}

pub(super) async fn ids_of_tasks_are_never_given_twice(medium: &Medium) {
    let mut store = medium.open();
    let mut next = 1;
    for (count, ending) in [(1, Ending::Clean), (5, Ending::Crash), (3, Ending::PowerCut), (1, Ending::PowerCut)] {
        let synced = store.statistics().synced_commits.get();
        assert_eq!(store.reserve_task_ids(count).await.expect("reserved"), next, "{ending:?}");
        if let Medium::Sqlite { .. } = medium {
            assert!(store.statistics().synced_commits.get() > synced, "the commit waited for the disk");
        }
        next += count;
        store = medium.restart(store, ending).await;
    }
    assert_eq!(store.reserve_task_ids(1).await.expect("reserved"), next);
    store.close().await;
}

pub(super) async fn a_task_is_of_a_job_or_of_a_session(medium: &Medium) {
    let store = medium.open();
    let (session, job) = (new_session(&store).await, new_job(&store).await);
    let (of_job, of_session) = (next_task(&store).await, next_task(&store).await);
    let created = Change::TaskCreated { task: of_job, work_id: 7 };
    store.append_checked(changes(job, vec![created])).await.expect("appended");
    store.create_task_run(borrowed(of_session, session)).await.expect("created");
    let store = medium.restart(store, Ending::Crash).await;
    let owner = TaskOwner::Job { job, work_id: 7 };
    assert_eq!(store.task(of_job).await.expect("read"), Some(StoredTask { id: of_job, owner }));
    let NewTaskRun { name, plan, user_input, .. } = borrowed(of_session, session);
    let run = RunState { status: JobStatus::Running, error: None, started_at: TIME, ended_at: None, is_settled: false };
    assert_eq!(find(&store, of_session).await, StoredTaskRun { session, name, plan, user_input, run, next_seq: 1 });
    assert_eq!(store.task(TaskId::from_number(99)).await.expect("read"), None);
    assert_eq!(store.unsettled_task_runs().await.expect("read"), [of_session], "a job settles its own tasks");
    store.close().await;
}

pub(super) async fn an_id_names_one_task(medium: &Medium) {
    let store = medium.open();
    let (session, job) = (new_session(&store).await, new_job(&store).await);
    let task = next_task(&store).await;
    store.create_task_run(borrowed(task, session)).await.expect("created");
    let again = store.create_task_run(borrowed(task, session)).await;
    assert!(matches!(again, Err(StoreError::Statement(_))), "{again:?}");
    let taken = store.append_checked(changes(job, vec![Change::TaskCreated { task, work_id: 0 }])).await;
    assert!(matches!(taken, Err(StoreError::Statement(_))), "{taken:?}");
    assert_eq!(find(&store, task).await.session, session, "it stays what it was");
    store.close().await;
}

pub(super) async fn a_task_outside_a_job_survives_a_power_cut_and_settles(medium: &Medium) {
    let store = medium.open();
    let session = new_session(&store).await;
    let (task, other) = (next_task(&store).await, next_task(&store).await);
    let synced = store.statistics().synced_commits.get();
    for task in [task, other] {
        store.create_task_run(borrowed(task, session)).await.expect("created");
    }
    if let Medium::Sqlite { .. } = medium {
        assert_eq!(store.statistics().synced_commits.get(), synced + 2, "each commit waited for the disk");
    }
    store.append_checked(events(task, 1..=3)).await.expect("appended");
    let store = medium.restart(store, Ending::PowerCut).await;
    let next_seq = find(&store, task).await.next_seq;
    assert!(next_seq > 3 && next_seq == store.next_seq(task).await.expect("read"), "{next_seq}");
    let mut append = events(task, next_seq..=next_seq);
    let ended_at = Some(Timestamp::from_millis(9));
    let error = Some("the agent is gone".to_owned());
    append.changes = vec![Change::RunStatus { status: JobStatus::Failed, error: error.clone(), ended_at }];
    store.append_checked(append).await.expect("appended");
    let failed = RunState { status: JobStatus::Failed, error, started_at: TIME, ended_at, is_settled: false };
    assert_eq!(find(&store, task).await.run, failed);
    assert_eq!(store.unsettled_task_runs().await.expect("read"), [task, other]);
    store.append_checked(changes(task, vec![Change::RunSettled])).await.expect("appended");
    assert_eq!(find(&store, task).await.run, RunState { is_settled: true, ..failed });
    assert_eq!(store.unsettled_task_runs().await.expect("read"), [other]);
    store.close().await;
}

pub(super) async fn a_deleted_session_takes_its_tasks_with_it(medium: &Medium) {
    let store = medium.open();
    let sessions = [new_session(&store).await, new_session(&store).await];
    let tasks = [next_task(&store).await, next_task(&store).await];
    for (task, session) in tasks.into_iter().zip(sessions) {
        store.create_task_run(borrowed(task, session)).await.expect("created");
        store.append_checked(events(task, 1..=3)).await.expect("appended");
        let token = "a".to_owned();
        let reader = ReaderPosition { stream: task.into(), token, position: 1, done: false, seen_at: TIME };
        store.save_reader_positions(vec![reader]).await.expect("saved");
    }
    store.delete_session(sessions[0]).await.expect("deleted");
    store.settle().await.expect("settled");
    let is_there = async |task: TaskId| {
        let readers = store.reader_positions(task).await.expect("read").len();
        (store.task(task).await.expect("read").is_some(), seqs(&store, task).await.len(), readers)
    };
    assert_eq!((is_there(tasks[0]).await, is_there(tasks[1]).await), ((false, 0, 0), (true, 3, 1)));
    assert_eq!(store.unsettled_task_runs().await.expect("read"), [tasks[1]]);
    store.close().await;
}

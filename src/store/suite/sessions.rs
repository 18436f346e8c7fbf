//! What must hold for sessions.

use std::path::PathBuf;

use super::{Ending, Medium, TIME, accepted, changes, ended, events, new_record, new_session, seqs};
use crate::model::{
    JobId, LastTurn, LostSession, PromptId, SessionJob, SessionOrigin, SessionState, TaskId, Timestamp, TurnId, Usage,
};
use crate::store::{Change, Creation, CreationKey, NewSessionRecord, OpenTurn, SessionFilter, Store, UsageReport};

pub(super) async fn a_creation_with_a_known_key_returns_the_same_session(medium: &Medium) {
    let store = medium.open();
    let key = |fingerprint: &str| Some(CreationKey { key: "k".to_owned(), fingerprint: fingerprint.to_owned() });
    let record = |fingerprint: &str, most_open| {
        let mut record = new_record();
        record.most_open = most_open;
        record.origin = SessionOrigin::Job;
        record.key = key(fingerprint);
        record
    };
    let created = store.create_session(record("same", 1)).await.expect("answered");
    let Creation::New(id) = created else { panic!("{created:?}") };
    let again = async |record| store.create_session(record).await.expect("answered");
    assert_eq!(again(record("same", 1)).await, Creation::Known(id), "although one may be open");
    assert_eq!(again(record("other", 9)).await, Creation::KeyReused);
    let mut without_key = new_record();
    without_key.most_open = 1;
    assert_eq!(again(without_key).await, Creation::TooMany);
    let by_key = store.session_by_creation_key("k".to_owned()).await.expect("read");
    assert_eq!(by_key, Some((id, "same".to_owned())));
    assert_eq!(store.session(id).await.expect("read").expect("there").origin, SessionOrigin::Job);
    store.delete_session(id).await.expect("deleted");
    assert!(matches!(again(record("other", 9)).await, Creation::New(new) if new != id), "an id is never given twice");
    store.close().await;
}

pub(super) async fn changes_are_there_after_a_restart(medium: &Medium) {
    let store = medium.open();
    let session = new_session(&store).await;
    let turn =
        OpenTurn { turn_id: TurnId::from("turn-1"), prompt: Some(PromptId::from_number(1)), after: 3, begun: None };
    let mut append = changes(
        session,
        vec![
            Change::State(SessionState::Working, Some("why".to_owned())),
            Change::Title("title".to_owned()),
            Change::Model("model".to_owned(), Some("high".to_owned())),
            Change::AgentSession(Some("agent".to_owned())),
            Change::Turn(Some(turn.clone())),
            Change::Usage(Usage { input_tokens: Some(7), ..Usage::default() }),
        ],
    );
    append.time = Timestamp::from_millis(5);
    store.append_checked(append).await.expect("appended");
    let store = medium.restart(store, Ending::Crash).await;
    let stored = store.load_session(session).await.expect("read").expect("there");
    let summary = stored.summary;
    assert_eq!((summary.state, summary.state_detail.as_deref()), (SessionState::Working, Some("why")));
    assert_eq!((summary.created_at, summary.updated_at), (TIME, Timestamp::from_millis(5)));
    assert_eq!((summary.profile.title.as_deref(), summary.profile.model.as_str()), (Some("title"), "model"));
    assert_eq!((summary.profile.title_is_given, summary.profile.effort.as_deref()), (false, Some("high")));
    let given = vec![Change::Title("agent's".to_owned()), Change::TitleGiven("mine".to_owned())];
    store.append_checked(changes(session, given)).await.expect("appended");
    let profile = store.session(session).await.expect("read").expect("there").profile;
    assert_eq!((profile.title.as_deref(), profile.title_is_given), (Some("mine"), true));
    assert_eq!((stored.agent_session_id.as_deref(), stored.turn), (Some("agent"), Some(turn)));
    assert_eq!(stored.usage.input_tokens, Some(7));
    assert_eq!(store.unfinished_sessions().await.expect("read"), [session]);
    assert_eq!(store.agent_sessions("demo".to_owned()).await.expect("read"), [("agent".to_owned(), session)]);
    store.settle_states().await.expect("settled");
    let state = async || store.session(session).await.expect("read").expect("there").state;
    assert_eq!(state().await, SessionState::Working, "its turn is open");
    store.append_checked(changes(session, vec![Change::Turn(None)])).await.expect("appended");
    store.settle_states().await.expect("settled");
    assert_eq!(state().await, SessionState::Ready);
    store.close().await;
}

pub(super) async fn the_newest_loss_is_kept(medium: &Medium) {
    let store = medium.open();
    let session = new_session(&store).await;
    let loss = |seq: u64| LostSession { seq, message: format!("loss {seq}"), detail: Some("ENOENT".to_owned()) };
    let load = async |store: &Store| store.load_session(session).await.expect("read").expect("there").loss;
    assert_eq!(load(&store).await, None);
    for seq in [3, 9] {
        store.append_checked(changes(session, vec![Change::SessionLost(loss(seq))])).await.expect("appended");
    }
    let store = medium.restart(store, Ending::Crash).await;
    assert_eq!(load(&store).await, Some(loss(9)));
    store.close().await;
}

pub(super) async fn what_was_seen_only_moves_forward_and_is_no_news(medium: &Medium) {
    let store = medium.open();
    let session = new_session(&store).await;
    let load = async |store: &Store| store.session(session).await.expect("read").expect("there");
    assert!(!load(&store).await.is_unread() && !load(&store).await.has_failed(), "nothing has happened in it");
    for (end, is_failed) in [(4, true), (9, false)] {
        let turn = vec![Change::TurnOver(LastTurn { end, is_failed })];
        store.append_checked(changes(session, turn)).await.expect("appended");
        let summary = load(&store).await;
        assert!(summary.is_unread());
        assert_eq!(summary.has_failed(), is_failed);
    }
    let before = load(&store).await.updated_at;
    for through in [9, 3] {
        store.mark_seen(session, through).await.expect("marked");
    }
    let store = medium.restart(store, Ending::Clean).await;
    let summary = load(&store).await;
    assert_eq!((summary.seen_seq, summary.is_unread(), summary.updated_at), (9, false, before));
    store.delete_session(session).await.expect("deleted");
    store.mark_seen(session, 12).await.expect("nothing to mark");
    store.close().await;
}

pub(super) async fn sessions_are_listed_newest_first_and_by_state(medium: &Medium) {
    let store = medium.open();
    let mut ids = Vec::new();
    for _ in 0..4 {
        ids.push(new_session(&store).await);
    }
    let close = |moment| vec![Change::State(SessionState::Closed, None), Change::ClosedAt(Some(moment))];
    store.append_checked(changes(ids[1], close(Timestamp::from_millis(20)))).await.expect("appended");
    store.append_checked(changes(ids[2], close(Timestamp::from_millis(10)))).await.expect("appended");
    let list = async |state, after, limit| {
        let found = store.sessions(SessionFilter { state, job: None, after, limit }).await.expect("read");
        found.into_iter().map(|summary| summary.id).collect::<Vec<_>>()
    };
    assert_eq!(list(None, None, 2).await, [ids[3], ids[2]]);
    assert_eq!(list(None, Some(ids[2]), 9).await, [ids[1], ids[0]]);
    assert_eq!(list(Some(SessionState::Ready), None, 9).await, [ids[3], ids[0]]);
    let mut counts = store.session_counts().await.expect("read");
    counts.sort_by_key(|(state, _)| state.as_str());
    assert_eq!(counts, [(SessionState::Closed, 2), (SessionState::Ready, 2)]);
    let longest = async |before| store.longest_closed(Timestamp::from_millis(before)).await.expect("read");
    assert_eq!((longest(30).await, longest(10).await), (Some(ids[2]), None));
    store.close().await;
}

pub(super) async fn sessions_of_a_job_are_found_by_it(medium: &Medium) {
    let store = medium.open();
    let work = |job: u32, task: u32| SessionJob {
        job_id: JobId::from_number(job),
        job_name: "deliver".to_owned(),
        task_id: TaskId::from_number(task),
        task_name: "code".to_owned(),
        work_id: 2,
        is_driving: true,
    };
    let works = [Some(work(1, 1)), None, Some(work(11, 2)), Some(work(1, 3))];
    let mut ids = Vec::new();
    for job in works.clone() {
        let created = store.create_session(NewSessionRecord { job, ..new_record() }).await.expect("created");
        let Creation::New(id) = created else { panic!("{created:?}") };
        ids.push(id);
    }
    let store = medium.restart(store, Ending::PowerCut).await;
    for (id, work) in ids.iter().zip(works) {
        assert_eq!(store.session(*id).await.expect("read").expect("there").job, work);
    }
    let list = async |filter| {
        let found = store.sessions(filter).await.expect("read");
        found.into_iter().map(|summary| summary.id).collect::<Vec<_>>()
    };
    let all = SessionFilter { state: None, job: Some(JobId::from_number(1)), after: None, limit: 9 };
    assert_eq!(list(all).await, [ids[3], ids[0]]);
    assert_eq!(list(SessionFilter { limit: 1, ..all }).await, [ids[3]]);
    assert_eq!(list(SessionFilter { after: Some(ids[3]), ..all }).await, [ids[0]]);
    assert_eq!(list(SessionFilter { state: Some(SessionState::Closed), ..all }).await, []);
    store.close().await;
}

#[cfg(unix)]
pub(super) fn odd_folder() -> PathBuf {
    use std::os::unix::ffi::OsStrExt;
    PathBuf::from(std::ffi::OsStr::from_bytes(b"/work/\xff\xfe"))
}

#[cfg(not(unix))]
pub(super) fn odd_folder() -> PathBuf {
    PathBuf::from("/work/odd")
}

pub(super) async fn a_folder_whose_name_is_not_text_is_kept_as_it_is(medium: &Medium) {
    let store = medium.open();
    let mut folders = Vec::new();
    for folder in [odd_folder(), PathBuf::from("/work/plain"), odd_folder()] {
        let mut record = new_record();
        record.profile.working_directory = Some(folder.clone());
        let created = store.create_session(record).await.expect("created");
        let Creation::New(id) = created else { panic!("{created:?}") };
        folders.push((id, folder));
    }
    let store = medium.restart(store, Ending::Clean).await;
    for (id, folder) in folders {
        assert_eq!(store.session(id).await.expect("read").expect("there").profile.working_directory, Some(folder));
    }
    let recent = store.recent_working_directories(9).await.expect("read");
    assert_eq!(recent, [odd_folder(), PathBuf::from("/work/plain")]);
    store.close().await;
}

pub(super) async fn a_deleted_session_leaves_nothing_but_its_usage(medium: &Medium) {
    let store = medium.open();
    let (session, other) = (new_session(&store).await, new_session(&store).await);
    let day = "2026-01-02".parse().expect("a day");
    let usage = Usage { input_tokens: Some(3), ..Usage::default() };
    let report = UsageReport { day, runtime: "demo".to_owned(), model: "m".to_owned(), usage };
    let mut append = events(session, 1..=9);
    append.changes = vec![accepted(1, Some("k")), ended(1), Change::UsageReported(report)];
    store.append_checked(append).await.expect("appended");
    store.append_checked(events(other, 1..=2)).await.expect("appended");
    store.delete_session(session).await.expect("deleted");
    store.settle().await.expect("settled");
    assert!(store.session(session).await.expect("read").is_none());
    assert!(store.load_session(session).await.expect("read").is_none());
    assert!(seqs(&store, session).await.is_empty());
    assert_eq!(store.prompt_by_key(session, "k".to_owned()).await.expect("read"), None);
    assert_eq!(store.outcomes_after(0, 9).await.expect("read"), []);
    assert_eq!(store.usage_total(day, day).await.expect("read").usage.input_tokens, Some(3));
    assert_eq!(seqs(&store, other).await, [1, 2]);
    store.close().await;
}

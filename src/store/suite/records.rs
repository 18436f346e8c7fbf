//! What must hold for readers, logins, usage and blobs.

use super::jobs::new_job;
use super::{Ending, Medium, changes, new_session};
use crate::model::{
    Day, FolderRule, JobId, PermissionRule, RuleDecision, Seq, SessionId, StreamId, TaskId, Timestamp, Usage,
};
use crate::store::{
    Blob, CaptureSession, Change, ReaderPosition, StoredFolderRule, StoredLogin, UsageGrouping, UsageKey, UsageReport,
};

fn reader(stream: impl Into<StreamId>, token: &str, position: Seq, done: bool, seen_at: i64) -> ReaderPosition {
    let seen_at = Timestamp::from_millis(seen_at);
    ReaderPosition { stream: stream.into(), token: token.to_owned(), position, done, seen_at }
}

pub(super) async fn readers_are_saved_and_expire(medium: &Medium) {
    let store = medium.open();
    let session = new_session(&store).await;
    let nobody = SessionId::from_number(999);
    let saved = vec![
        reader(session, "", 1, false, 1),
        reader(session, "a", 2, true, 1),
        reader(session, "b", 3, false, 9),
        reader(nobody, "c", 4, false, 9),
    ];
    store.save_reader_positions(saved.clone()).await.expect("saved");
    store.save_reader_positions(vec![reader(session, "b", 5, false, 9)]).await.expect("saved");
    let store = medium.restart(store, Ending::Crash).await;
    let read = async |session| {
        let mut found = store.reader_positions(session).await.expect("read");
        found.sort_by(|one, two| one.token.cmp(&two.token));
        found
    };
    assert_eq!(read(session).await, [saved[0].clone(), saved[1].clone(), reader(session, "b", 5, false, 9)]);
    assert_eq!(read(nobody).await, []);
    store.append_checked(changes(session, vec![Change::ReadersReopened])).await.expect("appended");
    assert!(read(session).await.iter().all(|reader| !reader.done));
    store.expire_readers(Timestamp::from_millis(5)).await.expect("expired");
    let left: Vec<String> = read(session).await.into_iter().map(|reader| reader.token).collect();
    assert_eq!(left, ["", "b"], "the shared cursor stays");
    store.close().await;
}

pub(super) async fn readers_of_jobs_and_tasks_are_not_mixed_up_with_those_of_sessions(medium: &Medium) {
    let store = medium.open();
    let (session, job) = (new_session(&store).await, new_job(&store).await);
    assert_eq!(session.number(), job.number());
    let task = TaskId::from_number(store.reserve_task_ids(1).await.expect("reserved"));
    store.append_checked(changes(job, vec![Change::TaskCreated { task, work_id: 0 }])).await.expect("appended");
    let streams = [StreamId::Session(session), job.into(), task.into()];
    let saved: Vec<_> = streams.iter().zip(1..).map(|(stream, seq)| reader(*stream, "a", seq, true, 1)).collect();
    store.save_reader_positions(saved.clone()).await.expect("saved");
    let nobodies = [StreamId::Job(JobId::from_number(999)), TaskId::from_number(999).into()];
    let lost = nobodies.iter().map(|stream| reader(*stream, "a", 1, true, 1)).collect();
    store.save_reader_positions(lost).await.expect("ignored");
    let store = medium.restart(store, Ending::Crash).await;
    for (stream, reader) in streams.into_iter().zip(saved) {
        assert_eq!(store.reader_positions(stream).await.expect("read"), [reader]);
    }
    for nobody in nobodies {
        assert_eq!(store.reader_positions(nobody).await.expect("read"), []);
    }
    store.append_checked(changes(job, vec![Change::ReadersReopened])).await.expect("appended");
    let mut done = Vec::new();
    for stream in streams {
        done.extend(store.reader_positions(stream).await.expect("read").iter().map(|reader| reader.done));
    }
    assert_eq!(done, [true, false, true]);
    store.close().await;
}

pub(super) async fn logins_expire(medium: &Medium) {
    let store = medium.open();
    let at = Timestamp::from_millis;
    let login = |name: &str, expires_at| StoredLogin {
        cookie_hash: name.to_owned(),
        secret_hash: format!("secret of {name}"),
        expires_at: at(expires_at),
    };
    store.add_login(login("old", 10), at(0)).await.expect("added");
    store.add_login(login("new", 20), at(5)).await.expect("added");
    let mut both = store.logins(at(5)).await.expect("read");
    both.sort_by_key(|login| login.cookie_hash.clone());
    assert_eq!(both, [login("new", 20), login("old", 10)]);
    assert_eq!(store.logins(at(10)).await.expect("read"), [login("new", 20)]);
    store.close().await;
}

pub(super) async fn sessions_of_captures_are_kept_until_they_are_removed(medium: &Medium) {
    let store = medium.open();
    let session = |id: &str, waits_for: Option<&str>, expires_at| CaptureSession {
        id: id.to_owned(),
        runtime: "demo".to_owned(),
        waits_for: waits_for.map(str::to_owned),
        expires_at: Timestamp::from_millis(expires_at),
    };
    store.put_capture_session(session("late", None, 20)).await.expect("written");
    store.put_capture_session(session("early", None, 10)).await.expect("written");
    store.put_capture_session(session("early", Some("{}"), 15)).await.expect("written again");
    let usage = Usage { input_tokens: Some(3), ..Usage::default() };
    let day: Day = "2026-01-02".parse().expect("a day");
    let report = UsageReport { day, runtime: "demo".to_owned(), model: "m".to_owned(), usage };
    store.add_usage(report).await.expect("added");
    let store = medium.restart(store, Ending::Crash).await;
    let all = store.capture_sessions().await.expect("read");
    assert_eq!(all, [session("early", Some("{}"), 15), session("late", None, 20)]);
    store.remove_capture_session("early".to_owned()).await.expect("removed");
    assert_eq!(store.capture_sessions().await.expect("read"), [session("late", None, 20)]);
    let total = store.usage_total(day, day).await.expect("read");
    assert_eq!(total.usage.input_tokens, Some(3), "it counts for the day");
    let by_session = store.usage(day, day, UsageGrouping::Session, 10).await.expect("read");
    assert!(by_session.is_empty(), "and for no session");
    store.close().await;
}

pub(super) async fn rules_of_folders_are_kept_once_until_they_are_removed(medium: &Medium) {
    let store = medium.open();
    let session = new_session(&store).await;
    let rule = |folder: &str, prefix: Option<&str>| FolderRule {
        folder: folder.into(),
        rule: PermissionRule {
            prefix: prefix.map(str::to_owned),
            ..PermissionRule::for_tool("shell", RuleDecision::Allow)
        },
    };
    let all = [rule("/one", None), rule("/one", Some("git status")), rule("/two", None)];
    let added = all.iter().chain([&all[0]]).cloned().map(Change::FolderRuleAdded).collect();
    let mut append = changes(session, added);
    append.time = Timestamp::from_millis(7);
    store.append_checked(append).await.expect("appended");
    let store = medium.restart(store, Ending::Crash).await;
    let kept = store.folder_rules().await.expect("read");
    let added_at = Timestamp::from_millis(7);
    let stored = |(id, rule): (u64, &FolderRule)| StoredFolderRule { id, rule: rule.clone(), added_at };
    let expected: Vec<StoredFolderRule> = (1..).zip(&all).map(stored).collect();
    assert_eq!(kept, expected);
    assert!(store.remove_folder_rule(3).await.expect("removed"));
    assert!(!store.remove_folder_rule(3).await.expect("asked"), "it is gone");
    assert!(!store.remove_folder_rule(u64::MAX).await.expect("asked"));
    store.delete_session(session).await.expect("deleted");
    let store = medium.restart(store, Ending::PowerCut).await;
    assert_eq!(store.folder_rules().await.expect("read"), expected[..2], "they outlive the session and stay removed");
    let session = new_session(&store).await;
    store.append_checked(changes(session, vec![Change::FolderRuleAdded(all[2].clone())])).await.expect("appended");
    assert!(store.folder_rules().await.expect("read")[2].id > 3, "no id names another rule");
    store.close().await;
}

pub(super) async fn usage_is_summed_by_day_model_and_session(medium: &Medium) {
    let store = medium.open();
    let (one, two) = (new_session(&store).await, new_session(&store).await);
    let report = |day: &str, model: &str, input_tokens| {
        let usage = Usage { input_tokens, ..Usage::default() };
        let day: Day = day.parse().expect("a day");
        Change::UsageReported(UsageReport { day, runtime: "demo".to_owned(), model: model.to_owned(), usage })
    };
    let reports = vec![report("2026-01-02", "a", Some(3)), report("2026-01-02", "a", None)];
    store.append_checked(changes(one, reports)).await.expect("appended");
    store.append_checked(changes(two, vec![report("2026-01-03", "b", Some(9))])).await.expect("appended");
    let day = |text: &str| text.parse::<Day>().expect("a day");
    let (first, last) = (day("2026-01-02"), day("2026-01-03"));
    let total = store.usage_total(first, last).await.expect("read");
    assert_eq!((total.reports, total.usage.input_tokens, total.unknown.input_tokens), (3, Some(12), 1));
    assert_eq!(total.usage.output_tokens, None, "unknown, not 0");
    let rows = async |grouping| {
        let rows = store.usage(first, last, grouping, 9).await.expect("read");
        rows.into_iter().map(|row| (row.key, row.total.usage.input_tokens)).collect::<Vec<_>>()
    };
    let days = [(UsageKey::Day(last), Some(9)), (UsageKey::Day(first), Some(3))];
    assert_eq!(rows(UsageGrouping::Day).await, days);
    let model = |model: &str| UsageKey::Model { model: model.to_owned(), runtimes: vec!["demo".to_owned()] };
    assert_eq!(rows(UsageGrouping::Model).await, [(model("b"), Some(9)), (model("a"), Some(3))]);
    let session = |id| UsageKey::Session { id, title: None, runtime: "demo".to_owned(), deleted: false };
    assert_eq!(rows(UsageGrouping::Session).await, [(session(two), Some(9)), (session(one), Some(3))]);
    assert_eq!(store.usage_of_all_time().await.expect("read").len(), 2);
    store.close().await;
}

pub(super) async fn blobs_belong_to_the_sessions_that_use_them(medium: &Medium) {
    let store = medium.open();
    let (session, other) = (new_session(&store).await, new_session(&store).await);
    let hash = store.put_blob(b"data".to_vec()).await.expect("written");
    let read = async |session| store.blob(session, hash.clone()).await.expect("read");
    assert_eq!(read(session).await, None, "nobody uses it yet");
    let used = Change::BlobUsed { hash: hash.clone(), mime: "text/plain".to_owned(), size: 4 };
    store.append_checked(changes(session, vec![used])).await.expect("appended");
    store.remove_unused_blobs().await.expect("removed");
    assert_eq!(read(session).await, Some(Blob { mime: "text/plain".to_owned(), data: b"data".to_vec() }));
    assert_eq!(read(other).await, None);
    store.close().await;
}

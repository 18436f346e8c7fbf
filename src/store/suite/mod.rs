//! What every backend must do, as tests over the store's handle. They run against each [`Medium`]; a new backend adds
//! one.

mod browsers;
mod capture_calls;
pub(super) mod jobs;
mod log;
mod notifications;
mod power_cut;
mod prompts;
mod records;
mod search;
mod sessions;
mod tasks;
mod tokens;
mod trusted_entries;

use std::sync::{Arc, Mutex};

use bytes::Bytes;
use tempfile::TempDir;

use super::memory::{Disk, Memory};
use super::sqlite;
use super::{
    Append, Change, CommitObserver, Creation, DataFolder, EndedBlock, EventPage, EventRow, NewSessionRecord,
    QueuedPrompt, Store, StoreError, StoreSettings,
};
use crate::model::{
    PermissionPolicy, PromptId, PromptOutcome, PromptVerdict, Seq, SessionBudget, SessionId, SessionOrigin,
    SessionProfile, SessionState, StreamId, Timestamp, TurnActivity, Usage,
};

const TIME: Timestamp = Timestamp::from_millis(0);

/// What a store is stored on.
pub(super) enum Medium {
    Sqlite { folder: DataFolder, _root: TempDir },
    Memory(Disk),
}

/// How a server ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ending {
    Clean,
    Crash,
    PowerCut,
}

impl Medium {
    pub fn sqlite() -> Self {
        let root = tempfile::tempdir().expect("a folder");
        Self::Sqlite { folder: DataFolder::lock(root.path()).expect("locked"), _root: root }
    }

    pub fn memory() -> Self {
        Self::Memory(Disk::default())
    }

    pub fn open(&self) -> Store {
        match self {
            Self::Sqlite { folder, .. } => Store::open(folder, StoreSettings::default()).expect("opened"),
            Self::Memory(disk) => Store::on(Arc::new(Memory::on(disk))),
        }
    }

    /// Ends the server and opens its store again.
    async fn restart(&self, store: Store, ending: Ending) -> Store {
        match self {
            Self::Sqlite { folder, .. } => {
                store.close().await;
                match ending {
                    Ending::Clean => {}
                    Ending::Crash => sqlite::leave_open(folder, None),
                    Ending::PowerCut => sqlite::leave_open(folder, Some("another boot")),
                }
            }
            Self::Memory(disk) => match ending {
                Ending::Clean => store.close().await,
                Ending::Crash => {}
                Ending::PowerCut => disk.cut_power(),
            },
        }
        drop(store);
        self.open()
    }
}

macro_rules! behaviour {
    ($($module:ident :: $name:ident,)*) => {
        mod on_sqlite {
            $(#[tokio::test]
            async fn $name() {
                super::$module::$name(&super::Medium::sqlite()).await;
            })*
        }

        mod on_memory {
            $(#[tokio::test]
            async fn $name() {
                super::$module::$name(&super::Medium::memory()).await;
            })*
        }
    };
}

behaviour! {
    browsers::a_browser_is_there_until_it_is_removed,
    browsers::a_browser_is_gone_with_its_login,
    capture_calls::captured_calls_are_listed_newest_first_in_pages,
    capture_calls::old_captured_calls_are_deleted_and_their_numbers_are_not_given_again,
    jobs::a_job_is_created_once_per_key,
    jobs::a_job_survives_a_power_cut,
    jobs::a_job_ends_settles_and_runs_again,
    jobs::jobs_are_listed_newest_first_and_by_status,
    jobs::a_deleted_job_leaves_nothing_but_its_sessions,
    jobs::a_change_in_a_log_where_it_does_not_belong_is_rejected,
    log::a_log_is_read_in_pages_in_both_directions,
    log::deltas_of_an_ended_block_are_gone_and_its_end_leads_to_its_start,
    log::prompts_are_found_in_a_log,
    log::subscribers_hear_of_every_commit_to_their_stream,
    log::a_rejected_append_takes_no_other_with_it,
    log::a_job_has_a_log_like_a_session,
    notifications::a_happening_is_there_until_its_deliveries_are_planned,
    notifications::deliveries_are_sent_in_order_until_they_end,
    notifications::what_was_asked_for_and_is_done_is_not_sent,
    notifications::a_task_reports_nothing_of_its_own,
    power_cut::numbers_of_events_never_repeat,
    power_cut::numbers_of_prompts_never_repeat,
    power_cut::numbers_of_outcomes_never_repeat,
    power_cut::keys_hold,
    prompts::a_prompt_goes_from_queued_to_its_outcome,
    prompts::the_fingerprint_is_the_callers,
    prompts::attachments_are_kept_until_a_prompt_has_succeeded,
    prompts::prompts_that_come_first_are_sent_before_others_that_wait,
    prompts::queued_prompts_are_changed_and_moved,
    prompts::commands_of_the_agent_are_kept,
    prompts::outcomes_of_all_sessions_are_read_by_number,
    prompts::outcomes_keep_their_numbers_when_the_newest_is_deleted,
    prompts::open_requests_are_listed_in_the_order_of_their_numbers,
    sessions::a_creation_with_a_known_key_returns_the_same_session,
    sessions::changes_are_there_after_a_restart,
    sessions::the_newest_loss_is_kept,
    sessions::what_was_seen_only_moves_forward_and_is_no_news,
    sessions::sessions_are_listed_newest_first_and_by_state,
    sessions::sessions_of_a_job_are_found_by_it,
    sessions::a_folder_whose_name_is_not_text_is_kept_as_it_is,
    sessions::a_deleted_session_leaves_nothing_but_its_usage,
    records::readers_are_saved_and_expire,
    records::readers_of_jobs_and_tasks_are_not_mixed_up_with_those_of_sessions,
    records::logins_expire,
    records::sessions_of_captures_are_kept_until_they_are_removed,
    records::rules_of_folders_are_kept_once_until_they_are_removed,
    records::usage_is_summed_by_day_model_and_session,
    records::blobs_belong_to_the_sessions_that_use_them,
    search::texts_are_found_by_words_phrases_prefixes_and_exclusions,
    search::searches_are_limited_to_kinds_sessions_and_times,
    search::a_batch_is_indexed_once,
    search::the_backlog_has_what_the_index_lacks,
    search::a_deleted_session_is_not_found_and_not_indexed_again,
    search::snippets_mark_what_matches,
    search::sessions_are_listed_for_a_search,
    tasks::ids_of_tasks_are_never_given_twice,
    tasks::a_task_is_of_a_job_or_of_a_session,
    tasks::an_id_names_one_task,
    tasks::a_task_outside_a_job_survives_a_power_cut_and_settles,
    tasks::a_deleted_session_takes_its_tasks_with_it,
    tokens::a_token_is_there_until_it_is_revoked_and_its_record_stays,
    tokens::tokens_and_revocations_survive_a_power_cut,
    trusted_entries::an_entry_is_trusted_with_one_hash,
    trusted_entries::trust_and_its_end_survive_a_power_cut,
}

fn profile() -> SessionProfile {
    SessionProfile {
        title: None,
        title_is_given: false,
        runtime: "demo".to_owned(),
        model: "demo".to_owned(),
        effort: None,
        working_directory: None,
        permissions: PermissionPolicy::default(),
        system_prompt: None,
        options: serde_json::Map::new(),
        budget: SessionBudget::default(),
    }
}

pub(super) fn new_record() -> NewSessionRecord {
    NewSessionRecord {
        profile: profile(),
        state: SessionState::Ready,
        origin: SessionOrigin::User,
        job: None,
        key: None,
        now: TIME,
        most_open: 100,
    }
}

pub(super) async fn new_session(store: &Store) -> SessionId {
    match store.create_session(new_record()).await.expect("created") {
        Creation::New(id) => id,
        other => panic!("{other:?}"),
    }
}

/// An append of events with these numbers; each body is its number.
pub(super) fn events(stream: impl Into<StreamId>, seqs: std::ops::RangeInclusive<Seq>) -> Append {
    let row = |seq: Seq| EventRow { seq, time: TIME, block: None, body: Bytes::from(seq.to_string()) };
    Append {
        stream: stream.into(),
        time: TIME,
        events: seqs.map(row).collect(),
        ended_blocks: Vec::new(),
        changes: Vec::new(),
    }
}

/// An append of changes alone.
fn changes(stream: impl Into<StreamId>, changes: Vec<Change>) -> Append {
    Append { stream: stream.into(), time: TIME, events: Vec::new(), ended_blocks: Vec::new(), changes }
}

/// The numbers of all events.
pub(super) async fn seqs(store: &Store, stream: impl Into<StreamId>) -> Vec<Seq> {
    let page = EventPage { after: 0, before: None, limit: 100_000, max_bytes: usize::MAX };
    store.events(stream.into(), page).await.expect("read").0.iter().map(|event| event.seq).collect()
}

fn accepted(number: u32, key: Option<&str>) -> Change {
    let (id, idempotency_key) = (PromptId::from_number(number), key.map(str::to_owned));
    let text = format!("text {number}");
    Change::PromptAccepted(QueuedPrompt { idempotency_key, ..QueuedPrompt::plain(id, text) }.prepare())
}

fn ended(number: u32) -> Change {
    Change::PromptEnded(PromptId::from_number(number), outcome(number))
}

fn outcome(number: u32) -> PromptOutcome {
    PromptOutcome {
        prompt_id: PromptId::from_number(number),
        text: "done".to_owned(),
        verdict: PromptVerdict::Succeeded,
        usage: Usage::default(),
        error_class: None,
        retry: None,
        activity: TurnActivity::default(),
    }
}

/// Records what it is notified of.
#[derive(Default)]
pub(super) struct Heard {
    pub committed: Mutex<Vec<Seq>>,
    pub rejected: Mutex<Vec<String>>,
}

impl CommitObserver for Heard {
    fn committed(&self, through: Seq) {
        self.committed.lock().expect("not poisoned").push(through);
    }

    fn rejected(&self, error: &StoreError) {
        self.rejected.lock().expect("not poisoned").push(error.to_string());
    }
}

/// An observer of a stream.
pub(super) fn observe(store: &Store, stream: impl Into<StreamId>) -> Arc<Heard> {
    let heard = Arc::new(Heard::default());
    store.subscribe(stream, Arc::<Heard>::downgrade(&heard));
    heard
}

fn ended_block(start: Seq, end: Seq, deltas: u64) -> EndedBlock {
    EndedBlock { start, end, deltas }
}

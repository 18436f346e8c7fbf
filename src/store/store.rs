//! The handle on the backend.

use std::path::PathBuf;
use std::sync::{Arc, Weak};

use tokio::sync::watch;

use super::sqlite::Sqlite;
use super::{
    Append, Backend, Blob, BlobUse, CaptureCall, CaptureCallId, CaptureSession, CaptureUsage, ClosedRequest,
    CommitObserver, Creation, DataFolder, EventPage, IndexBacklog, IndexBatch, KnownPrompt, Match, MatchQuery,
    NewSessionRecord, NewToken, OutcomeSeq, QueuedPrompt, ReaderPosition, Revocation, SearchTerms, SearchText,
    SessionFacts, SessionFilter, SnippetPart, StoreError, StoreHealth, StoreStatistics, StoredCaptureCall, StoredEvent,
    StoredFolderRule, StoredLogin, StoredOutcome, StoredSession, StoredToken, UsageGrouping, UsageReport, UsageRow,
};
use crate::model::{
    Day, PromptVerdict, Seq, SessionId, SessionState, SessionSummary, StreamId, Timestamp, TokenId, UsageTotal, redact,
};

/// How to open the database.
#[derive(Clone, Copy, Debug, Default)]
pub struct StoreSettings {
    /// The database never grows beyond this.
    pub max_bytes: Option<u64>,
}

/// A handle on the store; clones share it.
#[derive(Clone)]
pub struct Store {
    pub(super) backend: Arc<dyn Backend>,
}

impl Store {
    /// Opens the database of a locked folder, creating or migrating it as needed. Blocks.
    pub fn open(folder: &DataFolder, settings: StoreSettings) -> Result<Self, StoreError> {
        Ok(Self::on(Arc::new(Sqlite::open(folder, settings)?)))
    }

    /// A handle on a backend.
    pub fn on(backend: Arc<dyn Backend>) -> Self {
        Self { backend }
    }

    /// Appends events. Returns at once; subscribers are notified of the commit. The caller bounds how much it has in
    /// flight.
    pub fn append(&self, append: Append) {
        self.backend.append(append);
    }

    /// Appends events and waits for the commit; on an error nothing was written and nothing is kept.
    pub async fn append_checked(&self, append: Append) -> Result<(), StoreError> {
        self.backend.append_checked(append).await
    }

    /// Calls the observer for every commit to a stream from now on, for as long as it exists.
    pub fn subscribe(&self, stream: impl Into<StreamId>, observer: Weak<dyn CommitObserver>) {
        self.backend.subscribe(stream.into(), observer);
    }

    /// A page of a log, in order, and whether more follow in the direction of reading.
    pub async fn events(
        &self,
        stream: impl Into<StreamId>,
        page: EventPage,
    ) -> Result<(Vec<StoredEvent>, bool), StoreError> {
        self.backend.events(stream.into(), page).await
    }

    /// The event with this number, if it is there.
    pub async fn event(&self, stream: impl Into<StreamId>, seq: Seq) -> Result<Option<StoredEvent>, StoreError> {
        let (events, _) = self.backend.events(stream.into(), EventPage::only(seq)).await?;
        Ok(events.into_iter().next())
    }

    /// The event that started the block which ended with the event `end`.
    pub async fn block_start(&self, stream: impl Into<StreamId>, end: Seq) -> Result<Option<StoredEvent>, StoreError> {
        self.backend.block_start(stream.into(), end).await
    }

    /// The prompts in a log, those of agents included: the events `onUserPrompt` and `onGeneratedUserPrompt`, in order.
    pub async fn prompt_events(&self, stream: impl Into<StreamId>) -> Result<Vec<StoredEvent>, StoreError> {
        self.backend.prompt_events(stream.into()).await
    }

    /// The number of a log's next event.
    pub async fn next_seq(&self, stream: impl Into<StreamId>) -> Result<Seq, StoreError> {
        self.backend.next_seq(stream.into()).await
    }

    /// The store's counters.
    pub fn statistics(&self) -> &StoreStatistics {
        self.backend.statistics()
    }

    /// Whether the database is writable, and changes of that.
    pub fn health(&self) -> watch::Receiver<StoreHealth> {
        self.backend.health()
    }

    /// Resolves with the reason when the store can never write again; pending for as long as it can.
    pub async fn died(&self) -> String {
        died(self.health()).await
    }

    /// Checks now whether the database is writable, so that [`Self::health`] is up to date.
    pub async fn probe(&self) -> Result<(), StoreError> {
        self.backend.probe().await
    }

    /// Damage that reads have found since startup, for users.
    pub fn damage(&self) -> Option<String> {
        self.backend.damage()
    }

    /// Checks everything for damage; empty when the database is intact. Slow on a large one.
    pub async fn problems(&self) -> Result<Vec<String>, StoreError> {
        self.backend.problems().await
    }

    /// Waits until everything that was passed to the writer before is committed, or kept for a retry.
    pub async fn flush(&self) -> Result<(), StoreError> {
        match self.backend.all_written().await {
            Err(error @ (StoreError::Closed | StoreError::WriterDied)) => Err(error),
            // What the disk refuses is kept for a retry; `all_written` reports that.
            _ => Ok(()),
        }
    }

    /// As [`Self::flush`], with an error when something is kept because the disk refuses it.
    pub async fn all_written(&self) -> Result<(), StoreError> {
        self.backend.all_written().await
    }

    /// Waits until dropped rows are gone.
    pub async fn settle(&self) -> Result<(), StoreError> {
        self.backend.settle().await
    }

    /// Writes what is left, records the clean shutdown, and closes the files.
    pub async fn close(&self) {
        if let Err(error) = self.backend.close().await {
            tracing::warn!(%error, "could not record the clean shutdown");
        }
    }

    /// Creates a session. Its id and its key survive a power cut.
    pub async fn create_session(&self, new: NewSessionRecord) -> Result<Creation, StoreError> {
        self.backend.create_session(new).await
    }

    /// The session that was created with this key, and the fingerprint of that creation.
    pub async fn session_by_creation_key(&self, key: String) -> Result<Option<(SessionId, String)>, StoreError> {
        self.backend.session_by_creation_key(key).await
    }

    /// A session as lists show it.
    pub async fn session(&self, id: SessionId) -> Result<Option<SessionSummary>, StoreError> {
        self.backend.session(id).await
    }

    /// A session with everything needed to continue it.
    pub async fn load_session(&self, id: SessionId) -> Result<Option<StoredSession>, StoreError> {
        self.backend.load_session(id).await
    }

    /// A page of sessions, newest first.
    pub async fn sessions(&self, filter: SessionFilter) -> Result<Vec<SessionSummary>, StoreError> {
        self.backend.sessions(filter).await
    }

    /// How many sessions are in each state.
    pub async fn session_counts(&self) -> Result<Vec<(SessionState, u64)>, StoreError> {
        self.backend.session_counts().await
    }

    /// The agents' own ids of a runtime's sessions, with ours, newest first.
    pub async fn agent_sessions(&self, runtime: String) -> Result<Vec<(String, SessionId)>, StoreError> {
        self.backend.agent_sessions(runtime).await
    }

    /// The folders of the newest sessions, each once, newest first.
    pub async fn recent_working_directories(&self, limit: usize) -> Result<Vec<PathBuf>, StoreError> {
        self.backend.recent_working_directories(limit).await
    }

    /// Sessions with an open turn or an open request.
    pub async fn unfinished_sessions(&self) -> Result<Vec<SessionId>, StoreError> {
        self.backend.unfinished_sessions().await
    }

    /// Open sessions with queued prompts.
    pub async fn sessions_with_queued_prompts(&self) -> Result<Vec<SessionId>, StoreError> {
        self.backend.sessions_with_queued_prompts().await
    }

    /// Sets sessions without an open turn or request to ready, if the last run left them busy.
    pub async fn settle_states(&self) -> Result<(), StoreError> {
        self.backend.settle_states().await
    }

    /// A page has shown a session up to this event.
    pub async fn mark_seen(&self, id: SessionId, through: Seq) -> Result<(), StoreError> {
        self.backend.mark_seen(id, through).await
    }

    /// The session that was closed first, if it was closed before that moment.
    pub async fn longest_closed(&self, before: Timestamp) -> Result<Option<SessionId>, StoreError> {
        self.backend.longest_closed(before).await
    }

    /// Deletes a session and all that belongs to it but its usage: also the tasks that ran in it outside jobs. The
    /// session's actor must be gone.
    pub async fn delete_session(&self, id: SessionId) -> Result<(), StoreError> {
        self.backend.delete_session(id).await?;
        self.backend.remove_unused_blobs().await
    }

    /// How many bytes of the database are in use. Pages of dropped rows count as free once they are dropped.
    pub async fn used_bytes(&self) -> Result<u64, StoreError> {
        self.backend.used_bytes().await
    }

    /// The prompt that was sent with that key.
    pub async fn prompt_by_key(&self, session: SessionId, key: String) -> Result<Option<KnownPrompt>, StoreError> {
        self.backend.prompt_by_key(session, key).await
    }

    /// The prompt with that number.
    pub async fn prompt(&self, session: SessionId, number: u32) -> Result<Option<KnownPrompt>, StoreError> {
        self.backend.prompt(session, number).await
    }

    /// The prompt with that number, with its attachments as far as they are kept: until it has succeeded.
    pub async fn whole_prompt(&self, session: SessionId, number: u32) -> Result<Option<QueuedPrompt>, StoreError> {
        self.backend.whole_prompt(session, number).await
    }

    /// How the turns of a session's prompts ended, by the numbers of the prompts; those that have not ended are left out.
    pub async fn prompt_verdicts(&self, session: SessionId) -> Result<Vec<(u32, PromptVerdict)>, StoreError> {
        self.backend.prompt_verdicts(session).await
    }

    /// How many prompts are queued in all sessions.
    pub async fn queued_prompt_count(&self) -> Result<u64, StoreError> {
        self.backend.queued_prompt_count().await
    }

    /// How many requests of all sessions wait for a person.
    pub async fn open_request_count(&self) -> Result<u64, StoreError> {
        self.backend.open_request_count().await
    }

    /// Outcomes of all sessions after a number, in the order in which turns ended.
    pub async fn outcomes_after(&self, after: OutcomeSeq, limit: usize) -> Result<Vec<StoredOutcome>, StoreError> {
        self.backend.outcomes_after(after, limit).await
    }

    /// The number of the newest outcome, and changes of it.
    pub fn newest_outcome(&self) -> watch::Receiver<OutcomeSeq> {
        self.backend.newest_outcome()
    }

    /// How a request was closed; `None` when it is unknown or still open.
    pub async fn closed_request(&self, session: SessionId, id: String) -> Result<Option<ClosedRequest>, StoreError> {
        self.backend.closed_request(session, id).await
    }

    /// The readers of a stream.
    pub async fn reader_positions(&self, stream: impl Into<StreamId>) -> Result<Vec<ReaderPosition>, StoreError> {
        self.backend.reader_positions(stream.into()).await
    }

    /// Saves reader positions, except those of deleted sessions, jobs and tasks.
    pub async fn save_reader_positions(&self, positions: Vec<ReaderPosition>) -> Result<(), StoreError> {
        self.backend.save_reader_positions(positions).await
    }

    /// Deletes readers with a token that have not read since that moment.
    pub async fn expire_readers(&self, before: Timestamp) -> Result<(), StoreError> {
        self.backend.expire_readers(before).await
    }

    /// Writes a session of an agent that a capture uses.
    pub async fn put_capture_session(&self, session: CaptureSession) -> Result<(), StoreError> {
        self.backend.put_capture_session(session).await
    }

    /// Removes a session that the agent has deleted.
    pub async fn remove_capture_session(&self, id: String) -> Result<(), StoreError> {
        self.backend.remove_capture_session(id).await
    }

    /// All sessions of agents that captures use, the first to expire first.
    pub async fn capture_sessions(&self) -> Result<Vec<CaptureSession>, StoreError> {
        self.backend.capture_sessions().await
    }

    /// Adds to the usage of a day; it belongs to no session.
    pub async fn add_usage(&self, report: UsageReport) -> Result<(), StoreError> {
        self.backend.add_usage(report).await
    }

    /// Keeps a login until it expires; removes those that have expired.
    pub async fn add_login(&self, login: StoredLogin, now: Timestamp) -> Result<(), StoreError> {
        self.backend.add_login(login, now).await
    }

    /// The browsers that are logged in.
    pub async fn logins(&self, now: Timestamp) -> Result<Vec<StoredLogin>, StoreError> {
        self.backend.logins(now).await
    }

    /// Stores a token. It survives a power cut.
    pub async fn add_token(&self, new: NewToken) -> Result<TokenId, StoreError> {
        self.backend.add_token(new).await
    }

    /// All tokens, newest first, including those that expired or were revoked.
    pub async fn tokens(&self) -> Result<Vec<StoredToken>, StoreError> {
        self.backend.tokens().await
    }

    /// Revokes a token. The revocation survives a power cut.
    pub async fn revoke_token(&self, id: TokenId, now: Timestamp) -> Result<Revocation, StoreError> {
        self.backend.revoke_token(id, now).await
    }

    /// Records when a token was used. Returns at once; the record is lost if the disk refuses it.
    pub fn note_token_use(&self, id: TokenId, at: Timestamp) {
        self.backend.note_token_use(id, at);
    }

    /// Adds a call to the log of captured calls. Returns at once; the record is lost if the disk refuses it.
    /// Secrets in its error are redacted.
    pub fn add_capture_call(&self, call: CaptureCall) {
        let error = call.error.map(|error| redact(&error).into_owned());
        self.backend.add_capture_call(CaptureCall { error, ..call });
    }

    /// At most that many captured calls with a number below `before`, newest first.
    pub async fn capture_calls(
        &self,
        before: Option<CaptureCallId>,
        limit: usize,
    ) -> Result<Vec<StoredCaptureCall>, StoreError> {
        self.backend.capture_calls(before, limit).await
    }

    /// What each token used in captures, as far as the log goes back.
    pub async fn capture_usage(&self) -> Result<Vec<CaptureUsage>, StoreError> {
        self.backend.capture_usage().await
    }

    /// Deletes captured calls that began before that moment.
    pub async fn expire_capture_calls(&self, before: Timestamp) -> Result<(), StoreError> {
        self.backend.expire_capture_calls(before).await
    }

    /// The rules of all folders, oldest first.
    pub async fn folder_rules(&self) -> Result<Vec<StoredFolderRule>, StoreError> {
        self.backend.folder_rules().await
    }

    /// Removes a folder's rule, for good even if the power is cut. Returns whether there was one.
    pub async fn remove_folder_rule(&self, id: u64) -> Result<bool, StoreError> {
        self.backend.remove_folder_rule(id).await
    }

    /// Figures of these days, both included, grouped; at most that many rows.
    pub async fn usage(
        &self,
        from: Day,
        to: Day,
        grouping: UsageGrouping,
        limit: usize,
    ) -> Result<Vec<UsageRow>, StoreError> {
        self.backend.usage(from, to, grouping, limit).await
    }

    /// The figures of these days, both included, in one sum.
    pub async fn usage_total(&self, from: Day, to: Day) -> Result<UsageTotal, StoreError> {
        self.backend.usage_total(from, to).await
    }

    /// All figures ever recorded, by runtime and model.
    pub async fn usage_of_all_time(&self) -> Result<Vec<(String, String, UsageTotal)>, StoreError> {
        self.backend.usage_of_all_time().await
    }

    /// What the full-text index still lacks.
    pub fn index_backlog(&self) -> &Arc<IndexBacklog> {
        self.backend.index_backlog()
    }

    /// Compares the full-text index with the logs: removes what is gone, and adds to the backlog what the index lacks.
    pub async fn compare_index(&self) -> Result<(), StoreError> {
        self.backend.compare_index().await
    }

    /// Adds to the full-text index. Texts and position are one transaction.
    pub async fn index(&self, batch: IndexBatch) -> Result<(), StoreError> {
        self.backend.index(batch).await
    }

    /// All sessions, newest first, as a search needs them.
    pub async fn session_facts(&self) -> Result<Vec<SessionFacts>, StoreError> {
        self.backend.session_facts().await
    }

    /// The newest texts that match, with their scores, in no particular order. Sessions that were deleted may still be
    /// among them.
    pub async fn matches(&self, query: MatchQuery) -> Result<Vec<Match>, StoreError> {
        self.backend.matches(query).await
    }

    /// For each text, the part that matches best. Empty for a text that does not match.
    pub async fn snippets(
        &self,
        terms: SearchTerms,
        texts: Vec<SearchText>,
    ) -> Result<Vec<Vec<SnippetPart>>, StoreError> {
        self.backend.snippets(terms, texts).await
    }

    /// Writes a blob, to be referred to by a later append. Returns its hash.
    pub async fn put_blob(&self, data: Vec<u8>) -> Result<String, StoreError> {
        self.backend.put_blob(data).await
    }

    /// A blob that the session uses; `None` if it uses no such blob or its file is gone.
    pub async fn blob(&self, session: SessionId, hash: String) -> Result<Option<Blob>, StoreError> {
        self.backend.blob(session, hash).await
    }

    /// The blobs that a session uses, by hash.
    pub async fn blobs_of(&self, session: SessionId) -> Result<Vec<BlobUse>, StoreError> {
        self.backend.blobs_of(session).await
    }

    /// Removes blobs that no session uses.
    pub async fn remove_unused_blobs(&self) -> Result<(), StoreError> {
        self.backend.remove_unused_blobs().await
    }
}

/// Resolves with the reason when the health is [`StoreHealth::Dead`]; never, when the store was closed before.
async fn died(mut health: watch::Receiver<StoreHealth>) -> String {
    match health.wait_for(|health| matches!(health, StoreHealth::Dead { .. })).await {
        Ok(dead) => dead.reason().unwrap_or_default().to_owned(),
        Err(_) => std::future::pending().await,
    }
}

//! The state in memory, and how an append changes it.

use std::collections::BTreeMap;
use std::path::PathBuf;

use bytes::Bytes;

use super::jobs::JobRow;
use super::search::Index;
use crate::model::{
    Attachment, BudgetNotices, ContextUsage, Continuation, JobId, LastTurn, LostSession, OpenRequest, PromptId,
    PromptOutcome, RequestId, Seq, SessionId, SessionJob, SessionOrigin, SessionProfile, SessionState, SlashCommand,
    StreamId, TaskId, Timestamp, TokenId, Usage,
};
use crate::store::log::PROMPT_BEGINNINGS;
use crate::store::{
    AcceptedPrompt, Append, BlobUse, BrowserId, CaptureCall, CaptureCallId, CaptureSession, Change, ClosedRequest,
    CreationKey, DeliveryId, EventPage, HappeningId, OpenTurn, OutcomeSeq, ReaderPosition, StoreError, StoredBrowser,
    StoredDelivery, StoredEvent, StoredFolderRule, StoredHappening, StoredLogin, StoredToken, TaskOwner, TrustedEntry,
    UsageReport,
};

/// How far ahead numbers are reserved.
const STEP: u64 = 10;

#[derive(Clone, Default)]
pub(super) struct State {
    pub sessions: BTreeMap<SessionId, SessionRow>,
    pub last_session: u32,
    pub prompts: BTreeMap<(SessionId, u32), PromptRow>,
    pub requests: BTreeMap<(SessionId, Seq), RequestRow>,
    pub jobs: BTreeMap<JobId, JobRow>,
    pub last_job: u32,
    pub tasks: BTreeMap<TaskId, TaskOwner>,
    pub last_task: u32,
    pub trusted_entries: BTreeMap<PathBuf, TrustedEntry>,
    pub readers: BTreeMap<(StreamId, String), ReaderPosition>,
    pub blob_uses: BTreeMap<(SessionId, String), BlobUse>,
    pub logins: BTreeMap<String, StoredLogin>,
    pub capture_sessions: BTreeMap<String, CaptureSession>,
    pub tokens: BTreeMap<TokenId, StoredToken>,
    pub capture_calls: BTreeMap<CaptureCallId, CaptureCall>,
    pub last_capture_call: CaptureCallId,
    pub happenings: BTreeMap<HappeningId, StoredHappening>,
    pub last_happening: HappeningId,
    pub deliveries: BTreeMap<DeliveryId, StoredDelivery>,
    pub last_delivery: DeliveryId,
    pub browsers: BTreeMap<BrowserId, StoredBrowser>,
    pub last_browser: BrowserId,
    pub usage: Vec<(SessionId, UsageReport)>,
    pub folder_rules: Vec<StoredFolderRule>,
    pub last_folder_rule: u64,
    pub index: Index,
    logs: BTreeMap<StreamId, BTreeMap<Seq, EventEntry>>,
    numbers: BTreeMap<Counter, Numbers>,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Counter {
    Events(StreamId),
    Prompts(SessionId),
    Outcomes,
}

/// The last number used, and the last that may be used.
#[derive(Clone, Copy, Default)]
struct Numbers {
    last: u64,
    reserved: u64,
}

#[derive(Clone)]
struct EventEntry {
    time: Timestamp,
    block: Option<Seq>,
    body: Bytes,
}

#[derive(Clone)]
pub(super) struct SessionRow {
    pub profile: SessionProfile,
    pub origin: SessionOrigin,
    pub job: Option<SessionJob>,
    pub key: Option<CreationKey>,
    pub state: SessionState,
    pub state_detail: Option<String>,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
    pub closed_at: Option<Timestamp>,
    pub agent_session_id: Option<String>,
    pub turn: Option<OpenTurn>,
    pub usage: Usage,
    pub context: Option<ContextUsage>,
    pub budget_notified: BudgetNotices,
    pub continuation: Continuation,
    pub loss: Option<LostSession>,
    pub last_turn: Option<LastTurn>,
    pub seen_seq: Seq,
    pub commands: Vec<SlashCommand>,
}

#[derive(Clone)]
pub(super) struct PromptRow {
    pub accepted: AcceptedPrompt,
    pub queued: bool,
    pub outcome: Option<(OutcomeSeq, PromptOutcome)>,
}

impl PromptRow {
    pub fn attachments(&self) -> Vec<Attachment> {
        serde_json::from_str(&self.accepted.attachments).expect("a list")
    }
}

#[derive(Clone)]
pub(super) struct RequestRow {
    pub request: OpenRequest,
    pub closed: Option<ClosedRequest>,
}

impl State {
    pub fn last_outcome(&self) -> OutcomeSeq {
        self.last(Counter::Outcomes)
    }

    pub fn last_prompt(&self, session: SessionId) -> u32 {
        self.prompts.range((session, 0)..=(session, u32::MAX)).next_back().map_or(0, |((_, number), _)| *number)
    }

    pub fn has_open_request(&self, session: SessionId) -> bool {
        self.requests.range((session, 0)..=(session, Seq::MAX)).any(|(_, request)| request.closed.is_none())
    }

    pub fn next_prompt(&self, session: SessionId) -> PromptId {
        PromptId::from_number(u32::try_from(self.last(Counter::Prompts(session))).expect("few prompts") + 1)
    }

    pub fn next_seq(&self, stream: StreamId) -> Seq {
        self.last(Counter::Events(stream)) + 1
    }

    pub fn last_seq(&self, stream: StreamId) -> Seq {
        self.logs.get(&stream).and_then(|log| log.keys().next_back()).copied().unwrap_or(0)
    }

    pub fn jump(&mut self) {
        for numbers in self.numbers.values_mut() {
            numbers.last = numbers.reserved;
        }
    }

    pub fn used_bytes(&self) -> u64 {
        self.logs.values().flat_map(BTreeMap::values).map(|event| event.body.len() as u64).sum()
    }

    pub fn forget(&mut self, id: SessionId) {
        self.sessions.remove(&id);
        self.index.forget(id);
        self.forget_stream(id.into());
        self.forget_task_runs(id);
        self.prompts.retain(|(session, _), _| *session != id);
        self.requests.retain(|(session, _), _| *session != id);
        self.blob_uses.retain(|(session, _), _| *session != id);
    }

    pub fn forget_stream(&mut self, id: StreamId) {
        self.logs.remove(&id);
        self.readers.retain(|(stream, _), _| *stream != id);
    }

    pub fn page(&self, stream: StreamId, page: EventPage) -> (Vec<StoredEvent>, bool) {
        let empty = BTreeMap::new();
        let log = self.logs.get(&stream).unwrap_or(&empty);
        let before = page.before.unwrap_or(Seq::MAX);
        let mut inside: Vec<StoredEvent> = log
            .iter()
            .filter(|(seq, _)| **seq > page.after && **seq < before)
            .map(|(seq, event)| event.stored(*seq))
            .collect();
        if page.before.is_some() {
            inside.reverse();
        }
        let mut bytes = 0;
        let fits = inside
            .iter()
            .enumerate()
            .take(page.limit)
            .take_while(|(position, event)| {
                bytes += event.body.len();
                *position == 0 || bytes <= page.max_bytes
            })
            .count();
        let more = inside.len() > fits;
        inside.truncate(fits);
        if page.before.is_some() {
            inside.reverse();
        }
        (inside, more)
    }

    pub fn prompt_events(&self, stream: StreamId) -> Vec<StoredEvent> {
        let is_prompt = |body: &[u8]| PROMPT_BEGINNINGS.iter().any(|beginning| body.starts_with(beginning.as_bytes()));
        let log = self.logs.get(&stream).into_iter().flatten();
        log.filter(|(_, event)| is_prompt(&event.body)).map(|(seq, event)| event.stored(*seq)).collect()
    }

    pub fn block_start(&self, stream: StreamId, end: Seq) -> Option<StoredEvent> {
        let log = self.logs.get(&stream)?;
        let start = log.get(&end)?.block?;
        log.get(&start).map(|event| event.stored(start))
    }

    /// Applies an append. Returns whether numbers were reserved, so that it must be synced.
    pub fn apply(&mut self, append: &Append) -> Result<bool, StoreError> {
        let mut reserves = false;
        for event in &append.events {
            let starts = append.ended_blocks.iter().find(|block| block.end == event.seq).map(|block| block.start);
            let entry = EventEntry { time: event.time, block: event.block.or(starts), body: event.body.clone() };
            if self.logs.entry(append.stream).or_default().insert(event.seq, entry).is_some() {
                return Err(StoreError::Statement("the number is taken".into()));
            }
            reserves |= self.give(Counter::Events(append.stream), event.seq);
        }
        for block in &append.ended_blocks {
            let log = self.logs.entry(append.stream).or_default();
            log.retain(|seq, event| *seq >= block.end || event.block != Some(block.start));
        }
        match append.stream {
            StreamId::Session(id) => {
                if let Some(mut row) = self.sessions.remove(&id) {
                    row.updated_at = append.time;
                    for change in &append.changes {
                        if self.change_notifications(append, change) {
                            continue;
                        }
                        reserves |= self.change(id, &mut row, append.time, change)?;
                    }
                    self.sessions.insert(id, row);
                }
            }
            StreamId::Job(id) => append.changes.iter().try_for_each(|change| {
                let is_done = self.change_notifications(append, change);
                if is_done { Ok(()) } else { self.change_job(id, change) }
            })?,
            StreamId::Task(id) => append.changes.iter().try_for_each(|change| self.change_task(id, change))?,
        }
        Ok(reserves)
    }

    pub fn reopen_readers(&mut self, stream: StreamId) {
        self.readers.values_mut().filter(|reader| reader.stream == stream).for_each(|reader| reader.done = false);
    }

    fn change(
        &mut self,
        id: SessionId,
        row: &mut SessionRow,
        time: Timestamp,
        change: &Change,
    ) -> Result<bool, StoreError> {
        match change.clone() {
            Change::State(state, detail) => (row.state, row.state_detail) = (state, detail),
            Change::Title(title) => row.profile.title = Some(title),
            Change::TitleGiven(title) => (row.profile.title, row.profile.title_is_given) = (Some(title), true),
            Change::Model(model, effort) => (row.profile.model, row.profile.effort) = (model, effort),
            Change::Permissions(permissions) => row.profile.permissions = permissions,
            Change::FolderRuleAdded(rule) => {
                if self.folder_rules.iter().all(|known| known.rule != rule) {
                    self.last_folder_rule += 1;
                    let id = self.last_folder_rule;
                    self.folder_rules.push(StoredFolderRule { id, rule, added_at: time });
                }
            }
            Change::SessionLost(loss) => row.loss = Some(loss),
            Change::AgentSession(agent) => row.agent_session_id = agent,
            Change::Turn(turn) => row.turn = turn,
            Change::TurnOver(turn) => row.last_turn = Some(turn),
            Change::ClosedAt(moment) => row.closed_at = moment,
            Change::PromptAccepted(accepted) => {
                let number = accepted.id.number();
                self.prompts.insert((id, number), PromptRow { accepted, queued: true, outcome: None });
                return Ok(self.give(Counter::Prompts(id), number.into()));
            }
            Change::PromptStarted(prompt) => self.prompt(id, prompt, |prompt| prompt.queued = false),
            Change::PromptPutBack(prompt) => self.prompt(id, prompt, |prompt| prompt.queued = true),
            Change::PromptText(prompt, text) => self.prompt(id, prompt, |prompt| prompt.accepted.text = text),
            Change::PromptMoved(prompt, place) => self.prompt(id, prompt, |prompt| prompt.accepted.place = place),
            Change::Commands(commands) => row.commands = commands,
            Change::PromptEnded(prompt, outcome) => {
                let seq = self.last_outcome() + 1;
                self.prompt(id, prompt, |prompt| {
                    prompt.queued = false;
                    if !outcome.verdict.may_be_repeated() {
                        "[]".clone_into(&mut prompt.accepted.attachments);
                    }
                    prompt.outcome = Some((seq, outcome));
                });
                return Ok(self.give(Counter::Outcomes, seq));
            }
            Change::RequestOpened(request) => {
                let number = number_of(&request.request_id);
                self.requests.insert((id, number), RequestRow { request, closed: None });
            }
            Change::RequestClosed { request_id, outcome, by } => {
                if let Some(request) = self.requests.get_mut(&(id, number_of(&request_id))) {
                    let (decision, by) = (outcome.as_str().to_owned(), by.as_str().to_owned());
                    request.closed = Some(ClosedRequest { decision, by });
                }
            }
            Change::BlobUsed { hash, mime, size } => {
                self.blob_uses.insert((id, hash.clone()), BlobUse { hash, mime, size });
            }
            Change::ReadersReopened => self.reopen_readers(id.into()),
            Change::Usage(usage) => row.usage = usage,
            Change::UsageReported(report) => self.usage.push((id, report)),
            Change::Budget(budget) => row.profile.budget = budget,
            Change::BudgetNotified(news) => row.budget_notified = news,
            Change::Continuation(continuation) => row.continuation = continuation,
            Change::Context(context) => row.context = Some(context),
            Change::RunStatus { .. }
            | Change::RunSettled
            | Change::PersonDecided
            | Change::Happened(_)
            | Change::HappeningOver(_)
            | Change::TaskCreated { .. } => {
                return Err(misplaced(id.into()));
            }
        }
        Ok(false)
    }

    fn prompt(&mut self, id: SessionId, prompt: PromptId, change: impl FnOnce(&mut PromptRow)) {
        if let Some(prompt) = self.prompts.get_mut(&(id, prompt.number())) {
            change(prompt);
        }
    }

    fn last(&self, counter: Counter) -> u64 {
        self.numbers.get(&counter).map_or(0, |numbers| numbers.last)
    }

    /// Records that a number is used. Returns whether that needed a reservation.
    fn give(&mut self, counter: Counter, number: u64) -> bool {
        let numbers = self.numbers.entry(counter).or_default();
        numbers.last = numbers.last.max(number);
        let reserves = numbers.last > numbers.reserved;
        if reserves {
            numbers.reserved = numbers.last + STEP;
        }
        reserves
    }
}

/// A change is in a log where it does not belong.
pub(super) fn misplaced(stream: StreamId) -> StoreError {
    StoreError::Statement(Change::misplaced(stream).into())
}

/// The number of the event that a request is named after.
fn number_of(request: &RequestId) -> Seq {
    request.as_str().strip_prefix("request-").and_then(|number| number.parse().ok()).unwrap_or(0)
}

impl EventEntry {
    fn stored(&self, seq: Seq) -> StoredEvent {
        StoredEvent { seq, time: self.time, body: self.body.clone() }
    }
}

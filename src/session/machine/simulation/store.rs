//! A store that may be slow, refuse, or lose what it has not committed.

use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};

use crate::model::{
    BudgetNotices, Continuation, FolderRule, LastTurn, OpenRequest, PermissionMode, PermissionPolicy, PermissionRule,
    PromptId, PromptOutcome, RequestId, RequestOutcome, Response, RuleDecision, Seq, SessionBudget, SessionId,
    SessionOrigin, SessionProfile, SessionState, SessionSummary, Timestamp, Usage,
};
use crate::session::folder_rules::FolderRuleSet;
use crate::session::machine::fold::{Fold, Replay};
use crate::session::machine::{Batch, Entry};
use crate::store::{AcceptedPrompt, Change, KnownPrompt, OpenTurn, QueuedPrompt, StoredSession};

/// Where the session works.
const FOLDER: &str = "/folder";
/// Numbers are reserved this far ahead.
const RESERVED: Seq = 10_000;
const PROMPTS_RESERVED: u32 = 100;
/// Commits that a power cut may lose.
const LOST_AT_MOST: usize = 3;

#[derive(Clone, Debug, PartialEq)]
pub(super) enum PromptState {
    Queued,
    Running,
    Ended(Box<PromptOutcome>),
}

#[derive(Clone)]
pub(super) struct Prompt {
    pub queued: QueuedPrompt,
    fingerprint: String,
    pub state: PromptState,
}

/// The committed state of a session.
#[derive(Clone)]
pub(super) struct Records {
    pub log: BTreeMap<Seq, (Option<Seq>, Response)>,
    pub state: SessionState,
    pub turn: Option<OpenTurn>,
    pub prompts: BTreeMap<PromptId, Prompt>,
    pub requests: BTreeMap<RequestId, (OpenRequest, Option<RequestOutcome>)>,
    /// Requests that have no answer.
    pub open_requests: BTreeSet<RequestId>,
    /// Prompts that wait.
    queue: BTreeSet<PromptId>,
    keys: HashMap<String, PromptId>,
    pub agent_session_id: Option<String>,
    profile: SessionProfile,
    usage: Usage,
    budget_notified: BudgetNotices,
    pub continuation: Continuation,
    folder_rules: Vec<PermissionRule>,
    next_seq: Seq,
    last_prompt: u32,
    /// Prompts that were queued again after they had been sent.
    pub put_back: BTreeSet<PromptId>,
    last_turn: Option<LastTurn>,
}

pub(super) struct Store {
    pub records: Records,
    /// What no power cut can lose: the records before the last commits.
    durable: Records,
    /// The last commits.
    recent: VecDeque<Batch>,
    handed: VecDeque<Batch>,
    pub refuses: bool,
    origin: SessionOrigin,
}

impl Store {
    pub fn new(origin: SessionOrigin, mode: PermissionMode) -> Self {
        let profile = SessionProfile {
            title: None,
            title_is_given: false,
            runtime: "simulated".to_owned(),
            model: "m".to_owned(),
            effort: None,
            working_directory: Some(FOLDER.into()),
            permissions: PermissionPolicy { mode, rules: Vec::new() },
            system_prompt: None,
            options: serde_json::Map::new(),
            budget: SessionBudget::default(),
        };
        let records = Records {
            log: BTreeMap::new(),
            state: SessionState::Starting,
            turn: None,
            prompts: BTreeMap::new(),
            requests: BTreeMap::new(),
            open_requests: BTreeSet::new(),
            queue: BTreeSet::new(),
            keys: HashMap::new(),
            agent_session_id: None,
            profile,
            usage: Usage::default(),
            budget_notified: BudgetNotices::default(),
            continuation: Continuation::default(),
            folder_rules: Vec::new(),
            next_seq: 1,
            last_prompt: 0,
            put_back: BTreeSet::new(),
            last_turn: None,
        };
        Self {
            durable: records.clone(),
            records,
            recent: VecDeque::new(),
            handed: VecDeque::new(),
            refuses: false,
            origin,
        }
    }

    pub fn append(&mut self, batch: Batch) {
        self.handed.push_back(batch);
    }

    pub fn committed(&self) -> Seq {
        self.records.log.keys().next_back().copied().unwrap_or_default()
    }

    pub fn has_handed(&self) -> bool {
        !self.handed.is_empty()
    }

    /// Commits one batch that was handed over, if the disk allows.
    pub fn work(&mut self) {
        if !self.refuses
            && let Some(batch) = self.handed.pop_front()
        {
            self.write(batch);
        }
    }

    /// Commits everything in order, then this.
    pub fn commit(&mut self, batch: Batch) -> bool {
        while !self.refuses && self.has_handed() {
            self.work();
        }
        if self.refuses {
            return false;
        }
        self.write(batch);
        true
    }

    /// The process is killed: what was not committed is lost.
    pub fn kill(&mut self) {
        self.handed.clear();
    }

    /// The machine loses power: the last commits may be lost too, and numbers continue above those reserved.
    pub fn cut_power(&mut self, lost: usize) {
        self.kill();
        let (next_seq, last_prompt) = (self.records.next_seq, self.records.last_prompt);
        let kept = self.recent.len().saturating_sub(lost);
        for batch in self.recent.drain(..).take(kept) {
            self.durable.write(batch);
        }
        self.durable.next_seq = next_seq + RESERVED;
        self.durable.last_prompt = last_prompt + PROMPTS_RESERVED;
        self.records = self.durable.clone();
    }

    pub fn known(&self, number: u32) -> Option<KnownPrompt> {
        let prompt = self.records.prompts.get(&PromptId::from_number(number))?;
        Some(KnownPrompt {
            number,
            text: prompt.queued.text.clone(),
            fingerprint: prompt.fingerprint.clone(),
            outcome: match &prompt.state {
                PromptState::Ended(outcome) => Some((**outcome).clone()),
                _ => None,
            },
        })
    }

    pub fn with_key(&self, key: &str) -> Option<KnownPrompt> {
        self.known(self.records.keys.get(key)?.number())
    }

    pub fn load(&self) -> StoredSession {
        let records = &self.records;
        StoredSession {
            summary: SessionSummary {
                id: SessionId::from_number(1),
                profile: records.profile.clone(),
                state: records.state,
                state_detail: None,
                created_at: Timestamp::from_millis(0),
                updated_at: Timestamp::from_millis(0),
                closed_at: None,
                last_seq: self.committed(),
                pending: 0,
                last_turn: records.last_turn,
                seen_seq: 0,
                origin: self.origin,
                job: None,
            },
            next_seq: records.next_seq,
            agent_session_id: records.agent_session_id.clone(),
            turn: records.turn.clone(),
            queued: self.queued(),
            requests: records.open_requests.iter().map(|id| records.requests[id].0.clone()).collect(),
            next_prompt: PromptId::from_number(records.last_prompt + 1),
            last_prompt: records.prompts.keys().next_back().map_or(0, |id| id.number()),
            usage: records.usage.clone(),
            context: None,
            budget_notified: records.budget_notified.clone(),
            continuation: records.continuation.clone(),
            loss: None,
            commands: Vec::new(),
        }
    }

    /// The state that follows from the log.
    pub fn replay(&self, open: &OpenTurn) -> Fold {
        let mut replay = Replay::new(open);
        for (seq, (_, response)) in self.records.log.range(open.after + 1..) {
            replay.apply(*seq, response);
        }
        replay.finish()
    }

    pub fn folder_rules(&self) -> FolderRuleSet {
        self.records.folder_rules.iter().map(|rule| (FOLDER.into(), rule.clone())).collect()
    }

    /// Another session of the folder may do this for good. The last of these tools is denied by a configured rule.
    pub fn add_folder_rule(&mut self) {
        for records in [&mut self.records, &mut self.durable] {
            let rules = ["write", "forbidden"].map(|tool| PermissionRule::for_tool(tool, RuleDecision::Allow));
            records.folder_rules.extend(rules);
        }
    }

    pub fn remove_folder_rules(&mut self) {
        for records in [&mut self.records, &mut self.durable] {
            records.folder_rules.clear();
        }
    }

    /// What a new session of the agent is told.
    pub fn summary(&self, waiting: Vec<PromptId>) -> Option<String> {
        let mut summary = crate::session::summary::Summary::without(waiting);
        for (_, response) in self.records.log.values() {
            summary.apply(response);
        }
        summary.text()
    }

    pub fn queued(&self) -> Vec<QueuedPrompt> {
        let mut queued: Vec<QueuedPrompt> =
            self.records.queue.iter().map(|id| self.records.prompts[id].queued.clone()).collect();
        queued.sort_by_key(|prompt| prompt.place.rank());
        queued
    }

    pub fn has_queued(&self) -> bool {
        !self.records.queue.is_empty()
    }

    fn write(&mut self, batch: Batch) {
        self.records.write(batch.clone());
        self.recent.push_back(batch);
        if self.recent.len() > LOST_AT_MOST
            && let Some(batch) = self.recent.pop_front()
        {
            self.durable.write(batch);
        }
    }
}

impl Records {
    fn write(&mut self, batch: Batch) {
        for Entry { seq, block, response, .. } in batch.entries {
            assert!(seq >= self.next_seq, "number {seq} is given twice");
            self.next_seq = seq + 1;
            self.log.insert(seq, (block, response));
        }
        for ended in batch.ended_blocks {
            let pieces = self.log.range(ended.start..ended.end).filter(|(_, (block, _))| *block == Some(ended.start));
            let pieces: Vec<Seq> = pieces.map(|(seq, _)| *seq).collect();
            for seq in pieces {
                self.log.remove(&seq);
            }
        }
        for change in batch.changes {
            self.apply(change);
        }
    }

    fn prompt(&mut self, id: PromptId) -> &mut Prompt {
        self.prompts.get_mut(&id).expect("a prompt that was accepted")
    }

    fn apply(&mut self, change: Change) {
        match change {
            Change::State(state, _) => self.state = state,
            Change::Title(title) => self.profile.title = Some(title),
            Change::TitleGiven(title) => (self.profile.title, self.profile.title_is_given) = (Some(title), true),
            Change::Model(model, effort) => (self.profile.model, self.profile.effort) = (model, effort),
            Change::Permissions(policy) => self.profile.permissions = policy,
            Change::FolderRuleAdded(FolderRule { rule, .. }) => self.folder_rules.push(rule),
            Change::AgentSession(id) => self.agent_session_id = id,
            Change::Turn(turn) => self.turn = turn,
            Change::PromptAccepted(accepted) => {
                let AcceptedPrompt { id, idempotency_key, fingerprint, text, place, is_continuation, .. } = accepted;
                let attachments = Vec::new();
                let queued = QueuedPrompt { id, idempotency_key, text, attachments, place, is_continuation };
                assert!(queued.id.number() > self.last_prompt, "{} is given twice", queued.id);
                self.last_prompt = queued.id.number();
                self.queue.insert(queued.id);
                self.keys.extend(queued.idempotency_key.clone().map(|key| (key, queued.id)));
                let before = self.prompts.insert(queued.id, Prompt { queued, fingerprint, state: PromptState::Queued });
                assert!(before.is_none());
            }
            Change::PromptStarted(id) => {
                self.queue.remove(&id);
                self.prompt(id).state = PromptState::Running;
            }
            Change::PromptPutBack(id) => {
                self.put_back.insert(id);
                assert_eq!(self.prompt(id).state, PromptState::Running, "{id} was put back");
                self.queue.insert(id);
                self.prompt(id).state = PromptState::Queued;
            }
            Change::PromptText(id, text) => {
                assert_eq!(self.prompt(id).state, PromptState::Queued, "{id} was changed");
                self.prompt(id).queued.text = text;
            }
            Change::PromptMoved(id, place) => {
                assert_eq!(self.prompt(id).state, PromptState::Queued, "{id} was moved");
                self.prompt(id).queued.place = place;
            }
            Change::PromptEnded(id, outcome) => {
                self.queue.remove(&id);
                let prompt = self.prompt(id);
                assert!(!matches!(prompt.state, PromptState::Ended(_)), "{id} has two outcomes");
                prompt.state = PromptState::Ended(Box::new(outcome));
            }
            Change::RequestOpened(request) => {
                let before = self.requests.insert(request.request_id.clone(), (request.clone(), None));
                self.open_requests.insert(request.request_id);
                assert!(before.is_none(), "a request id is given twice");
            }
            Change::RequestClosed { request_id, outcome, .. } => {
                let (_, closed) = self.requests.get_mut(&request_id).expect("a request that was opened");
                assert!(closed.is_none(), "{request_id} was closed twice");
                *closed = Some(outcome);
                self.open_requests.remove(&request_id);
            }
            Change::Usage(usage) => self.usage = usage,
            Change::Budget(budget) => self.profile.budget = budget,
            Change::Continuation(continuation) => self.continuation = continuation,
            Change::BudgetNotified(news) => self.budget_notified = news,
            Change::TurnOver(turn) => self.last_turn = Some(turn),
            Change::ClosedAt(_)
            | Change::BlobUsed { .. }
            | Change::ReadersReopened
            | Change::SessionLost(_)
            | Change::UsageReported(_)
            | Change::Happened(_)
            | Change::HappeningOver(_)
            | Change::Commands(_)
            | Change::Context(_) => {}
            // A session's machine never makes these.
            change @ (Change::RunStatus { .. }
            | Change::RunSettled
            | Change::PersonDecided
            | Change::TaskCreated { .. }) => {
                panic!("{change:?} in a session's log")
            }
        }
    }
}

//! Records in memory.

use std::collections::BTreeMap;
use std::path::PathBuf;

use sha2::{Digest, Sha256};
use tokio::sync::watch;

use super::Memory;
use super::state::{PromptRow, SessionRow, State};
use crate::model::{
    BudgetNotices, Continuation, Day, PromptVerdict, Seq, SessionId, SessionState, SessionSummary, StreamId, Timestamp,
    UnknownFigures, Usage, UsageTotal, hex,
};
use crate::store::{
    Answer, Blob, BlobUse, Blobs, CaptureSession, CaptureSessions, ClosedRequest, Creation, FolderRuleRecords,
    KnownPrompt, NewSessionRecord, OutcomeSeq, PromptRecords, QueuedPrompt, ReaderPosition, ReaderRecords,
    SessionFilter, SessionRecords, StoredFolderRule, StoredLogin, StoredOutcome, StoredSession, UsageGrouping,
    UsageKey, UsageRecords, UsageReport, UsageRow,
};

impl SessionRecords for Memory {
    fn create_session(&self, new: NewSessionRecord) -> Answer<'_, Creation> {
        self.write_durably(|state| {
            let mut keys = state.sessions.iter().filter_map(|(id, row)| Some((*id, row.key.as_ref()?)));
            let known = new.key.as_ref().and_then(|key| keys.find(|(_, known)| known.key == key.key));
            if let Some((id, known)) = known {
                return if Some(known) == new.key.as_ref() { Creation::Known(id) } else { Creation::KeyReused };
            }
            let open = state.sessions.values().filter(|row| row.state != SessionState::Closed).count();
            if open >= new.most_open {
                return Creation::TooMany;
            }
            state.last_session += 1;
            let id = SessionId::from_number(state.last_session);
            let row = SessionRow {
                profile: new.profile,
                origin: new.origin,
                job: new.job,
                key: new.key,
                state: new.state,
                state_detail: None,
                created_at: new.now,
                updated_at: new.now,
                closed_at: None,
                agent_session_id: None,
                turn: None,
                usage: Usage::default(),
                context: None,
                budget_notified: BudgetNotices::default(),
                continuation: Continuation::default(),
                loss: None,
                last_turn: None,
                seen_seq: 0,
                commands: Vec::new(),
            };
            state.sessions.insert(id, row);
            Creation::New(id)
        })
    }

    fn session_by_creation_key(&self, key: String) -> Answer<'_, Option<(SessionId, String)>> {
        self.read(|state| {
            let mut keys = state.sessions.iter().filter_map(|(id, row)| Some((*id, row.key.as_ref()?)));
            keys.find(|(_, known)| known.key == key).map(|(id, known)| (id, known.fingerprint.clone()))
        })
    }

    fn session(&self, id: SessionId) -> Answer<'_, Option<SessionSummary>> {
        self.read(|state| state.sessions.get(&id).map(|row| summary(state, id, row)))
    }

    fn load_session(&self, id: SessionId) -> Answer<'_, Option<StoredSession>> {
        self.read(|state| {
            let row = state.sessions.get(&id)?;
            let prompts = state.prompts.range((id, 0)..=(id, u32::MAX)).filter(|(_, prompt)| prompt.queued);
            let mut queued: Vec<QueuedPrompt> = prompts.map(|(_, prompt)| whole(prompt)).collect();
            queued.sort_by_key(|prompt| prompt.place.rank());
            Some(StoredSession {
                summary: summary(state, id, row),
                next_seq: state.next_seq(id.into()),
                next_prompt: state.next_prompt(id),
                agent_session_id: row.agent_session_id.clone(),
                turn: row.turn.clone(),
                queued,
                requests: state
                    .requests
                    .range((id, 0)..=(id, u64::MAX))
                    .filter(|(_, request)| request.closed.is_none())
                    .map(|(_, request)| request.request.clone())
                    .collect(),
                last_prompt: state.last_prompt(id),
                usage: row.usage.clone(),
                context: row.context,
                budget_notified: row.budget_notified.clone(),
                continuation: row.continuation.clone(),
                loss: row.loss.clone(),
                commands: row.commands.clone(),
            })
        })
    }

    fn sessions(&self, filter: SessionFilter) -> Answer<'_, Vec<SessionSummary>> {
        self.read(|state| {
            let rows = state.sessions.iter().rev().filter(|(id, row)| {
                filter.after.is_none_or(|after| **id < after)
                    && filter.state.is_none_or(|state| row.state == state)
                    && filter.job.is_none_or(|job| row.job.as_ref().is_some_and(|own| own.job_id == job))
            });
            rows.take(filter.limit).map(|(id, row)| summary(state, *id, row)).collect()
        })
    }

    fn session_counts(&self) -> Answer<'_, Vec<(SessionState, u64)>> {
        self.read(|state| {
            let count = |wanted| state.sessions.values().filter(|row| row.state == wanted).count() as u64;
            SessionState::ALL
                .map(|wanted| (wanted, count(wanted)))
                .into_iter()
                .filter(|(_, count)| *count > 0)
                .collect()
        })
    }

    fn agent_sessions(&self, runtime: String) -> Answer<'_, Vec<(String, SessionId)>> {
        self.read(|state| {
            let rows = state.sessions.iter().rev().filter(|(_, row)| row.profile.runtime == runtime);
            rows.filter_map(|(id, row)| Some((row.agent_session_id.clone()?, *id))).collect()
        })
    }

    fn recent_working_directories(&self, limit: usize) -> Answer<'_, Vec<PathBuf>> {
        self.read(|state| {
            let mut found: Vec<PathBuf> = Vec::new();
            for folder in state.sessions.values().rev().filter_map(|row| row.profile.working_directory.clone()) {
                if !found.contains(&folder) {
                    found.push(folder);
                }
            }
            found.truncate(limit);
            found
        })
    }

    fn unfinished_sessions(&self) -> Answer<'_, Vec<SessionId>> {
        self.read(|state| {
            let rows = state.sessions.iter();
            rows.filter(|(id, row)| row.turn.is_some() || state.has_open_request(**id)).map(|(id, _)| *id).collect()
        })
    }

    fn sessions_with_queued_prompts(&self) -> Answer<'_, Vec<SessionId>> {
        self.read(|state| {
            let is_open = |id: &SessionId| state.sessions.get(id).is_some_and(|row| row.state != SessionState::Closed);
            let mut waiting: Vec<SessionId> = state
                .prompts
                .iter()
                .filter(|((id, _), prompt)| prompt.queued && is_open(id))
                .map(|((id, _), _)| *id)
                .collect();
            waiting.dedup();
            waiting
        })
    }

    fn settle_states(&self) -> Answer<'_, ()> {
        use SessionState::{Recovering, Starting, Waiting, Working};
        self.write(|state| {
            let waits: Vec<SessionId> =
                state.sessions.keys().copied().filter(|id| state.has_open_request(*id)).collect();
            for (id, row) in &mut state.sessions {
                if row.turn.is_none()
                    && !waits.contains(id)
                    && matches!(row.state, Starting | Working | Waiting | Recovering)
                {
                    (row.state, row.state_detail) = (SessionState::Ready, None);
                }
            }
        })
    }

    fn mark_seen(&self, id: SessionId, through: Seq) -> Answer<'_, ()> {
        self.write(move |state| {
            if let Some(row) = state.sessions.get_mut(&id) {
                row.seen_seq = row.seen_seq.max(through);
            }
        })
    }

    fn longest_closed(&self, before: Timestamp) -> Answer<'_, Option<SessionId>> {
        self.read(|state| {
            let closed = state.sessions.iter().filter_map(|(id, row)| Some((row.closed_at?.as_millis(), *id)));
            closed.filter(|(moment, _)| *moment < before.as_millis()).min().map(|(_, id)| id)
        })
    }

    fn delete_session(&self, id: SessionId) -> Answer<'_, ()> {
        self.backlog.forget(id);
        self.write(|state| state.forget(id))
    }
}

fn summary(state: &State, id: SessionId, row: &SessionRow) -> SessionSummary {
    let pending = state.requests.range((id, 0)..=(id, u64::MAX)).filter(|(_, request)| request.closed.is_none());
    SessionSummary {
        id,
        profile: row.profile.clone(),
        origin: row.origin,
        job: row.job.clone(),
        state: row.state,
        state_detail: row.state_detail.clone(),
        created_at: row.created_at,
        updated_at: row.updated_at,
        closed_at: row.closed_at,
        last_seq: state.last_seq(id.into()),
        pending: u32::try_from(pending.count()).expect("few"),
        last_turn: row.last_turn,
        seen_seq: row.seen_seq,
    }
}

fn whole(prompt: &PromptRow) -> QueuedPrompt {
    QueuedPrompt {
        id: prompt.accepted.id,
        idempotency_key: prompt.accepted.idempotency_key.clone(),
        text: prompt.accepted.text.clone(),
        attachments: prompt.attachments(),
        place: prompt.accepted.place,
        is_continuation: prompt.accepted.is_continuation,
    }
}

impl PromptRecords for Memory {
    fn prompt_by_key(&self, session: SessionId, key: String) -> Answer<'_, Option<KnownPrompt>> {
        self.read(|state| {
            let mut all = state.prompts.range((session, 0)..=(session, u32::MAX));
            let (_, found) = all.find(|(_, prompt)| prompt.accepted.idempotency_key.as_ref() == Some(&key))?;
            Some(known(found))
        })
    }

    fn prompt(&self, session: SessionId, number: u32) -> Answer<'_, Option<KnownPrompt>> {
        self.read(|state| state.prompts.get(&(session, number)).map(known))
    }

    fn whole_prompt(&self, session: SessionId, number: u32) -> Answer<'_, Option<QueuedPrompt>> {
        self.read(|state| state.prompts.get(&(session, number)).map(whole))
    }

    fn prompt_verdicts(&self, session: SessionId) -> Answer<'_, Vec<(u32, PromptVerdict)>> {
        self.read(|state| {
            let prompts = state.prompts.range((session, 0)..=(session, u32::MAX));
            prompts.filter_map(|((_, number), row)| Some((*number, row.outcome.as_ref()?.1.verdict))).collect()
        })
    }

    fn queued_prompt_count(&self) -> Answer<'_, u64> {
        self.read(|state| state.prompts.values().filter(|prompt| prompt.queued).count() as u64)
    }

    fn open_request_count(&self) -> Answer<'_, u64> {
        self.read(|state| state.requests.values().filter(|request| request.closed.is_none()).count() as u64)
    }

    fn outcomes_after(&self, after: OutcomeSeq, limit: usize) -> Answer<'_, Vec<StoredOutcome>> {
        self.read(|state| {
            let mut found: Vec<StoredOutcome> = state
                .prompts
                .iter()
                .filter_map(|((session, _), row)| {
                    let (seq, outcome) = row.outcome.clone()?;
                    Some(StoredOutcome { seq, session: *session, outcome })
                })
                .filter(|outcome| outcome.seq > after)
                .collect();
            found.sort_by_key(|outcome| outcome.seq);
            found.truncate(limit);
            found
        })
    }

    fn newest_outcome(&self) -> watch::Receiver<OutcomeSeq> {
        self.newest_outcome.subscribe()
    }

    fn closed_request(&self, session: SessionId, id: String) -> Answer<'_, Option<ClosedRequest>> {
        self.read(|state| {
            let mut all = state.requests.range((session, 0)..=(session, u64::MAX));
            all.find(|(_, request)| request.request.request_id.as_str() == id)
                .and_then(|(_, request)| request.closed.clone())
        })
    }
}

fn known(prompt: &super::state::PromptRow) -> KnownPrompt {
    KnownPrompt {
        number: prompt.accepted.id.number(),
        text: prompt.accepted.text.clone(),
        fingerprint: prompt.accepted.fingerprint.clone(),
        outcome: prompt.outcome.clone().map(|(_, outcome)| outcome),
    }
}

impl ReaderRecords for Memory {
    fn reader_positions(&self, stream: StreamId) -> Answer<'_, Vec<ReaderPosition>> {
        self.read(|state| state.readers.values().filter(|reader| reader.stream == stream).cloned().collect())
    }

    fn save_reader_positions(&self, positions: Vec<ReaderPosition>) -> Answer<'_, ()> {
        self.write(|state| {
            for reader in positions {
                let has_owner = match reader.stream {
                    StreamId::Session(id) => state.sessions.contains_key(&id),
                    StreamId::Job(id) => state.jobs.contains_key(&id),
                    StreamId::Task(id) => state.tasks.contains_key(&id),
                };
                if has_owner {
                    state.readers.insert((reader.stream, reader.token.clone()), reader);
                }
            }
        })
    }

    fn expire_readers(&self, before: Timestamp) -> Answer<'_, ()> {
        self.write(|state| {
            state
                .readers
                .retain(|(_, token), reader| token.is_empty() || reader.seen_at.as_millis() >= before.as_millis());
        })
    }

    fn add_login(&self, login: StoredLogin, now: Timestamp) -> Answer<'_, ()> {
        self.write(|state| {
            state.logins.retain(|_, known| known.expires_at > now);
            state.logins.insert(login.cookie_hash.clone(), login);
        })
    }

    fn logins(&self, now: Timestamp) -> Answer<'_, Vec<StoredLogin>> {
        self.read(|state| state.logins.values().filter(|login| login.expires_at > now).cloned().collect())
    }
}

impl FolderRuleRecords for Memory {
    fn folder_rules(&self) -> Answer<'_, Vec<StoredFolderRule>> {
        self.read(|state| state.folder_rules.clone())
    }

    fn remove_folder_rule(&self, id: u64) -> Answer<'_, bool> {
        self.write_durably(|state| {
            let before = state.folder_rules.len();
            state.folder_rules.retain(|rule| rule.id != id);
            state.folder_rules.len() < before
        })
    }
}

impl UsageRecords for Memory {
    fn add_usage(&self, report: UsageReport) -> Answer<'_, ()> {
        self.write(|state| state.usage.push((SessionId::from_number(0), report)))
    }

    fn usage(&self, from: Day, to: Day, grouping: UsageGrouping, limit: usize) -> Answer<'_, Vec<UsageRow>> {
        self.read(|state| {
            let mut groups: BTreeMap<String, Vec<&(SessionId, UsageReport)>> = BTreeMap::new();
            for entry in within(state, from, to) {
                let (session, report) = entry;
                let key = match grouping {
                    UsageGrouping::Day => report.day.to_string(),
                    UsageGrouping::Model => report.model.clone(),
                    UsageGrouping::Runtime => report.runtime.clone(),
                    UsageGrouping::Session => format!("{:010}", session.number()),
                };
                // Usage without a session is no session's.
                if grouping != UsageGrouping::Session || session.number() > 0 {
                    groups.entry(key).or_default().push(entry);
                }
            }
            let mut rows: Vec<UsageRow> = groups
                .into_values()
                .map(|entries| UsageRow { key: key(state, grouping, &entries), total: total(entries.iter().copied()) })
                .collect();
            match grouping {
                UsageGrouping::Day | UsageGrouping::Session => rows.reverse(),
                UsageGrouping::Model | UsageGrouping::Runtime => {
                    rows.sort_by_key(|row| std::cmp::Reverse(row.total.usage.tokens().unwrap_or(0)));
                }
            }
            rows.truncate(limit);
            rows
        })
    }

    fn usage_total(&self, from: Day, to: Day) -> Answer<'_, UsageTotal> {
        self.read(|state| total(within(state, from, to)))
    }

    fn usage_of_all_time(&self) -> Answer<'_, Vec<(String, String, UsageTotal)>> {
        self.read(|state| {
            let mut groups: BTreeMap<(String, String), Vec<&(SessionId, UsageReport)>> = BTreeMap::new();
            for entry in &state.usage {
                groups.entry((entry.1.runtime.clone(), entry.1.model.clone())).or_default().push(entry);
            }
            groups.into_iter().map(|((runtime, model), entries)| (runtime, model, total(entries))).collect()
        })
    }
}

fn within(state: &State, from: Day, to: Day) -> impl Iterator<Item = &(SessionId, UsageReport)> {
    let (from, to) = (from.to_string(), to.to_string());
    state.usage.iter().filter(move |(_, report)| (from.clone()..=to.clone()).contains(&report.day.to_string()))
}

fn key(state: &State, grouping: UsageGrouping, entries: &[&(SessionId, UsageReport)]) -> UsageKey {
    let (session, report) = entries[0];
    match grouping {
        UsageGrouping::Day => UsageKey::Day(report.day),
        UsageGrouping::Model => {
            let mut runtimes: Vec<String> = entries.iter().map(|(_, report)| report.runtime.clone()).collect();
            runtimes.sort();
            runtimes.dedup();
            UsageKey::Model { model: report.model.clone(), runtimes }
        }
        UsageGrouping::Runtime => UsageKey::Runtime(report.runtime.clone()),
        UsageGrouping::Session => {
            let row = state.sessions.get(session);
            UsageKey::Session {
                id: *session,
                title: row.and_then(|row| row.profile.title.clone()),
                runtime: report.runtime.clone(),
                deleted: row.is_none(),
            }
        }
    }
}

fn total<'a>(entries: impl IntoIterator<Item = &'a (SessionId, UsageReport)>) -> UsageTotal {
    let mut sum = UsageTotal::default();
    for (_, report) in entries {
        sum.reports += 1;
        let usage = Usage { model: None, code_changes: None, ..report.usage.clone() };
        let UnknownFigures {
            cost_usd,
            input_tokens,
            output_tokens,
            cache_read,
            cache_creation,
            duration_ms,
            num_turns,
            premium_requests,
            credits,
        } = &mut sum.unknown;
        *cost_usd += u64::from(usage.cost_usd.is_none());
        *input_tokens += u64::from(usage.input_tokens.is_none());
        *output_tokens += u64::from(usage.output_tokens.is_none());
        *cache_read += u64::from(usage.cache_read.is_none());
        *cache_creation += u64::from(usage.cache_creation.is_none());
        *duration_ms += u64::from(usage.duration_ms.is_none());
        *num_turns += u64::from(usage.num_turns.is_none());
        *premium_requests += u64::from(usage.premium_requests.is_none());
        *credits += u64::from(usage.credits.is_none());
        sum.usage.add(&usage);
    }
    sum
}

impl Blobs for Memory {
    fn put_blob(&self, data: Vec<u8>) -> Answer<'_, String> {
        let hash = hex(&Sha256::digest(&data));
        self.disk.lock().blobs.insert(hash.clone(), data);
        self.read(move |_| hash)
    }

    fn blob(&self, session: SessionId, hash: String) -> Answer<'_, Option<Blob>> {
        let content = self.disk.lock();
        let mime = content.state.blob_uses.get(&(session, hash.clone())).map(|used| used.mime.clone());
        let blob = mime.and_then(|mime| Some(Blob { mime, data: content.blobs.get(&hash)?.clone() }));
        Box::pin(async move { Ok(blob) })
    }

    fn blobs_of(&self, session: SessionId) -> Answer<'_, Vec<BlobUse>> {
        self.read(|state| {
            let uses = state.blob_uses.iter().filter(|((user, _), _)| *user == session);
            uses.map(|(_, used)| used.clone()).collect()
        })
    }

    fn remove_unused_blobs(&self) -> Answer<'_, ()> {
        let mut content = self.disk.lock();
        let used: Vec<String> = content.state.blob_uses.keys().map(|(_, hash)| hash.clone()).collect();
        content.blobs.retain(|hash, _| used.contains(hash));
        Box::pin(async move { Ok(()) })
    }
}

impl CaptureSessions for Memory {
    fn put_capture_session(&self, session: CaptureSession) -> Answer<'_, ()> {
        self.write(|state| {
            state.capture_sessions.insert(session.id.clone(), session);
        })
    }

    fn remove_capture_session(&self, id: String) -> Answer<'_, ()> {
        self.write(|state| {
            state.capture_sessions.remove(&id);
        })
    }

    fn capture_sessions(&self) -> Answer<'_, Vec<CaptureSession>> {
        self.read(|state| {
            let mut all: Vec<CaptureSession> = state.capture_sessions.values().cloned().collect();
            all.sort_by_key(|session| session.expires_at);
            all
        })
    }
}

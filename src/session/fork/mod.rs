//! Forks: a new session that continues another one from the end of a turn.
//!
//! The log up to there is copied with its numbers and times, and the agent copies its own session. The source is not
//! changed. Nobody gets the new session before all of it is written; one that could not be written is deleted.

mod point;

use std::sync::Arc;

use sha2::{Digest, Sha256};

pub use self::point::ForkAfter;
use self::point::{ForkPoint, NoPoint, PointFinder};
use super::machine::{Effect, Fold};
use super::session_feed::SessionStatus;
use super::working_directory::{self, WorkingDirectoryError};
use super::{Session, SessionError, Sessions, clock};
use crate::agent::{AgentFork, Runtime, RuntimeNotFound};
use crate::model::{
    NoticeKind, PromptId, Response, Seq, SessionId, SessionOrigin, SessionProfile, SessionState, Timestamp, hex,
};
use crate::store::{
    Append, Change, Creation, CreationKey, EndedBlock, EventPage, EventRow, NewSessionRecord, StoreError, StoredEvent,
    StoredSession,
};

const PAGE: usize = 1_000;
const PAGE_BYTES: usize = 8 * 1024 * 1024;

/// Why a session could not be forked.
#[derive(Debug, thiserror::Error)]
pub enum ForkError {
    /// The runtime is gone from the configuration.
    #[error(transparent)]
    Runtime(#[from] RuntimeNotFound),
    /// The agent cannot copy its sessions.
    #[error("the runtime {0} cannot fork sessions; start a new session instead")]
    NotSupported(String),
    /// The session has no such prompt.
    #[error("this session has no {0}")]
    PromptNotFound(PromptId),
    /// The session has no such event.
    #[error("this session has no event {0}")]
    EventNotFound(Seq),
    /// The turn has not ended.
    #[error("the turn has not ended yet; wait until it has, or interrupt it")]
    TurnNotOver,
    /// The agent has no session of its own to copy, or lost it.
    #[error("the agent no longer has this part of the conversation; start a new session instead")]
    Lost,
    /// The agent refused.
    #[error("{runtime} could not copy its session: {reason}")]
    Agent {
        /// Which.
        runtime: String,
        /// Why not.
        reason: String,
    },
    /// The folder cannot be used any more.
    #[error(transparent)]
    WorkingDirectory(#[from] WorkingDirectoryError),
    /// No more sessions.
    #[error("{limit} sessions are open, which is the limit; close some, or raise limits.sessions")]
    TooMany {
        /// What is allowed.
        limit: usize,
    },
    /// The key was used for another session.
    #[error("the Idempotency-Key was used to create a different session; use a new key for a new session")]
    KeyReused,
    /// Somebody opened the new session before it was complete.
    #[error("the new session was opened before it was complete; try again")]
    Disturbed,
    /// As for any command.
    #[error(transparent)]
    Session(#[from] SessionError),
    /// The store refused.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// What a fork is made of.
struct Plan {
    source: SessionId,
    stored: StoredSession,
    agent: Arc<dyn Runtime>,
    agent_session_id: String,
    point: ForkPoint,
}

impl Sessions {
    /// Makes a new session that continues this one from the end of a turn. A repetition with the same key gets the
    /// session of the first call.
    pub async fn fork(
        &self,
        source: SessionId,
        after: ForkAfter,
        origin: SessionOrigin,
        key: Option<String>,
    ) -> Result<Arc<Session>, ForkError> {
        let sessions = self.clone();
        let forking = async move {
            let plan = sessions.plan_fork(source, after).await?;
            let key = key.map(|key| CreationKey { key, fingerprint: plan.fingerprint() });
            sessions.carry_out(plan, origin, key).await
        };
        self.shared.operations.run(forking).await
    }

    async fn plan_fork(&self, source: SessionId, after: ForkAfter) -> Result<Plan, ForkError> {
        // Loading ends a turn that an earlier run left open.
        self.get(source).await?;
        self.store().flush().await?;
        let stored = self.store().load_session(source).await?.ok_or(SessionError::NotFound)?;
        let runtime = &stored.summary.profile.runtime;
        let agent = self.runtimes().named(runtime)?;
        if !agent.capabilities().fork {
            return Err(ForkError::NotSupported(runtime.clone()));
        }
        let mut finder = PointFinder::new(after);
        self.read_whole_log(source, |event, response| {
            if let Some(response) = response {
                finder.apply(event.seq, response);
            }
        })
        .await?;
        let point = finder.finish().map_err(|reason| match (reason, after) {
            (NoPoint::NotOver, _) => ForkError::TurnNotOver,
            (NoPoint::NotFound, ForkAfter::Prompt(prompt)) => ForkError::PromptNotFound(prompt),
            (NoPoint::NotFound, ForkAfter::Event(seq)) => ForkError::EventNotFound(seq),
        })?;
        let agent_session_id = stored.agent_session_id.clone().filter(|_| !point.is_lost).ok_or(ForkError::Lost)?;
        Ok(Plan { source, stored, agent, agent_session_id, point })
    }

    async fn carry_out(
        &self,
        plan: Plan,
        origin: SessionOrigin,
        key: Option<CreationKey>,
    ) -> Result<Arc<Session>, ForkError> {
        let settings = self.settings();
        let folder = plan.stored.summary.profile.working_directory.clone().unwrap_or_default();
        let profile = SessionProfile {
            title: plan.stored.summary.profile.title.as_ref().map(|title| format!("{title} (fork)")),
            working_directory: working_directory::check(&folder, &settings.roots).await?,
            ..plan.stored.summary.profile.clone()
        };
        let limit = settings.open_sessions;
        let record = NewSessionRecord {
            profile,
            state: SessionState::Ready,
            origin,
            job: None,
            key,
            now: clock::now(),
            most_open: limit,
        };
        let fork = match self.store().create_session(record).await? {
            Creation::New(fork) => fork,
            Creation::Known(fork) => return Ok(self.get(fork).await?),
            Creation::KeyReused => return Err(ForkError::KeyReused),
            Creation::TooMany => return Err(ForkError::TooMany { limit }),
        };
        let mut is_written = false;
        let written = self
            .load_prepared(fork, async {
                self.write_fork(&plan, fork).await?;
                is_written = true;
                Ok::<_, ForkError>(())
            })
            .await;
        match written {
            Ok(session) if is_written => {
                if let Some(summary) = self.store().session(fork).await? {
                    self.session_feed().publish_if_unknown(SessionStatus::of_summary(summary));
                }
                Ok(session)
            }
            Ok(_) => {
                self.delete(fork).await?;
                Err(ForkError::Disturbed)
            }
            Err(error) => {
                if let Err(problem) = self.store().delete_session(fork).await {
                    tracing::warn!(session = %fork, error = %problem, "could not delete an incomplete fork");
                }
                Err(error)
            }
        }
    }

    /// Copies the agent's session, then the log and its records.
    async fn write_fork(&self, plan: &Plan, fork: SessionId) -> Result<(), ForkError> {
        let refused = |reason| ForkError::Agent { runtime: plan.agent.name().to_owned(), reason };
        let left_out = self.left_out(plan).await?;
        let copy = AgentFork { agent_session_id: plan.agent_session_id.clone(), left_out };
        let agent_session_id = plan.agent.fork(copy).await.map_err(refused)?;
        let now = clock::now();
        self.copy_log(plan, fork, now).await?;
        let mut changes = vec![Change::AgentSession(Some(agent_session_id))];
        for prompt in &plan.point.prompts {
            changes.extend(self.prompt_changes(plan.source, *prompt).await?);
        }
        for blob in self.store().blobs_of(plan.source).await? {
            changes.push(Change::BlobUsed { hash: blob.hash, mime: blob.mime, size: blob.size });
        }
        let message = format!(
            "Forked from {}. The conversation continues from here; files are as they are in the folder now.",
            plan.source
        );
        let notice = EventRow {
            seq: plan.point.last + 1,
            time: now,
            block: None,
            body: Response::notice(NoticeKind::Forked, message).to_json().into(),
        };
        self.append_to(fork, now, vec![notice], Vec::new(), changes).await
    }

    /// The texts of the prompts that the agent must leave out.
    async fn left_out(&self, plan: &Plan) -> Result<Vec<String>, ForkError> {
        let mut texts = Vec::with_capacity(plan.point.later.len());
        for prompt in &plan.point.later {
            texts.extend(self.store().prompt(plan.source, prompt.number()).await?.map(|known| known.text));
        }
        Ok(texts)
    }

    /// A prompt that has ended, as it is stored.
    async fn prompt_changes(&self, source: SessionId, prompt: PromptId) -> Result<Vec<Change>, ForkError> {
        let known = self.store().prompt(source, prompt.number()).await?;
        let whole = self.store().whole_prompt(source, prompt.number()).await?;
        let (Some(outcome), Some(mut whole)) = (known.and_then(|known| known.outcome), whole) else {
            return Ok(Vec::new());
        };
        // A repetition with the key belongs to the source.
        whole.idempotency_key = None;
        Ok(vec![Change::PromptAccepted(whole.prepare()), Change::PromptEnded(prompt, outcome)])
    }

    async fn copy_log(&self, plan: &Plan, fork: SessionId, now: Timestamp) -> Result<(), ForkError> {
        let mut fold = Fold::default();
        let mut after = 0;
        while after < plan.point.last {
            let (events, _) = self.store().events(plan.source, page_after(after)).await?;
            let Some(last) = events.last() else { return Ok(()) };
            after = last.seq;
            let (mut rows, mut ended) = (Vec::with_capacity(events.len()), Vec::new());
            for event in events.into_iter().filter(|event| event.seq <= plan.point.last) {
                let effect = parsed(&event).map_or(Effect::None, |response| fold.apply(event.seq, &response));
                match effect {
                    // Its block has ended, and the end has all of its text.
                    Effect::Delta { .. } => continue,
                    Effect::Ended(block) => ended.push(EndedBlock { deltas: 0, ..block }),
                    Effect::None => {}
                }
                if !plan.point.left_out.contains(&event.seq) {
                    rows.push(EventRow { seq: event.seq, time: event.time, block: None, body: event.body });
                }
            }
            self.append_to(fork, now, rows, ended, Vec::new()).await?;
        }
        Ok(())
    }

    async fn append_to(
        &self,
        fork: SessionId,
        time: Timestamp,
        events: Vec<EventRow>,
        ended_blocks: Vec<EndedBlock>,
        changes: Vec<Change>,
    ) -> Result<(), ForkError> {
        let append = Append { stream: fork.into(), time, events, ended_blocks, changes };
        Ok(self.store().append_checked(append).await?)
    }

    async fn read_whole_log(
        &self,
        session: SessionId,
        mut read: impl FnMut(&StoredEvent, Option<&Response>) + Send,
    ) -> Result<(), StoreError> {
        let mut after = 0;
        loop {
            let (events, _) = self.store().events(session, page_after(after)).await?;
            let Some(last) = events.last() else { return Ok(()) };
            after = last.seq;
            for event in &events {
                read(event, parsed(event).as_ref());
            }
        }
    }
}

impl Plan {
    /// What a repetition with the same key must match.
    fn fingerprint(&self) -> String {
        hex(&Sha256::digest(format!("fork {} {}", self.source, self.point.last)))
    }
}

fn page_after(after: Seq) -> EventPage {
    EventPage { after, before: None, limit: PAGE, max_bytes: PAGE_BYTES }
}

fn parsed(event: &StoredEvent) -> Option<Response> {
    Response::from_json(std::str::from_utf8(&event.body).ok()?)
}

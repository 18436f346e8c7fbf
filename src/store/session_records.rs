//! Sessions as they are stored.

use super::{OpenTurn, QueuedPrompt};
use crate::model::{
    BudgetNotices, ContextUsage, Continuation, JobId, LostSession, OpenRequest, PromptId, Seq, SessionId, SessionJob,
    SessionOrigin, SessionProfile, SessionState, SessionSummary, SlashCommand, Timestamp, Usage,
};

/// A session that is to be created.
#[derive(Clone, Debug)]
pub struct NewSessionRecord {
    /// What it is made of.
    pub profile: SessionProfile,
    /// Its first state.
    pub state: SessionState,
    /// Who creates it.
    pub origin: SessionOrigin,
    /// The job and task that it works for.
    pub job: Option<SessionJob>,
    /// The creator's own key, to make a repetition harmless.
    pub key: Option<CreationKey>,
    /// When.
    pub now: Timestamp,
    /// The limit of open sessions.
    pub most_open: usize,
}

/// The key of a creation, and what a repetition with the same key must match.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CreationKey {
    /// As the caller gave it.
    pub key: String,
    /// What was asked for, as a hash.
    pub fingerprint: String,
}

/// The result of a creation. It survives a power cut in every case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Creation {
    /// A new session.
    New(SessionId),
    /// The session that was created with the same key.
    Known(SessionId),
    /// The key was used for something else.
    KeyReused,
    /// The limit of open sessions is reached.
    TooMany,
}

/// Which sessions to list, newest first.
#[derive(Clone, Copy, Debug)]
pub struct SessionFilter {
    /// Only those in this state.
    pub state: Option<SessionState>,
    /// Only those that work for this job.
    pub job: Option<JobId>,
    /// Only those that are older than this one.
    pub after: Option<SessionId>,
    /// At most that many.
    pub limit: usize,
}

/// Everything needed to continue a session after a restart.
#[derive(Clone, Debug)]
pub struct StoredSession {
    /// What lists show.
    pub summary: SessionSummary,
    /// The number of its next event.
    pub next_seq: Seq,
    /// Its next prompt. After a power cut its number is above any that may have been used. Requests are named after
    /// the number of their event, so they need none of their own.
    pub next_prompt: PromptId,
    /// The agent's own id for it.
    pub agent_session_id: Option<String>,
    /// A turn that was running when the server ended.
    pub turn: Option<OpenTurn>,
    /// Prompts that wait.
    pub queued: Vec<QueuedPrompt>,
    /// Requests that wait for a person, oldest first.
    pub requests: Vec<OpenRequest>,
    /// The number of its last prompt; 0 if the store has none.
    pub last_prompt: u32,
    /// What it has cost so far.
    pub usage: Usage,
    /// How full the agent's context is, as last reported.
    pub context: Option<ContextUsage>,
    /// Which limits it has been notified of.
    pub budget_notified: BudgetNotices,
    /// Answers that the agent has not received, and what follows from them.
    pub continuation: Continuation,
    /// The newest loss of the agent's own session.
    pub loss: Option<LostSession>,
    /// The commands that the agent understands, as last reported.
    pub commands: Vec<SlashCommand>,
}

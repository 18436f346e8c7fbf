//! Prompts, their outcomes and answered requests as they are stored.

use crate::model::{PromptOutcome, SessionId};

/// A prompt that was accepted before.
#[derive(Clone, Debug, PartialEq)]
pub struct KnownPrompt {
    /// Its number within the session.
    pub number: u32,
    /// What it asked for.
    pub text: String,
    /// What a repetition with the same key must match.
    pub fingerprint: String,
    /// How its turn ended, if it has.
    pub outcome: Option<PromptOutcome>,
}

/// The number of an outcome, over all sessions, in the order in which turns ended. Never used twice; 0 means "before
/// everything".
pub type OutcomeSeq = u64;

/// How a prompt's turn ended.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredOutcome {
    /// Its number, to continue reading from.
    pub seq: OutcomeSeq,
    /// Whose prompt it was.
    pub session: SessionId,
    /// How it ended, and which prompt it was.
    pub outcome: PromptOutcome,
}

/// A request that was answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClosedRequest {
    /// The answer.
    pub decision: String,
    /// Who gave it.
    pub by: String,
}

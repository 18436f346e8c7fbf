//! The log of captured calls: what was called, by whom and how it ended. Contents are not in it.

use crate::model::{Timestamp, Usage};

/// The number of a captured call. Later calls have greater numbers, and none is given twice.
pub type CaptureCallId = u64;

/// A captured call that has ended.
#[derive(Clone, Debug, PartialEq)]
pub struct CaptureCall {
    /// When it began.
    pub at: Timestamp,
    /// Whose call it was: `admin`, or the id of a token with scopes.
    pub token_id: String,
    /// The dialect that the caller spoke.
    pub dialect: String,
    /// The model that answered, or the one that was asked for if none did.
    pub model: String,
    /// What happened to the agent's session.
    pub mode: String,
    /// How many tools the caller declared.
    pub tools: u32,
    /// How it ended, as one word.
    pub outcome: String,
    /// What went wrong, without secrets.
    pub error: Option<String>,
    /// What the agent reported; a figure that it left out is unknown.
    pub usage: Usage,
    /// How long it took, in milliseconds.
    pub duration_ms: u64,
}

/// A captured call in the log.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredCaptureCall {
    /// Its number.
    pub id: CaptureCallId,
    /// The call.
    pub call: CaptureCall,
}

/// What the calls of one token used, as far as they are in the log.
#[derive(Clone, Debug, PartialEq)]
pub struct CaptureUsage {
    /// Whose calls: `admin`, or the id of a token with scopes.
    pub token_id: String,
    /// How many.
    pub calls: u64,
    /// The sums of the figures that agents reported.
    pub usage: Usage,
}

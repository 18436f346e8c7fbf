//! Copying a session that an agent stores.

/// Which session of an agent is copied, and up to where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AgentFork {
    /// The agent's id for it.
    pub agent_session_id: String,
    /// The first prompt that the copy leaves out, with everything after it; `None` to copy all of it.
    pub left_out: Option<LeftOut>,
}

/// A prompt, found from the end of the agent's record: its beginning may have been replaced.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeftOut {
    /// Its text.
    pub text: String,
    /// How many later prompts have the same text.
    pub repetitions: usize,
}

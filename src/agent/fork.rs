//! Copying a session that an agent stores.

/// Which session of an agent is copied, and up to where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AgentFork {
    /// The agent's id for it.
    pub agent_session_id: String,
    /// The texts of the prompts that the copy leaves out, in the order in which the agent got them: everything from the first
    /// one on. Empty to copy all of it.
    pub left_out: Vec<String>,
}

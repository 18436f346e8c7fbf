//! Calls of the job tools: answered at once with what they report. The log has their start, which is the report.

use std::collections::VecDeque;

use super::{Machine, Output};
use crate::agent::{AgentCommand, ToolRequest, job_tool_answer};

/// Answered calls that are remembered, in case the agent repeats one.
const MOST_ANSWERED: usize = 64;

/// The calls of a connection that were answered, by the agent's ids for the requests.
#[derive(Debug, Default)]
pub(super) struct AnsweredCalls(VecDeque<String>);

impl AnsweredCalls {
    /// Whether it has not been answered before.
    fn note(&mut self, agent_request_id: &str) -> bool {
        if self.0.iter().any(|known| known == agent_request_id) {
            return false;
        }
        if self.0.len() >= MOST_ANSWERED {
            self.0.pop_front();
        }
        self.0.push_back(agent_request_id.to_owned());
        true
    }
}

impl Machine {
    /// The call of a job tool waits. The agent gets its answer once the call's start is committed, so that nothing
    /// follows from a report that a restart would forget.
    pub(super) fn on_tool_waits(&mut self, agent_request_id: String, call: &ToolRequest) {
        if self.answered_calls.note(&agent_request_id) {
            let command = AgentCommand::AnswerTools(vec![(agent_request_id, job_tool_answer(call))]);
            self.outputs.push(Output::SendCommitted(self.draft.last_seq(), command));
        }
    }
}

//! Commands that arrive during a turn and run after it.

use std::collections::VecDeque;

use crate::agent::AgentCommand;

/// Commands that wait for the end of a turn. Bounded, because only the last change of the settings counts, and the
/// session sends neither prompts nor steering while a turn of such an agent runs.
#[derive(Debug, Default)]
pub(super) struct Deferred {
    configure: Option<AgentCommand>,
    permit: Option<AgentCommand>,
    rest: VecDeque<AgentCommand>,
}

impl Deferred {
    pub fn add(&mut self, command: AgentCommand) {
        match command {
            AgentCommand::Configure { .. } => self.configure = Some(command),
            AgentCommand::Permit(_) => self.permit = Some(command),
            AgentCommand::Prompt { .. } | AgentCommand::Steer { .. } => self.rest.push_back(command),
            // They concerned the turn that just ended.
            AgentCommand::Interrupt
            | AgentCommand::Answer { .. }
            | AgentCommand::AnswerTools(_)
            | AgentCommand::Suspend => {}
        }
    }

    /// The next command: settings first, so that a later prompt uses them.
    pub fn next(&mut self) -> Option<AgentCommand> {
        self.configure.take().or_else(|| self.permit.take()).or_else(|| self.rest.pop_front())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::PermissionPolicy;

    #[test]
    fn only_the_last_change_of_a_setting_is_kept() {
        let mut deferred = Deferred::default();
        for number in 0..1_000 {
            deferred.add(AgentCommand::Permit(PermissionPolicy::default()));
            deferred.add(AgentCommand::Configure { model: format!("m{number}"), effort: None });
            deferred.add(AgentCommand::Interrupt);
        }
        assert!(matches!(deferred.next(), Some(AgentCommand::Configure { model, .. }) if model == "m999"));
        assert!(matches!(deferred.next(), Some(AgentCommand::Permit(_))));
        assert!(deferred.next().is_none());
    }
}

//! What a runtime can do, as data.

use schemars::JsonSchema;
use serde::Serialize;

use super::ModelNames;

/// How a runtime takes a system prompt.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SystemPromptSupport {
    /// Not at all.
    #[default]
    None,
    /// As a file named on the command line.
    File,
    /// As a separate message.
    Message,
    /// As a block before the first prompt.
    PromptBlock,
}

/// Which processes a runtime starts for its sessions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ProcessUse {
    /// None.
    #[default]
    None,
    /// One for all.
    Shared,
    /// One for each session, as long as it is connected.
    PerSession,
    /// One for each turn.
    PerTurn,
}

/// What a runtime can do. Core code checks these, never a runtime's name.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[expect(clippy::struct_excessive_bools, reason = "a table of independent yes/no facts")]
pub struct Capabilities {
    /// Text arrives in pieces while the agent writes it.
    pub streaming: bool,
    /// The agent keeps its session, so a new connection continues the conversation.
    pub session_resume: bool,
    /// The agent's session id is known before the first turn ends.
    pub mid_run_session_id: bool,
    /// The agent asks before it acts. Without this, the policy is given to it before each turn.
    pub permissions: bool,
    /// The agent asks questions that a person answers.
    pub questions: bool,
    /// A running turn can be interrupted and the session continues.
    pub interrupt: bool,
    /// A prompt can be added to the running turn.
    pub steering: bool,
    /// The reasoning efforts that the agent accepts; empty where it has none.
    pub effort_levels: Vec<String>,
    /// The agent lists its models.
    pub model_discovery: bool,
    /// Model and effort can change in a running session.
    pub model_switch: bool,
    /// How the agent takes a system prompt.
    pub system_prompt: SystemPromptSupport,
    /// The prompt goes on the command line, where other users of the machine can read it.
    pub prompt_via_arg: bool,
    /// The host can offer tools of its own to the agent.
    pub custom_tools: bool,
    /// The host is called before each tool runs and can deny it.
    pub pre_tool_hook: bool,
    /// The agent reports the tokens of a turn.
    pub usage_tokens: bool,
    /// The agent reports the premium requests of a turn.
    pub usage_premium_requests: bool,
    /// The agent reports the AI credits of a turn.
    pub usage_credits: bool,
    /// The agent reports the cost of a turn in dollars.
    pub cost_tracking: bool,
    /// The agent stops by itself at a limit on cost.
    pub budget_cap: bool,
    /// The agent changes to another model by itself when the first one is overloaded.
    pub fallback_model: bool,
    /// Short names such as `sonnet` stand for models.
    pub model_shorthands: bool,
    /// How models are named here.
    pub model_names: ModelNames,
    /// The agent can run without the user's own settings, hooks and instructions.
    pub bare_mode: bool,
    /// Whether the agent keeps a session can be chosen.
    pub session_persistence_control: bool,
    /// Prompts can carry images.
    pub image_input: bool,
    /// The agent uses MCP servers.
    pub mcp: bool,
    /// One process serves many sessions.
    pub many_sessions_per_process: bool,
    /// Which processes are started; `limits.agent_processes` counts those of a session or a turn.
    pub processes: ProcessUse,
    /// The agent retries a failed model request by itself, so the server does not.
    pub model_retries: bool,
    /// A turn that waits for a permission continues in a new connection, even after a restart of server and agent. The
    /// requests of other agents survive too, but their answers begin a new turn.
    pub durable_requests: bool,
    /// The same for a turn that waits for the answer to a question.
    pub durable_questions: bool,
    /// The agent copies a session up to the end of a turn, so that another one continues from there.
    pub fork: bool,
    /// There is no real agent behind it, and every page says so.
    pub demo: bool,
}

impl Capabilities {
    /// Why this runtime probably does not know a model, and what to write instead. Only Claude Code has short names.
    pub(super) fn misfit(&self, runtime: &str, model: &str) -> Option<String> {
        let names = if self.model_shorthands { ModelNames::Claude } else { self.model_names };
        names.misfit(runtime, model)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_capability_is_in_the_documentation_of_the_api() {
        let documentation = include_str!("../../docs/api.md");
        let fields = serde_json::to_value(Capabilities::default()).expect("plain values");
        let (_, table) = documentation.split_once("## Capabilities").expect("a chapter");
        let table = table.split("\n## ").next().expect("its end");
        let documented: Vec<&str> =
            table.lines().filter_map(|line| line.strip_prefix("| `")?.split('`').next()).collect();
        let mut names: Vec<&String> = fields.as_object().expect("an object").keys().collect();
        let mut documented_sorted = documented.clone();
        names.sort();
        documented_sorted.sort_unstable();
        assert_eq!(names, documented_sorted);
    }
}

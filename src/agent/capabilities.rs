//! What a runtime can do, as data.

use serde::Serialize;

use super::ModelNames;

/// How a runtime takes a system prompt.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum SystemPromptSupport {
    /// Not at all.
    #[default]
    None,
    /// As a file named on the command line.
    File,
    /// As a message of its own.
    Message,
    /// As a block before the first prompt.
    PromptBlock,
}

/// Which processes a runtime starts for its sessions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
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

/// What a runtime can do. Core code asks these, never for a runtime's name.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[expect(clippy::struct_excessive_bools, reason = "a table of independent yes/no facts")]
#[expect(missing_docs, reason = "the names say it; docs/api.md lists them")]
pub struct Capabilities {
    pub streaming: bool,
    pub session_resume: bool,
    pub mid_run_session_id: bool,
    pub permissions: bool,
    pub questions: bool,
    pub interrupt: bool,
    pub steering: bool,
    pub effort_levels: Vec<String>,
    pub model_discovery: bool,
    pub model_switch: bool,
    pub system_prompt: SystemPromptSupport,
    pub prompt_via_arg: bool,
    pub custom_tools: bool,
    pub pre_tool_hook: bool,
    pub usage_tokens: bool,
    pub usage_premium_requests: bool,
    pub cost_tracking: bool,
    pub budget_cap: bool,
    pub fallback_model: bool,
    pub model_shorthands: bool,
    /// How models are called here.
    pub model_names: ModelNames,
    pub bare_mode: bool,
    pub session_persistence_control: bool,
    pub image_input: bool,
    pub mcp: bool,
    pub many_sessions_per_process: bool,
    pub processes: ProcessUse,
    /// It asks its model again by itself when that fails.
    pub model_retries: bool,
    /// A turn that waits for a person can go on in a new connection, so its requests outlive the server.
    pub durable_requests: bool,
    /// Nothing here is a real agent; every surface says so.
    pub demo: bool,
}

impl Capabilities {
    /// Why a model will hardly be known here, and what to write instead. Only Claude Code has short names of its own.
    pub(super) fn misfit(&self, runtime: &str, model: &str) -> Option<String> {
        let names = if self.model_shorthands { ModelNames::Claude } else { self.model_names };
        names.misfit(runtime, model)
    }
}

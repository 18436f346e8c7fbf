//! The options of a session over ACP. Of Copilot's flags, those for streaming and instructions have no effect over ACP
//! (version 1.0.102), so there are no options for them.

use serde_json::{Map, Value};

use crate::agent::copilot::{Copilot, options};
use crate::agent::option_values::OptionValues;
use crate::agent::{OptionKind, SessionOption};

const OPTIONS: [&str; 2] = ["mcpServers", "mode"];
const OPTIONS_OF_COPILOT: [&str; 4] = ["provider", "mcpServers", "mode", "disableBuiltinMcps"];

/// Checked options.
#[derive(Debug)]
pub(super) struct AcpOptions {
    /// One of the agent's own modes, by id or name.
    pub mode: Option<String>,
    /// Only Copilot brings MCP servers of its own.
    pub disable_builtin_mcps: bool,
}

impl AcpOptions {
    /// Unknown options, and options of the wrong type, are an error. `agent` is its name in errors.
    pub fn read(agent: &str, is_copilot: bool, values: &Map<String, Value>) -> Result<Self, String> {
        let known: &[&str] = if is_copilot { &OPTIONS_OF_COPILOT } else { &OPTIONS };
        let options = OptionValues::new(agent, values, known)?;
        Ok(Self {
            mode: options.text("mode")?,
            disable_builtin_mcps: options.switch("disableBuiltinMcps", is_copilot)?,
        })
    }
}

/// The options of Copilot, as people see them.
pub(super) fn of_copilot(copilot: &Copilot) -> Vec<SessionOption> {
    let modes = [("agent", "Agent"), ("plan", "Plan"), ("autopilot", "Autopilot")];
    let hint = "How the agent works. In plan mode it makes a plan first.";
    let mode = SessionOption::new("mode", OptionKind::Choice, "Mode", hint).with_choices(modes);
    vec![mode, options::disable_builtin_mcps(), copilot.provider_option()]
}

/// The options of any other agent.
pub(super) fn of_others() -> Vec<SessionOption> {
    let hint = "One of the agent's own modes, by name or id.";
    vec![SessionOption::new("mode", OptionKind::Text, "Mode", hint)]
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_an_agent_does_not_have_is_an_error_that_names_what_it_has() {
        let read = |is_copilot, values: Value| {
            AcpOptions::read("mine", is_copilot, values.as_object().expect("an object")).map_err(|error| {
                assert!(error.starts_with("mine"), "{error}");
                error
            })
        };
        let error = read(true, json!({ "stream": false })).expect_err("unknown");
        assert!(error.contains("\"stream\"") && error.contains("disableBuiltinMcps"), "{error}");
        let error = read(false, json!({ "disableBuiltinMcps": true })).expect_err("unknown");
        assert!(error.contains("available options: mcpServers, mode"), "{error}");
        assert!(read(false, json!({ "mode": 1 })).expect_err("no text").contains("a text"));
        assert!(read(true, json!({})).expect("valid").disable_builtin_mcps);
        let options = read(false, json!({ "mode": "plan", "mcpServers": {} })).expect("valid");
        assert_eq!((options.mode.as_deref(), options.disable_builtin_mcps), (Some("plan"), false));
    }
}

//! The options of a session over the SDK protocol: what they are called, and what they become.
//!
//! Those that the CLI also has as flags have the same names and descriptions in `copilot-headless`.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::TITLE;
use crate::agent::option_values::OptionValues;
use crate::agent::{OptionKind, SessionOption};
use crate::model::McpServer;

/// The supported session options.
const OPTIONS: [&str; 7] =
    ["provider", "mcpServers", "mode", "stream", "disableBuiltinMcps", "noCustomInstructions", "reasoningSummaries"];
const MODES: [&str; 3] = ["interactive", "plan", "autopilot"];
/// The servers that Copilot brings along: those that `--disable-builtin-mcps` disables in version 1.0.102.
const BUILTIN_MCP_SERVERS: [&str; 5] =
    ["github-mcp-server", "githubiq", "github-copilot-browser", "browser-use", "WorkIQ"];

/// Checked options.
#[derive(Debug)]
#[expect(clippy::struct_excessive_bools, reason = "switches of a session, independent of each other")]
pub(super) struct CopilotOptions {
    /// The mode to switch to once the session is open, one of [`MODES`].
    pub mode: Option<String>,
    stream: bool,
    disable_builtin_mcps: bool,
    no_custom_instructions: bool,
    reasoning_summaries: bool,
}

impl CopilotOptions {
    /// Unknown options, and options of the wrong type, are an error.
    pub fn read(values: &Map<String, Value>) -> Result<Self, String> {
        let options = OptionValues::new(TITLE, values, &OPTIONS)?;
        let mode = options.text("mode")?;
        if let Some(unknown) = mode.as_deref().filter(|mode| !MODES.contains(mode)) {
            return Err(format!("invalid options.mode {unknown:?}; available modes: {}", MODES.join(", ")));
        }
        Ok(Self {
            mode,
            stream: options.switch("stream", true)?,
            disable_builtin_mcps: options.switch("disableBuiltinMcps", true)?,
            no_custom_instructions: options.switch("noCustomInstructions", false)?,
            reasoning_summaries: options.switch("reasoningSummaries", true)?,
        })
    }

    /// Adds them to the parameters of `session.create` or `session.resume`. `servers` are the session's own.
    pub fn put_into(&self, params: &mut Value, servers: &BTreeMap<String, McpServer>) {
        params["streaming"] = json!(self.stream);
        params["skipCustomInstructions"] = json!(self.no_custom_instructions);
        if self.disable_builtin_mcps {
            params["disabledMcpServers"] = json!(builtin_servers_except(servers));
        }
        if !self.reasoning_summaries {
            params["reasoningSummary"] = json!("none");
        }
    }
}

/// The built-in servers, without those that servers of the user's own replace.
fn builtin_servers_except(own: &BTreeMap<String, McpServer>) -> Vec<&'static str> {
    BUILTIN_MCP_SERVERS.into_iter().filter(|name| !own.contains_key(*name)).collect()
}

/// The CLI's flags for the same. The flag for all of them would also disable a server of the user's own.
pub(in crate::agent) fn flags_without_builtin_servers(
    own: &BTreeMap<String, McpServer>,
) -> Vec<(&'static str, Option<&'static str>)> {
    let disabled = builtin_servers_except(own);
    if disabled == BUILTIN_MCP_SERVERS {
        return vec![("--disable-builtin-mcps", None)];
    }
    disabled.into_iter().map(|name| ("--disable-mcp-server", Some(name))).collect()
}

/// The options of its own, as people see them.
pub(super) fn session_options() -> Vec<SessionOption> {
    vec![mode(), SessionOption::stream(), disable_builtin_mcps(), no_custom_instructions(), reasoning_summaries(true)]
}

fn mode() -> SessionOption {
    let hint =
        "Plan makes a plan first and asks you to approve it. Autopilot continues by itself until the task is done.";
    SessionOption::new("mode", OptionKind::Choice, "Mode", hint).with_choices(MODES.into_iter().zip([
        "Interactive",
        "Plan",
        "Autopilot",
    ]))
}

pub(in crate::agent) fn disable_builtin_mcps() -> SessionOption {
    SessionOption::switch(
        "disableBuiltinMcps",
        true,
        "Disable built-in MCP servers",
        "When off, agents can autonomously create PRs, labels and comments via the github-mcp-server. Leave this on unless \
         you have a specific reason to expose the server.",
    )
}

pub(in crate::agent) fn no_custom_instructions() -> SessionOption {
    SessionOption::switch(
        "noCustomInstructions",
        false,
        "Ignore AGENTS.md",
        "Custom instructions such as AGENTS.md are not loaded. Skills still are.",
    )
}

/// The program's own default differs: with the SDK protocol it asks for them, in a headless turn it does not.
pub(in crate::agent) fn reasoning_summaries(default: bool) -> SessionOption {
    SessionOption::switch(
        "reasoningSummaries",
        default,
        "Reasoning summaries",
        "Asks the model to summarise its reasoning. Only some models do.",
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::McpTransport;

    fn read(values: &Value) -> Result<CopilotOptions, String> {
        CopilotOptions::read(values.as_object().expect("an object"))
    }

    #[test]
    fn options_that_nobody_knows_are_named_with_those_there_are() {
        for (options, word) in [
            (json!({ "mcpServer": {} }), "mcpServers"),
            (json!({ "mode": "sleepy" }), "autopilot"),
            (json!({ "stream": "yes" }), "true or false"),
        ] {
            let error = read(&options).expect_err(word);
            assert!(error.contains(word), "{error}");
        }
        assert!(read(&json!({ "mode": "plan", "stream": null })).is_ok());
    }

    #[test]
    fn every_option_becomes_a_parameter() {
        let servers = BTreeMap::new();
        let parameters = |values: &Value| {
            let mut params = json!({});
            read(values).expect("valid").put_into(&mut params, &servers);
            params
        };
        assert_eq!(
            parameters(&json!({})),
            json!({ "streaming": true, "skipCustomInstructions": false, "disabledMcpServers": BUILTIN_MCP_SERVERS })
        );
        let others = json!({
            "stream": false, "noCustomInstructions": true, "disableBuiltinMcps": false, "reasoningSummaries": false,
        });
        assert_eq!(
            parameters(&others),
            json!({ "streaming": false, "skipCustomInstructions": true, "reasoningSummary": "none" })
        );
    }

    #[test]
    fn a_server_of_the_users_own_is_not_disabled_with_the_built_in_one_of_its_name() {
        let transport =
            McpTransport::Stdio { command: "own".to_owned(), args: Vec::new(), env: BTreeMap::new(), cwd: None };
        let own = McpServer { transport, tools: None, timeout_ms: None };
        let mut params = json!({});
        let servers = BTreeMap::from([("github-mcp-server".to_owned(), own)]);
        read(&json!({})).expect("valid").put_into(&mut params, &servers);
        assert_eq!(params["disabledMcpServers"], json!(BUILTIN_MCP_SERVERS[1..]));
    }

    #[test]
    fn every_option_is_described_with_the_default_that_it_has() {
        let described = session_options();
        let mut names: Vec<&str> = described.iter().map(|option| option.name).collect();
        names.extend(["provider", "mcpServers"]);
        names.sort_unstable();
        let mut known = OPTIONS;
        known.sort_unstable();
        assert_eq!(names, known);
        let set: Map<String, Value> =
            described.iter().filter_map(|option| Some((option.name.to_owned(), json!(option.default?)))).collect();
        let defaults = CopilotOptions::read(&Map::new()).expect("nothing is fine");
        assert_eq!(format!("{defaults:?}"), format!("{:?}", CopilotOptions::read(&set).expect("valid")));
    }
}

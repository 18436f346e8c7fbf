//! The parameters of calls that concern one session.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::account::{Route, provider};
use super::mcp;
use crate::agent::{DeclaredTool, DeclaredTools, OptionKind, SessionOption, StartSpec};
use crate::model::{Attachment, McpServer};

/// Parameters of `session.create` and `session.resume`.
pub(super) fn session(
    id: &str,
    spec: &StartSpec,
    route: &Route,
    configured_mcp: &BTreeMap<String, McpServer>,
) -> Value {
    let mut params = json!({
        "sessionId": id,
        "clientName": "flightdeck",
        "streaming": true,
        "requestPermission": true,
        "requestUserInput": true,
        "requestElicitation": true,
        "requestExitPlanMode": true,
        "requestAutoModeSwitch": true,
        "hooks": false,
        "includeSubAgentStreamingEvents": true,
        "envValueMode": "direct",
    });
    let mut put = |name: &str, value: Option<Value>| {
        if let Some(value) = value {
            params[name] = value;
        }
    };
    put("model", (!route.model.is_empty()).then(|| json!(route.model)));
    put("reasoningEffort", spec.effort.as_ref().map(|effort| json!(effort)));
    put("workingDirectory", spec.working_directory.as_ref().map(|folder| json!(folder)));
    put("provider", route.provider.as_ref().map(provider::encode));
    put("systemMessage", spec.system_prompt.as_ref().map(|text| json!({ "mode": "append", "content": text })));
    // Without it, everything that waits for the user counts as interrupted.
    put("continuePendingWork", spec.suspended.is_some().then(|| json!(true)));
    put("mcpServers", mcp::encode_all(&spec.all_mcp_servers(configured_mcp)));
    match &spec.tools {
        Some(declared) if declared.access.is_model_only() => be_only_a_model(&mut params, spec, declared),
        Some(declared) => params["tools"] = tools(declared),
        None => {}
    }
    params
}

/// Declared tools without a handler: the program waits for their results.
fn tools(declared: &DeclaredTools) -> Value {
    let tool = |tool: &DeclaredTool| {
        json!({
            "name": tool.name,
            "description": tool.description,
            "parameters": tool.parameters,
            "overridesBuiltInTool": true,
        })
    };
    declared.tools.iter().map(tool).collect()
}

/// A session that has only the declared tools and our system message, and keeps nothing of the user's: no instructions, no
/// skills, no memory, no MCP servers, no hooks of repositories, no telemetry, and no rewriting of its history.
fn be_only_a_model(params: &mut Value, spec: &StartSpec, declared: &DeclaredTools) {
    let names: Vec<&str> = declared.tools.iter().map(|tool| tool.name.as_str()).collect();
    let system = spec.system_prompt.as_deref().unwrap_or_default();
    let only = json!({
        "tools": tools(declared),
        "availableTools": names,
        "toolFilterPrecedence": "excluded",
        "systemMessage": { "mode": "replace", "content": system },
        "hooks": true,
        "mcpServers": {},
        "requestUserInput": false,
        "requestElicitation": false,
        "requestExitPlanMode": false,
        "requestAutoModeSwitch": false,
        "enableConfigDiscovery": false,
        "enableOnDemandInstructionDiscovery": false,
        "enableFileHooks": false,
        "enableHostGitOperations": false,
        "enableSkills": false,
        "includedBuiltinSkills": [],
        // Otherwise the CLI keeps the prompts of deleted sessions.
        "enableSessionStore": false,
        "enableSessionTelemetry": false,
        "skipEmbeddingRetrieval": true,
        "memory": { "enabled": false },
        "infiniteSessions": { "enabled": false },
        "toolSearch": { "enabled": false },
        "largeOutput": { "enabled": false },
    });
    if let (Some(params), Value::Object(only)) = (params.as_object_mut(), only) {
        params.extend(only);
    }
}

/// The supported session options.
const OPTIONS: [&str; 3] = ["provider", "mcpServers", "mode"];
const MODES: [&str; 3] = ["interactive", "plan", "autopilot"];

/// The option that chooses one of [`MODES`].
pub(super) fn mode_option() -> SessionOption {
    let hint =
        "Plan makes a plan first and asks you to approve it. Autopilot continues by itself until the task is done.";
    SessionOption::new("mode", OptionKind::Choice, "Mode", hint).with_choices(MODES.into_iter().zip([
        "Interactive",
        "Plan",
        "Autopilot",
    ]))
}

/// Unknown options, and options of the wrong type, are an error before anything is opened.
pub(super) fn check_options(options: &Map<String, Value>) -> Result<(), String> {
    if let Some(unknown) = options.keys().find(|name| !OPTIONS.contains(&name.as_str())) {
        return Err(format!("Copilot has no option {unknown:?}; available options: {}", OPTIONS.join(", ")));
    }
    match options.get("mode") {
        None | Some(Value::Null) => Ok(()),
        Some(Value::String(mode)) if MODES.contains(&mode.as_str()) => Ok(()),
        Some(other) => Err(format!("invalid options.mode {other}; available modes: {}", MODES.join(", "))),
    }
}

/// Parameters of `session.send`.
pub(super) fn prompt(session: &str, text: &str, attachments: &[Attachment], mode: Option<&str>) -> Value {
    let mut params = json!({ "sessionId": session, "prompt": text });
    if let Some(mode) = mode {
        params["mode"] = json!(mode);
    }
    if !attachments.is_empty() {
        params["attachments"] = attachments
            .iter()
            .map(|file| json!({ "type": "blob", "displayName": file.name, "mimeType": file.mime, "data": file.data }))
            .collect();
    }
    params
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_that_nobody_knows_are_named_with_those_there_are() {
        for (options, word) in [(json!({ "mcpServer": {} }), "mcpServers"), (json!({ "mode": "sleepy" }), "autopilot")]
        {
            let error = check_options(options.as_object().expect("an object")).expect_err(word);
            assert!(error.contains(word), "{error}");
        }
        let good = json!({ "mode": "plan" });
        assert_eq!(check_options(good.as_object().expect("an object")), Ok(()));
    }
}

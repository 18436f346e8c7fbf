//! The parameters of calls that concern one session.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::account::{Route, provider};
use super::mcp;
use super::options::CopilotOptions;
use crate::agent::{DeclaredTool, DeclaredTools, StartSpec};
use crate::model::{Attachment, McpServer};

/// Parameters of `session.create` and `session.resume`.
pub(super) fn session(
    id: &str,
    spec: &StartSpec,
    options: &CopilotOptions,
    route: &Route,
    configured_mcp: &BTreeMap<String, McpServer>,
) -> Value {
    let mut params = json!({
        "sessionId": id,
        "clientName": "flightdeck",
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
    let servers = spec.all_mcp_servers(configured_mcp);
    put("mcpServers", mcp::encode_all(&servers));
    options.put_into(&mut params, &servers);
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
        "streaming": true,
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

//! The parameters of calls that concern one session.

use serde_json::{Map, Value, json};

use super::provider::Route;
use crate::agent::{StartSpec, mcp_servers};
use crate::model::Attachment;

/// Of `session.create` and `session.resume`.
pub(super) fn session(id: &str, spec: &StartSpec, route: &Route, configured_mcp: &Map<String, Value>) -> Value {
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
    put("provider", route.provider.clone());
    put("systemMessage", spec.system_prompt.as_ref().map(|text| json!({ "mode": "append", "content": text })));
    put("mcpServers", mcp_servers::of_session(configured_mcp, spec).map(Value::Object));
    params
}

/// Of `session.send`.
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

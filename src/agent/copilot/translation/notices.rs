//! Copilot events that become notices.

use serde_json::Value;

use crate::agent::AgentEvent;
use crate::model::NoticeKind;

fn notice(kind: NoticeKind, message: impl Into<String>) -> AgentEvent {
    AgentEvent::Notice { kind, message: message.into() }
}

/// The notices for an event; `None` for an unknown kind or shape.
pub(in crate::agent::copilot) fn notices(kind: &str, data: &Value) -> Option<Vec<AgentEvent>> {
    let text = |name: &str| data[name].as_str().map(str::to_owned);
    let one = |kind: NoticeKind, message: String| Some(vec![notice(kind, message)]);
    match kind {
        "session.warning" => one(NoticeKind::Warning, text("message")?),
        "session.info" => one(NoticeKind::Info, text("message")?),
        "session.model_change" => one(NoticeKind::Model, format!("The model is now {}.", text("newModel")?)),
        "session.mode_changed" => one(NoticeKind::Mode, format!("The mode is now {}.", text("newMode")?)),
        "session.compaction_start" => one(NoticeKind::Compaction, compaction_begins(data)),
        "session.compaction_complete" => one(NoticeKind::Compaction, compaction_ends(data)),
        "session.truncation" => one(
            NoticeKind::Compaction,
            format!(
                "The {} oldest messages were dropped to free context.",
                count(data, "messagesRemovedDuringTruncation")?
            ),
        ),
        // The end of the turn says why it failed; until then the program may go on.
        "session.task_complete" if data["success"] == false => match text("outcome").as_deref() {
            Some("continue") => one(NoticeKind::Info, "Copilot's task is not complete yet; it continues.".to_owned()),
            _ => Some(Vec::new()),
        },
        "session.task_complete" => {
            let summary = text("summary").filter(|summary| !summary.is_empty());
            one(
                NoticeKind::TaskComplete,
                summary.unwrap_or_else(|| "Copilot reports that the task is complete.".to_owned()),
            )
        }
        "session.autopilot_stopped" => one(NoticeKind::Mode, format!("Autopilot stopped: {}.", text("reason")?)),
        "subagent.started" => {
            let task = text("agentDescription").map(|task| format!(": {task}")).unwrap_or_default();
            one(NoticeKind::SubAgent, format!("{} started{task}.", name(data)?))
        }
        "subagent.completed" if data["cancelled"] == true => {
            one(NoticeKind::SubAgent, format!("{} was cancelled.", name(data)?))
        }
        "subagent.completed" => {
            let calls = count(data, "totalToolCalls").map(|calls| format!(" after {calls} tool calls"));
            one(NoticeKind::SubAgent, format!("{} finished{}.", name(data)?, calls.unwrap_or_default()))
        }
        "subagent.failed" => one(NoticeKind::SubAgent, format!("{} failed: {}", name(data)?, text("error")?)),
        "system.notification" => one(NoticeKind::Info, text("content")?),
        "session.mcp_servers_loaded" => {
            let servers = data["servers"].as_array()?;
            let state = |server: &Value| mcp_state(&server["name"], &server["status"], &server["error"]);
            Some(servers.iter().filter_map(state).collect())
        }
        "session.mcp_server_status_changed" => {
            text("serverName")?;
            Some(mcp_state(&data["serverName"], &data["status"], &data["error"]).into_iter().collect())
        }
        "mcp.oauth_required" => one(
            NoticeKind::Mcp,
            format!(
                "The MCP server {} ({}) needs a login; log in with `copilot` in a terminal, or set a token in its headers.",
                text("serverName")?,
                text("serverUrl").unwrap_or_default()
            ),
        ),
        _ => None,
    }
}

fn name(data: &Value) -> Option<String> {
    let name = data["agentDisplayName"].as_str().or(data["agentName"].as_str())?;
    Some(format!("The sub-agent {name}"))
}

fn count(data: &Value, name: &str) -> Option<u64> {
    data[name].as_u64()
}

fn compaction_begins(data: &Value) -> String {
    match (count(data, "currentTokens"), count(data, "tokenLimit")) {
        (Some(now), Some(most)) => format!("Compacting the conversation: {now} of {most} tokens used."),
        _ => "Compacting the conversation.".to_owned(),
    }
}

fn compaction_ends(data: &Value) -> String {
    if data["success"] == false {
        let reason = data["error"].as_str().or(data["failureReason"].as_str()).unwrap_or("no reason given");
        return format!("Could not compact the conversation: {reason}");
    }
    match (count(data, "preCompactionTokens"), count(data, "postCompactionTokens")) {
        (Some(before), Some(after)) => format!("The conversation was compacted from {before} to {after} tokens."),
        _ => "The conversation was compacted.".to_owned(),
    }
}

/// A working server needs no notice.
fn mcp_state(name: &Value, status: &Value, error: &Value) -> Option<AgentEvent> {
    let name = name.as_str()?;
    let why = error.as_str().map(|error| format!(": {error}")).unwrap_or_default();
    match status.as_str()? {
        // Older versions use `error`.
        "failed" | "error" => Some(notice(NoticeKind::Mcp, format!("The MCP server {name} failed{why}"))),
        "needs-auth" => Some(notice(NoticeKind::Mcp, format!("The MCP server {name} needs a login{why}"))),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn each_kind_says_what_happened() {
        for (kind, data, expected) in [
            ("session.mode_changed", json!({ "newMode": "plan" }), "mode: The mode is now plan."),
            (
                "session.compaction_complete",
                json!({ "success": true, "preCompactionTokens": 9, "postCompactionTokens": 3 }),
                "compaction: The conversation was compacted from 9 to 3 tokens.",
            ),
            (
                "session.compaction_complete",
                json!({ "success": false, "error": "no" }),
                "compaction: Could not compact the conversation: no",
            ),
            (
                "subagent.started",
                json!({ "agentDisplayName": "looker", "agentDescription": "look" }),
                "sub-agent: The sub-agent looker started: look.",
            ),
            (
                "subagent.failed",
                json!({ "agentName": "a", "error": "out of tokens" }),
                "sub-agent: The sub-agent a failed: out of tokens",
            ),
            (
                "session.mcp_servers_loaded",
                json!({ "servers": [{ "name": "a", "status": "connected" }, { "name": "b", "status": "failed", "error": "e" }] }),
                "mcp: The MCP server b failed: e",
            ),
            (
                "session.mcp_server_status_changed",
                json!({ "serverName": "c", "status": "error" }),
                "mcp: The MCP server c failed",
            ),
        ] {
            let lines: Vec<String> = notices(kind, &data)
                .expect(kind)
                .iter()
                .map(|event| match event {
                    AgentEvent::Notice { kind, message } => format!("{kind}: {message}"),
                    other => panic!("{other:?}"),
                })
                .collect();
            assert_eq!(lines, [expected]);
        }
    }
}

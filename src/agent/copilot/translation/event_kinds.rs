//! The kinds of Copilot's events, each classified once: for the SDK protocol, the headless stream and recordings.

use EventUse::{Ignored, Kept, Shown};

/// What becomes of the events of a kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EventUse {
    /// Translated: it becomes an event of the session, or changes one.
    Shown,
    /// Dropped: another event carries the same information, or it concerns only the program.
    Ignored,
    /// Written to the log unchanged, because it may matter to somebody and has no form of its own there.
    Kept,
}

/// Sorted. A test compares it with the schemas of the installed programs, so a new version that adds a kind fails it.
const KINDS: [(&str, EventUse); 166] = [
    ("abort", Ignored),
    ("agent.interrupted", Ignored),
    ("assistant.fusion_phase_activity", Ignored),
    ("assistant.fusion_phase_completed", Kept),
    ("assistant.fusion_phase_failed", Kept),
    ("assistant.fusion_phase_started", Ignored),
    ("assistant.idle", Shown),
    ("assistant.intent", Ignored),
    ("assistant.message", Shown),
    ("assistant.message_delta", Shown),
    ("assistant.message_start", Ignored),
    ("assistant.reasoning", Shown),
    ("assistant.reasoning_delta", Shown),
    ("assistant.server_tool_progress", Ignored),
    ("assistant.streaming_delta", Ignored),
    ("assistant.tool_call_delta", Ignored),
    ("assistant.turn_end", Shown),
    ("assistant.turn_retry", Shown),
    ("assistant.turn_start", Shown),
    ("assistant.usage", Shown),
    ("auto_mode_switch.completed", Ignored),
    ("auto_mode_switch.requested", Ignored),
    ("capabilities.changed", Ignored),
    ("command.completed", Ignored),
    ("command.execute", Kept),
    ("command.queued", Kept),
    ("commands.changed", Shown),
    ("elicitation.completed", Shown),
    ("elicitation.requested", Shown),
    ("exit_plan_mode.completed", Ignored),
    ("exit_plan_mode.requested", Ignored),
    ("external_tool.completed", Ignored),
    ("external_tool.requested", Kept),
    ("factory.run_settled", Kept),
    ("factory.run_started", Kept),
    ("factory.run_updated", Ignored),
    ("hook.end", Ignored),
    ("hook.progress", Ignored),
    ("hook.start", Ignored),
    ("human_response.recorded", Ignored),
    ("mcp.headers_refresh_completed", Ignored),
    ("mcp.headers_refresh_required", Ignored),
    ("mcp.oauth_completed", Ignored),
    ("mcp.oauth_recovery_completed", Kept),
    ("mcp.oauth_required", Shown),
    ("mcp.prompts.list_changed", Ignored),
    ("mcp.resources.list_changed", Ignored),
    ("mcp.tools.list_changed", Ignored),
    ("mcp_app.tool_call_complete", Kept),
    ("model.call_failure", Shown),
    ("model.call_final_result", Ignored),
    ("model.call_finished", Ignored),
    ("model.call_start", Ignored),
    ("pending_messages.modified", Ignored),
    ("permission.assentDetected", Ignored),
    ("permission.carriedForward", Ignored),
    ("permission.completed", Shown),
    ("permission.contextualAuthorization", Ignored),
    ("permission.messageAuthorization", Ignored),
    ("permission.messageAuthorizationDegraded", Ignored),
    ("permission.messageAuthorizationRead", Ignored),
    ("permission.requested", Shown),
    ("prompt_cache_break", Ignored),
    ("sampling.completed", Ignored),
    ("sampling.requested", Kept),
    ("sandbox.decision", Ignored),
    ("session.auto_mode_resolved", Kept),
    ("session.auto_tier_recommendation", Ignored),
    ("session.auto_tier_switch_failed", Kept),
    ("session.autopilot_objective_changed", Ignored),
    ("session.autopilot_stopped", Shown),
    ("session.background_tasks_changed", Shown),
    ("session.binary_asset", Ignored),
    ("session.canvas.closed", Ignored),
    ("session.canvas.opened", Ignored),
    ("session.canvas.recorded", Ignored),
    ("session.canvas.registry_changed", Ignored),
    ("session.canvas.removed", Ignored),
    ("session.canvas.unavailable", Ignored),
    ("session.compaction_complete", Shown),
    ("session.compaction_start", Shown),
    ("session.completion_receipt", Ignored),
    ("session.context_changed", Ignored),
    ("session.context_cleared", Kept),
    ("session.custom_agents_updated", Ignored),
    ("session.custom_notification", Kept),
    ("session.error", Shown),
    ("session.extensions.attachments_pushed", Kept),
    ("session.extensions_loaded", Ignored),
    ("session.fusion_change_checkpoint", Ignored),
    ("session.fusion_commit_started", Ignored),
    ("session.fusion_completed", Kept),
    ("session.fusion_handoff", Ignored),
    ("session.fusion_resolved", Kept),
    ("session.fusion_route_failed", Kept),
    ("session.fusion_route_started", Ignored),
    ("session.handoff", Kept),
    ("session.idle", Shown),
    ("session.indexed_search", Ignored),
    ("session.info", Shown),
    ("session.managed_plugin_progress", Ignored),
    ("session.managed_settings_enforced", Kept),
    ("session.managed_settings_resolved", Ignored),
    ("session.mcp_server_needs_reconnect", Kept),
    ("session.mcp_server_removed", Kept),
    ("session.mcp_server_status_changed", Shown),
    ("session.mcp_server_tools_loaded", Ignored),
    ("session.mcp_servers_loaded", Shown),
    ("session.memory_changed", Kept),
    ("session.mode_changed", Shown),
    ("session.mode_notice_delivered", Ignored),
    ("session.model_change", Shown),
    ("session.model_deselected", Kept),
    ("session.permission_recovery", Kept),
    ("session.permissions_changed", Ignored),
    ("session.plan_changed", Ignored),
    ("session.quota_observation", Ignored),
    ("session.remote_steerable_changed", Ignored),
    ("session.request_body_compression_disabled", Ignored),
    ("session.resume", Ignored),
    ("session.schedule_cancelled", Kept),
    ("session.schedule_created", Kept),
    ("session.schedule_rearmed", Ignored),
    ("session.session_limits_changed", Kept),
    ("session.shutdown", Ignored),
    ("session.skills_loaded", Shown),
    ("session.snapshot_rewind", Kept),
    ("session.start", Ignored),
    ("session.task_complete", Shown),
    ("session.title_changed", Shown),
    ("session.todos_changed", Ignored),
    ("session.tools_updated", Ignored),
    ("session.truncation", Shown),
    ("session.usage_checkpoint", Ignored),
    ("session.usage_info", Shown),
    ("session.usage_record", Ignored),
    ("session.warning", Shown),
    ("session.workspace_file_changed", Ignored),
    ("session_limits_exhausted.completed", Shown),
    ("session_limits_exhausted.requested", Shown),
    ("skill.context_delivered", Ignored),
    ("skill.context_delivered_ref", Ignored),
    ("skill.invoked", Ignored),
    ("skill.invoked_ref", Ignored),
    ("subagent.completed", Shown),
    ("subagent.configured", Ignored),
    ("subagent.deselected", Ignored),
    ("subagent.failed", Shown),
    ("subagent.selected", Ignored),
    ("subagent.started", Shown),
    ("system.message", Ignored),
    ("system.notification", Shown),
    ("tool.execution_complete", Shown),
    ("tool.execution_partial_result", Shown),
    ("tool.execution_progress", Shown),
    ("tool.execution_start", Shown),
    ("tool.shell_output", Ignored),
    ("tool.user_requested", Kept),
    ("tool_search.activated", Ignored),
    ("ui.ephemeral_query", Ignored),
    ("user.message", Shown),
    ("user_input.completed", Ignored),
    ("user_input.requested", Ignored),
    ("workflow.run_settled", Kept),
    ("workflow.run_started", Kept),
    ("workflow.run_updated", Ignored),
];
/// Families whose future kinds are for the program itself, as all known ones are.
const IGNORED_FAMILIES: [&str; 3] = ["hook.", "model.", "user_input."];

/// The use of a kind in the table; `None` if the table does not have it.
pub fn known_event_use(kind: &str) -> Option<EventUse> {
    let place = KINDS.binary_search_by(|(known, _)| (*known).cmp(kind)).ok()?;
    Some(KINDS[place].1)
}

/// The use of a kind. One that the table does not have is kept.
pub(super) fn event_use(kind: &str) -> EventUse {
    known_event_use(kind).unwrap_or_else(|| if is_of_ignored_family(kind) { Ignored } else { Kept })
}

/// Whether all kinds that begin like this one are for the program itself.
pub(in crate::agent::copilot) fn is_of_ignored_family(kind: &str) -> bool {
    IGNORED_FAMILIES.iter().any(|family| kind.starts_with(family))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_sorted_and_names_each_kind_once() {
        assert!(KINDS.is_sorted_by(|(one, _), (other, _)| one < other));
    }

    #[test]
    fn a_kind_that_nobody_knows_is_kept_unless_its_family_is_ignored() {
        assert_eq!(event_use("brand.new"), Kept);
        assert_eq!(event_use("model.brand_new"), Ignored);
        assert_eq!(event_use("assistant.message"), Shown);
        assert_eq!(known_event_use("brand.new"), None);
    }
}

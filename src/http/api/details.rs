//! Sessions as JSON.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value, json};

use super::queue::QueuedPrompt;
use crate::http::app::App;
use crate::http::error::{ApiError, ApiResult};
use crate::model::{
    BudgetLimits, ContextUsage, LostSession, OpenRequest, PermissionMode, PermissionPolicy, PermissionRule, Seq,
    SessionBudget, SessionId, SessionJob, SessionOrigin, SessionState, SessionSummary, SlashCommand, Timestamp, Usage,
    names_a_secret,
};

/// A session in lists.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Session")]
pub(in crate::http) struct SessionEntry {
    session_id: SessionId,
    title: Option<String>,
    runtime: String,
    model: String,
    /// Null if it has none. A name that is not UTF-8 is shown approximately; the agent gets the exact one.
    working_directory: Option<String>,
    /// Who created it.
    origin: SessionOrigin,
    state: SessionState,
    created_at: Timestamp,
    updated_at: Timestamp,
    /// The number of its last event.
    last_seq: Seq,
    /// How many requests wait for a person.
    pending: u32,
    /// A turn ended that no page has shown.
    unread: bool,
    /// Its last turn failed.
    failed: bool,
    /// For a session of a job's task.
    #[serde(skip_serializing_if = "Option::is_none")]
    job: Option<SessionJob>,
}

impl From<SessionSummary> for SessionEntry {
    fn from(summary: SessionSummary) -> Self {
        let (unread, failed) = (summary.is_unread(), summary.has_failed());
        let profile = summary.profile;
        Self {
            unread,
            failed,
            session_id: summary.id,
            title: profile.title,
            runtime: profile.runtime,
            model: profile.model,
            working_directory: profile.working_directory.map(|folder| folder.to_string_lossy().into_owned()),
            origin: summary.origin,
            state: summary.state,
            created_at: summary.created_at,
            updated_at: summary.updated_at,
            last_seq: summary.last_seq,
            pending: summary.pending,
            job: summary.job,
        }
    }
}

/// Everything about a session except its log.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::http) struct SessionDetails {
    #[serde(flatten)]
    entry: SessionEntry,
    /// More about the state.
    state_detail: Option<String>,
    effort: Option<String>,
    permission_mode: PermissionMode,
    permission_rules: Vec<PermissionRule>,
    system_prompt: Option<String>,
    /// Options of the runtime, without secrets.
    #[schemars(with = "Map<String, Value>")]
    options: Value,
    closed_at: Option<Timestamp>,
    /// What waits for a person.
    requests: Vec<OpenRequest>,
    /// The prompts that wait for their turn, in the order in which they will be sent.
    queued_prompts: Vec<QueuedPrompt>,
    /// The commands that the agent understands.
    commands: Vec<SlashCommand>,
    /// The agent's name as people know it, with the connection if it is not the usual one; null if there is no such
    /// runtime any more.
    agent_name: Option<String>,
    /// Whether its agent is not a real one.
    demo: bool,
    /// Choices that will probably fail, such as a model name of another agent.
    warnings: Vec<String>,
    usage: Usage,
    /// The limits in force.
    budget: SessionLimits,
    /// How full the agent's context is; null if it does not say.
    context: Option<ContextUsage>,
    /// The newest loss of the agent's own session.
    lost_session: Option<LostSession>,
}

/// The limits in force for a session; null is no limit.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct SessionLimits {
    #[serde(flatten)]
    limits: BudgetLimits,
    /// Prompts are refused once a limit is reached.
    refuse: bool,
    /// The running turn is interrupted when a limit is reached.
    stop_turns: bool,
}

/// Everything about a session except its log.
pub(super) async fn details(app: &App, id: SessionId) -> ApiResult<SessionDetails> {
    let store = app.sessions().store();
    let session = store.load_session(id).await?.ok_or_else(ApiError::session_not_found)?;
    let summary = session.summary;
    let profile = summary.profile.clone();
    let misfit = app.sessions().runtimes().misfit(&profile.runtime, &profile.model, &profile.options);
    let runtime = app.sessions().runtimes().named(&profile.runtime).ok();
    Ok(SessionDetails {
        state_detail: summary.state_detail.clone(),
        closed_at: summary.closed_at,
        entry: summary.into(),
        effort: profile.effort,
        permission_mode: profile.permissions.mode,
        permission_rules: profile.permissions.rules,
        system_prompt: profile.system_prompt,
        options: without_secrets(&Value::Object(profile.options)),
        requests: session.requests,
        queued_prompts: session.queued.iter().map(QueuedPrompt::from).collect(),
        commands: session.commands,
        agent_name: runtime.as_ref().map(|runtime| runtime.display_name()),
        demo: runtime.is_some_and(|runtime| runtime.capabilities().demo),
        warnings: misfit.into_iter().collect(),
        usage: session.usage,
        budget: limits(app, &profile.budget),
        context: session.context,
        lost_session: session.loss,
    })
}

/// The limits in force for a session, from the configuration and from the session itself.
fn limits(app: &App, own: &SessionBudget) -> SessionLimits {
    let settings = app.sessions().settings().budget;
    let stop_turns = settings.stop_turns || own.stop_turns;
    SessionLimits {
        limits: settings.session_limits(own),
        refuse: settings.refuse || own.refuse || stop_turns,
        stop_turns,
    }
}

/// Options may contain a provider's key, which only the agent may see.
fn without_secrets(value: &Value) -> Value {
    match value {
        Value::Object(entries) => entries
            .iter()
            .map(|(key, value)| {
                let value =
                    if names_a_secret(key) && !value.is_null() { json!("[redacted]") } else { without_secrets(value) };
                (key.clone(), value)
            })
            .collect(),
        Value::Array(items) => items.iter().map(without_secrets).collect(),
        other => other.clone(),
    }
}

/// A permission mode as callers write it: a word, or a mode with rules. It is read by [`permission_policy`], whose errors
/// say more than serde's.
#[derive(JsonSchema)]
#[serde(untagged)]
#[expect(dead_code, reason = "only its schema is used")]
pub(super) enum PermissionChoice {
    /// For everything.
    Mode(PermissionMode),
    /// For what no rule covers.
    WithRules(ModeWithRules),
}

/// A permission mode with rules. The first rule that matches a tool decides.
#[derive(JsonSchema)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "only its schema is used")]
pub(super) struct ModeWithRules {
    mode: Option<PermissionMode>,
    rules: Option<Vec<PermissionRule>>,
}

/// A permission mode as callers write it: a word, or `{"mode":…,"rules":[{"tool","decision"}]}`.
pub(super) fn permission_policy(value: &Value) -> ApiResult<PermissionPolicy> {
    let invalid = |message: String| ApiError::bad_request("InvalidPermissionMode", message);
    match value {
        Value::String(mode) => {
            let mode: PermissionMode = mode.parse().map_err(invalid)?;
            Ok(PermissionPolicy { mode, rules: Vec::new() })
        }
        Value::Object(entries) => {
            if let Some(unknown) = entries.keys().find(|key| !matches!(key.as_str(), "mode" | "rules")) {
                return Err(invalid(format!("Unknown field {unknown:?} in permissionMode; use mode and rules.")));
            }
            let field = |name: &str| entries.get(name).cloned();
            let mode: Option<PermissionMode> =
                field("mode").map(serde_json::from_value).transpose().map_err(|error| invalid(error.to_string()))?;
            let rules: Option<Vec<PermissionRule>> =
                field("rules").map(serde_json::from_value).transpose().map_err(|error| invalid(error.to_string()))?;
            Ok(PermissionPolicy { mode: mode.unwrap_or_default(), rules: rules.unwrap_or_default() })
        }
        _ => Err(invalid(
            "permissionMode must be ask, allow-all, deny, folder, or an object with mode and rules.".to_owned(),
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{JobId, SessionProfile, TaskId};

    #[test]
    fn keys_of_providers_are_not_shown() {
        let shown =
            without_secrets(&json!({ "provider": { "apiKey": "x", "type": "openai" }, "list": [{ "token": "y" }] }));
        assert_eq!(
            shown,
            json!({ "provider": { "apiKey": "[redacted]", "type": "openai" }, "list": [{ "token": "[redacted]" }] })
        );
    }

    #[test]
    fn a_session_of_a_job_names_it() {
        let job = SessionJob {
            job_id: JobId::from_number(3),
            job_name: "deliver".to_owned(),
            task_id: TaskId::from_number(7),
            task_name: "code".to_owned(),
            work_id: 2,
            is_driving: true,
        };
        let session = |job| SessionSummary {
            id: SessionId::from_number(1),
            profile: SessionProfile {
                title: None,
                title_is_given: false,
                runtime: "demo".to_owned(),
                model: "demo".to_owned(),
                effort: None,
                working_directory: None,
                permissions: PermissionPolicy::default(),
                system_prompt: None,
                options: Map::new(),
                budget: SessionBudget::default(),
            },
            origin: SessionOrigin::Job,
            job,
            state: SessionState::Ready,
            state_detail: None,
            created_at: Timestamp::from_millis(0),
            updated_at: Timestamp::from_millis(0),
            closed_at: None,
            last_seq: 0,
            pending: 0,
            last_turn: None,
            seen_seq: 0,
        };
        let shown = json!({
            "jobId": "job-3", "jobName": "deliver", "taskId": "task-7", "taskName": "code", "workId": 2,
            "isDriving": true,
        });
        let entry = |job| json!(SessionEntry::from(session(job)));
        assert_eq!(entry(Some(job))["job"], shown);
        assert!(entry(None).get("job").is_none());
    }

    #[test]
    fn a_mode_is_a_word_or_has_rules() {
        let policy = permission_policy(&json!({ "mode": "deny", "rules": [{ "tool": "shell", "decision": "allow" }] }));
        assert_eq!(policy.expect("valid").rules.len(), 1);
        assert_eq!(permission_policy(&json!("allow-all")).expect("valid").mode, PermissionMode::AllowAll);
        for wrong in [json!("maybe"), json!(1), json!({ "modes": "ask" }), json!({ "rules": [{ "tool": "x" }] })] {
            assert!(permission_policy(&wrong).is_err(), "{wrong}");
        }
    }
}

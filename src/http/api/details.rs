//! Sessions as JSON.

use serde_json::{Map, Value, json};

use super::queue::QueuedPrompt;
use crate::http::app::App;
use crate::http::error::{ApiError, ApiResult};
use crate::model::{
    PermissionMode, PermissionPolicy, PermissionRule, SessionBudget, SessionId, SessionSummary, names_a_secret,
};

/// The fields of a session in lists.
pub(super) fn summary(summary: &SessionSummary) -> Map<String, Value> {
    let profile = &summary.profile;
    let entry = json!({
        "sessionId": summary.id,
        "title": profile.title,
        "runtime": profile.runtime,
        "model": profile.model,
        // A folder name that is not UTF-8 is shown approximately; the agent gets the exact one.
        "workingDirectory": profile.working_directory.as_ref().map(|folder| folder.to_string_lossy()),
        "origin": summary.origin,
        "state": summary.state,
        "createdAt": summary.created_at,
        "updatedAt": summary.updated_at,
        "lastSeq": summary.last_seq,
        "pending": summary.pending,
        "unread": summary.is_unread(),
        "failed": summary.has_failed(),
    });
    let mut entry = match entry {
        Value::Object(entry) => entry,
        _ => Map::new(),
    };
    if let Some(job) = &summary.job {
        entry.insert("job".to_owned(), json!(job));
    }
    entry
}

/// Everything about a session except its log.
pub(super) async fn details(app: &App, id: SessionId) -> ApiResult<Value> {
    let store = app.sessions().store();
    let session = store.load_session(id).await?.ok_or_else(ApiError::session_not_found)?;
    let profile = &session.summary.profile;
    let misfit = app.sessions().runtimes().misfit(&profile.runtime, &profile.model, &profile.options);
    let demo = app.sessions().runtimes().named(&profile.runtime).is_ok_and(|runtime| runtime.capabilities().demo);
    let mut entry = summary(&session.summary);
    for (key, value) in [
        ("stateDetail", json!(session.summary.state_detail)),
        ("effort", json!(profile.effort)),
        ("permissionMode", json!(profile.permissions.mode)),
        ("permissionRules", json!(profile.permissions.rules)),
        ("systemPrompt", json!(profile.system_prompt)),
        ("options", without_secrets(&Value::Object(profile.options.clone()))),
        ("closedAt", json!(session.summary.closed_at)),
        ("requests", json!(session.requests)),
        ("queuedPrompts", json!(session.queued.iter().map(QueuedPrompt::from).collect::<Vec<_>>())),
        ("commands", json!(session.commands)),
        ("demo", json!(demo)),
        ("warnings", json!(misfit.into_iter().collect::<Vec<_>>())),
        ("usage", json!(session.usage)),
        ("budget", budget(app, &profile.budget)),
        ("context", json!(session.context)),
        ("lostSession", json!(session.loss)),
    ] {
        entry.insert(key.to_owned(), value);
    }
    Ok(Value::Object(entry))
}

/// The limits in force for a session, from the configuration and from the session itself.
fn budget(app: &App, own: &SessionBudget) -> Value {
    let settings = app.sessions().settings().budget;
    let mut limits = json!(settings.session_limits(own));
    let stops = settings.stop_turns || own.stop_turns;
    limits["refuse"] = json!(settings.refuse || own.refuse || stops);
    limits["stopTurns"] = json!(stops);
    limits
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
    use crate::model::{JobId, SessionJob, SessionOrigin, SessionProfile, SessionState, TaskId, Timestamp};

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
        assert_eq!(summary(&session(Some(job)))["job"], shown);
        assert!(!summary(&session(None)).contains_key("job"));
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

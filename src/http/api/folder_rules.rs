//! Rules of folders: listed and removed. An answer with `"scope": "folder"` adds one.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use serde_json::{Value, json};

use crate::http::app::App;
use crate::http::body::PathPart;
use crate::http::error::{ApiError, ApiResult};
use crate::store::StoredFolderRule;

pub(in crate::http) async fn folder_rules(State(app): State<App>) -> ApiResult<Json<Value>> {
    let rules = app.sessions().store().folder_rules().await?;
    Ok(Json(json!({ "rules": rules.iter().map(shown).collect::<Vec<_>>() })))
}

pub(in crate::http) async fn remove_folder_rule(
    State(app): State<App>,
    PathPart(id): PathPart<String>,
) -> ApiResult<StatusCode> {
    let not_found = || {
        let message = "There is no such rule; GET /api/folder-rules lists the rules of all folders.";
        ApiError::new(StatusCode::NOT_FOUND, "FolderRuleNotFound", message)
    };
    let id = id.parse().map_err(|_| not_found())?;
    if app.sessions().remove_folder_rule(id).await? { Ok(StatusCode::NO_CONTENT) } else { Err(not_found()) }
}

fn shown(StoredFolderRule { id, rule, added_at }: &StoredFolderRule) -> Value {
    let mut entry = json!(rule.rule);
    entry["id"] = json!(id);
    // A folder name that is not UTF-8 is shown approximately.
    entry["folder"] = json!(rule.folder.to_string_lossy());
    entry["addedAt"] = json!(added_at);
    entry
}

//! Rules of folders: listed and removed. An answer with `"scope": "folder"` adds one.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use schemars::JsonSchema;
use serde::Serialize;

use crate::http::app::App;
use crate::http::body::PathPart;
use crate::http::error::{ApiError, ApiResult};
use crate::http::openapi::{NoContent, Operation, Tag, delete, get};
use crate::model::{PermissionRule, Timestamp};
use crate::store::StoredFolderRule;

/// The rules of all folders.
#[derive(Serialize, JsonSchema)]
pub(in crate::http) struct FolderRules {
    /// Oldest first.
    rules: Vec<ShownFolderRule>,
}

/// What sessions in a folder may do without a question.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "FolderRule")]
struct ShownFolderRule {
    id: u64,
    /// A folder name that is not UTF-8 is shown approximately.
    folder: String,
    #[serde(flatten)]
    rule: PermissionRule,
    added_at: Timestamp,
}

pub(in crate::http) async fn folder_rules(State(app): State<App>) -> ApiResult<Json<FolderRules>> {
    let rules = app.sessions().store().folder_rules().await?;
    Ok(Json(FolderRules { rules: rules.into_iter().map(shown).collect() }))
}

pub(in crate::http) async fn remove_folder_rule(
    State(app): State<App>,
    PathPart(id): PathPart<String>,
) -> ApiResult<NoContent> {
    let not_found = || {
        let message = "There is no such rule; GET /api/folder-rules lists the rules of all folders.";
        ApiError::new(StatusCode::NOT_FOUND, "FolderRuleNotFound", message)
    };
    let id = id.parse().map_err(|_| not_found())?;
    if app.sessions().remove_folder_rule(id).await? { Ok(NoContent) } else { Err(not_found()) }
}

fn shown(StoredFolderRule { id, rule, added_at }: StoredFolderRule) -> ShownFolderRule {
    ShownFolderRule { id, folder: rule.folder.to_string_lossy().into_owned(), rule: rule.rule, added_at }
}

pub(super) fn operations() -> Vec<Operation> {
    vec![
        get("/api/folder-rules", folder_rules)
            .named("listFolderRules", Tag::Requests, "List the rules of folders")
            .details("What is always allowed in folders, oldest first."),
        delete("/api/folder-rules/{id}", remove_folder_rule)
            .named("removeFolderRule", Tag::Requests, "Remove a rule of a folder")
            .details("The sessions in that folder ask again.")
            .path_part("id", "The id of a rule.")
            .error(404, "FolderRuleNotFound"),
    ]
}

//! Answers to permissions and questions.

use axum::extract::State;
use axum::{Extension, Json};
use serde::Deserialize;
use serde_json::{Value, json};

use super::session;
use crate::agent::RequestAnswer;
use crate::http::app::App;
use crate::http::auth::Caller;
use crate::http::body::{JsonBody, PathPart};
use crate::http::error::ApiResult;
use crate::model::Decision;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::http) struct PermissionBody {
    decision: Decision,
    feedback: Option<String>,
}

pub(in crate::http) async fn answer_permission(
    State(app): State<App>,
    Extension(caller): Extension<Caller>,
    PathPart((id, request)): PathPart<(String, String)>,
    JsonBody(PermissionBody { decision, feedback }): JsonBody<PermissionBody>,
) -> ApiResult<Json<Value>> {
    let answer = RequestAnswer::Permission { decision, feedback };
    session(&app, &id).await?.answer(&request, answer, caller.name()).await?;
    Ok(Json(json!({ "requestId": request, "decision": decision, "by": caller.name() })))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::http) struct AnswerBody {
    answer: String,
}

pub(in crate::http) async fn answer_question(
    State(app): State<App>,
    Extension(caller): Extension<Caller>,
    PathPart((id, request)): PathPart<(String, String)>,
    JsonBody(AnswerBody { answer }): JsonBody<AnswerBody>,
) -> ApiResult<Json<Value>> {
    session(&app, &id).await?.answer(&request, RequestAnswer::Question(Some(answer.clone())), caller.name()).await?;
    Ok(Json(json!({ "requestId": request, "answer": answer, "by": caller.name() })))
}

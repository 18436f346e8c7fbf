//! Answers to permissions and questions.

use axum::extract::State;
use axum::{Extension, Json};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::session;
use crate::agent::{QuestionAnswer, RequestAnswer};
use crate::http::app::App;
use crate::http::auth::Caller;
use crate::http::body::{JsonBody, PathPart};
use crate::http::error::{ApiError, ApiResult};
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
    session(&app, &id).await?.answer(&request.as_str().into(), answer, caller.answered_by()).await?;
    Ok(Json(json!({ "requestId": request, "decision": decision, "by": caller.answered_by() })))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::http) struct AnswerBody {
    answer: Option<String>,
    content: Option<Map<String, Value>>,
    #[serde(default)]
    decline: bool,
}

pub(in crate::http) async fn answer_question(
    State(app): State<App>,
    Extension(caller): Extension<Caller>,
    PathPart((id, request)): PathPart<(String, String)>,
    JsonBody(body): JsonBody<AnswerBody>,
) -> ApiResult<Json<Value>> {
    let answer = match body {
        AnswerBody { answer: Some(text), content: None, decline: false } => QuestionAnswer::Text(text),
        AnswerBody { answer: None, content: Some(values), decline: false } => QuestionAnswer::Form(values),
        AnswerBody { answer: None, content: None, decline: true } => QuestionAnswer::Declined,
        _ => {
            return Err(ApiError::bad_request(
                "InvalidJson",
                "Invalid request body: send one of {\"answer\": text}, {\"content\": {…}} for a form, or {\"decline\": true}.",
            ));
        }
    };
    let shown = answer.shown();
    session(&app, &id)
        .await?
        .answer(&request.as_str().into(), RequestAnswer::Question(answer), caller.answered_by())
        .await?;
    Ok(Json(json!({ "requestId": request, "answer": shown, "by": caller.answered_by() })))
}

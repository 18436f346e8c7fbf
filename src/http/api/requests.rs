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
use crate::model::{Always, AlwaysCovers, AlwaysScope, Decision};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::http) struct PermissionBody {
    decision: Decision,
    feedback: Option<String>,
    #[serde(default)]
    covers: Covers,
    prefix: Option<String>,
    #[serde(default)]
    scope: AlwaysScope,
}

/// What an answer covers that is given for good.
#[derive(Clone, Copy, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Covers {
    #[default]
    Tool,
    Call,
    Prefix,
}

pub(in crate::http) async fn answer_permission(
    State(app): State<App>,
    Extension(caller): Extension<Caller>,
    PathPart((id, request)): PathPart<(String, String)>,
    JsonBody(PermissionBody { decision, feedback, covers, prefix, scope }): JsonBody<PermissionBody>,
) -> ApiResult<Json<Value>> {
    let covers = match (covers, prefix) {
        (Covers::Tool, None) => AlwaysCovers::Tool,
        (Covers::Call, None) => AlwaysCovers::Call,
        (Covers::Prefix, Some(prefix)) => AlwaysCovers::Prefix(prefix),
        (Covers::Prefix, None) | (_, Some(_)) => {
            return Err(ApiError::bad_request(
                "InvalidJson",
                "Invalid request body: send \"prefix\" together with \"covers\": \"prefix\", and only then.",
            ));
        }
    };
    if scope == AlwaysScope::Folder && decision != Decision::AllowAlways {
        return Err(ApiError::bad_request(
            "InvalidJson",
            "Invalid request body: send \"scope\": \"folder\" with \"decision\": \"allow-always\", and only then.",
        ));
    }
    let answer = RequestAnswer::Permission { decision, feedback };
    let always = Always { covers, scope };
    session(&app, &id).await?.answer(&request.as_str().into(), answer, always, caller.answered_by()).await?;
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
        .answer(&request.as_str().into(), RequestAnswer::Question(answer), Always::default(), caller.answered_by())
        .await?;
    Ok(Json(json!({ "requestId": request, "answer": shown, "by": caller.answered_by() })))
}

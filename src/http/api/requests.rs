//! Answers to permissions and questions.

use axum::extract::State;
use axum::{Extension, Json};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::session;
use crate::agent::{QuestionAnswer, RequestAnswer};
use crate::http::app::App;
use crate::http::auth::Caller;
use crate::http::body::{JsonBody, PathPart};
use crate::http::error::{ApiError, ApiResult};
use crate::http::openapi::{Operation, Tag, post};
use crate::model::{Always, AlwaysCovers, AlwaysScope, AnsweredBy, Decision};
use crate::session::AnswerError;

/// The answer to a permission request.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "PermissionAnswer")]
pub(in crate::http) struct PermissionBody {
    decision: Decision,
    /// What the agent is told.
    feedback: Option<String>,
    #[serde(default)]
    covers: Covers,
    /// With `"covers": "prefix"`, and only then.
    prefix: Option<String>,
    #[serde(default)]
    scope: AlwaysScope,
}

/// What an answer covers that is given for good.
#[derive(Clone, Copy, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
enum Covers {
    /// Every call of the tool.
    #[default]
    Tool,
    /// Exactly this call.
    Call,
    /// Simple commands that begin with the words of `prefix`.
    Prefix,
}

/// The decision that was recorded.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::http) struct PermissionReply {
    request_id: String,
    decision: Decision,
    by: AnsweredBy,
}

pub(in crate::http) async fn answer_permission(
    State(app): State<App>,
    Extension(caller): Extension<Caller>,
    PathPart((id, request)): PathPart<(String, String)>,
    JsonBody(PermissionBody { decision, feedback, covers, prefix, scope }): JsonBody<PermissionBody>,
) -> ApiResult<Json<PermissionReply>> {
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
    Ok(Json(PermissionReply { request_id: request, decision, by: caller.answered_by() }))
}

/// The answer to a question: exactly one of its fields.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "QuestionAnswer")]
pub(in crate::http) struct AnswerBody {
    /// A text, or one of the choices.
    answer: Option<String>,
    /// The values of a form.
    content: Option<Map<String, Value>>,
    #[serde(default)]
    decline: bool,
}

/// The answer that was recorded.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::http) struct QuestionReply {
    request_id: String,
    /// As text; null if the question was declined.
    answer: Option<String>,
    by: AnsweredBy,
}

pub(in crate::http) async fn answer_question(
    State(app): State<App>,
    Extension(caller): Extension<Caller>,
    PathPart((id, request)): PathPart<(String, String)>,
    JsonBody(body): JsonBody<AnswerBody>,
) -> ApiResult<Json<QuestionReply>> {
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
    Ok(Json(QuestionReply { request_id: request, answer: shown, by: caller.answered_by() }))
}

pub(super) fn operations() -> Vec<Operation> {
    vec![
        post("/api/copilot/session/{id}/permission/{request}", answer_permission)
            .named("answerPermission", Tag::Requests, "Answer a permission request")
            .details(
                "`allow-always` covers every call of the tool, exactly this call, or simple commands that begin with the \
                 words of `prefix`. With `scope` `session` this is allowed for the rest of the session, with `folder` in every \
                 session whose working directory is the same folder.",
            )
            .path_part("request", "The id of a request.")
            .fails_with::<AnswerError>(),
        post("/api/copilot/session/{id}/answer/{request}", answer_question)
            .named("answerQuestion", Tag::Requests, "Answer a question")
            .path_part("request", "The id of a request.")
            .fails_with::<AnswerError>(),
    ]
}

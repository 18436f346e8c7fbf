//! Tokens with scopes.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::http::app::App;
use crate::http::auth::{RevokeError, TokenRequest, TokenRequestError, created_token_json, token_json};
use crate::http::body::{JsonBody, PathPart};
use crate::http::error::{ApiError, ApiResult, sentence};
use crate::session::now;

/// All tokens, newest first.
pub(in crate::http) async fn list_tokens(State(app): State<App>) -> ApiResult<Json<Value>> {
    let now = now();
    let tokens = app.auth().tokens().list().await?;
    Ok(Json(json!({ "tokens": tokens.iter().map(|token| token_json(token, now)).collect::<Vec<_>>() })))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::http) struct TokenBody {
    scopes: Vec<String>,
    name: Option<String>,
    expires: Option<String>,
}

/// Creates a token. Its secret is in this response and nowhere else.
pub(in crate::http) async fn create_token(
    State(app): State<App>,
    JsonBody(body): JsonBody<TokenBody>,
) -> ApiResult<(StatusCode, Json<Value>)> {
    let request = TokenRequest::read(&body.scopes, body.name.as_deref(), body.expires.as_deref())?;
    let now = now();
    let created = app.auth().tokens().create(request, now).await?;
    tracing::info!(token = %created.token.id, "created a token");
    Ok((StatusCode::CREATED, Json(created_token_json(&created, now))))
}

/// Revokes a token.
pub(in crate::http) async fn revoke_token(
    State(app): State<App>,
    PathPart(id): PathPart<String>,
) -> ApiResult<Json<Value>> {
    let Ok(id) = id.parse() else {
        let message = "Token not found: an id looks like token-1; GET /api/tokens lists all tokens.";
        return Err(ApiError::new(StatusCode::NOT_FOUND, "TokenNotFound", message));
    };
    let now = now();
    let token = app.auth().tokens().revoke(id, now).await?;
    tracing::info!(token = %id, "revoked a token");
    Ok(Json(token_json(&token, now)))
}

impl From<TokenRequestError> for ApiError {
    fn from(error: TokenRequestError) -> Self {
        let name = match error {
            TokenRequestError::NoScope | TokenRequestError::Scope(_) => "InvalidScope",
            TokenRequestError::Name => "InvalidName",
            TokenRequestError::Expires(_) | TokenRequestError::ExpiresOutOfRange(_) => "InvalidExpiry",
        };
        Self::bad_request(name, sentence(&error))
    }
}

impl From<RevokeError> for ApiError {
    fn from(error: RevokeError) -> Self {
        let (status, name) = match error {
            RevokeError::Store(error) => return error.into(),
            RevokeError::NotFound(_) => (StatusCode::NOT_FOUND, "TokenNotFound"),
            RevokeError::AlreadyRevoked { .. } => (StatusCode::CONFLICT, "TokenAlreadyRevoked"),
        };
        Self::new(status, name, sentence(&error))
    }
}

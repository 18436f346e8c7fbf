//! Tokens with scopes.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::http::app::App;
use crate::http::auth::{RevokeError, ShownNewToken, ShownToken, TokenRequest, TokenRequestError};
use crate::http::body::{JsonBody, PathPart};
use crate::http::error::{ApiError, ApiResult, sentence};
use crate::http::openapi::{Created, Operation, Tag, delete, get, post};
use crate::session::now;

/// All tokens.
#[derive(Serialize, JsonSchema)]
pub(in crate::http) struct TokenList {
    /// Newest first.
    tokens: Vec<ShownToken>,
}

/// All tokens, newest first.
pub(in crate::http) async fn list_tokens(State(app): State<App>) -> ApiResult<Json<TokenList>> {
    let now = now();
    let tokens = app.auth().tokens().list().await?;
    Ok(Json(TokenList { tokens: tokens.into_iter().map(|token| ShownToken::new(token, now)).collect() }))
}

/// A token to create.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "NewToken")]
pub(in crate::http) struct TokenBody {
    #[schemars(with = "Vec<crate::model::Scope>")]
    scopes: Vec<String>,
    name: Option<String>,
    /// A duration such as `12h` or `30d` (the default), or `never`.
    expires: Option<String>,
}

/// Creates a token. Its secret is in this response and nowhere else.
pub(in crate::http) async fn create_token(
    State(app): State<App>,
    JsonBody(body): JsonBody<TokenBody>,
) -> ApiResult<Created<ShownNewToken>> {
    let request = TokenRequest::read(&body.scopes, body.name.as_deref(), body.expires.as_deref())?;
    let now = now();
    let created = app.auth().tokens().create(request, now).await?;
    tracing::info!(token = %created.token.id, "created a token");
    Ok(Created(ShownNewToken::new(created, now)))
}

/// Revokes a token.
pub(in crate::http) async fn revoke_token(
    State(app): State<App>,
    PathPart(id): PathPart<String>,
) -> ApiResult<Json<ShownToken>> {
    let Ok(id) = id.parse() else {
        let message = "Token not found: an id looks like token-1; GET /api/tokens lists all tokens.";
        return Err(ApiError::new(StatusCode::NOT_FOUND, "TokenNotFound", message));
    };
    let now = now();
    let token = app.auth().tokens().revoke(id, now).await?;
    tracing::info!(token = %id, "revoked a token");
    Ok(Json(ShownToken::new(token, now)))
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

pub(super) fn operations() -> Vec<Operation> {
    vec![
        get("/api/tokens", list_tokens).named("listTokens", Tag::Access, "List tokens"),
        post("/api/tokens", create_token)
            .named("createToken", Tag::Access, "Create a token")
            .details("The secret is in this reply and is not shown again.")
            .error(400, "InvalidScope")
            .error(400, "InvalidName")
            .error(400, "InvalidExpiry"),
        delete("/api/tokens/{id}", revoke_token)
            .named("revokeToken", Tag::Access, "Revoke a token")
            .details("The token no longer works.")
            .path_pattern("id", "The id of a token.", "^token-[1-9][0-9]*$")
            .error(404, "TokenNotFound")
            .error(409, "TokenAlreadyRevoked"),
    ]
}

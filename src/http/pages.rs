//! The pages: embedded files, the login, and `Not Found`.

use std::sync::LazyLock;

use axum::Json;
use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::response::{Html, IntoResponse, Response};
use base64::prelude::{BASE64_STANDARD, Engine as _};
use serde::Deserialize;
use serde_json::json;
use sha2::{Digest, Sha256};

use super::app::App;
use super::auth::{LogInError, NewLogin, Refusal, cookie_header};
use super::body::{QueryPart, TextBody};
use super::error::{ApiError, ApiResult};
use super::guard::too_many_attempts;
use super::web_files::web_file;

const LOGIN: &str = include_str!("../../web/login.html");
const RELOAD: &str = include_str!("../../web/reload.html");

/// The one file that the login page loads; it needs no authentication either.
pub(super) const LOGIN_SCRIPT: &str = "/login.js";

/// The style of the login page is part of it, allowed by its hash, so that the page needs no file but its script.
static LOGIN_POLICY: LazyLock<HeaderValue> = LazyLock::new(|| {
    let style =
        LOGIN.split_once("<style>").and_then(|(_, rest)| rest.split_once("</style>")).map_or("", |(style, _)| style);
    let policy = format!(
        "default-src 'none'; script-src 'self'; connect-src 'self'; style-src 'sha256-{}'; img-src data:; \
         form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
        BASE64_STANDARD.encode(Sha256::digest(style.as_bytes()))
    );
    HeaderValue::from_str(&policy).expect("plain ASCII")
});

/// An embedded file, or `Not Found`.
pub(super) fn page(method: &Method, path: &str, headers: &HeaderMap) -> Response {
    if method != Method::GET && method != Method::HEAD {
        return (StatusCode::METHOD_NOT_ALLOWED, "Method Not Allowed").into_response();
    }
    web_file(path, headers).unwrap_or_else(|| (StatusCode::NOT_FOUND, "Not Found").into_response())
}

/// The login page, which continues at `next`.
pub(super) fn login(status: StatusCode, next: &str) -> Response {
    let html = LOGIN.replace("{{next}}", &escape(local_path(next)));
    let mut response = (status, Html(html)).into_response();
    response.headers_mut().insert(header::CONTENT_SECURITY_POLICY, LOGIN_POLICY.clone());
    response
}

/// For a person who followed a link from another site: that request carries no cookie, and the page's own reload does.
pub(super) fn reload_page() -> Response {
    Html(RELOAD).into_response()
}

#[derive(Deserialize)]
pub(super) struct LoginQuery {
    next: Option<String>,
}

/// Shows the login page. Its script redeems the code of a login link, so that a program that only fetches the link (a
/// mail program, a preview) does not use the code up.
pub(super) async fn login_page(QueryPart(query): QueryPart<LoginQuery>) -> Response {
    login(StatusCode::OK, &query.next.unwrap_or_default())
}

/// Logs in with the token or a one-time code, sent by the login page: sets the cookie and returns the secret.
pub(super) async fn log_in(State(app): State<App>, TextBody(form): TextBody) -> ApiResult<Response> {
    let (mut token, mut code, mut next) = (String::new(), None, String::new());
    for (key, value) in form_urlencoded::parse(form.as_bytes()) {
        match &*key {
            "token" => token = value.into_owned(),
            "code" => code = Some(value.into_owned()),
            "next" => next = value.into_owned(),
            _ => {}
        }
    }
    let (login, problem) = match code {
        Some(code) => (
            app.auth().log_in_with_code(&code).await,
            "This link was already used or has expired. Run `flightdeck open` for a new one, or enter the token.",
        ),
        None => (app.auth().log_in_with_token(token.trim()).await, "Wrong token."),
    };
    match login {
        Ok(NewLogin { cookie, secret }) => {
            let mut response = Json(json!({ "secret": secret, "next": local_path(&next) })).into_response();
            response.headers_mut().insert(header::SET_COOKIE, cookie_header(&cookie));
            response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
            Ok(response)
        }
        Err(LogInError::Refused(Refusal::TooManyAttempts)) => Ok(too_many_attempts()),
        Err(LogInError::Refused(Refusal::Unknown | Refusal::ScopeMissing(_))) => {
            Err(ApiError::new(StatusCode::UNAUTHORIZED, "Unauthorized", problem))
        }
        Err(LogInError::Store(error)) => Err(error.into()),
    }
}

/// A path on this server; anything else (another host, a scheme) becomes `/`. Browsers read `\` as `/` and drop tabs
/// and line ends, so `/\t/evil.example` would be another host.
fn local_path(next: &str) -> &str {
    let plain = next.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'\\');
    let local = plain && next.starts_with('/') && !next.starts_with("//");
    if local && next != "/login" { next } else { "/" }
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;").replace('\'', "&#39;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_login_leads_only_to_pages_of_this_server() {
        assert_eq!(local_path("/index.html?session=session-1"), "/index.html?session=session-1");
        for elsewhere in [
            "",
            "//evil.example",
            "https://evil.example",
            "/\\evil.example",
            "/\t/evil.example",
            "/a\r\nX: y",
            "/\0",
            "/login",
        ] {
            assert_eq!(local_path(elsewhere), "/", "{elsewhere:?}");
        }
    }
}

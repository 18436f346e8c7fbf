//! The pages: embedded files, the login, and what is not there.

use std::sync::LazyLock;

use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::response::{Html, IntoResponse, Redirect, Response};
use base64::prelude::{BASE64_STANDARD, Engine as _};
use serde::Deserialize;
use sha2::{Digest, Sha256};

use super::app::App;
use super::auth::{Caller, LogInError, Refusal, cookie_header};
use super::body::{QueryPart, TextBody};
use super::error::ApiResult;
use super::guard::too_many_attempts;
use super::web_files::web_file;

const LOGIN: &str = include_str!("../../web/login.html");
const COME_AGAIN: &str = include_str!("../../web/come-again.html");

/// The login page must be whole without any file that needs a login, so its style stands in it, named by its hash.
static LOGIN_POLICY: LazyLock<HeaderValue> = LazyLock::new(|| {
    let style =
        LOGIN.split_once("<style>").and_then(|(_, rest)| rest.split_once("</style>")).map_or("", |(style, _)| style);
    let policy = format!(
        "default-src 'none'; style-src 'sha256-{}'; img-src data:; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
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

/// The login page, with a sentence about what went wrong, leading on to `next`.
pub(super) fn login(status: StatusCode, problem: &str, next: &str) -> Response {
    let hidden = if problem.is_empty() { "hidden" } else { "" };
    let html = LOGIN
        .replace("{{hidden}}", hidden)
        .replace("{{problem}}", &escape(problem))
        .replace("{{next}}", &escape(local_path(next)));
    let mut response = (status, Html(html)).into_response();
    response.headers_mut().insert(header::CONTENT_SECURITY_POLICY, LOGIN_POLICY.clone());
    response
}

/// For somebody who followed a link from another site: the cookie was not sent, and comes with the page's own reload.
pub(super) fn come_again() -> Response {
    Html(COME_AGAIN).into_response()
}

#[derive(Deserialize)]
pub(super) struct LoginQuery {
    code: Option<String>,
    next: Option<String>,
}

/// Shows the login, or redeems the code of a login link.
pub(super) async fn login_page(
    State(app): State<App>,
    QueryPart(query): QueryPart<LoginQuery>,
    request: Request,
) -> Response {
    let next = query.next.unwrap_or_default();
    let Some(code) = query.code else {
        return login(StatusCode::OK, "", &next);
    };
    match app.auth().log_in_with_code(&code).await {
        Ok(cookie) => logged_in(&cookie, &next),
        // The same link again, in a browser that is logged in already.
        Err(_) if request.extensions().get::<Caller>().is_some() => Redirect::to(local_path(&next)).into_response(),
        Err(error) => not_logged_in(
            error,
            "This link was used already or is too old. Run `flightdeck open` for a new one, or enter the token.",
            &next,
        ),
    }
}

/// Logs in with the token, sent by the form of the login page.
pub(super) async fn log_in(State(app): State<App>, TextBody(form): TextBody) -> ApiResult<Response> {
    let (mut token, mut next) = (String::new(), String::new());
    for (key, value) in form_urlencoded::parse(form.as_bytes()) {
        match &*key {
            "token" => token = value.into_owned(),
            "next" => next = value.into_owned(),
            _ => {}
        }
    }
    Ok(match app.auth().log_in_with_token(token.trim()).await {
        Ok(cookie) => logged_in(&cookie, &next),
        Err(error) => not_logged_in(error, "That is not the token of this server.", &next),
    })
}

fn logged_in(cookie: &str, next: &str) -> Response {
    let mut response = Redirect::to(local_path(next)).into_response();
    response.headers_mut().insert(header::SET_COOKIE, cookie_header(cookie));
    response
}

fn not_logged_in(error: LogInError, problem: &str, next: &str) -> Response {
    match error {
        LogInError::Refused(Refusal::TooManyAttempts) => too_many_attempts(),
        LogInError::Refused(Refusal::Unknown) => login(StatusCode::UNAUTHORIZED, problem, next),
        LogInError::Store(error) => super::error::ApiError::from(error).into_response(),
    }
}

/// A path of this server; anything else (another host, a scheme) leads home. Browsers read `\` as `/` and drop tabs
/// and line ends, so `/\t/evil.example` would lead to another host.
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
    fn after_the_login_only_pages_of_ours_follow() {
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

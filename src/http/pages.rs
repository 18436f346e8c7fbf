//! The pages: embedded files, the login, and `Not Found`.

use std::sync::LazyLock;

use axum::Json;
use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::response::{Html, IntoResponse, Response};
use base64::prelude::{BASE64_STANDARD, Engine as _};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::app::App;
use super::auth::{LogInError, NewLogin, Refusal, cookie_header};
use super::body::{QueryPart, TextBody};
use super::error::{ApiError, ApiResult};
use super::guard::too_many_attempts;
use super::openapi::{Operation, Tag, get, post};
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

/// The page that shows the API. It belongs to the API's paths, because that is where people look for it.
pub(super) const API_DOCS: &str = "/api/docs";

/// `GET /api/docs`.
pub(super) async fn api_docs(headers: HeaderMap) -> Response {
    page(&Method::GET, "/apiDocs.html", &headers)
}

/// For a person who followed a link from another site: that request carries no cookie, and the page's own reload does.
pub(super) fn reload_page() -> Response {
    Html(RELOAD).into_response()
}

#[derive(Deserialize, JsonSchema)]
pub(super) struct LoginQuery {
    /// The path to continue at.
    next: Option<String>,
}

/// Shows the login page. Its script redeems the code of a login link, so that a program that only fetches the link (a
/// mail program, a preview) does not use the code up.
pub(super) async fn login_page(QueryPart(query): QueryPart<LoginQuery>) -> Response {
    login(StatusCode::OK, &query.next.unwrap_or_default())
}

/// What the login page sends.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "only its schema is used")]
struct LoginForm {
    /// The code of a login link.
    code: Option<String>,
    /// The server's own token.
    token: Option<String>,
    /// A path on this server.
    next: Option<String>,
}

/// A login. Its cookie is in a header.
#[derive(Serialize, JsonSchema)]
struct Login<'a> {
    /// Every request for data sends it in the header `Flightdeck-Secret`.
    secret: String,
    /// The path to continue at.
    next: &'a str,
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
            let mut response = Json(Login { secret, next: local_path(&next) }).into_response();
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

pub(super) fn operations() -> Vec<Operation> {
    vec![
        get("/login", login_page).named("loginPage", Tag::Access, "The login page").replies_with_text(200, "text/html"),
        post("/login", log_in)
            .named("logIn", Tag::Access, "Log in")
            .details("With the code of a login link, or with the server's own token. Sets a cookie.")
            .takes_form::<LoginForm>()
            .replies_with::<Login<'_>>(200, "application/json")
            .error(401, "Unauthorized"),
    ]
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

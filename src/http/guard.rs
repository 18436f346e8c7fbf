//! The checks that every request passes before it reaches a route.
//!
//! Host first (a rebound DNS name must not reach anything), then where the request comes from (another site must not
//! use the API, whatever its method), then who it comes from. Every response gets headers that protect the browser.

use std::net::IpAddr;

use axum::extract::{MatchedPath, Request, State};
use axum::http::header::{self, HeaderName};
use axum::http::uri::PathAndQuery;
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, Uri};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use super::app::App;
use super::auth::{Caller, Refusal};
use super::dialect::refusal;
use super::error::ApiError;
use super::pages;
use super::route_needs::{Need, is_models_path, need_of};
use crate::capture::CaptureError;
use crate::model::Scope;

/// Only the server's own files, no inline script, no framing.
const CONTENT_SECURITY_POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; \
    font-src 'self'; connect-src 'self'; manifest-src 'self'; worker-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

/// The host names of this server.
#[derive(Clone, Debug, Default)]
pub struct AllowedHosts {
    names: Vec<String>,
    bound: Option<IpAddr>,
}

impl AllowedHosts {
    /// Loopback names, the bound address and the configured names.
    pub fn new(bound: Option<IpAddr>, names: &[String]) -> Self {
        Self { names: names.iter().map(|name| name.to_ascii_lowercase()).collect(), bound }
    }

    fn allows(&self, authority: &str) -> bool {
        let Some(host) = host_of(authority).map(str::to_ascii_lowercase) else { return false };
        if host == "localhost" || self.names.contains(&host) {
            return true;
        }
        // A name that merely looks like an address ("127.0.0.1.evil.example") does not parse as one.
        let Ok(address) = host.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>() else { return false };
        address.is_loopback() || (self.bound == Some(address) && !address.is_unspecified())
    }
}

/// The host part of `host`, `host:port`, `[address]` or `[address]:port`; `None` for anything else.
fn host_of(authority: &str) -> Option<&str> {
    let end = match authority.strip_prefix('[') {
        Some(rest) => rest.find(']')? + 2,
        None => authority.find(':').unwrap_or(authority.len()),
    };
    let (host, rest) = authority.split_at(end);
    let is_port = |port: &str| port.bytes().all(|byte| byte.is_ascii_digit());
    (rest.is_empty() || rest.strip_prefix(':').is_some_and(is_port)).then_some(host)
}

/// The allowed hosts and origins.
#[derive(Clone, Debug)]
pub struct Guard {
    hosts: AllowedHosts,
    origins: Vec<String>,
    /// Browsers may connect over TLS.
    behind_proxy: bool,
}

impl Guard {
    /// Allows these hosts and these other origins.
    pub fn new(hosts: AllowedHosts, origins: &[String]) -> Self {
        Self {
            hosts,
            origins: origins.iter().map(|origin| origin.trim_end_matches('/').to_ascii_lowercase()).collect(),
            behind_proxy: false,
        }
    }

    /// The same checks behind a TLS-terminating proxy.
    #[must_use]
    pub fn behind_proxy(self, behind_proxy: bool) -> Self {
        Self { behind_proxy, ..self }
    }

    /// The host that the request names, if it is allowed.
    fn check_host<'a>(&self, uri: &'a Uri, headers: &'a HeaderMap) -> Option<&'a str> {
        let mut hosts = headers.get_all(header::HOST).iter();
        let (first, second) = (hosts.next(), hosts.next());
        let host = first.and_then(|value| value.to_str().ok()).filter(|_| second.is_none())?;
        // A request line in a proxy's form names a host too, and that one would win.
        let target_allowed = uri.authority().is_none_or(|authority| self.hosts.allows(authority.as_str()));
        (self.hosts.allows(host) && target_allowed).then_some(host)
    }

    /// Another port of this machine is another program's page, so the port must match too.
    fn is_own_origin(&self, origin: &str, host: &str) -> bool {
        origin.split_once("://").is_some_and(|(scheme, from)| {
            let is_scheme = scheme == "http" || (self.behind_proxy && scheme == "https");
            is_scheme && from.eq_ignore_ascii_case(host)
        })
    }

    fn is_configured_origin(&self, origin: &str) -> bool {
        self.origins.contains(&origin.to_ascii_lowercase())
    }
}

/// Where a request comes from.
#[derive(Debug, PartialEq, Eq)]
enum Provenance {
    /// A program, a typed address, or a page of this server.
    Own,
    /// A page of a configured other origin.
    Configured(String),
    /// A page of any other origin.
    Foreign,
}

/// If a header is repeated, every value is checked: programs disagree about which one counts.
fn provenance(guard: &Guard, host: &str, headers: &HeaderMap) -> Provenance {
    let all = |name: &str| -> Vec<&str> {
        headers.get_all(name).iter().map(|value| value.to_str().unwrap_or("unreadable")).collect()
    };
    let (origins, sites) = (all("origin"), all("sec-fetch-site"));
    let is_same_origin = !sites.is_empty() && sites.iter().all(|site| *site == "same-origin");
    let mut configured = None;
    for origin in origins {
        // This server's pages send no referrer, so a browser hides the origin of their forms but still says `same-origin`.
        let is_hidden = origin == "null" && is_same_origin;
        if guard.is_configured_origin(origin) {
            configured = Some(origin.to_owned());
        } else if !is_hidden && !guard.is_own_origin(origin, host) {
            return Provenance::Foreign;
        }
    }
    match configured {
        Some(origin) => Provenance::Configured(origin),
        None if sites.iter().all(|site| matches!(*site, "same-origin" | "none")) => Provenance::Own,
        None => Provenance::Foreign,
    }
}

/// A person followed a link to a page, which may show the page or the login.
fn is_navigation(method: &Method, headers: &HeaderMap) -> bool {
    let is = |name: &str, expected: &str| headers.get(name).is_some_and(|value| value == expected);
    (method == Method::GET || method == Method::HEAD)
        && is("sec-fetch-mode", "navigate")
        && is("sec-fetch-dest", "document")
}

fn is_programs_path(path: &str) -> bool {
    let is_api = path == "/api" || path.starts_with("/api/");
    (is_api && path != pages::API_DOCS) || path == "/metrics" || is_models_path(path)
}

/// Checks a request, then passes it to its route.
pub(super) async fn guard(State(app): State<App>, request: Request, next: Next) -> Response {
    let path = request.uri().path().to_owned();
    let mut configured_origin = None;
    let mut response = match admit(&app, &request, &path) {
        Ok(Admission { caller, origin, uri }) => {
            configured_origin = origin;
            let mut request = request;
            if let Some(uri) = uri {
                *request.uri_mut() = uri;
            }
            if let Some(caller) = caller {
                request.extensions_mut().insert(caller);
            }
            next.run(request).await
        }
        Err(response) => *response,
    };
    protect(response.headers_mut(), &path);
    if let Some(origin) = configured_origin {
        allow_origin(response.headers_mut(), &origin);
    }
    response
}

#[derive(Default)]
struct Admission {
    caller: Option<Caller>,
    origin: Option<String>,
    /// The request's address without the ticket that was in it.
    uri: Option<Uri>,
}

fn admit(app: &App, request: &Request, path: &str) -> Result<Admission, Box<Response>> {
    let headers = request.headers();
    let Some(host) = app.guard().check_host(request.uri(), headers) else {
        let error = ApiError::new(
            StatusCode::MISDIRECTED_REQUEST,
            "HostNotAllowed",
            "Host not allowed; use localhost, or add the name to server.allowed_hosts.",
        );
        return Err(Box::new(error_response(path, headers, error)));
    };
    let matched = request.extensions().get::<MatchedPath>().map(MatchedPath::as_str);
    let need = need_of(request.method(), path, matched);
    let origin = match provenance(app.guard(), host, headers) {
        Provenance::Own => None,
        Provenance::Configured(origin) => Some(origin),
        Provenance::Foreign if !is_programs_path(path) && is_navigation(request.method(), headers) => {
            let caller = app.auth().identify(headers, need).ok();
            return if caller.is_some() || is_open(need, path) || app.auth().may_see_pages(headers) {
                Ok(Admission { caller, ..Admission::default() })
            } else {
                // A request from another site carries no cookie; the page's own reload does.
                Err(Box::new(pages::reload_page()))
            };
        }
        Provenance::Foreign => {
            let error = ApiError::new(
                StatusCode::FORBIDDEN,
                "CrossSiteRequest",
                "Cross-site request refused; add the site's origin to server.allowed_origins to allow it.",
            );
            return Err(Box::new(error_response(path, headers, error)));
        }
    };
    if origin.is_some() && request.method() == Method::OPTIONS {
        let mut preflight = StatusCode::NO_CONTENT.into_response();
        if let Some(origin) = &origin {
            allow_origin(preflight.headers_mut(), origin);
        }
        return Err(Box::new(preflight));
    }
    let (identified, uri) = match ticket_in(request) {
        Some((ticket, uri)) => {
            let address = uri.path_and_query().map_or("/", PathAndQuery::as_str);
            (app.auth().redeem_ticket(&ticket, address), Some(uri))
        }
        None => (app.auth().identify(headers, need), None),
    };
    match identified {
        Ok(caller) => Ok(Admission { caller: Some(caller), origin, uri }),
        Err(_) if is_open(need, path) => Ok(Admission { caller: None, origin, uri: None }),
        // The cookie is sent to every port of this host, so it opens pages and never data.
        Err(_) if !is_programs_path(path) && app.auth().may_see_pages(headers) => {
            Ok(Admission { caller: None, origin, uri: None })
        }
        Err(refusal) => {
            let mut response = refused(refusal, request);
            if let Some(origin) = &origin {
                // A page of an allowed origin may also read why it was refused.
                allow_origin(response.headers_mut(), origin);
            }
            Err(Box::new(response))
        }
    }
}

/// What is served without a token: the login page with its script, and the bare health.
fn is_open(need: Need, path: &str) -> bool {
    need == Need::Nothing || path == pages::LOGIN_SCRIPT
}

/// The ticket in the query of a request for data, and the address without it, which is what the ticket was issued for.
fn ticket_in(request: &Request) -> Option<(String, Uri)> {
    let uri = request.uri();
    if request.method() != Method::GET || !is_programs_path(uri.path()) || is_models_path(uri.path()) {
        return None;
    }
    let (ticket, rest): (Vec<&str>, Vec<&str>) = uri.query()?.split('&').partition(|part| part.starts_with("ticket="));
    let ticket = ticket.first()?.strip_prefix("ticket=")?.to_owned();
    let query = if rest.is_empty() { String::new() } else { format!("?{}", rest.join("&")) };
    Some((ticket, format!("{}{query}", uri.path()).parse().ok()?))
}

fn refused(refusal: Refusal, request: &Request) -> Response {
    let uri = request.uri();
    match refusal {
        Refusal::TooManyAttempts => {
            let mut response = error_response(uri.path(), request.headers(), too_many_attempts_error());
            response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from_static("60"));
            response
        }
        Refusal::ScopeMissing(need) => error_response(uri.path(), request.headers(), scope_missing(need)),
        Refusal::Unknown if is_programs_path(uri.path()) => {
            let message = if is_models_path(uri.path()) {
                "Authentication required: send Authorization: Bearer or x-api-key with a token that \
                 `flightdeck tokens create --scope models` printed and that has not expired or been revoked."
            } else {
                "Authentication required: send Authorization: Bearer with the content of the file `token` in the data \
                 folder, or log in with `flightdeck open`."
            };
            let error = ApiError::new(StatusCode::UNAUTHORIZED, "Unauthorized", message);
            error_response(uri.path(), request.headers(), error)
        }
        Refusal::Unknown => {
            let wanted = uri.path_and_query().map_or("/", PathAndQuery::as_str);
            pages::login(StatusCode::UNAUTHORIZED, wanted)
        }
    }
}

fn scope_missing(need: Need) -> ApiError {
    match need {
        Need::Scope(scope) => ApiError::scope_missing(scope),
        Need::Admin | Need::Nothing => ApiError::scope_missing(Scope::Admin),
    }
}

/// An error in the shape that the path's clients understand.
fn error_response(path: &str, headers: &HeaderMap, error: ApiError) -> Response {
    if !is_models_path(path) {
        return error.into_response();
    }
    let status = error.status;
    let mut response = refusal(path, headers, &CaptureError::from(error));
    // Dialects know fewer.
    *response.status_mut() = status;
    response
}

fn too_many_attempts_error() -> ApiError {
    ApiError::new(
        StatusCode::TOO_MANY_REQUESTS,
        "TooManyAttempts",
        "Too many wrong tokens or codes; try again in a minute.",
    )
}

pub(super) fn too_many_attempts() -> Response {
    let mut response = too_many_attempts_error().into_response();
    response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from_static("60"));
    response
}

fn protect(headers: &mut HeaderMap, path: &str) {
    let mut put = |name: HeaderName, value: &'static str| {
        headers.entry(name).or_insert(HeaderValue::from_static(value));
    };
    put(header::CONTENT_SECURITY_POLICY, CONTENT_SECURITY_POLICY);
    put(header::X_CONTENT_TYPE_OPTIONS, "nosniff");
    put(header::REFERRER_POLICY, "no-referrer");
    put(header::X_FRAME_OPTIONS, "DENY");
    put(HeaderName::from_static("cross-origin-resource-policy"), "same-origin");
    put(HeaderName::from_static("cross-origin-opener-policy"), "same-origin");
    put(header::CACHE_CONTROL, if is_programs_path(path) { "no-store" } else { "no-cache" });
}

/// For a configured origin only. No credentials: such a page sends the token itself.
fn allow_origin(headers: &mut HeaderMap, origin: &str) {
    let Ok(origin) = HeaderValue::from_str(origin) else { return };
    headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, origin);
    headers.insert(header::VARY, HeaderValue::from_static("Origin"));
    headers.insert(
        header::ACCESS_CONTROL_ALLOW_HEADERS,
        HeaderValue::from_static(
            "Authorization, Content-Type, Idempotency-Key, Last-Event-ID, X-Api-Key, Anthropic-Version",
        ),
    );
    headers.insert(header::ACCESS_CONTROL_ALLOW_METHODS, HeaderValue::from_static("GET, POST, PATCH, DELETE"));
    headers.insert(HeaderName::from_static("cross-origin-resource-policy"), HeaderValue::from_static("cross-origin"));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_our_own_names_are_answered() {
        let hosts = AllowedHosts::new(Some("192.0.2.1".parse().expect("an address")), &["Deck.example".to_owned()]);
        for allowed in [
            "localhost",
            "LOCALHOST:1",
            "127.0.0.1:8888",
            "127.1.2.3",
            "[::1]:8888",
            "[::1]",
            "192.0.2.1",
            "deck.example:443",
        ] {
            assert!(hosts.allows(allowed), "{allowed}");
        }
        for refused in
            ["evil.example", "localhost.evil.example", "127.0.0.1.evil.example", "192.0.2.2", "", "[::2]", "0.0.0.0"]
        {
            assert!(!hosts.allows(refused), "{refused}");
        }
        for malformed in
            ["localhost:1:2", "[::1].evil.example", "[::1]1", "[::1", "::1", "localhost:1.evil.example", "localhost:x"]
        {
            assert!(!hosts.allows(malformed), "{malformed}");
        }
    }

    fn check(headers: &[(&'static str, &str)], expected: &Provenance) {
        let guard = Guard::new(AllowedHosts::default(), &["https://App.example/".to_owned()]);
        check_with(&guard, headers, expected);
    }

    fn check_with(guard: &Guard, headers: &[(&'static str, &str)], expected: &Provenance) {
        let mut sent = HeaderMap::new();
        for (name, value) in headers {
            sent.append(HeaderName::from_static(name), HeaderValue::from_str(value).expect("valid"));
        }
        assert_eq!(&provenance(guard, "localhost:8888", &sent), expected, "{sent:?}");
    }

    #[test]
    fn other_sites_and_other_ports_are_foreign() {
        check(&[], &Provenance::Own);
        check(&[("origin", "http://localhost:8888"), ("sec-fetch-site", "same-origin")], &Provenance::Own);
        check(&[("sec-fetch-site", "none")], &Provenance::Own);
        check(&[("origin", "http://localhost:3000"), ("sec-fetch-site", "same-site")], &Provenance::Foreign);
        check(&[("origin", "https://evil.example")], &Provenance::Foreign);
        check(&[("origin", "null")], &Provenance::Foreign);
        check(&[("origin", "null"), ("sec-fetch-site", "cross-site")], &Provenance::Foreign);
        check(&[("origin", "null"), ("sec-fetch-site", "same-origin")], &Provenance::Own);
        check(&[("sec-fetch-site", "cross-site")], &Provenance::Foreign);
        check(
            &[("origin", "https://app.example"), ("sec-fetch-site", "cross-site")],
            &Provenance::Configured("https://app.example".to_owned()),
        );
    }

    #[test]
    fn every_one_of_repeated_headers_counts() {
        let own = ("origin", "http://localhost:8888");
        check(&[own, own], &Provenance::Own);
        check(&[own, ("origin", "https://evil.example")], &Provenance::Foreign);
        check(&[("origin", "https://evil.example"), own], &Provenance::Foreign);
        check(&[("origin", "https://app.example"), ("origin", "https://evil.example")], &Provenance::Foreign);
        check(&[("sec-fetch-site", "same-origin"), ("sec-fetch-site", "cross-site")], &Provenance::Foreign);
        check(&[("sec-fetch-site", "none"), ("sec-fetch-site", "same-site")], &Provenance::Foreign);
        let sites = [("sec-fetch-site", "same-origin"), ("sec-fetch-site", "none")];
        check(&[("origin", "null"), sites[0], sites[1]], &Provenance::Foreign);
    }

    #[test]
    fn the_scheme_of_an_origin_counts() {
        check(&[("origin", "https://localhost:8888")], &Provenance::Foreign);
        check(&[("origin", "ftp://localhost:8888")], &Provenance::Foreign);
        let guard = Guard::new(AllowedHosts::default(), &[]).behind_proxy(true);
        check_with(&guard, &[("origin", "https://localhost:8888")], &Provenance::Own);
        check_with(&guard, &[("origin", "ftp://localhost:8888")], &Provenance::Foreign);
    }
}

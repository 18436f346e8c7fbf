//! Browsers that notifications are pushed to.

use std::collections::BTreeSet;

use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, header};
use axum::{Extension, Json};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::http::app::App;
use crate::http::auth::Caller;
use crate::http::body::{JsonBody, PathPart};
use crate::http::error::{ApiError, ApiResult, sentence};
use crate::http::openapi::{Created, NoContent, Operation, Tag, delete, get, post};
use crate::model::{HappeningKind, Timestamp};
use crate::notify::{Subscription, SubscriptionError, browser_name, browser_number};
use crate::session::now;
use crate::store::{NewBrowser, StoredBrowser};

/// More browsers than anybody has.
const MOST: usize = 50;

/// The browsers, and what others subscribe with.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::http) struct PushOverview {
    /// The server's public key, in base64url: the `applicationServerKey` of a subscription.
    public_key: String,
    /// The browsers, oldest first.
    browsers: Vec<Browser>,
}

/// A browser that notifications are pushed to.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::http) struct Browser {
    /// Such as `browser-1`; also the name of its notification target.
    id: String,
    /// Such as `Chrome on Android`.
    name: String,
    /// The host of its push service. The rest of its address is a secret.
    service: String,
    /// What it hears of.
    events: BTreeSet<HappeningKind>,
    added_at: Timestamp,
}

impl Browser {
    fn of(StoredBrowser { id, browser }: StoredBrowser) -> Self {
        let subscription = Subscription::parse(&browser.endpoint, &browser.public_key, &browser.secret);
        let service = subscription.map(|subscription| subscription.endpoint().host().to_owned()).unwrap_or_default();
        Self { id: browser_name(id), name: browser.name, service, events: browser.events, added_at: browser.added_at }
    }
}

/// A subscription, as `PushSubscription.toJSON()` gives it.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(in crate::http) struct SubscribeBody {
    /// The address of the push service for this browser.
    endpoint: String,
    keys: SubscriptionKeys,
    /// When the subscription ends; push services say so themselves, so it is not needed.
    #[serde(default, rename = "expirationTime")]
    _expiration_time: Option<f64>,
    /// What the browser wants to hear of; without it, of what needs a person and of failures.
    events: Option<BTreeSet<HappeningKind>>,
}

/// The keys of a subscription, in base64url.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::http) struct SubscriptionKeys {
    /// The browser's public key.
    p256dh: String,
    /// The secret that the browser shares with the server.
    auth: String,
}

/// `GET /api/push`: the server's key, and the browsers.
pub(in crate::http) async fn push_overview(State(app): State<App>) -> ApiResult<Json<PushOverview>> {
    let browsers = app.notifier().browsers().await?;
    let public_key = app.notifier().push_public_key();
    Ok(Json(PushOverview { public_key, browsers: browsers.into_iter().map(Browser::of).collect() }))
}

/// `POST /api/push`: pushes notifications to a browser from now on. The same endpoint again changes its subscription.
pub(in crate::http) async fn add_browser(
    State(app): State<App>,
    Extension(caller): Extension<Caller>,
    headers: HeaderMap,
    JsonBody(body): JsonBody<SubscribeBody>,
) -> ApiResult<Created<Browser>> {
    // A browser is removed when its login ends; a token that is revoked must not leave one behind.
    if let Caller::Token(..) = caller {
        let message = "Only a browser that is logged in can subscribe to notifications; open the page and log in.";
        return Err(ApiError::new(StatusCode::FORBIDDEN, "LoginRequired", message));
    }
    Subscription::parse(&body.endpoint, &body.keys.p256dh, &body.keys.auth)?;
    let known = app.notifier().browsers().await?;
    if known.len() >= MOST && !known.iter().any(|one| one.browser.endpoint == body.endpoint) {
        let message =
            format!("Notifications are pushed to {MOST} browsers already; remove one with DELETE /api/push/ID.");
        return Err(ApiError::new(StatusCode::CONFLICT, "TooManyBrowsers", message));
    }
    let usual = || [HappeningKind::NeedsYou, HappeningKind::Failed].into();
    let browser = NewBrowser {
        endpoint: body.endpoint,
        public_key: body.keys.p256dh,
        secret: body.keys.auth,
        events: body.events.unwrap_or_else(usual),
        name: name_of(headers.get(header::USER_AGENT).and_then(|value| value.to_str().ok()).unwrap_or_default()),
        login: app.auth().login_of(&headers),
        added_at: now(),
    };
    let id = app.notifier().add_browser(browser.clone()).await?;
    tracing::info!(browser = id, "notifications are pushed to a browser");
    Ok(Created(Browser::of(StoredBrowser { id, browser })))
}

/// `DELETE /api/push/{id}`: pushes nothing to a browser any more.
pub(in crate::http) async fn remove_browser(
    State(app): State<App>,
    PathPart(id): PathPart<String>,
) -> ApiResult<NoContent> {
    if let Some(number) = browser_number(&id)
        && app.notifier().remove_browser(number).await?
    {
        tracing::info!(browser = number, "removed a browser");
        return Ok(NoContent);
    }
    let message = "Browser not found: an id looks like browser-1; GET /api/push lists all browsers.";
    Err(ApiError::new(StatusCode::NOT_FOUND, "BrowserNotFound", message))
}

impl From<SubscriptionError> for ApiError {
    fn from(error: SubscriptionError) -> Self {
        Self::bad_request("InvalidSubscription", format!("Invalid subscription: {}", sentence(&error)))
    }
}

/// Which browser on which system, as far as its header says so.
fn name_of(user_agent: &str) -> String {
    let first = |words: &[(&'static str, &'static str)]| {
        words.iter().find(|(mark, _)| user_agent.contains(mark)).map(|(_, name)| *name)
    };
    // Each of them also names those that follow.
    let browser = first(&[
        ("Edg", "Edge"),
        ("OPR/", "Opera"),
        ("SamsungBrowser/", "Samsung Internet"),
        ("Firefox/", "Firefox"),
        ("FxiOS/", "Firefox"),
        ("Chrome/", "Chrome"),
        ("CriOS/", "Chrome"),
        ("Safari/", "Safari"),
    ]);
    let system = first(&[
        ("Android", "Android"),
        ("iPhone", "iPhone"),
        ("iPad", "iPad"),
        ("Windows", "Windows"),
        ("Macintosh", "macOS"),
        ("CrOS", "Chrome OS"),
        ("Linux", "Linux"),
    ]);
    match (browser, system) {
        (Some(browser), Some(system)) => format!("{browser} on {system}"),
        (Some(name), None) | (None, Some(name)) => name.to_owned(),
        (None, None) => "Browser".to_owned(),
    }
}

pub(super) fn operations() -> Vec<Operation> {
    vec![
        get("/api/push", push_overview).named(
            "listBrowsers",
            Tag::Notifications,
            "List browsers that notifications are pushed to",
        ),
        post("/api/push", add_browser)
            .named("addBrowser", Tag::Notifications, "Push notifications to this browser")
            .details("Only for a browser that is logged in.")
            .error(400, "InvalidSubscription")
            .error(403, "LoginRequired")
            .error(409, "TooManyBrowsers"),
        delete("/api/push/{id}", remove_browser)
            .named("removeBrowser", Tag::Notifications, "Stop pushing notifications to a browser")
            .error(404, "BrowserNotFound"),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn browsers_have_names_that_people_recognise() {
        for (user_agent, name) in [
            ("Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 Chrome/140.0.0.0 Safari/537.36", "Chrome on Linux"),
            ("Mozilla/5.0 (Linux; Android 10; K) Chrome/140.0.0.0 Mobile Safari/537.36", "Chrome on Android"),
            ("Mozilla/5.0 (Windows NT 10.0; Win64; x64) Chrome/140 Safari/537.36 Edg/140", "Edge on Windows"),
            ("Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) Version/18.0 Safari/604.1", "Safari on iPhone"),
            (
                "Mozilla/5.0 (Macintosh; Intel Mac OS X 10.15; rv:140.0) Gecko/20100101 Firefox/140.0",
                "Firefox on macOS",
            ),
            ("curl/8", "Browser"),
        ] {
            assert_eq!(name_of(user_agent), name);
        }
    }
}

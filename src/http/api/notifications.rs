//! Notifications: recent deliveries, and a test of a target.

use std::collections::BTreeSet;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::http::app::App;
use crate::http::body::{JsonBody, QueryPart};
use crate::http::error::{ApiError, ApiResult};
use crate::http::openapi::{Operation, Tag, get, post};
use crate::model::{HappeningKind, Timestamp};
use crate::notify::{Target, TestOutcome};
use crate::store::{DeliveryId, StoredDelivery};

/// How many deliveries are shown by default, and at most.
const USUAL: usize = 100;
const MOST: usize = 1_000;

/// The query parameters.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::http) struct NotificationsQuery {
    /// Only deliveries before this number.
    before: Option<DeliveryId>,
    /// How many: 100 by default, at most 1,000.
    limit: Option<usize>,
}

/// The targets, and a page of deliveries.
#[derive(Serialize, JsonSchema)]
pub(in crate::http) struct Notifications {
    targets: Vec<ShownTarget>,
    /// Newest first.
    deliveries: Vec<ShownDelivery>,
    /// The `before` of the next page, or null.
    next: Option<DeliveryId>,
}

/// A target, with neither its address, which may be a secret, nor its token.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "NotificationTarget")]
struct ShownTarget {
    name: String,
    /// What it speaks.
    #[serde(rename = "type")]
    protocol: &'static str,
    /// What it is notified of.
    events: BTreeSet<HappeningKind>,
}

/// A notification to one target.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Delivery")]
struct ShownDelivery {
    id: DeliveryId,
    target: String,
    event: HappeningKind,
    /// What it is about: a session or a job.
    kind: &'static str,
    /// Its id.
    subject: String,
    title: String,
    reason: String,
    happened_at: Timestamp,
    /// `pending`, `held`, `delivered`, `given-up`, `dropped`, `seen` or `superseded`.
    state: &'static str,
    attempts: u32,
    /// When it is due while it may still be sent, and when it ended after that.
    at: Timestamp,
    /// Why the last attempt failed.
    error: Option<String>,
}

/// `GET /api/notifications`: the targets, and deliveries, newest first.
pub(in crate::http) async fn notifications(
    State(app): State<App>,
    QueryPart(query): QueryPart<NotificationsQuery>,
) -> ApiResult<Json<Notifications>> {
    let limit = query.limit.unwrap_or(USUAL).clamp(1, MOST);
    let deliveries = app.sessions().store().deliveries(query.before, limit).await?;
    // A full page may have more behind it.
    let next = deliveries.last().filter(|_| deliveries.len() == limit).map(|delivery| delivery.id);
    let targets = app.notifier().settings().targets.iter().map(shown_target).collect();
    Ok(Json(Notifications { targets, deliveries: deliveries.into_iter().map(shown).collect(), next }))
}

fn shown_target(target: &Target) -> ShownTarget {
    ShownTarget { name: target.name.clone(), protocol: target.protocol.name(), events: target.events.clone() }
}

fn shown(stored: StoredDelivery) -> ShownDelivery {
    let (happening, delivery) = (stored.happening, stored.delivery);
    let progress = delivery.progress;
    ShownDelivery {
        id: stored.id,
        target: delivery.target,
        event: happening.kind,
        kind: stored.subject.kind(),
        subject: stored.subject.to_string(),
        title: delivery.title,
        reason: happening.reason,
        happened_at: stored.happened_at,
        state: progress.state.as_str(),
        attempts: progress.attempts,
        at: progress.at,
        error: progress.error,
    }
}

/// The target to test.
#[derive(Deserialize, JsonSchema)]
#[schemars(rename = "TestNotification")]
#[serde(deny_unknown_fields)]
pub(in crate::http) struct TestBody {
    target: String,
}

/// What became of a test.
#[derive(Serialize, JsonSchema)]
pub(in crate::http) struct TestReply {
    target: String,
    delivered: bool,
    /// Why it was not delivered.
    error: Option<String>,
}

/// `POST /api/notifications/test`: sends a test to a target and waits for the outcome.
pub(in crate::http) async fn test_notification(
    State(app): State<App>,
    JsonBody(body): JsonBody<TestBody>,
) -> ApiResult<Json<TestReply>> {
    match app.notifier().test(&body.target).await {
        TestOutcome::Delivered => Ok(Json(TestReply { target: body.target, delivered: true, error: None })),
        TestOutcome::Failed(error) => Ok(Json(TestReply { target: body.target, delivered: false, error: Some(error) })),
        TestOutcome::UnknownTarget => {
            let settings = app.notifier().settings();
            let names: Vec<&str> = settings.targets.iter().map(|target| target.name.as_str()).collect();
            let known = if names.is_empty() {
                "none is configured; add [notifications.targets.NAME] to the configuration".to_owned()
            } else {
                format!("known targets: {}", names.join(", "))
            };
            let message = format!("Notification target {:?} not found: {known}.", body.target);
            Err(ApiError::new(StatusCode::NOT_FOUND, "TargetNotFound", message))
        }
    }
}

pub(super) fn operations() -> Vec<Operation> {
    vec![
        get("/api/notifications", notifications).named(
            "listNotifications",
            Tag::Notifications,
            "List targets and recent deliveries",
        ),
        post("/api/notifications/test", test_notification)
            .named("testNotification", Tag::Notifications, "Send a test notification")
            .details("Sends a test to a target and waits for its answer.")
            .error(404, "TargetNotFound"),
    ]
}

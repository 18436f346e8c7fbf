//! Notifications: recent deliveries, and a test of a target.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::http::app::App;
use crate::http::body::{JsonBody, QueryPart};
use crate::http::error::{ApiError, ApiResult};
use crate::notify::{Target, TestOutcome};
use crate::store::{DeliveryId, StoredDelivery};

/// How many deliveries are shown by default, and at most.
const USUAL: usize = 100;
const MOST: usize = 1_000;

/// The query parameters.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::http) struct NotificationsQuery {
    /// Only deliveries before this number.
    before: Option<DeliveryId>,
    /// How many.
    limit: Option<usize>,
}

/// `GET /api/notifications`: the targets, and deliveries, newest first.
pub(in crate::http) async fn notifications(
    State(app): State<App>,
    QueryPart(query): QueryPart<NotificationsQuery>,
) -> ApiResult<Json<Value>> {
    let limit = query.limit.unwrap_or(USUAL).clamp(1, MOST);
    let deliveries = app.sessions().store().deliveries(query.before, limit).await?;
    // A full page may have more behind it.
    let next = deliveries.last().filter(|_| deliveries.len() == limit).map(|delivery| delivery.id);
    let targets: Vec<Value> = app.notifier().settings().targets.iter().map(shown_target).collect();
    let deliveries: Vec<Value> = deliveries.iter().map(shown).collect();
    Ok(Json(json!({ "targets": targets, "deliveries": deliveries, "next": next })))
}

/// Neither its address, which may be a secret, nor its token.
fn shown_target(target: &Target) -> Value {
    json!({ "name": target.name, "type": target.protocol.name(), "events": target.events })
}

fn shown(stored: &StoredDelivery) -> Value {
    let (happening, delivery) = (&stored.happening, &stored.delivery);
    let progress = &delivery.progress;
    json!({
        "id": stored.id,
        "target": delivery.target,
        "event": happening.kind,
        "kind": stored.subject.kind(),
        "subject": stored.subject.to_string(),
        "title": delivery.title,
        "reason": happening.reason,
        "happenedAt": stored.happened_at,
        "state": progress.state.as_str(),
        "attempts": progress.attempts,
        // When it is due while it may still be sent, and when it ended after that.
        "at": progress.at,
        "error": progress.error,
    })
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::http) struct TestBody {
    target: String,
}

/// `POST /api/notifications/test`: sends a test to a target and waits for the outcome.
pub(in crate::http) async fn test_notification(
    State(app): State<App>,
    JsonBody(body): JsonBody<TestBody>,
) -> ApiResult<Json<Value>> {
    match app.notifier().test(&body.target).await {
        TestOutcome::Delivered => Ok(Json(json!({ "target": body.target, "delivered": true, "error": null }))),
        TestOutcome::Failed(error) => Ok(Json(json!({ "target": body.target, "delivered": false, "error": error }))),
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

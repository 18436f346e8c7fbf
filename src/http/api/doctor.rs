//! Preflight over HTTP.

use axum::Json;
use axum::extract::State;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::doctor::{self, Patient};
use crate::http::app::App;
use crate::http::body::QueryPart;
use crate::http::scripted_model::ScriptedModel;
use crate::model::Check;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::http) struct DoctorQuery {
    canary: Option<bool>,
}

pub(in crate::http) async fn doctor(
    State(app): State<App>,
    QueryPart(DoctorQuery { canary }): QueryPart<DoctorQuery>,
) -> Json<Value> {
    let sessions = app.sessions();
    let model = if canary.unwrap_or(true) { ScriptedModel::start().await.ok() } else { None };
    let patient = Patient {
        data_folder: app.data_folder(),
        store: sessions.store(),
        runtimes: sessions.runtimes(),
        quarantine: app.quarantine(),
        model_url: model.as_ref().map(ScriptedModel::base_url),
    };
    let mut checks = vec![Check::ok("server", format!("up for {} s", app.started().elapsed().as_secs()))];
    checks.extend(doctor::examine(&patient).await);
    Json(json!({ "verdict": doctor::verdict(&checks), "checks": checks }))
}

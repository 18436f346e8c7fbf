//! The system check over HTTP.

use axum::Json;
use axum::extract::State;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::doctor::{self, Canary, DoctorInput};
use crate::http::app::App;
use crate::http::body::QueryPart;
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
    let input = DoctorInput {
        data_folder: app.data_folder(),
        store: sessions.store(),
        runtimes: sessions.runtimes(),
        quarantine: app.quarantine(),
        canary: if canary.unwrap_or(true) { Canary::Run } else { Canary::Skip },
    };
    let mut report = doctor::examine(&input).await;
    report.checks.insert(0, Check::ok("server", format!("up for {} s", app.started().elapsed().as_secs())));
    Json(json!({ "verdict": report.verdict(), "ready": report.ready, "checks": report.checks }))
}

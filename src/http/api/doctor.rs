//! The system check over HTTP.

use axum::Json;
use axum::extract::State;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::doctor::{self, Canary, DoctorInput, ReadyRuntime};
use crate::http::app::App;
use crate::http::body::QueryPart;
use crate::http::openapi::{Operation, Tag, get};
use crate::model::{Check, CheckVerdict};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::http) struct DoctorQuery {
    /// `false` skips the permission canary.
    canary: Option<bool>,
}

/// What the checks found.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Diagnostics")]
pub(in crate::http) struct DoctorReply {
    /// The worst of all checks; `info` counts as `ok`.
    verdict: CheckVerdict,
    /// The runtimes that sessions can use now.
    ready: Vec<ReadyRuntime>,
    checks: Vec<Check>,
}

pub(in crate::http) async fn doctor(
    State(app): State<App>,
    QueryPart(DoctorQuery { canary }): QueryPart<DoctorQuery>,
) -> Json<DoctorReply> {
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
    Json(DoctorReply { verdict: report.verdict(), ready: report.ready, checks: report.checks })
}

pub(super) fn operations() -> Vec<Operation> {
    vec![
        get("/api/doctor", doctor)
            .named("doctor", Tag::Agents, "Run the diagnostics")
            .details("Checks the machine, the database and every runtime. Takes seconds."),
    ]
}

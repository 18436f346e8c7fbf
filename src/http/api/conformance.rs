//! The stored results of `flightdeck conformance`.

use axum::Json;
use axum::extract::State;
use schemars::JsonSchema;
use serde::Serialize;

use crate::agent::{ConformanceReport, ConformanceResults, PastResult};
use crate::http::app::App;
use crate::http::openapi::{Operation, Tag, get};

/// The results of the conformance checks.
#[derive(Default, Serialize, JsonSchema)]
pub(in crate::http) struct ConformanceReply {
    /// The newest report of each runtime.
    reports: Vec<ConformanceReport>,
    /// All results, newest first.
    history: Vec<PastResult>,
    /// Why the results cannot be read.
    #[serde(skip_serializing_if = "Option::is_none")]
    problem: Option<String>,
}

/// The newest report of each runtime, and the history, newest first.
pub(in crate::http) async fn conformance(State(app): State<App>) -> Json<ConformanceReply> {
    let results = ConformanceResults::in_folder(app.data_folder());
    let read = tokio::task::spawn_blocking(move || {
        let mut history = results.history()?;
        history.reverse();
        Ok::<_, String>(ConformanceReply { reports: results.newest()?, history, problem: None })
    });
    let problem = |problem: String| ConformanceReply { problem: Some(problem), ..ConformanceReply::default() };
    Json(match read.await {
        Ok(Ok(found)) => found,
        Ok(Err(error)) => problem(error),
        Err(error) => problem(error.to_string()),
    })
}

pub(super) fn operations() -> Vec<Operation> {
    vec![get("/api/conformance", conformance).named("conformance", Tag::Agents, "Results of the conformance checks").details(
        "The stored results of `flightdeck conformance`. A failed check disables the capture modes that it names, for \
         that version of the agent.",
    )]
}

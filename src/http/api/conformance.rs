//! The stored results of `flightdeck conformance`.

use axum::Json;
use axum::extract::State;
use serde_json::{Value, json};

use crate::agent::ConformanceResults;
use crate::http::app::App;

/// The newest report of each runtime, and the history, newest first.
pub(in crate::http) async fn conformance(State(app): State<App>) -> Json<Value> {
    let results = ConformanceResults::in_folder(app.data_folder());
    let read = tokio::task::spawn_blocking(move || {
        let mut history = results.history()?;
        history.reverse();
        Ok::<_, String>(json!({ "reports": results.newest()?, "history": history }))
    });
    let problem = |problem: String| json!({ "reports": [], "history": [], "problem": problem });
    Json(match read.await {
        Ok(Ok(found)) => found,
        Ok(Err(error)) => problem(error),
        Err(error) => problem(error.to_string()),
    })
}

//! Every model with its runtime, and why a list is incomplete.

use axum::Json;
use axum::extract::State;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::agent::{Freshness, RuntimeModels};
use crate::http::app::App;
use crate::http::body::QueryPart;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::http) struct ModelsQuery {
    #[serde(default)]
    refresh: bool,
}

pub(in crate::http) async fn models(
    State(app): State<App>,
    QueryPart(ModelsQuery { refresh }): QueryPart<ModelsQuery>,
) -> Json<Value> {
    let sessions = app.sessions();
    let freshness = if refresh { Freshness::Now } else { Freshness::Recent };
    Json(models_json(sessions.runtimes().model_lists(&sessions.settings().default_runtime, freshness).await))
}

/// The lists in the API's format; the command line uses this too, without a server.
pub fn models_json(lists: Vec<RuntimeModels>) -> Value {
    let mut models = Vec::new();
    let mut notes = Vec::new();
    for list in lists {
        models.extend(list.models.iter().map(|(listed_id, model)| {
            json!({
                "runtime": list.runtime, "name": model.name, "id": model.id, "listedId": listed_id,
                "multiplier": model.multiplier, "hidden": model.hidden,
            })
        }));
        if let Some(reason) = list.note {
            notes.push(json!({ "runtime": list.runtime, "reason": reason }));
        }
    }
    json!({ "models": models, "notes": notes })
}

//! Every model with its runtime, and why a list is incomplete.

use axum::Json;
use axum::extract::State;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::agent::{Freshness, RuntimeModels};
use crate::http::app::App;
use crate::http::body::QueryPart;
use crate::http::openapi::{Operation, Tag, get};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::http) struct ModelsQuery {
    /// Ask the agents again instead of using a recent answer.
    #[serde(default)]
    refresh: bool,
}

/// Every model with its runtime.
#[derive(Default, Serialize, JsonSchema)]
#[schemars(rename = "Models")]
pub struct ModelReply {
    models: Vec<ListedModel>,
    /// Why a list is incomplete.
    notes: Vec<ModelNote>,
}

/// A model of a runtime.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct ListedModel {
    runtime: String,
    name: String,
    id: String,
    /// The id in `/api/copilot/models`.
    listed_id: String,
    /// What one request counts against the quota of premium requests.
    multiplier: f64,
    /// Usable, but not shown in lists.
    hidden: bool,
}

/// Why the list of a runtime is incomplete.
#[derive(Serialize, JsonSchema)]
struct ModelNote {
    runtime: String,
    reason: String,
}

pub(in crate::http) async fn models(
    State(app): State<App>,
    QueryPart(ModelsQuery { refresh }): QueryPart<ModelsQuery>,
) -> Json<ModelReply> {
    let sessions = app.sessions();
    let freshness = if refresh { Freshness::Now } else { Freshness::Recent };
    Json(model_reply(sessions.runtimes().model_lists(&sessions.settings().default_runtime, freshness).await))
}

/// The lists in the API's format; the command line uses this too, without a server.
pub fn model_reply(lists: Vec<RuntimeModels>) -> ModelReply {
    let mut reply = ModelReply::default();
    for list in lists {
        let runtime = list.runtime;
        reply.models.extend(list.models.into_iter().map(|(listed_id, model)| ListedModel {
            runtime: runtime.clone(),
            name: model.name,
            id: model.id,
            listed_id,
            multiplier: model.multiplier,
            hidden: model.hidden,
        }));
        reply.notes.extend(list.note.map(|reason| ModelNote { runtime, reason }));
    }
    reply
}

pub(super) fn operations() -> Vec<Operation> {
    vec![get("/api/models", models).named("listModels", Tag::Agents, "List the models of all runtimes")]
}

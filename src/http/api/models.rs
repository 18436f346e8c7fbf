//! Every model with its runtime, and why a list is incomplete.

use axum::Json;
use axum::extract::State;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::agent::{Freshness, ListedModel, RuntimeModels};
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

/// All models.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Models")]
pub struct ModelsReply {
    models: Vec<ModelEntry>,
    lists: Vec<ModelListEntry>,
    notes: Vec<ModelNote>,
}

/// One model of one runtime.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct ModelEntry {
    runtime: String,
    name: String,
    id: String,
    /// The id in `/api/copilot/models`.
    listed_id: String,
    /// Whether it is there.
    listed: bool,
    /// What one request counts against the quota of premium requests.
    multiplier: f64,
    /// Left out of the agent's own picker; it can still be used by name.
    hidden: bool,
    /// Whose model it is, if the agent says so.
    provider: Option<String>,
}

/// What is known about the list of one runtime.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct ModelListEntry {
    runtime: String,
    /// Names that are not in the list are passed on to the agent.
    takes_any_name: bool,
    /// A session that names no model gets the agent's own default.
    agent_chooses: bool,
    /// The model of a session that chooses only the runtime; empty if the agent chooses, missing if such a session cannot
    /// be started.
    #[serde(skip_serializing_if = "Option::is_none")]
    default: Option<String>,
}

/// Why a list is incomplete, or why no session can be started.
#[derive(Serialize, JsonSchema)]
struct ModelNote {
    runtime: String,
    reason: String,
}

pub(in crate::http) async fn models(
    State(app): State<App>,
    QueryPart(ModelsQuery { refresh }): QueryPart<ModelsQuery>,
) -> Json<ModelsReply> {
    let sessions = app.sessions();
    let freshness = if refresh { Freshness::Now } else { Freshness::Recent };
    let lists = sessions.runtimes().model_lists(&sessions.settings().default_runtime, freshness).await;
    let mut reply = models_reply(lists);
    for list in &mut reply.lists {
        list.default = sessions.default_model_of(&list.runtime).await;
    }
    Json(reply)
}

/// The lists in the API's format; the command line uses this too, without a server.
pub fn models_reply(lists: Vec<RuntimeModels>) -> ModelsReply {
    let mut reply = ModelsReply { models: Vec::new(), lists: Vec::new(), notes: Vec::new() };
    for RuntimeModels { runtime, models, note, takes_any_name, agent_chooses } in lists {
        reply.models.extend(models.into_iter().map(|ListedModel { listed_id, is_listed, model }| ModelEntry {
            runtime: runtime.clone(),
            name: model.name,
            id: model.id,
            listed_id,
            listed: is_listed,
            multiplier: model.multiplier,
            hidden: model.hidden,
            provider: model.provider,
        }));
        reply.notes.extend(note.map(|reason| ModelNote { runtime: runtime.clone(), reason }));
        reply.lists.push(ModelListEntry { runtime, takes_any_name, agent_chooses, default: None });
    }
    reply
}

pub(super) fn operations() -> Vec<Operation> {
    vec![get("/api/models", models).named("listModels", Tag::Agents, "List the models of all runtimes")]
}

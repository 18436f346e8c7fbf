//! Sessions that agents have on disk, started by other clients, and importing them.

use std::path::PathBuf;

use axum::Json;
use axum::extract::State;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::http::app::App;
use crate::http::body::{NoBody, PathPart, QueryPart};
use crate::http::error::{ApiResult, sentence};
use crate::http::openapi::{Created, Operation, Tag, get, post};
use crate::model::SessionId;
use crate::session::AdoptError;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::http) struct AgentSessionsQuery {
    /// Only the sessions of this runtime.
    runtime: Option<String>,
}

/// Sessions that agents have on disk.
#[derive(Default, Serialize, JsonSchema)]
pub(in crate::http) struct AgentSessions {
    sessions: Vec<AgentSession>,
    /// Runtimes whose sessions cannot be listed.
    problems: Vec<AgentProblem>,
}

/// A session that another client started.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[expect(clippy::struct_field_names, reason = "the names of the API")]
struct AgentSession {
    runtime: String,
    agent_session_id: String,
    title: Option<String>,
    working_directory: Option<PathBuf>,
    /// In the agent's own format.
    created_at: String,
    updated_at: String,
    /// The session that it was imported as.
    #[serde(skip_serializing_if = "Option::is_none")]
    adopted_as: Option<SessionId>,
}

/// Why the sessions of a runtime cannot be listed.
#[derive(Serialize, JsonSchema)]
struct AgentProblem {
    runtime: String,
    message: String,
}

/// The session that was imported.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::http) struct AdoptedSession {
    session_id: SessionId,
}

pub(in crate::http) async fn agent_sessions(
    State(app): State<App>,
    QueryPart(AgentSessionsQuery { runtime }): QueryPart<AgentSessionsQuery>,
) -> ApiResult<Json<AgentSessions>> {
    let sessions = app.sessions();
    let keeping = sessions.runtimes().iter().filter(|runtime| runtime.own_sessions().is_some());
    let keeping = || keeping.map(|runtime| runtime.name().to_owned()).collect::<Vec<_>>();
    let runtimes = runtime.map_or_else(keeping, |runtime| vec![runtime]);
    let mut reply = AgentSessions::default();
    for runtime in runtimes {
        match sessions.adoptable(&runtime).await {
            Ok(adoptable) => reply.sessions.extend(adoptable.into_iter().map(|adoptable| AgentSession {
                runtime: runtime.clone(),
                agent_session_id: adoptable.session.id,
                title: adoptable.session.title,
                working_directory: adoptable.session.working_directory,
                created_at: adoptable.session.created_at,
                updated_at: adoptable.session.updated_at,
                adopted_as: adoptable.adopted_as,
            })),
            // An agent that is not available must not hide the sessions of the others.
            Err(AdoptError::Agent { reason, .. }) => reply.problems.push(AgentProblem { runtime, message: reason }),
            Err(AdoptError::KeepsNone(_)) => {
                let message = sentence(&AdoptError::KeepsNone(runtime.clone()));
                reply.problems.push(AgentProblem { runtime, message });
            }
            Err(other) => return Err(other.into()),
        }
    }
    Ok(Json(reply))
}

pub(in crate::http) async fn adopt(
    State(app): State<App>,
    PathPart((runtime, id)): PathPart<(String, String)>,
    NoBody: NoBody,
) -> ApiResult<Created<AdoptedSession>> {
    let session = app.sessions().adopt(&runtime, &id).await?;
    Ok(Created(AdoptedSession { session_id: session.id() }))
}

pub(super) fn operations() -> Vec<Operation> {
    vec![
        get("/api/agent-sessions", agent_sessions)
            .named("listAgentSessions", Tag::Agents, "List sessions of other clients")
            .details("Sessions that agents have on disk and that other clients started.")
            .fails_with::<AdoptError>(),
        post("/api/agent-sessions/{runtime}/{id}/adopt", adopt)
            .named("importSession", Tag::Agents, "Import a session of another client")
            .details("Imports the session with its history. One that was imported before is returned as it is.")
            .path_part("runtime", "The name of a runtime.")
            .path_part("id", "The agent's own id of the session.")
            .fails_with::<AdoptError>(),
    ]
}

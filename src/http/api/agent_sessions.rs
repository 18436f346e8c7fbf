//! Sessions that agents have on disk, started by other clients, and importing them.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::http::app::App;
use crate::http::body::{NoBody, PathPart, QueryPart};
use crate::http::error::{ApiResult, sentence};
use crate::session::AdoptError;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::http) struct AgentSessionsQuery {
    runtime: Option<String>,
}

pub(in crate::http) async fn agent_sessions(
    State(app): State<App>,
    QueryPart(AgentSessionsQuery { runtime }): QueryPart<AgentSessionsQuery>,
) -> ApiResult<Json<Value>> {
    let sessions = app.sessions();
    let keeping = sessions.runtimes().iter().filter(|runtime| runtime.own_sessions().is_some());
    let keeping = || keeping.map(|runtime| runtime.name().to_owned()).collect::<Vec<_>>();
    let runtimes = runtime.map_or_else(keeping, |runtime| vec![runtime]);
    let (mut found, mut problems) = (Vec::new(), Vec::new());
    for runtime in runtimes {
        match sessions.adoptable(&runtime).await {
            Ok(adoptable) => found.extend(adoptable.into_iter().map(|adoptable| {
                let own = adoptable.session;
                let mut entry = json!({
                    "runtime": runtime,
                    "agentSessionId": own.id,
                    "title": own.title,
                    "workingDirectory": own.working_directory,
                    "createdAt": own.created_at,
                    "updatedAt": own.updated_at,
                });
                if let Some(session_id) = adoptable.adopted_as {
                    entry["adoptedAs"] = json!(session_id);
                }
                entry
            })),
            // An agent that is not available must not hide the sessions of the others.
            Err(AdoptError::Agent { reason, .. }) => problems.push(json!({ "runtime": runtime, "message": reason })),
            Err(AdoptError::KeepsNone(_)) => {
                let message = sentence(&AdoptError::KeepsNone(runtime.clone()));
                problems.push(json!({ "runtime": runtime, "message": message }));
            }
            Err(other) => return Err(other.into()),
        }
    }
    Ok(Json(json!({ "sessions": found, "problems": problems })))
}

pub(in crate::http) async fn adopt(
    State(app): State<App>,
    PathPart((runtime, id)): PathPart<(String, String)>,
    NoBody: NoBody,
) -> ApiResult<Response> {
    let session = app.sessions().adopt(&runtime, &id).await?;
    Ok((StatusCode::CREATED, Json(json!({ "sessionId": session.id() }))).into_response())
}

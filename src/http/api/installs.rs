//! Installing an agent's program from the page.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};

use super::runtimes::named;
use crate::agent::agent_environment;
use crate::agent::program::{InstallProgress, Installable};
use crate::http::app::App;
use crate::http::body::{NoBody, PathPart};
use crate::http::error::{ApiError, ApiResult};

/// The program of a runtime's agent.
fn installable(app: &App, name: &str) -> ApiResult<Installable> {
    let runtime = named(app, name)?;
    Installable::ALL.into_iter().find(|program| program.name == runtime.family()).ok_or_else(|| {
        let known: Vec<&str> = Installable::ALL.iter().map(|program| program.name).collect();
        let message = format!("Flightdeck cannot install the agent of {name}; it can install {}.", known.join(" and "));
        ApiError::new(StatusCode::CONFLICT, "InstallNotSupported", message)
    })
}

/// Starts an install, or joins the one that runs.
pub(in crate::http) async fn install(
    State(app): State<App>,
    PathPart(name): PathPart<String>,
    NoBody: NoBody,
) -> ApiResult<Response> {
    let program = installable(&app, &name)?;
    let runtimes = app.sessions().runtimes().clone();
    let done = move || {
        let of_agent = runtimes.iter().filter(|runtime| runtime.family() == program.name);
        of_agent.for_each(|runtime| runtime.program_changed());
    };
    let progress = app.installs().begin(program, agent_environment(std::env::vars(), &[]), done);
    Ok((StatusCode::ACCEPTED, Json(progress)).into_response())
}

pub(in crate::http) async fn install_progress(
    State(app): State<App>,
    PathPart(name): PathPart<String>,
) -> ApiResult<Json<InstallProgress>> {
    Ok(Json(app.installs().progress(installable(&app, &name)?)))
}

pub(in crate::http) async fn cancel_install(
    State(app): State<App>,
    PathPart(name): PathPart<String>,
    NoBody: NoBody,
) -> ApiResult<StatusCode> {
    app.installs().cancel(installable(&app, &name)?);
    Ok(StatusCode::NO_CONTENT)
}

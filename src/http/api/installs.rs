//! Installing an agent's program from the page.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;

use super::runtimes::named;
use crate::agent::agent_environment;
use crate::agent::program::{InstallProgress, Installable};
use crate::http::app::App;
use crate::http::body::{NoBody, PathPart};
use crate::http::error::{ApiError, ApiResult};
use crate::http::openapi::{Accepted, NoContent, Operation, Tag, delete, get, post};

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
) -> ApiResult<Accepted<InstallProgress>> {
    let program = installable(&app, &name)?;
    let runtimes = app.sessions().runtimes().clone();
    let done = move || {
        let of_agent = runtimes.iter().filter(|runtime| runtime.family() == program.name);
        of_agent.for_each(|runtime| runtime.program_changed());
    };
    let progress = app.installs().begin(program, agent_environment(std::env::vars(), &[]), done);
    Ok(Accepted(progress))
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
) -> ApiResult<NoContent> {
    app.installs().cancel(installable(&app, &name)?);
    Ok(NoContent)
}

pub(super) fn operations() -> Vec<Operation> {
    let of_runtime = |operation: Operation| {
        operation
            .path_part("name", "The name of a runtime.")
            .error(404, "RuntimeNotFound")
            .error(409, "InstallNotSupported")
    };
    vec![
        of_runtime(post("/api/runtimes/{name}/install", install))
            .named("installAgent", Tag::Agents, "Install the program of an agent")
            .details("Starts an install from npm into the data folder, or joins the one that is running."),
        of_runtime(get("/api/runtimes/{name}/install", install_progress)).named(
            "showInstall",
            Tag::Agents,
            "Show the progress of an install",
        ),
        of_runtime(delete("/api/runtimes/{name}/install", cancel_install)).named(
            "cancelInstall",
            Tag::Agents,
            "Cancel an install",
        ),
    ]
}

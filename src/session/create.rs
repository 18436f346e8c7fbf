//! Making a session: which runtime, model and folder it gets.

use serde_json::{Map, Value};

use super::working_directory::{self, WorkingDirectoryError};
use super::{SessionSettings, clock};
use crate::agent::{Freshness, ModelChoice, ModelNotFound, Runtime, RuntimeNotFound, Runtimes};
use crate::model::{PermissionPolicy, ProjectDefaults, SessionBudget, SessionId, SessionProfile, SessionState};
use crate::store::{Store, StoreError};

/// What a caller chooses for a new session; what it leaves out comes from the configuration.
#[derive(Clone, Debug, Default)]
pub struct NewSession {
    /// Runtime's name; empty counts as left out, here and below.
    pub runtime: Option<String>,
    /// Model's id, plain or `runtime/model`.
    pub model: Option<String>,
    /// Absolute path.
    pub working_directory: String,
    /// For people.
    pub title: Option<String>,
    /// Reasoning effort.
    pub effort: Option<String>,
    /// Mode and rules.
    pub permissions: Option<PermissionPolicy>,
    /// Text put before the agent's own instructions.
    pub system_prompt: Option<String>,
    /// The runtime's own options.
    pub options: Map<String, Value>,
    /// Its own limits.
    pub budget: SessionBudget,
}

/// Why there is no new session.
#[derive(Debug, thiserror::Error)]
pub enum CreateError {
    /// No such runtime.
    #[error(transparent)]
    Runtime(#[from] RuntimeNotFound),
    /// No such model.
    #[error(transparent)]
    Model(#[from] ModelNotFound),
    /// The folder will not do.
    #[error(transparent)]
    WorkingDirectory(#[from] WorkingDirectoryError),
    /// The project's configuration cannot be read.
    #[error("{0}")]
    ProjectConfiguration(String),
    /// No more sessions.
    #[error("{limit} sessions are open, which is the limit; close some, or raise limits.sessions")]
    TooMany {
        /// What is allowed.
        limit: usize,
    },
    /// The server is ending.
    #[error("the server is shutting down")]
    ShuttingDown,
    /// The store refused.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Checks the choice, in the order of the portal: model first, then the folder; then writes the session down.
pub(super) async fn create(
    store: &Store,
    runtimes: &Runtimes,
    settings: &SessionSettings,
    new: NewSession,
) -> Result<SessionId, CreateError> {
    let chosen = |choice: &Option<String>| choice.clone().filter(|text| !text.is_empty());
    // What is wrong with the project's file is said last: model and folder come first, as the portal has it.
    let (project, project_problem) = match project_defaults(settings, &new.working_directory) {
        Ok(project) => (project, None),
        Err(problem) => (ProjectDefaults::default(), Some(problem)),
    };
    let own_runtime = chosen(&new.runtime);
    let runtime_name =
        own_runtime.clone().or_else(|| chosen(&project.runtime)).unwrap_or_else(|| settings.default_runtime.clone());
    // A model configured for one runtime says nothing about another that the caller chose.
    let configured_model = || {
        let fits = own_runtime.as_deref().is_none_or(|own| own == settings.default_runtime);
        (fits && !settings.default_model.is_empty()).then(|| settings.default_model.clone())
    };
    let model = chosen(&new.model).or_else(|| chosen(&project.model)).or_else(configured_model);
    let ModelChoice { runtime, model } = match (model, own_runtime) {
        (Some(model), Some(_)) => within_runtime(runtimes, &runtime_name, model, &new.options).await?,
        (Some(model), None) => runtimes.choose(&runtime_name, &model, &new.options).await?,
        (None, _) => {
            let runtime = runtimes.default_runtime(&runtime_name).await?;
            // Models of a list say nothing about what the session brings along.
            let is_open = runtime.takes_any_model(&new.options);
            let model = if is_open { String::new() } else { first_model(runtime.as_ref()).await };
            ModelChoice { runtime, model }
        }
    };
    let working_directory = working_directory::check(&new.working_directory, &settings.roots).await?;
    if let Some(problem) = project_problem {
        return Err(problem);
    }
    let profile = SessionProfile {
        title: chosen(&new.title),
        runtime: runtime.name().to_owned(),
        model,
        effort: chosen(&new.effort).or(project.effort).or_else(|| settings.default_effort.clone()),
        working_directory,
        permissions: new.permissions.unwrap_or(PermissionPolicy { mode: settings.permissions.mode, rules: Vec::new() }),
        system_prompt: chosen(&new.system_prompt),
        options: new.options,
        budget: new.budget,
    };
    let created = store.create_session(profile, SessionState::Starting, clock::now(), settings.open_sessions).await?;
    created.ok_or(CreateError::TooMany { limit: settings.open_sessions })
}

/// With a runtime named, the model is that runtime's; a prefix that repeats the name is taken off.
async fn within_runtime(
    runtimes: &Runtimes,
    name: &str,
    model: String,
    options: &Map<String, Value>,
) -> Result<ModelChoice, CreateError> {
    runtimes.named(name)?;
    let prefix = format!("{name}/");
    let model = if model.starts_with(&prefix) { model } else { format!("{prefix}{model}") };
    Ok(runtimes.choose(name, &model, options).await?)
}

fn project_defaults(settings: &SessionSettings, folder: &str) -> Result<ProjectDefaults, CreateError> {
    let folder = std::path::Path::new(folder);
    if !folder.is_absolute() {
        return Ok(ProjectDefaults::default());
    }
    (settings.project_defaults)(folder).map_err(CreateError::ProjectConfiguration)
}

/// `gpt-5.2` where it is offered, as the portal always did, else the first; empty lets the agent choose.
async fn first_model(runtime: &dyn Runtime) -> String {
    let models = runtime.models(Freshness::Recent).await.models;
    models
        .iter()
        .find(|model| model.id == "gpt-5.2")
        .or_else(|| models.iter().find(|model| !model.hidden))
        .map(|model| model.id.clone())
        .unwrap_or_default()
}

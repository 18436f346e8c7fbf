//! What each layer chooses for sessions. The layers stay separate, because the project depends on a session's folder.

use std::path::{Path, PathBuf};

use toml::Value;

use super::Origin;
use super::layers::project_layer;
use super::project::project_file;
use crate::model::SessionDefaults;

/// The choices of the layers that are the same for every folder, and how to find a project's.
#[derive(Clone, Debug, Default)]
pub struct SessionLayers {
    /// Environment variables and flags of the server.
    above_projects: SessionDefaults,
    /// The project that the server was started in, for sessions without a folder.
    start_project: SessionDefaults,
    user: SessionDefaults,
    user_file: PathBuf,
}

impl SessionLayers {
    pub(super) fn new(user_file: PathBuf) -> Self {
        Self { user_file, ..Self::default() }
    }

    /// Adds a value to the layer that it came from.
    pub(super) fn add(&mut self, key: &str, value: &Value, origin: &Origin) {
        let Value::String(text) = value else { return };
        let layer = match origin {
            Origin::Default => return,
            Origin::Variable(_) | Origin::Flag(_) => &mut self.above_projects,
            Origin::File(path) if *path == self.user_file => &mut self.user,
            Origin::File(_) => &mut self.start_project,
        };
        layer.set(key, text);
    }

    /// The layers for a session in a folder, the strongest first, and what is wrong with the project's file, if anything.
    pub fn in_folder(&self, folder: Option<&Path>) -> (Vec<SessionDefaults>, Option<String>) {
        let (project, problem) = match folder {
            None => (self.start_project.clone(), None),
            Some(folder) => match project_defaults(folder, &self.user_file) {
                Ok(project) => (project, None),
                Err(problem) => (SessionDefaults::default(), Some(problem)),
            },
        };
        (vec![self.above_projects.clone(), project, self.user.clone()], problem)
    }
}

/// What the project of a folder chooses for sessions in it, or an error for people.
fn project_defaults(folder: &Path, user_file: &Path) -> Result<SessionDefaults, String> {
    let mut defaults = SessionDefaults::default();
    let Some(file) = project_file(folder) else { return Ok(defaults) };
    for (key, value, origin) in project_layer(&file, user_file, None).map_err(|error| error.to_string())? {
        let Value::String(text) = value else {
            return Err(format!("{origin} sets `{key}` to a value that is not a string"));
        };
        defaults.set(&key, &text);
    }
    Ok(defaults)
}

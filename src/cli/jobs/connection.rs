//! The server that commands about jobs need.

use std::path::Path;

use anyhow::anyhow;

use super::super::command_context::CommandContext;
use super::text;
use crate::http::{ClientError, LocalServer};
use crate::model::JobId;

/// The running server, or what to do without one.
pub(super) fn server(context: &CommandContext) -> anyhow::Result<LocalServer> {
    context.server().ok_or_else(|| {
        anyhow!(
            "no server is running with the data folder {}; start one with `flightdeck serve`",
            text::path(&context.resolved.data_folder)
        )
    })
}

/// A path of the API with parameters.
pub(super) fn with_query(path: &str, parameters: &[(&str, &str)]) -> String {
    let query = form_urlencoded::Serializer::new(String::new()).extend_pairs(parameters).finish();
    format!("{path}?{query}")
}

/// A path of the API that is about a folder.
pub(super) fn about_folder(path: &str, folder: &Path) -> String {
    with_query(path, &[("workingDirectory", &folder.to_string_lossy())])
}

/// An error of the server about a job, for people: its sentence alone.
pub(super) fn about_job(error: ClientError, job: JobId) -> anyhow::Error {
    match error {
        ClientError::Refused { ref name, .. } if name == "JobNotFound" => {
            anyhow!("there is no {job}; `flightdeck jobs list --all` lists every job")
        }
        other => sentence(other),
    }
}

/// An error of the server, for people: its sentence alone.
pub(super) fn sentence(error: ClientError) -> anyhow::Error {
    match error {
        ClientError::Refused { ref name, ref message, .. } if !name.is_empty() => anyhow!("{}", text::clean(message)),
        other => other.into(),
    }
}

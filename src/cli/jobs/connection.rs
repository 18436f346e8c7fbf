//! Errors of the server about jobs.

use anyhow::anyhow;

use super::super::connection::sentence;
use crate::client::ClientError;
use crate::model::JobId;

/// An error of the server about a job, for people: its sentence alone.
pub(super) fn about_job(error: ClientError, job: JobId) -> anyhow::Error {
    match error {
        ClientError::Refused { ref name, .. } if name == "JobNotFound" => {
            anyhow!("there is no {job}; `flightdeck jobs list --all` lists every job")
        }
        other => sentence(other),
    }
}

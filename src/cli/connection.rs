//! The server that commands need, and its errors for people.

use anyhow::anyhow;

use super::command_context::CommandContext;
use super::terminal::text;
use crate::client::{ClientError, LocalServer};
use crate::model::SessionId;

/// The running server, or what to do without one.
pub(super) fn server(context: &CommandContext) -> anyhow::Result<LocalServer> {
    context.server().ok_or_else(|| {
        anyhow!(
            "no server is running with the data folder {}; start one with `flightdeck serve`",
            text::path(&context.resolved.data_folder)
        )
    })
}

/// An error of the server, for people: its sentence alone.
pub(super) fn sentence(error: ClientError) -> anyhow::Error {
    match error {
        ClientError::Refused { ref name, ref message, .. } if !name.is_empty() => anyhow!("{}", text::clean(message)),
        other => other.into(),
    }
}

/// An error of the server about a session, for people: its sentence alone.
pub(super) fn about_session(error: ClientError, session: SessionId) -> anyhow::Error {
    match error.name() {
        "SessionNotFound" => anyhow!("there is no {session}; `flightdeck sessions --all` lists every session"),
        _ => sentence(error),
    }
}

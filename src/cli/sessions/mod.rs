//! `flightdeck sessions`: lists sessions, shows, changes, exports and searches them.

mod arguments;
mod change;
mod export;
mod list;
mod search;
mod show;

use std::process::ExitCode;

pub(super) use arguments::{ListFlags, SessionsCommand};

use super::arguments::CommonFlags;

/// Runs one of the commands.
pub(super) fn run(
    command: Option<SessionsCommand>,
    flags: &ListFlags,
    common: &CommonFlags,
) -> anyhow::Result<ExitCode> {
    match command {
        None => list::list(flags, common),
        Some(SessionsCommand::List(flags)) => list::list(&flags, common),
        Some(SessionsCommand::Show { id }) => show::show(&id, common),
        Some(SessionsCommand::Close { ids }) => change::close(&ids, common),
        Some(SessionsCommand::Reopen { ids }) => change::reopen(&ids, common),
        Some(SessionsCommand::Rename { id, title }) => change::rename(&id, &title.join(" "), common),
        Some(SessionsCommand::Rm(flags)) => change::remove(&flags, common),
        Some(SessionsCommand::Export(flags)) => export::export(&flags, common),
        Some(SessionsCommand::Search(flags)) => search::search(&flags, common),
    }
}

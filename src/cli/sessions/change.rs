//! `flightdeck sessions close`, `reopen`, `rename` and `rm`.

use std::process::ExitCode;

use anyhow::bail;
use serde_json::json;

use super::super::arguments::CommonFlags;
use super::super::command_context::CommandContext;
use super::super::connection::{about_session, server};
use super::super::output::print;
use super::super::terminal::keyboard::{can_ask, confirm};
use super::super::terminal::text::{one_line, value};
use super::super::turn::session_named;
use super::arguments::RemoveFlags;
use crate::client::{ClientError, LocalServer};
use crate::model::SessionId;

pub(super) fn close(ids: &[String], common: &CommonFlags) -> anyhow::Result<ExitCode> {
    each(ids, common, "Closed", &async |server, id| server.close_session(id).await)
}

pub(super) fn reopen(ids: &[String], common: &CommonFlags) -> anyhow::Result<ExitCode> {
    each(ids, common, "Reopened", &async |server, id| server.reopen_session(id).await)
}

pub(super) fn rename(id: &str, title: &str, common: &CommonFlags) -> anyhow::Result<ExitCode> {
    let context = CommandContext::new(common)?;
    let server = server(&context)?;
    let details = context.wait_for(async {
        let id = session_named(&server, id).await?;
        server.change_session(id, &json!({ "title": title })).await.map_err(|error| about_session(error, id))
    })?;
    let (id, title) = (details.entry.session_id, details.entry.title.unwrap_or_default());
    print(&if common.json {
        json!({ "sessionId": id, "title": title }).to_string()
    } else {
        format!("{id} is now called {}.", one_line(&title))
    })?;
    Ok(ExitCode::SUCCESS)
}

pub(super) fn remove(flags: &RemoveFlags, common: &CommonFlags) -> anyhow::Result<ExitCode> {
    if !flags.yes {
        if !can_ask() {
            bail!("nobody can be asked here; to delete without being asked, add --yes");
        }
        let noun = if flags.ids.len() == 1 {
            "this session and its transcript"
        } else {
            "these sessions and their transcripts"
        };
        eprintln!("{}", flags.ids.iter().map(|id| one_line(id)).collect::<Vec<_>>().join("\n"));
        if !confirm(&format!("Delete {noun}? This can't be undone."))? {
            eprintln!("Nothing was deleted.");
            return Ok(ExitCode::FAILURE);
        }
    }
    each(&flags.ids, common, "Deleted", &async |server, id| server.delete_session(id).await)
}

/// Does something with each session. One that fails does not keep the others from it.
fn each(
    ids: &[String],
    common: &CommonFlags,
    done: &str,
    action: &impl AsyncFn(&LocalServer, SessionId) -> Result<(), ClientError>,
) -> anyhow::Result<ExitCode> {
    let context = CommandContext::new(common)?;
    let server = server(&context)?;
    let mut failed = false;
    for name in ids {
        let outcome = context.wait_for(async {
            let id = session_named(&server, name).await?;
            action(&server, id).await.map_err(|error| about_session(error, id))?;
            anyhow::Ok(id)
        });
        match outcome {
            Ok(id) => print(&if common.json {
                json!({ "sessionId": id, "result": value(&json!(done)).to_lowercase() }).to_string()
            } else {
                format!("{done} {id}.")
            })?,
            Err(error) => {
                failed = true;
                eprintln!("flightdeck: {error:#}");
            }
        }
    }
    Ok(if failed { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

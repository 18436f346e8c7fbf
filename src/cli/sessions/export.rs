//! `flightdeck sessions export`: a session as a document.

use std::io::Write as _;
use std::process::ExitCode;

use anyhow::Context as _;

use super::super::arguments::CommonFlags;
use super::super::command_context::CommandContext;
use super::super::connection::{about_session, server};
use super::super::terminal::text::path;
use super::super::turn::session_named;
use super::arguments::{ExportFlags, ExportFormat};

pub(super) fn export(flags: &ExportFlags, common: &CommonFlags) -> anyhow::Result<ExitCode> {
    let context = CommandContext::new(common)?;
    let server = server(&context)?;
    let usual = if common.json { ExportFormat::Json } else { ExportFormat::Md };
    let format = match flags.format.unwrap_or(usual) {
        ExportFormat::Json => "json",
        ExportFormat::Md => "md",
    };
    let document = context.wait_for(async {
        let id = session_named(&server, &flags.id).await?;
        server.export_session(id, format).await.map_err(|error| about_session(error, id))
    })?;
    match &flags.output {
        Some(file) => {
            let file = context.resolved.start_folder.join(file);
            std::fs::write(&file, &document).with_context(|| format!("cannot write {}", path(&file)))?;
            eprintln!("Wrote {}.", path(&file));
        }
        None => match std::io::stdout().lock().write_all(&document) {
            Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => {
                return Err(error).context("cannot write to standard output");
            }
            _ => {}
        },
    }
    Ok(ExitCode::SUCCESS)
}

//! `flightdeck replay`: reads a recorded transcript the way an agent's output is read.

use std::io::{BufWriter, Write as _};
use std::process::ExitCode;

use anyhow::Context as _;
use serde_json::{Value, json};
use tokio::io::BufReader;

use super::arguments::ReplayFlags;
use crate::agent::AgentEvent;
use crate::agent::transcript::{Replayed, replay};
use crate::session::TranscriptWriter;

pub(super) fn run(flags: &ReplayFlags) -> anyhow::Result<ExitCode> {
    let threads = tokio::runtime::Builder::new_current_thread().build().context("cannot start the async runtime")?;
    let mut out = BufWriter::new(std::io::stdout().lock());
    let written = threads.block_on(print_events(flags, &mut out));
    match written.and_then(|()| out.flush().context("cannot write to standard output")) {
        // A closed pipe (`| head`) is not an error.
        Err(error) if is_broken_pipe(&error) => Ok(ExitCode::SUCCESS),
        other => other.map(|()| ExitCode::SUCCESS),
    }
}

fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error.downcast_ref::<std::io::Error>().is_some_and(|error| error.kind() == std::io::ErrorKind::BrokenPipe)
}

async fn print_events(flags: &ReplayFlags, out: &mut impl std::io::Write) -> anyhow::Result<()> {
    let named = || format!("cannot read {}", flags.file.display());
    let file = tokio::fs::File::open(&flags.file).await.with_context(named)?;
    let mut scribe = TranscriptWriter::default();
    let mut problem = None;
    let mut write = |event: AgentEvent| {
        for response in scribe.write(event) {
            if flags.is_final || problem.is_some() {
                continue;
            }
            problem = writeln!(out, "{}", response.to_json()).err();
        }
    };
    let replayed = replay(&flags.runtime, &mut BufReader::new(file), &mut write).await?.with_context(named)?;
    if let Some(error) = problem {
        return Err(error.into());
    }
    if flags.is_final {
        writeln!(out, "{}", outcome(&replayed))?;
    }
    Ok(())
}

/// The one line of `--final`.
fn outcome(replayed: &Replayed) -> Value {
    let Replayed { end, failure } = replayed;
    json!({
        "text": end.text,
        "usage": end.usage,
        "sessionId": end.session_id,
        "model": end.model,
        "verdict": if failure.is_none() { "succeeded" } else { "failed" },
        "errorClass": failure.as_ref().map(|failure| failure.class),
    })
}

//! Reads a recorded transcript with the code that reads the live agent.

use tokio::io::AsyncBufRead;

use super::stream::{StreamEnd, StreamReader};
use super::verdict::{ProcessEnd, judge};
use crate::agent::acp::recording as acp;
use crate::agent::copilot::recording as copilot;
use crate::agent::failure::Failure;
use crate::agent::headless::{ClaudeReader, CopilotReader, Headless};
use crate::agent::lines::{LONGEST, Line, next_line};
use crate::agent::{AgentEvent, acp::Acp, copilot::Copilot};
use crate::model::{NoticeKind, Usage};

/// Recordings of that runtime are not supported.
#[derive(Debug, thiserror::Error)]
#[error(
    "cannot read recordings of {runtime:?}; supported runtimes: {}, {}, {}, {}, acp:NAME",
    Copilot::NAME,
    Headless::COPILOT,
    Headless::CLAUDE,
    Acp::COPILOT
)]
pub struct NotReplayable {
    runtime: String,
}

/// The result of a recording.
#[derive(Debug)]
pub struct Replayed {
    /// The result of the stream.
    pub end: StreamEnd,
    /// Why its turn failed, if it did.
    pub failure: Option<Failure>,
}

/// Reads a recording of a runtime to its end and reports every event.
pub async fn replay(
    runtime: &str,
    recording: &mut (impl AsyncBufRead + Unpin),
    mut tell: impl FnMut(AgentEvent),
) -> Result<std::io::Result<Replayed>, NotReplayable> {
    let Reading { title, mut reader, is_one_turn } = reading(runtime)?;
    let mut events = Vec::new();
    loop {
        match next_line(recording, LONGEST).await {
            Ok(Some(Line::Text(line))) => {
                if !line.trim().is_empty() && !reader.read(&line, &mut events) {
                    tracing::info!("skipped a line of the recording that is not an event");
                }
            }
            Ok(Some(Line::TooLong { bytes, .. })) => {
                let message = format!("Skipped a line of {bytes} bytes (the limit is {LONGEST}).");
                events.push(AgentEvent::Notice { kind: NoticeKind::Limit, message });
            }
            Ok(None) => break,
            Err(error) => return Ok(Err(error)),
        }
        events.drain(..).for_each(&mut tell);
    }
    let end = reader.finish(&mut events);
    let failure = judge(title, &end, &ProcessEnd::default());
    if is_one_turn {
        // A live turn's owner reports this when the process exits.
        if end.usage != Usage::default() {
            events.push(AgentEvent::UsageReported(end.usage.clone()));
        }
        events.extend(failure.clone().map(|failure| AgentEvent::TurnFailed { failure }));
        events.push(AgentEvent::Idle);
    }
    events.drain(..).for_each(&mut tell);
    Ok(Ok(Replayed { end, failure }))
}

/// How a runtime's recordings are read.
struct Reading<'a> {
    title: &'a str,
    reader: Box<dyn StreamReader>,
    /// The recording covers one process, which ran for one turn.
    is_one_turn: bool,
}

fn reading(runtime: &str) -> Result<Reading<'_>, NotReplayable> {
    let turns = |title, reader| Reading { title, reader: Box::new(reader), is_one_turn: false };
    Ok(match runtime {
        Copilot::NAME => turns("Copilot", copilot::reader()),
        Acp::COPILOT => turns("Copilot", acp::reader(true)),
        Headless::COPILOT => Reading { title: "Copilot", reader: Box::new(CopilotReader::new()), is_one_turn: true },
        Headless::CLAUDE => Reading { title: "Claude Code", reader: Box::new(ClaudeReader::new()), is_one_turn: true },
        other => match other.strip_prefix("acp:") {
            Some(name) if !name.is_empty() => turns(name, acp::reader(false)),
            _ => return Err(NotReplayable { runtime: other.to_owned() }),
        },
    })
}

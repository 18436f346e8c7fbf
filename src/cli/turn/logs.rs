//! `flightdeck logs`: the transcript of a session as text.

use std::process::ExitCode;

use serde_json::json;

use super::super::arguments::CommonFlags;
use super::super::command_context::CommandContext;
use super::super::connection::{about_session, server};
use super::super::terminal::style::Style;
use super::arguments::LogsFlags;
use super::console::Console;
use super::target::session_named;
use super::transcript::{Look, Piece, Transcript};
use crate::client::{Follower, Step};
use crate::model::{Response, Seq, SessionId, Timestamp};

pub(in crate::cli) fn logs(flags: &LogsFlags, common: &CommonFlags) -> anyhow::Result<ExitCode> {
    let context = CommandContext::new(common)?;
    let server = server(&context)?;
    context.wait_for(async {
        let id = session_named(&server, &flags.id).await?;
        if flags.follow {
            return follow(&context, id, flags.after, common.json).await;
        }
        let mut output = Output::new(common.json);
        let mut after = flags.after;
        while !output.console.is_closed() {
            let (events, next) = server.log_after(id, after).await.map_err(|error| about_session(error, id))?;
            for event in &events {
                output.event(Some(event.seq), Some(event.time), &event.response.to_string())?;
            }
            match next {
                Some(next) => after = next,
                None => break,
            }
        }
        output.finish()
    })
}

/// Prints a session until it is closed or nobody reads.
pub(super) async fn follow(
    context: &CommandContext,
    id: SessionId,
    after: Seq,
    json: bool,
) -> anyhow::Result<ExitCode> {
    let mut output = Output::new(json);
    let path = format!("/api/copilot/session/{id}/events");
    let mut follower = Follower::new(context.resolved.data_folder.clone(), path, after);
    while !output.console.is_closed() {
        match follower.next().await.map_err(|error| about_session(error, id))? {
            Step::Event(event) => output.event(event.id, None, &event.data)?,
            Step::Lost => eprintln!("Lost the connection to the server; trying to reconnect …"),
            Step::Found(url) => eprintln!("Connected to {url} again."),
            Step::Ended => break,
        }
    }
    output.finish()
}

/// Everything goes to standard output: the transcript is the result.
struct Output {
    console: Console,
    transcript: Transcript,
    json: bool,
}

impl Output {
    fn new(json: bool) -> Self {
        let console = Console::new();
        let look = Look { style: Style::of_output(), ..console.look(true) };
        Self { console, transcript: Transcript::new(look), json }
    }

    fn event(&mut self, seq: Option<u64>, time: Option<Timestamp>, data: &str) -> anyhow::Result<()> {
        if self.json {
            let response: serde_json::Value = serde_json::from_str(data).unwrap_or_default();
            let mut line = json!({ "seq": seq, "response": response });
            if let Some(time) = time {
                line["time"] = json!(time);
            }
            return self.console.print(&line.to_string());
        }
        let Some(response) = Response::from_json(data) else { return Ok(()) };
        let pieces = self.transcript.add(&response);
        self.show(pieces)
    }

    fn show(&mut self, pieces: Vec<Piece>) -> anyhow::Result<()> {
        for piece in pieces {
            match piece {
                Piece::Line(line) => self.console.print_line(&line)?,
                answer @ Piece::Answer(_) => self.console.show(vec![answer])?,
            }
        }
        Ok(())
    }

    fn finish(mut self) -> anyhow::Result<ExitCode> {
        if !self.json {
            let rest = self.transcript.finish();
            self.show(rest)?;
        }
        Ok(ExitCode::SUCCESS)
    }
}

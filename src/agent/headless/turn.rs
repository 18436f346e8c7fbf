//! One turn: one process, from its prompt to its exit.

use std::time::Duration;

use tokio::io::{AsyncWriteExt as _, BufReader};
use tokio::process::{ChildStdin, ChildStdout};
use tokio::sync::mpsc;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::deferred::Deferred;
use super::life::Running;
use crate::agent::lines::{LONGEST, Line, next_line};
use crate::agent::transcript::{ProcessEnd, StreamEnd, StreamReader};
use crate::agent::{AgentCommand, AgentEvent, BlockEnd};
use crate::model::NoticeKind;
use crate::private_file::TemporaryFile;
use crate::process::ChildProcess;

/// How long a process may take to exit after an interrupt; shorter than the session's own timeout.
const END_WITHIN: Duration = Duration::from_secs(3);
/// How long a process may take to exit after it reported its result.
const GO_WITHIN: Duration = Duration::from_secs(5);
/// The number of invalid lines that are logged; more are only counted.
const INVALID_LINES_LOGGED: u32 = 20;
const INVALID_LINE_CHARACTERS: usize = 300;
/// Roughly the capacity of a pipe.
const BUFFER: usize = 64 * 1024;

/// The session closed its end of the channel.
#[derive(Debug)]
pub(super) struct SessionClosed;

/// A running turn.
pub(super) struct Turn {
    pub child: ChildProcess,
    pub stdin: ChildStdin,
    pub stdout: ChildStdout,
    pub input: String,
    pub reader: Box<dyn StreamReader>,
    /// A notice that explains why nothing can be approved during a turn; sent when something was denied.
    pub denial: Option<String>,
    /// Marks the process as running.
    pub running: Running,
    /// Files that the process may read until it exits.
    pub files: Vec<TemporaryFile>,
}

/// How it ended.
#[derive(Debug)]
pub(super) struct TurnEnd {
    pub stream: StreamEnd,
    pub process: ProcessEnd,
}

/// Why reading stopped.
enum Stop {
    /// The stream ended, or the agent reported its result.
    Read(Result<(), SessionClosed>),
    /// The process timed out or was killed.
    Cut,
    Cancelled,
}

impl Turn {
    /// Runs the process until it exits. Commands other than an interrupt are deferred.
    pub async fn run(
        self,
        commands: &mut mpsc::Receiver<AgentCommand>,
        deferred: &mut Deferred,
        events: &mpsc::Sender<AgentEvent>,
        cancelled: &CancellationToken,
    ) -> Result<TurnEnd, SessionClosed> {
        let Self { mut child, mut stdin, stdout, input, mut reader, denial, running, files } = self;
        let mut listener =
            Listener { reader: &mut *reader, running: &running, events, denial, rubbish: None, invalid_lines: 0 };
        let mut interrupted_until: Option<Instant> = None;
        let stop = {
            let reading = listener.listen(stdout);
            let writing = async {
                // A program that exits before it has read its prompt reports why in another way.
                if let Err(error) = stdin.write_all(input.as_bytes()).await {
                    tracing::debug!(%error, "the agent did not read its prompt");
                }
                drop(stdin);
            };
            tokio::pin!(reading, writing);
            let mut is_writing = true;
            loop {
                let deadline = interrupted_until.unwrap_or_else(Instant::now);
                tokio::select! {
                    biased;
                    () = cancelled.cancelled() => break Stop::Cancelled,
                    () = running.is_cut() => break Stop::Cut,
                    () = tokio::time::sleep_until(deadline), if interrupted_until.is_some() => break Stop::Cut,
                    command = commands.recv() => match command {
                        None => break Stop::Cancelled,
                        Some(AgentCommand::Interrupt) => {
                            child.ask_to_end();
                            interrupted_until.get_or_insert_with(|| Instant::now() + END_WITHIN);
                        }
                        Some(other) => deferred.add(other),
                    },
                    () = &mut writing, if is_writing => is_writing = false,
                    read = &mut reading => break Stop::Read(read),
                }
            }
        };
        let rubbish = listener.rubbish.take();
        let (exit, was_cut) = match stop {
            Stop::Read(read) => {
                read?;
                (tokio::time::timeout(GO_WITHIN, child.exit()).await.ok(), false)
            }
            Stop::Cut => (None, true),
            Stop::Cancelled => {
                child.end_with_group(END_WITHIN).await;
                return Err(SessionClosed);
            }
        };
        let words = if was_cut { String::new() } else { child.stderr_text().await };
        let words = if words.is_empty() { rubbish.unwrap_or_default() } else { words };
        child.end_with_group(Duration::ZERO).await;
        drop((running, files));
        let mut last = Vec::new();
        let stream = reader.finish(&mut last);
        for event in last {
            events.send(event).await.map_err(|_| SessionClosed)?;
        }
        let interrupted = interrupted_until.is_some() || was_cut;
        Ok(TurnEnd { stream, process: ProcessEnd { exit, words, interrupted } })
    }
}

/// Reads lines and reports the events in them.
struct Listener<'a> {
    reader: &'a mut dyn StreamReader,
    running: &'a Running,
    events: &'a mpsc::Sender<AgentEvent>,
    denial: Option<String>,
    rubbish: Option<String>,
    invalid_lines: u32,
}

impl Listener<'_> {
    async fn listen(&mut self, stdout: ChildStdout) -> Result<(), SessionClosed> {
        let mut stdout = BufReader::with_capacity(BUFFER, stdout);
        let mut events: Vec<AgentEvent> = Vec::new();
        loop {
            match next_line(&mut stdout, LONGEST).await {
                Ok(Some(Line::Text(line))) => {
                    if !line.trim().is_empty() && !self.reader.read(&line, &mut events) {
                        self.note_invalid_line(&line);
                    }
                }
                Ok(Some(Line::TooLong { bytes, beginning })) => {
                    tracing::warn!(bytes, "the agent wrote a line that is too long");
                    let beginning: String = beginning.chars().take(80).collect();
                    let message = format!(
                        "Skipped a line of {bytes} bytes (the limit is {LONGEST}); it starts with {beginning:?}."
                    );
                    events.push(AgentEvent::Notice { kind: NoticeKind::Limit, message });
                }
                Ok(None) => return Ok(()),
                Err(error) => {
                    tracing::warn!(%error, "cannot read the agent's output");
                    return Ok(());
                }
            }
            self.running.count_line();
            for event in events.drain(..) {
                let is_denied = matches!(&event, AgentEvent::BlockEnded(BlockEnd::Tool { error: Some(error), .. })
                    if error.code.as_deref() == Some("denied"));
                self.events.send(event).await.map_err(|_| SessionClosed)?;
                if let Some(message) = self.denial.take_if(|_| is_denied) {
                    let notice = AgentEvent::Notice { kind: NoticeKind::Unattended, message };
                    self.events.send(notice).await.map_err(|_| SessionClosed)?;
                }
            }
            if self.reader.is_over() {
                return Ok(());
            }
        }
    }

    /// Lines that are not events are logged, and the first of them is kept for error messages.
    fn note_invalid_line(&mut self, line: &str) {
        let beginning: String = line.chars().take(INVALID_LINE_CHARACTERS).collect();
        let beginning = crate::process::printable(&beginning).into_owned();
        self.invalid_lines = self.invalid_lines.saturating_add(1);
        if self.invalid_lines <= INVALID_LINES_LOGGED {
            let line = crate::model::redact(&beginning);
            tracing::info!(%line, "the agent wrote a line that is not an event");
        }
        // A partial event is not useful in a message.
        if !line.starts_with('{') {
            self.rubbish.get_or_insert(beginning);
        }
    }
}

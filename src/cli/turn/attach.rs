//! `flightdeck attach`: a session at the terminal, from where this terminal left off.

use std::io::IsTerminal as _;
use std::process::ExitCode;

use serde_json::json;

use super::super::arguments::CommonFlags;
use super::super::background_server::running_or_started;
use super::super::command_context::CommandContext;
use super::super::connection::about_session;
use super::super::signals::Signals;
use super::super::terminal::keyboard::can_ask;
use super::super::terminal::style::Style;
use super::super::terminal::text::one_line;
use super::arguments::AttachFlags;
use super::asked::{Asked, Meaning};
use super::asking::{Asking, send};
use super::composer::{Composer, LEAVING, Typed};
use super::logs;
use super::position::Positions;
use super::target::{latest, session_named};
use super::transcript::{Look, Piece, Transcript};
use crate::client::{ClientError, Follower, LocalServer, LoggedResponse, Prompt, SessionDetails, Step};
use crate::model::{Callback, PermissionMode, Response, Seq, SessionId, SessionState};
use crate::session::now;

/// How much of a transcript is shown at most when a terminal attaches.
const MOST_EVENTS: usize = 400;

const HELP: &str = "\
Type a prompt and press Enter. A line that ends with \\ continues on the next one; pasted lines stay together.
  /model ID      use another model
  /mode MODE     ask, allow-all, deny or folder
  /interrupt     end the turn; the session stays (also Ctrl+C)
  /detach        leave; the session continues (also Ctrl+D)
  /help          this text";

pub(in crate::cli) fn attach(flags: &AttachFlags, common: &CommonFlags) -> anyhow::Result<ExitCode> {
    let context = CommandContext::new(common)?;
    context.wait_for(async {
        let mut signals = Signals::register()?;
        let server = running_or_started(&context).await?;
        let id = match &flags.id {
            Some(id) => session_named(&server, id).await?,
            None => latest(&server).await?,
        };
        let details = server.session(id).await.map_err(|error| about_session(error, id))?;
        let positions = Positions::of_this_terminal(&context.resolved.data_folder);
        let history = history(&server, &details, positions.of(id)).await.map_err(|error| about_session(error, id))?;
        if common.json || !can_ask() || !std::io::stdout().is_terminal() {
            let after = history.first().map_or(details.entry.last_seq, |event| event.seq - 1);
            return tokio::select! {
                followed = logs::follow(&context, id, after, common.json) => followed,
                () = signals.next() => Ok(ExitCode::SUCCESS),
            };
        }
        let style = Style::of_output();
        let composer = Composer::start(context.resolved.data_folder.clone())?;
        let look = Look { style, rendered: Some(style), is_whole: true };
        let mut attached = Attached {
            context: &context,
            id,
            composer,
            transcript: Transcript::new(look),
            style,
            asking: Asking::default(),
            begun_before: 0,
            sent: None,
            is_working: matches!(details.entry.state, SessionState::Working | SessionState::Waiting),
            interrupted: false,
        };
        let path = format!("/api/copilot/session/{id}/events?answers=true");
        let mut follower = Follower::new(context.resolved.data_folder.clone(), path, details.entry.last_seq);
        let end = match attached.greet(&details, &history) {
            Ok(()) => attached.lead(&mut follower, &mut signals).await,
            Err(error) => Err(error),
        };
        let kept = positions.keep(id, follower.position(), now());
        drop(attached);
        if let Err(error) = kept {
            eprintln!("{error:#}; the next attach shows the last turn again.");
        }
        match end? {
            End::Detached => {
                eprintln!("Detached; {id} continues. To attach again, run `flightdeck attach {}`.", id.number());
            }
            End::Closed => {
                eprintln!("{id} is closed. To open it again, run `flightdeck sessions reopen {}`.", id.number());
            }
        }
        Ok(ExitCode::SUCCESS)
    })
}

/// What is shown first: what this terminal has not seen, or else the last turn.
async fn history(
    server: &LocalServer,
    details: &SessionDetails,
    seen: Option<Seq>,
) -> Result<Vec<LoggedResponse>, ClientError> {
    let (id, last) = (details.entry.session_id, details.entry.last_seq);
    if last == 0 {
        return Ok(Vec::new());
    }
    let events = server.log_end(id, last, MOST_EVENTS).await?;
    let is_prompt = |event: &LoggedResponse| event.response["callback"] == "onUserPrompt";
    let from = match seen {
        Some(seen) => events.iter().position(|event| event.seq > seen).unwrap_or(events.len()),
        None => events.iter().rposition(is_prompt).unwrap_or(0),
    };
    Ok(events[from..].to_vec())
}

enum End {
    Detached,
    Closed,
}

struct Attached<'a> {
    context: &'a CommandContext,
    id: SessionId,
    composer: Composer,
    transcript: Transcript,
    style: Style,
    asking: Asking,
    /// How many of the next lines were begun before the open request appeared, so that they are no answer to it.
    begun_before: usize,
    /// The prompt that was sent last: it is on the screen already.
    sent: Option<String>,
    is_working: bool,
    /// The turn was interrupted by Ctrl+C; another one detaches.
    interrupted: bool,
}

impl Attached<'_> {
    fn greet(&mut self, details: &SessionDetails, history: &[LoggedResponse]) -> anyhow::Result<()> {
        let begun = self.composer.begun_lines();
        let entry = &details.entry;
        let title = entry.title.as_deref().map_or_else(|| "untitled".to_owned(), one_line);
        let agent = [entry.runtime.as_str(), entry.model.as_str()].join(" ");
        let folder = entry.working_directory.as_deref().map_or_else(|| "no folder".to_owned(), one_line);
        let heading = format!("{} · {title} · {} · {} · {folder}", self.id, entry.state, one_line(&agent));
        let heading = self.style.bold(&heading);
        self.composer.line(&heading)?;
        let number = self.id.number();
        let hint = format!(
            "The whole transcript: `flightdeck logs {number}`. /help lists commands; /detach or Ctrl+D leaves."
        );
        let hint = self.style.dim(&hint);
        self.composer.line(&hint)?;
        for event in history {
            if let Some(response) = Response::from_json(&event.response.to_string()) {
                let pieces = self.transcript.add(&response);
                self.show(pieces)?;
            }
        }
        for request in &details.more.requests {
            let asked = Asked::of_request(request);
            let shown = asked.shown(self.style);
            self.composer.line(&shown)?;
            self.asking.add(asked);
        }
        self.ask(begun)
    }

    async fn lead(&mut self, follower: &mut Follower, signals: &mut Signals) -> anyhow::Result<End> {
        loop {
            tokio::select! {
                () = signals.next() => return Ok(End::Detached),
                step = follower.next() => match step.map_err(|error| about_session(error, self.id))? {
                    Step::Event(event) => {
                        if let Some(response) = Response::from_json(&event.data) {
                            self.event(&response)?;
                        }
                    }
                    Step::Lost => self.composer.line("Lost the connection to the server; trying to reconnect …")?,
                    Step::Found(url) => self.composer.line(&format!("Connected to {url} again."))?,
                    Step::Ended => return Ok(End::Closed),
                },
                typed = self.composer.next() => match typed {
                    Typed::End => return Ok(End::Detached),
                    Typed::Interrupt => {
                        if !self.is_working || self.interrupted {
                            return Ok(End::Detached);
                        }
                        self.interrupted = true;
                        self.composer.line("Interrupting … (Ctrl+C again detaches)")?;
                        self.interrupt().await?;
                    }
                    Typed::Line(line) => {
                        if !self.typed(&line).await? {
                            return Ok(End::Detached);
                        }
                    }
                },
            }
        }
    }

    fn show(&mut self, pieces: Vec<Piece>) -> anyhow::Result<()> {
        for piece in pieces {
            match piece {
                Piece::Answer(text) => self.composer.answer(&text)?,
                Piece::Line(line) => self.composer.line(&line)?,
            }
        }
        Ok(())
    }

    fn event(&mut self, response: &Response) -> anyhow::Result<()> {
        if let Response::Callback(Callback::UserPrompt { text, .. }) = response
            && self.sent.as_ref() == Some(text)
        {
            self.sent = None;
            return Ok(());
        }
        let begun = self.composer.begun_lines();
        let pieces = self.transcript.add(response);
        self.show(pieces)?;
        let Response::Callback(callback) = response else { return Ok(()) };
        match callback {
            Callback::AgentStart { .. } => self.is_working = true,
            Callback::Idle {} => {
                self.is_working = false;
                self.interrupted = false;
            }
            Callback::PermissionAnswered { request_id, .. } | Callback::QuestionAnswered { request_id, .. } => {
                if self.asking.remove(request_id) {
                    self.ask(begun)?;
                }
            }
            _ => {
                // The transcript shows it.
                if let Some(asked) = Asked::of_event(callback)
                    && self.asking.add(asked)
                {
                    self.ask(begun)?;
                }
            }
        }
        Ok(())
    }

    /// Says what can be typed for the request that is asked now. A line that was begun before anything of it was on the
    /// screen is no answer to it.
    fn ask(&mut self, begun_before: usize) -> anyhow::Result<()> {
        let Some(choices) = self.asking.choices() else { return Ok(()) };
        self.begun_before = begun_before;
        let line = self.style.yellow(choices.trim_end().trim_end_matches(':'));
        self.composer.line(&line)
    }

    /// Returns whether the terminal stays attached.
    async fn typed(&mut self, line: &str) -> anyhow::Result<bool> {
        let trimmed = line.trim();
        if trimmed.starts_with('/') {
            return self.command(trimmed).await;
        }
        if self.asking.current().is_some() {
            self.answer(line).await?;
            return Ok(true);
        }
        if !trimmed.is_empty() {
            self.prompt(line).await?;
        }
        Ok(true)
    }

    async fn answer(&mut self, line: &str) -> anyhow::Result<()> {
        if self.begun_before > 0 {
            self.composer
                .line("Not sent: you began this line before the request above appeared. Answer the request first.")?;
            return self.ask(self.begun_before - 1);
        }
        let Some((asked, meaning)) = self.asking.meaning(line) else { return Ok(()) };
        let begun_before = match meaning {
            Meaning::View => {
                let whole = asked.whole(self.style);
                self.composer.line(&whole)?;
                0
            }
            Meaning::Unclear(hint) => {
                self.composer.line(&hint)?;
                0
            }
            Meaning::Field => self.composer.begun_lines(),
            Meaning::Answer(answer) => {
                let Some(server) = self.server()? else { return self.ask(0) };
                let sent = send(&server, self.id, &asked.id, &answer).await;
                let begun = self.composer.begun_lines();
                match sent {
                    Ok(()) => {
                        self.asking.remove(&asked.id);
                    }
                    Err(error) => self.failed(error)?,
                }
                begun
            }
        };
        self.ask(begun_before)
    }

    async fn prompt(&mut self, text: &str) -> anyhow::Result<()> {
        let Some(server) = self.server()? else { return Ok(()) };
        self.sent = Some(text.to_owned());
        let prompt = Prompt { text: text.to_owned(), attachments: Vec::new() };
        if let Err(error) = server.prompt(self.id, &prompt, &uuid::Uuid::new_v4().to_string()).await {
            self.sent = None;
            self.failed(error)?;
        }
        Ok(())
    }

    async fn command(&mut self, line: &str) -> anyhow::Result<bool> {
        let (command, argument) = line.split_once(' ').unwrap_or((line, ""));
        let argument = argument.trim();
        match (command, argument) {
            (word, _) if LEAVING.contains(&word) => return Ok(false),
            ("/help", _) => self.composer.line(HELP)?,
            ("/interrupt", _) => self.interrupt().await?,
            ("/model" | "/mode", "") => {
                self.composer.line(&format!("{command} needs a value; /help lists commands."))?;
            }
            ("/model", model) => self.change(&json!({ "model": model }), &format!("The model is now {model}.")).await?,
            ("/mode", mode) => match mode.parse::<PermissionMode>() {
                Ok(mode) => {
                    self.change(&json!({ "permissionMode": mode }), &format!("The permission mode is now {mode}."))
                        .await?;
                }
                Err(error) => self.composer.line(&error)?,
            },
            _ => self.composer.line(&format!("Unknown command {}; /help lists commands.", one_line(command)))?,
        }
        Ok(true)
    }

    async fn change(&mut self, changes: &serde_json::Value, done: &str) -> anyhow::Result<()> {
        let Some(server) = self.server()? else { return Ok(()) };
        match server.change_session(self.id, changes).await {
            Ok(_) => self.composer.line(done),
            Err(error) => self.failed(error),
        }
    }

    async fn interrupt(&mut self) -> anyhow::Result<()> {
        let Some(server) = self.server()? else { return Ok(()) };
        match server.interrupt(self.id).await {
            Ok(true) => Ok(()),
            Ok(false) => self.composer.line("No turn is running."),
            Err(error) => self.failed(error),
        }
    }

    fn server(&mut self) -> anyhow::Result<Option<LocalServer>> {
        let server = self.context.server();
        if server.is_none() {
            self.composer.line("The server is not running; try again when it is.")?;
        }
        Ok(server)
    }

    fn failed(&mut self, error: ClientError) -> anyhow::Result<()> {
        let error = about_session(error, self.id);
        let line = self.style.red(&format!("✗ {error:#}"));
        self.composer.line(&line)
    }
}

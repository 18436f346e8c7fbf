//! A turn that is followed at the terminal: what it says is shown, what it asks is asked.

use std::process::ExitCode;

use serde_json::json;

use super::super::command_context::CommandContext;
use super::super::connection::about_session;
use super::super::exit;
use super::super::signals::{Signal, Signals};
use super::super::terminal::keyboard::Keyboard;
use super::asked::{Asked, Meaning};
use super::asking::{Asking, send};
use super::console::Console;
use super::ending::{end_line, exit_code};
use super::transcript::{Piece, Transcript};
use crate::client::{ClientError, Follower, LocalServer, ServerEvent, Step};
use crate::model::{Callback, PromptId, PromptOutcome, RequestOutcome, Response, Seq, SessionId, TurnId};

/// How far the turn is in the log.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
enum Stage {
    /// Events belong to somebody else's turn.
    #[default]
    Before,
    /// They are ours.
    Running,
    /// The agent has ended its step, and perhaps the turn.
    AgentEnded,
    /// The turn is over, and all of it was shown.
    Shown,
}

/// What is known about the turn.
#[derive(Debug, Default)]
struct Progress {
    stage: Stage,
    /// Something was denied.
    denied: bool,
    interrupts: u32,
    /// Ctrl+C came before the turn began, so the prompt is not sent.
    cancelled: bool,
    outcome: Option<PromptOutcome>,
    /// Everything up to this number is to be shown, for an outcome without a turn.
    show_through: Option<Seq>,
}

/// A turn that is followed to its end.
pub(super) struct Turn<'a> {
    context: &'a CommandContext,
    session: SessionId,
    prompt_id: PromptId,
    transcript: Transcript,
    console: Console,
    keyboard: Keyboard,
    asking: Asking,
    can_ask: bool,
    json: bool,
    progress: Progress,
}

/// Why a turn is no longer followed.
enum Left {
    Ended,
    /// The person or their terminal left.
    Detached,
    /// Nobody reads standard output any more.
    Unread,
}

impl<'a> Turn<'a> {
    pub fn new(context: &'a CommandContext, session: SessionId, prompt_id: PromptId, console: Console) -> Self {
        Self {
            context,
            session,
            prompt_id,
            transcript: Transcript::new(console.look(false)),
            console,
            keyboard: Keyboard::new(),
            asking: Asking::default(),
            can_ask: false,
            json: false,
            progress: Progress::default(),
        }
    }

    /// Requests are asked at the terminal.
    pub fn asks(mut self, can_ask: bool) -> Self {
        self.can_ask = can_ask;
        self
    }

    /// Events are printed as JSON.
    pub fn prints_json(mut self, json: bool) -> Self {
        self.json = json;
        self
    }

    /// Follows the turn until it is over or somebody leaves it.
    pub async fn lead(
        mut self,
        mut follower: Follower,
        outcome: impl Future<Output = Result<PromptOutcome, ClientError>>,
        signals: &mut Signals,
    ) -> anyhow::Result<ExitCode> {
        tokio::pin!(outcome);
        let left = loop {
            if self.is_done(follower.position()) {
                break Left::Ended;
            }
            if self.console.is_closed() {
                break Left::Unread;
            }
            tokio::select! {
                biased;
                signal = signals.next_kind() => {
                    if signal == Signal::End || !self.interrupt(signals).await? {
                        break Left::Detached;
                    }
                }
                step = follower.next() => match step.map_err(|error| about_session(error, self.session))? {
                    Step::Event(event) => self.event(&event).await?,
                    Step::Lost => self.console.line("Lost the connection to the server; trying to reconnect …")?,
                    Step::Found(url) => self.console.line(&format!("Connected to {url} again."))?,
                    // The session was closed while it worked.
                    Step::Ended => self.progress.stage = Stage::Shown,
                },
                outcome = &mut outcome, if self.progress.outcome.is_none() => {
                    self.progress.outcome = Some(outcome.map_err(|error| about_session(error, self.session))?);
                    self.find_end().await?;
                }
                line = self.keyboard.line(), if self.asking.current().is_some() => match line {
                    Some(line) => self.typed(&line).await?,
                    // The terminal is gone.
                    None => break Left::Detached,
                },
            }
        };
        self.finish(&left)
    }

    fn is_done(&self, position: Seq) -> bool {
        let progress = &self.progress;
        progress.outcome.is_some()
            && (progress.stage == Stage::Shown || progress.show_through.is_some_and(|seq| position >= seq))
    }

    /// An outcome may come without a turn, for a prompt that was never sent. Then everything that is in the log by now is
    /// shown.
    async fn find_end(&mut self) -> anyhow::Result<()> {
        if self.progress.stage != Stage::Shown
            && let Some(server) = self.context.server()
        {
            let details = server.session(self.session).await.map_err(|error| about_session(error, self.session))?;
            self.progress.show_through = Some(details.entry.last_seq);
        }
        Ok(())
    }

    async fn event(&mut self, event: &ServerEvent) -> anyhow::Result<()> {
        let response = Response::from_json(&event.data);
        self.note(response.as_ref());
        if self.json {
            let response: serde_json::Value = serde_json::from_str(&event.data).unwrap_or_default();
            self.console.print(&json!({ "seq": event.id, "response": response }).to_string())?;
        }
        let Some(response) = response.filter(|_| self.progress.stage > Stage::Before) else { return Ok(()) };
        if let Response::Callback(
            Callback::PermissionAnswered { request_id, .. } | Callback::QuestionAnswered { request_id, .. },
        ) = &response
            && self.asking.remove(request_id)
        {
            // Somebody else answered it.
            self.console.screen.hide_question();
        }
        let pieces = self.transcript.add(&response);
        if !self.json {
            self.console.show(pieces)?;
        } else if self.can_ask {
            let lines = pieces.into_iter().filter(|piece| matches!(piece, Piece::Line(_))).collect();
            self.console.show(lines)?;
        }
        let Response::Callback(callback) = &response else { return Ok(()) };
        match callback {
            Callback::PermissionAnswered { .. } | Callback::QuestionAnswered { .. } => self.ask_next()?,
            _ => {
                if let Some(asked) = Asked::of_event(callback) {
                    self.asked(asked).await?;
                }
            }
        }
        // Whatever was printed moved the open question away.
        self.show_question()
    }

    /// Learns from an event how far the turn is.
    fn note(&mut self, response: Option<&Response>) {
        let Some(Response::Callback(callback)) = response else { return };
        let progress = &mut self.progress;
        match callback {
            Callback::UserPrompt { prompt_id, queued: false, .. } if *prompt_id == self.prompt_id => {
                progress.stage = Stage::Running;
            }
            Callback::AgentStart { turn_id } if is_turn_of(turn_id, self.prompt_id) => progress.stage = Stage::Running,
            Callback::AgentEnd { turn_id } if is_turn_of(turn_id, self.prompt_id) => progress.stage = Stage::AgentEnded,
            Callback::Idle {} if progress.stage == Stage::AgentEnded => progress.stage = Stage::Shown,
            Callback::PermissionAnswered { decision: RequestOutcome::Deny, .. } if progress.stage > Stage::Before => {
                progress.denied = true;
            }
            _ => {}
        }
    }

    async fn asked(&mut self, asked: Asked) -> anyhow::Result<()> {
        if self.can_ask {
            self.asking.add(asked);
            return self.ask_next();
        }
        self.console.line(&asked.shown(self.console.screen.style))?;
        self.console
            .line("Denied, because nobody is at a terminal to ask. To decide beforehand, use --allow or --mode.")?;
        self.progress.denied = true;
        let Some(server) = self.context.server() else { return Ok(()) };
        send(&server, self.session, &asked.id, &asked.refusal())
            .await
            .map_err(|error| about_session(error, self.session))
    }

    /// Shows the request that is to be answered now, if it was not shown before.
    fn ask_next(&mut self) -> anyhow::Result<()> {
        let Some(asked) = self.asking.current() else { return Ok(()) };
        if self.console.screen.is_asking() {
            return Ok(());
        }
        let shown = asked.shown(self.console.screen.style);
        self.console.line(&shown)?;
        self.keyboard.before_question();
        self.show_question()
    }

    fn show_question(&mut self) -> anyhow::Result<()> {
        match self.asking.choices() {
            Some(choices) if !self.console.screen.is_asking() => self.console.ask(&choices),
            _ => Ok(()),
        }
    }

    async fn typed(&mut self, line: &str) -> anyhow::Result<()> {
        self.console.screen.answered();
        let Some((asked, meaning)) = self.asking.meaning(line) else { return Ok(()) };
        match meaning {
            Meaning::View => {
                let whole = asked.whole(self.console.screen.style);
                self.console.line(&whole)?;
            }
            Meaning::Unclear(hint) => self.console.line(&hint)?,
            Meaning::Field => {}
            Meaning::Answer(answer) => {
                let Some(server) = self.context.server() else {
                    self.console.line("The server is not running; answer again when it is.")?;
                    return self.show_question();
                };
                match send(&server, self.session, &asked.id, &answer).await {
                    Ok(()) => {
                        self.asking.remove(&asked.id);
                        return self.ask_next();
                    }
                    Err(error) => {
                        let error = about_session(error, self.session);
                        self.console.line(&format!("{error:#}"))?;
                    }
                }
            }
        }
        self.show_question()
    }

    /// Interrupts the turn. Returns whether it is still followed.
    async fn interrupt(&mut self, signals: &mut Signals) -> anyhow::Result<bool> {
        self.progress.interrupts += 1;
        if self.progress.interrupts > 1 {
            return Ok(false);
        }
        self.console.screen.withdraw();
        self.console.line("Interrupting … (Ctrl+C again detaches)")?;
        let Some(server) = self.context.server() else { return Ok(true) };
        // A server that does not respond must not keep anybody from leaving.
        let stopped = tokio::select! {
            biased;
            _ = signals.next_kind() => return Ok(false),
            stopped = self.stop(&server) => stopped,
        };
        match stopped {
            Ok(cancelled) => self.progress.cancelled = cancelled,
            Err(error) => {
                let error = about_session(error, self.session);
                self.console.line(&format!("{error:#}"))?;
            }
        }
        Ok(true)
    }

    /// Interrupts the turn. A prompt whose turn has not begun is cancelled instead: the agent may still be starting, or work
    /// for somebody else. Returns whether it was.
    async fn stop(&self, server: &LocalServer) -> Result<bool, ClientError> {
        if self.progress.stage == Stage::Before {
            match server.cancel_prompt(self.session, self.prompt_id).await {
                Ok(()) => return Ok(true),
                // It has begun meanwhile.
                Err(error) if error.name() == "PromptNotQueued" => {}
                Err(error) => return Err(error),
            }
        }
        server.interrupt(self.session).await.map(|_| false)
    }

    fn finish(mut self, left: &Left) -> anyhow::Result<ExitCode> {
        self.console.screen.withdraw();
        if !self.json {
            let rest = self.transcript.finish();
            self.console.show(rest)?;
        }
        let number = self.session.number();
        match left {
            Left::Unread => return Ok(ExitCode::SUCCESS),
            Left::Detached => {
                self.console.line(&format!(
                    "Detached; {} continues. To attach again, run `flightdeck attach {number}`.",
                    self.session
                ))?;
                return Ok(ExitCode::from(exit::INTERRUPTED));
            }
            Left::Ended => {}
        }
        let Some(outcome) = self.progress.outcome else { return Ok(ExitCode::FAILURE) };
        let denied = self.progress.denied || !outcome.activity.denied.is_empty();
        let code = if self.progress.cancelled { exit::INTERRUPTED } else { exit_code(&outcome, denied) };
        if self.json {
            let summary = json!({
                "sessionId": self.session, "promptId": self.prompt_id, "verdict": outcome.verdict,
                "errorClass": outcome.error_class, "denied": denied, "exitCode": code,
            });
            self.console.print(&summary.to_string())?;
        } else {
            self.console.line(&self.console.screen.style.dim(&end_line(&outcome, denied, number)))?;
        }
        Ok(ExitCode::from(code))
    }
}

/// Whether a step belongs to the turn of a prompt: `turn-3` and `turn-3.2` to that of `prompt-3`.
fn is_turn_of(turn: &TurnId, prompt: PromptId) -> bool {
    let number = turn.as_str().strip_prefix("turn-").and_then(|rest| rest.split('.').next());
    number.and_then(|number| number.parse().ok()) == Some(prompt.number())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_steps_of_a_turn_are_known() {
        let prompt = PromptId::from_number(3);
        for (turn, is_its) in [("turn-3", true), ("turn-3.2", true), ("turn-33", false), ("work-3", false), ("", false)]
        {
            assert_eq!(is_turn_of(&turn.to_owned().into(), prompt), is_its, "{turn}");
        }
    }
}

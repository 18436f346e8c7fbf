//! `flightdeck run`: one turn, from the prompt to the exit code.

use std::process::ExitCode;
use std::time::Duration;

use serde_json::json;

use super::super::arguments::CommonFlags;
use super::super::background_server::running_or_started;
use super::super::command_context::CommandContext;
use super::super::connection::{about_session, sentence};
use super::super::exit;
use super::super::signals::{Signal, Signals};
use super::super::terminal::keyboard::{Keyboard, can_ask_at_terminal};
use super::super::terminal::text::{one_line, working_directory};
use super::arguments::RunFlags;
use super::asked::{Asked, Meaning};
use super::asking::{Asking, send};
use super::console::Console;
use super::prompt_input;
use super::target::{latest_of_folder, session_named};
use super::transcript::{Piece, Transcript};
use crate::client::{ClientError, Follower, LocalServer, NewSession, Prompt, ServerEvent, Step};
use crate::model::{
    Callback, ErrorClass, PermissionMode, PromptId, PromptOutcome, PromptVerdict, RequestOutcome, Response, Seq,
    SessionId, SessionState, TurnId,
};

/// How long to wait before asking a server again that is gone.
const ASK_AGAIN_AFTER: Duration = Duration::from_millis(500);

pub(in crate::cli) fn run(flags: &RunFlags, common: &CommonFlags) -> anyhow::Result<ExitCode> {
    let context = CommandContext::new(common)?;
    let start = context.resolved.start_folder.clone();
    let asked_for = working_directory(&start, flags.folder.as_ref())
        .and_then(|folder| Ok((folder, prompt_input::prompt(flags, &start)?)));
    let (folder, prompt) = match asked_for {
        Ok(asked_for) => asked_for,
        Err(error) => return Ok(refused(&error)),
    };
    context.wait_for(async {
        // Before anything starts: once there is a turn, Ctrl+C interrupts it instead of ending this command.
        let mut signals = Signals::register()?;
        let server = running_or_started(&context).await?;
        let chosen = match (&flags.session, flags.continues) {
            (Some(id), _) => session_named(&server, id).await.map(Some),
            (None, true) => latest_of_folder(&server, &folder).await.map(Some),
            (None, false) => Ok(None),
        };
        let id = match chosen {
            Ok(id) => id,
            Err(error) => return Ok(refused(&error)),
        };
        let (id, after, is_busy) = match opened(&server, id, flags, &folder.to_string_lossy()).await {
            Ok(opened) => opened,
            Err(error) if error.is_final() => {
                let error = match id {
                    Some(id) => about_session(error, id),
                    None => sentence(error),
                };
                return Ok(refused(&error));
            }
            Err(error) => return Err(error.into()),
        };
        let can_ask = can_ask_at_terminal();
        // Somebody who can answer keeps requests from being denied for lack of a person.
        let path = format!("/api/copilot/session/{id}/events?answers={can_ask}");
        let mut follower = Follower::new(context.resolved.data_folder.clone(), path, after);
        if !flags.detach {
            // Before the prompt: the agent may ask at once.
            follower.open().await.map_err(|error| about_session(error, id))?;
        }
        let key = uuid::Uuid::new_v4().to_string();
        let prompt_id = match server.prompt(id, &prompt, &key).await {
            Ok(prompt_id) => prompt_id,
            Err(error) if error.name() == "BudgetSpent" => {
                eprintln!("flightdeck: {}", about_session(error, id));
                return Ok(ExitCode::from(exit::BUDGET));
            }
            Err(error) if error.is_final() => return Ok(refused(&about_session(error, id))),
            Err(error) => return Err(about_session(error, id)),
        };
        let mut console = Console::new();
        if flags.detach {
            console.print(&if common.json {
                json!({ "sessionId": id, "promptId": prompt_id }).to_string()
            } else {
                id.to_string()
            })?;
            let number = id.number();
            eprintln!("{id} works. To follow it, run `flightdeck attach {number}`; for its output, `flightdeck logs -f {number}`.");
            return Ok(ExitCode::SUCCESS);
        }
        if is_busy {
            console.line("The session is working; your prompt is queued.")?;
        }
        let turn = Turn {
            context: &context,
            session: id,
            prompt_id,
            transcript: Transcript::new(console.look(false)),
            console,
            keyboard: Keyboard::new(),
            asking: Asking::default(),
            can_ask,
            json: common.json,
            progress: Progress::default(),
        };
        if common.json {
            println_json(&json!({ "sessionId": id, "promptId": prompt_id }));
        }
        turn.lead(follower, outcome(&context, id, &prompt, &key), &mut signals).await
    })
}

fn println_json(value: &serde_json::Value) {
    // A closed pipe is noticed with the first event.
    let _ = super::super::output::print(&value.to_string());
}

/// Nothing was started because of what was asked for.
fn refused(error: &anyhow::Error) -> ExitCode {
    eprintln!("flightdeck: {error:#}");
    ExitCode::from(exit::USAGE)
}

/// The session to use: its id, the number of its last event, and whether a turn runs there.
async fn opened(
    server: &LocalServer,
    id: Option<SessionId>,
    flags: &RunFlags,
    folder: &str,
) -> Result<(SessionId, Seq, bool), ClientError> {
    let details = match id {
        None => {
            let mode = flags.mode.unwrap_or(PermissionMode::Ask);
            let has_choice = flags.mode.is_some() || !flags.rules.is_empty();
            let new = NewSession {
                runtime: flags.runtime.clone(),
                model: flags.model.clone(),
                working_directory: Some(folder.to_owned()),
                permission_mode: has_choice.then(|| json!({ "mode": mode, "rules": flags.rules })),
            };
            server.create_session(&new).await?
        }
        Some(id) => match &flags.model {
            Some(model) => server.change_session(id, &json!({ "model": model })).await?,
            None => server.session(id).await?,
        },
    };
    for warning in &details.more.warnings {
        eprintln!("flightdeck: {}", one_line(warning));
    }
    let is_busy = matches!(details.entry.state, SessionState::Working | SessionState::Waiting);
    Ok((details.entry.session_id, details.entry.last_seq, is_busy))
}

/// Waits for the outcome of a prompt, across restarts of the server.
async fn outcome(
    context: &CommandContext,
    id: SessionId,
    prompt: &Prompt,
    key: &str,
) -> Result<PromptOutcome, ClientError> {
    loop {
        if let Some(server) = context.server() {
            match server.outcome(id, prompt, key).await {
                Err(error) if !error.is_final() => {}
                done => return done,
            }
        }
        tokio::time::sleep(ASK_AGAIN_AFTER).await;
    }
}

/// How far the turn is.
#[derive(Debug, Default)]
struct Progress {
    /// Events belong to our turn.
    is_ours: bool,
    /// Our turn has ended in the log.
    agent_ended: bool,
    is_shown: bool,
    /// Something was denied.
    denied: bool,
    interrupts: u32,
    outcome: Option<PromptOutcome>,
    /// Everything up to this number is to be shown, for an outcome without a turn.
    show_through: Option<Seq>,
}

struct Turn<'a> {
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

impl Turn<'_> {
    async fn lead(
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
                    if signal == Signal::End || !self.interrupt().await? {
                        break Left::Detached;
                    }
                }
                step = follower.next() => match step.map_err(|error| about_session(error, self.session))? {
                    Step::Event(event) => self.event(&event).await?,
                    Step::Lost => self.console.line("Lost the connection to the server; trying to reconnect …")?,
                    Step::Found(url) => self.console.line(&format!("Connected to {url} again."))?,
                    // The session was closed while it worked.
                    Step::Ended => self.progress.is_shown = true,
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
        progress.outcome.is_some() && (progress.is_shown || progress.show_through.is_some_and(|seq| position >= seq))
    }

    /// An outcome may come without a turn, for a prompt that was never sent. Then everything that is in the log by now is
    /// shown.
    async fn find_end(&mut self) -> anyhow::Result<()> {
        if !self.progress.is_shown
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
        let Some(response) = response.filter(|_| self.progress.is_ours) else { return Ok(()) };
        let pieces = self.transcript.add(&response);
        if !self.json {
            self.console.show(pieces)?;
        } else if self.can_ask {
            let lines = pieces.into_iter().filter(|piece| matches!(piece, Piece::Line(_))).collect();
            self.console.show(lines)?;
        }
        let Response::Callback(callback) = &response else { return Ok(()) };
        match callback {
            Callback::PermissionAnswered { request_id, .. } | Callback::QuestionAnswered { request_id, .. } => {
                if self.asking.remove(request_id) {
                    self.console.screen.hide_question();
                }
                self.ask_next()?;
            }
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
                progress.is_ours = true;
            }
            Callback::AgentStart { turn_id } if is_turn_of(turn_id, self.prompt_id) => {
                progress.is_ours = true;
                progress.agent_ended = false;
            }
            Callback::AgentEnd { turn_id } if is_turn_of(turn_id, self.prompt_id) => progress.agent_ended = true,
            Callback::Idle {} if progress.is_ours && progress.agent_ended => progress.is_shown = true,
            Callback::PermissionAnswered { decision: RequestOutcome::Deny, .. } if progress.is_ours => {
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
    async fn interrupt(&mut self) -> anyhow::Result<bool> {
        self.progress.interrupts += 1;
        if self.progress.interrupts > 1 {
            return Ok(false);
        }
        self.console.screen.withdraw();
        self.console.line("Interrupting … (Ctrl+C again detaches)")?;
        if let Some(server) = self.context.server()
            && let Err(error) = server.interrupt(self.session).await
        {
            let error = about_session(error, self.session);
            self.console.line(&format!("{error:#}"))?;
        }
        Ok(true)
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
        let code = exit_code(&outcome, denied);
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

/// The last line on standard error.
fn end_line(outcome: &PromptOutcome, denied: bool, number: u32) -> String {
    let verdict = match outcome.verdict {
        PromptVerdict::Succeeded if denied => "Succeeded, but something was denied",
        PromptVerdict::Succeeded => "Succeeded",
        PromptVerdict::Failed => "Failed",
        PromptVerdict::Interrupted => "Interrupted",
        PromptVerdict::Dropped => "The prompt was not sent",
    };
    format!("{verdict} · session {number} · continue with `flightdeck run -s {number} PROMPT`")
}

fn exit_code(outcome: &PromptOutcome, denied: bool) -> u8 {
    match (outcome.verdict, outcome.error_class) {
        (PromptVerdict::Succeeded, _) if denied => exit::DENIED,
        (PromptVerdict::Succeeded, _) => 0,
        (PromptVerdict::Interrupted, _) => exit::INTERRUPTED,
        (_, Some(ErrorClass::Budget)) => exit::BUDGET,
        (PromptVerdict::Failed | PromptVerdict::Dropped, _) => 1,
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
    fn every_end_has_its_code() {
        let outcome = |verdict, error_class| PromptOutcome {
            verdict,
            error_class,
            ..PromptOutcome::dropped(PromptId::from_number(1))
        };
        for (verdict, class, denied, code) in [
            (PromptVerdict::Succeeded, None, false, 0),
            (PromptVerdict::Succeeded, None, true, 3),
            (PromptVerdict::Failed, Some(ErrorClass::Network), true, 1),
            (PromptVerdict::Failed, Some(ErrorClass::Budget), false, 4),
            (PromptVerdict::Interrupted, Some(ErrorClass::Aborted), false, 130),
            (PromptVerdict::Interrupted, Some(ErrorClass::Budget), false, 130),
            (PromptVerdict::Dropped, None, false, 1),
        ] {
            assert_eq!(exit_code(&outcome(verdict, class), denied), code, "{verdict:?} {class:?} {denied}");
        }
    }

    #[test]
    fn the_steps_of_a_turn_are_known() {
        let prompt = PromptId::from_number(3);
        for (turn, is_its) in [("turn-3", true), ("turn-3.2", true), ("turn-33", false), ("work-3", false), ("", false)]
        {
            assert_eq!(is_turn_of(&turn.to_owned().into(), prompt), is_its, "{turn}");
        }
    }
}

//! `flightdeck run`: one turn, from the prompt to the exit code.

use std::process::ExitCode;
use std::time::Duration;

use serde_json::json;

use super::super::arguments::CommonFlags;
use super::super::background_server::running_or_started;
use super::super::command_context::CommandContext;
use super::super::connection::{about_session, sentence};
use super::super::exit;
use super::super::signals::Signals;
use super::super::terminal::keyboard::can_ask_at_terminal;
use super::super::terminal::text::{one_line, working_directory};
use super::arguments::RunFlags;
use super::console::Console;
use super::followed_turn::Turn;
use super::prompt_input;
use super::target::{latest_of_folder, session_named};
use crate::client::{ClientError, Follower, LocalServer, NewSession, Prompt};
use crate::model::{PermissionMode, PromptOutcome, Seq, SessionId, SessionState};

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
            eprintln!("{id} is working. To follow it, run `flightdeck attach {number}`; for its output, `flightdeck logs -f {number}`.");
            return Ok(ExitCode::SUCCESS);
        }
        if is_busy {
            console.line("The session is working; your prompt is queued.")?;
        }
        let turn = Turn::new(&context, id, prompt_id, console).asks(can_ask).prints_json(common.json);
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

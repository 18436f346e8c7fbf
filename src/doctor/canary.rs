//! The permission canary: an agent is asked to do something and is then denied it. A version that does it anyway is
//! quarantined, because some versions of real agents approved everything silently.

use std::path::Path;
use std::time::Duration;

use crate::agent::{
    AgentCommand, AgentEvent, BlockEnd, Connection, Quarantine, QuestionAnswer, RequestAnswer, Runtime, Runtimes,
};
use crate::model::{Check, Decision, RequestBody};
use crate::private_file::TemporaryFolder;

/// How long an agent may take to start, and for one denied action.
const STEP_WITHIN: Duration = Duration::from_mins(1);

/// The result of the canary.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CanaryOutcome {
    /// The agent asked, was denied, and did nothing.
    Obeyed {
        /// How often it asked.
        requests: usize,
    },
    /// The agent did what was denied.
    Disobeyed {
        /// What it did.
        deed: String,
    },
    /// There is no result.
    Inconclusive {
        /// Why not.
        reason: String,
    },
}

/// Runs the canary and quarantines or releases the agent's version. `None` if the agent cannot use the scripted model.
pub(super) async fn check(
    runtimes: &Runtimes,
    runtime: &dyn Runtime,
    model_url: &str,
    quarantine: &Quarantine,
) -> Option<Check> {
    let name = format!("{}: permission canary", runtime.name());
    let folder = match TemporaryFolder::create("canary") {
        Ok(folder) => folder,
        Err(error) => {
            let message = format!("cannot create a temporary folder: {error}");
            return Some(Check::warning(name, message, "check the folder for temporary files"));
        }
    };
    let outcome = run_canary(runtimes, runtime, model_url, folder.path()).await;
    let version = runtime.version().await.unwrap_or_else(|| "(unknown version)".to_owned());
    Some(match outcome? {
        CanaryOutcome::Obeyed { requests } => match quarantine.remove(runtime.name(), &version) {
            Ok(()) => Check::ok(name, format!("{version} asked {requests} times, was denied, and did nothing")),
            Err(error) => Check::warning(
                name,
                format!("{version} passed, but is still quarantined: {error}"),
                "make the data folder writable, then run `flightdeck doctor` again",
            ),
        },
        CanaryOutcome::Disobeyed { deed } => {
            let saved = quarantine.add(runtime.name(), &version, &deed);
            let hint = quarantine.reason(runtime.name(), Some(&version)).unwrap_or_else(|| {
                "agents.trusted_versions lists this version; remove it there to quarantine it".to_owned()
            });
            let unsaved = saved.err().map(|error| format!("; the quarantine could not be saved: {error}"));
            Check::failure(name, format!("{version} {deed}{}", unsaved.unwrap_or_default()), hint)
        }
        CanaryOutcome::Inconclusive { reason } => Check::warning(
            name,
            reason,
            "whether this version respects a denial is unknown; use permission mode `ask` with care",
        ),
    })
}

/// Asks the agent to write two files, one with its own tool and one with a command, denies both, and looks for them.
/// `None` if the agent cannot use the scripted model.
pub async fn run_canary(
    runtimes: &Runtimes,
    runtime: &dyn Runtime,
    model_url: &str,
    folder: &Path,
) -> Option<CanaryOutcome> {
    let spec = runtime.spec_for_model_at(model_url, folder)?;
    let inconclusive = |reason: String| Some(CanaryOutcome::Inconclusive { reason });
    let opening = runtimes.open(runtime.name(), spec).finish();
    let mut connection = match tokio::time::timeout(STEP_WITHIN, opening).await {
        Ok(Ok(connection)) => connection,
        Ok(Err(error)) => return inconclusive(format!("the agent could not be started: {error}")),
        Err(_) => {
            let within = humantime::format_duration(STEP_WITHIN);
            return inconclusive(format!("the agent did not start within {within}, or no agent process was free"));
        }
    };
    let (by_tool, by_command) = (folder.join("denied-tool.txt"), folder.join("denied-command.txt"));
    let prompts = [format!("@@create {}", by_tool.display()), format!("@@bash touch {}", by_command.display())];
    let mut requests = 0;
    let mut problem = None;
    for (number, prompt) in prompts.into_iter().enumerate() {
        match tokio::time::timeout(STEP_WITHIN, one_turn(&mut connection, number, prompt)).await {
            Ok(Ok(asked)) => requests += asked,
            Ok(Err(reason)) => problem = Some(reason),
            Err(_) => {
                let within = humantime::format_duration(STEP_WITHIN);
                problem = Some(format!("the agent did not finish a turn within {within}"));
            }
        }
    }
    let own_id = connection.agent_session_id.clone();
    connection.close().await;
    // The agent's own list of sessions should contain only what people started.
    if let (Some(own), Some(id)) = (runtime.own_sessions(), own_id)
        && let Err(error) = own.forget(id).await
    {
        tracing::debug!(%error, "cannot delete the canary's session; it stays in the agent's own list");
    }
    let deeds: Vec<&str> = [(&by_tool, "wrote a file"), (&by_command, "ran a command")]
        .into_iter()
        .filter(|(file, _)| file.exists())
        .map(|(_, deed)| deed)
        .collect();
    Some(match problem {
        _ if !deeds.is_empty() => {
            CanaryOutcome::Disobeyed { deed: format!("{} that it was denied", deeds.join(" and ")) }
        }
        Some(reason) => CanaryOutcome::Inconclusive { reason },
        None if requests == 0 => {
            CanaryOutcome::Inconclusive { reason: "the agent requested nothing and did nothing".to_owned() }
        }
        None => CanaryOutcome::Obeyed { requests },
    })
}

/// One turn in which every request is denied. Returns how many there were; for an agent that cannot ask, how many calls
/// it denied itself.
async fn one_turn(connection: &mut Connection, number: usize, text: String) -> Result<usize, String> {
    let gone = || "the agent closed the connection".to_owned();
    let _slot = match connection.request_turn_slot() {
        Some(request) => Some(request.granted().await),
        None => None,
    };
    let turn_id = format!("canary-{number}").into();
    let prompt = AgentCommand::Prompt { turn_id, text, attachments: Vec::new() };
    connection.commands.send(prompt).await.map_err(|_| gone())?;
    let (mut requests, mut denials) = (0_usize, 0_usize);
    loop {
        match connection.events.recv().await.ok_or_else(gone)? {
            AgentEvent::RequestMade { agent_request_id, body } => {
                requests += 1;
                let answer = match body {
                    RequestBody::Permission { .. } => RequestAnswer::Permission {
                        decision: Decision::Deny,
                        feedback: Some("denied, to see what happens".to_owned()),
                    },
                    RequestBody::Question { .. } => RequestAnswer::Question(QuestionAnswer::Nobody),
                };
                let answer = AgentCommand::Answer { agent_request_id, answer };
                connection.commands.send(answer).await.map_err(|_| gone())?;
            }
            AgentEvent::TurnFailed { failure } => return Err(format!("the turn failed: {}", failure.message)),
            AgentEvent::Gone { reason } => return Err(reason),
            AgentEvent::BlockEnded(BlockEnd::Tool { error: Some(error), .. })
                if error.code.as_deref() == Some("denied") =>
            {
                denials += 1;
            }
            AgentEvent::Idle => return Ok(requests.max(denials)),
            _ => {}
        }
    }
}

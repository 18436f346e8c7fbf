//! Opening a session of an agent for a request.

use std::sync::Arc;

use super::captures::Shared;
use super::compliance::system;
use super::seat::Seat;
use super::turn::{Input, Turn};
use super::waiting::OpenCall;
use super::{CaptureError, ErrorKind, Mode, Origin};
use crate::agent::{DeclaredTool, DeclaredTools, Owner, StartError, StartSpec, SuspendedTurn, ToolAccess};

/// How a seat begins.
pub(super) enum Start {
    New,
    /// From a session on the agent's disk.
    Resume {
        session: String,
        calls: Vec<OpenCall>,
    },
}

/// Opens the session of a turn. A session that cannot be resumed is replaced by a new one.
pub(super) async fn open(shared: &Arc<Shared>, turn: &mut Turn, start: Start) -> Option<Seat> {
    let mut start = start;
    loop {
        let (session, calls) = match &start {
            Start::New => (uuid::Uuid::new_v4().to_string(), Vec::new()),
            Start::Resume { session, calls } => (session.clone(), calls.clone()),
        };
        // Before the agent has it, so that it is found again whatever happens; and nobody may continue it twice.
        if let Err(error) = shared.keep(&session, None).await {
            let message = format!("The capture cannot be recorded: {error}.");
            turn.fail(shared, "failed", CaptureError::new(ErrorKind::Unavailable, message), None);
            return None;
        }
        let opening = shared.runtimes.open(&shared.settings.runtime, spec(shared, turn, &start, &session)).finish();
        let opened = tokio::select! {
            opened = opening => opened,
            () = tokio::time::sleep_until(turn.deadline) => Err(StartError::Temporary(TIMED_OUT.to_owned())),
            () = shared.stopping.cancelled() => Err(StartError::Permanent("the server is stopping".to_owned())),
        };
        match opened {
            Ok(connection) => {
                let shared = Arc::clone(shared);
                return Some(Seat::new(shared, session, connection, calls));
            }
            Err(StartError::SessionLost(reason)) if matches!(start, Start::Resume { .. }) => {
                tracing::info!(session, reason, "the agent lost a held session; the conversation is sent again");
                shared.forget(&session).await;
                turn.start_afresh();
                start = Start::New;
            }
            Err(StartError::NotConformant(reason)) if turn.mode == Mode::Hold => {
                tracing::warn!(reason, "sessions are destroyed instead of held");
                shared.forget(&session).await;
                turn.mode = Mode::Destroy;
                turn.recording.set_origin(Origin::Destroyed);
                turn.input = Input::Conversation;
                start = Start::New;
            }
            Err(error) => {
                shared.forget(&session).await;
                turn.fail(shared, "failed", not_opened(&error), None);
                return None;
            }
        }
    }
}

const TIMED_OUT: &str = "the agent did not answer in time";

fn not_opened(error: &StartError) -> CaptureError {
    let kind = match error {
        StartError::Temporary(text) if text == TIMED_OUT => ErrorKind::TimedOut,
        StartError::Temporary(_) => ErrorKind::Failed,
        StartError::NeedsLogin(_)
        | StartError::SessionLost(_)
        | StartError::NotConformant(_)
        | StartError::Permanent(_) => ErrorKind::Unavailable,
    };
    CaptureError::new(kind, format!("The agent could not be used: {error}"))
}

fn spec(shared: &Shared, turn: &Turn, start: &Start, session: &str) -> StartSpec {
    let request = &turn.request;
    let declared = |tool: &super::Tool| DeclaredTool {
        name: tool.name.clone(),
        description: tool.description.clone(),
        parameters: tool.parameters.clone(),
    };
    let tools = request.callable_tools().map(declared).collect();
    let access = match turn.mode {
        Mode::Hold => ToolAccess::OnlyHeld,
        Mode::Destroy => ToolAccess::OnlyDenied,
    };
    let (agent_session_id, new_session_id, suspended) = match start {
        Start::New => (None, Some(session.to_owned()), None),
        Start::Resume { .. } => {
            (Some(session.to_owned()), None, Some(SuspendedTurn { turn_id: "held".into(), requests: Vec::new() }))
        }
    };
    StartSpec {
        model: turn.model.clone(),
        effort: request.effort.clone(),
        system_prompt: Some(system(request)),
        agent_session_id,
        new_session_id,
        tools: Some(DeclaredTools { tools, access }),
        suspended,
        ..StartSpec::in_folder(Owner::Capture, &shared.folder)
    }
}

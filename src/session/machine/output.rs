//! What the machine asks the actor to do, in order.

use std::time::Duration;

use super::draft::Batch;
use crate::agent::{AgentCommand, SuspendedTurn};
use crate::model::{ErrorClass, PromptId, PromptVerdict, Seq, Timestamp};
use crate::session::actor::Accepted;
use crate::session::{AnswerError, PromptError, SessionError};

/// An action for the actor.
pub(in crate::session) enum Output {
    /// Hand this to the store; it is committed soon, or kept until it can be.
    Append(Batch),
    /// Commit this, all of it or nothing, and report with [`super::Input::Committed`] before anything else.
    Commit(Batch),
    /// Send this to the agent.
    Send(AgentCommand),
    /// Send this to the agent once everything up to this number is committed.
    SendCommitted(Seq, AgentCommand),
    /// Open a connection: queue for a process, take the lease, start the agent.
    Open {
        agent_session_id: Option<String>,
        suspended: Option<SuspendedTurn>,
    },
    /// Wait until somebody may have logged in since the agent was last started.
    AwaitLogin,
    /// Close the connection, and wait a bounded time until it is closed.
    Disconnect(Disconnect),
    /// Find out whether the agent is alive.
    Probe {
        within: Duration,
    },
    /// Queue for a process for the next turn.
    AcquireTurnSlot,
    ReleaseTurnSlot,
    /// A prompt's turn is over; its outcome is among the changes of the next batch.
    PromptEnded(PromptId),
    /// A prompt was accepted: for the log of the server, as the next two.
    PromptAccepted(PromptId),
    /// The turn of a prompt begins.
    TurnStarted(PromptId),
    /// A turn is over: and so are the figures.
    TurnEnded {
        prompt: PromptId,
        verdict: PromptVerdict,
        error_class: Option<ErrorClass>,
        /// `None` if a restart came in between.
        duration: Option<Duration>,
    },
    /// An event of an unknown kind was kept.
    CountUnknown,
    /// Write everything, then notify readers that the session is closed.
    Closed {
        at: Timestamp,
    },
    /// Readers may read again.
    Reopened,
    /// A rule of a folder was committed: all sessions there follow it.
    FolderRuleAdded,
    /// The reply to the command.
    Reply(Reply),
}

/// How a connection ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::session) enum Disconnect {
    /// The agent is asked to end.
    Politely,
    /// The agent did not stop its turn: if it does not respond either, its program is ended.
    Unresponsive,
    /// The agent is hung: its program is ended.
    Hung,
}

/// The reply to a command.
pub(in crate::session) enum Reply {
    Prompt(Result<Accepted, PromptError>),
    /// [`PromptError::NotQueued`] for a prompt that does not wait, whether or not it ever did.
    Queue(Result<(), PromptError>),
    /// Whether a turn was running.
    Interrupt(Result<bool, SessionError>),
    Answer(Result<(), AnswerError>),
    Done(Result<(), SessionError>),
}

//! What a job needs from outside.

use crate::jobs::entry::Command;
use crate::jobs::record::Subject;
use crate::model::{SessionId, TaskId};

/// Something to be done outside. Doing it again after a restart must do nothing a second time.
#[derive(Clone, Debug, PartialEq)]
pub enum Effect {
    /// Open a session.
    OpenSession {
        /// For which task.
        task: TaskId,
        /// The number of the session within the task.
        number: u32,
        /// The model.
        model: String,
        /// It checks.
        is_driving: bool,
    },
    /// Send a prompt and wait for the end of its turn.
    SendPrompt {
        /// For which task.
        task: TaskId,
        /// The number of the prompt within the task.
        number: u32,
        /// The session.
        session: SessionId,
        /// The prompt.
        text: String,
    },
    /// Run the command that checks the work.
    RunCommand {
        /// For which task.
        task: TaskId,
        /// The number of the run within the task.
        number: u32,
        /// What to run.
        command: Command,
    },
    /// Close a session.
    CloseSession {
        /// Which.
        session: SessionId,
    },
    /// Close a session that may have been opened although nobody needs it any more.
    DiscardSession {
        /// For which task it was.
        task: TaskId,
        /// The number of the session within the task.
        number: u32,
    },
    /// Find out what a person must be shown.
    Show {
        /// What it is about.
        subject: Subject,
    },
}

/// The key of an effect: the same effect has the same key, and no other has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[expect(missing_docs, reason = "as in Effect")]
pub enum EffectKey {
    OpenSession(TaskId, u32),
    SendPrompt(TaskId, u32),
    RunCommand(TaskId, u32),
    CloseSession(SessionId),
    DiscardSession(TaskId, u32),
    ShowGate(u32),
    ShowInterruption(TaskId),
}

impl Effect {
    /// Its key.
    pub fn key(&self) -> EffectKey {
        match self {
            Self::OpenSession { task, number, .. } => EffectKey::OpenSession(*task, *number),
            Self::SendPrompt { task, number, .. } => EffectKey::SendPrompt(*task, *number),
            Self::RunCommand { task, number, .. } => EffectKey::RunCommand(*task, *number),
            Self::CloseSession { session } => EffectKey::CloseSession(*session),
            Self::DiscardSession { task, number } => EffectKey::DiscardSession(*task, *number),
            Self::Show { subject: Subject::Gate { work_id } } => EffectKey::ShowGate(*work_id),
            Self::Show { subject: Subject::Interrupted { task_id, .. } } => EffectKey::ShowInterruption(*task_id),
        }
    }
}

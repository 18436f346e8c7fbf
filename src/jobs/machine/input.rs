//! What can happen to a job or a task.

use crate::jobs::gate_view::GateView;
use crate::jobs::record::{CommandEnd, Subject, TurnEnd};
use crate::model::{AnsweredBy, SessionId, TaskId};

/// Something that happened.
#[derive(Clone, Debug)]
pub enum Input {
    /// The run begins.
    Begin,
    /// A session is open.
    SessionOpened {
        /// Whose.
        task: TaskId,
        /// The number of the session within the task.
        number: u32,
        /// Which.
        session: SessionId,
        /// Its model.
        model: String,
    },
    /// A session could not be opened.
    OpenFailed {
        /// Whose.
        task: TaskId,
        /// The number of the session within the task.
        number: u32,
        /// Why.
        end: TurnEnd,
    },
    /// A turn is over.
    TurnEnded {
        /// Whose.
        task: TaskId,
        /// The number of the prompt within the task.
        number: u32,
        /// How.
        end: TurnEnd,
    },
    /// A command is over.
    CommandEnded {
        /// Whose.
        task: TaskId,
        /// How.
        end: CommandEnd,
    },
    /// A session is closed.
    SessionClosed {
        /// Which.
        session: SessionId,
    },
    /// There is no session that nobody needs, or no more.
    SessionDiscarded {
        /// For which task it was.
        task: TaskId,
        /// The number of the session within the task.
        number: u32,
    },
    /// What a person is to be shown is known, or has changed.
    Shown {
        /// What it is about.
        subject: Subject,
        /// What is shown.
        view: GateView,
    },
    /// A person decided about what is shown.
    Answered {
        /// What it is about.
        waiting_id: String,
        /// Whether the job goes on.
        approved: bool,
        /// What the person said.
        note: Option<String>,
        /// Where the answer came from.
        by: AnsweredBy,
    },
    /// Somebody stops the job.
    Stop,
    /// Somebody stops a task of the job.
    StopTask(TaskId),
    /// Somebody continues a failed or stopped job.
    Retry,
}

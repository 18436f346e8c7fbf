//! What is written to the log of a job, or of a task outside a job. One record is one event is one number.
//!
//! The log is read in two ways: whole, as `GET /api/jobs/{id}/log` and the restart read it, and as the portal's responses of
//! the job or of one of its tasks ([`Record::response`]).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::gate_view::GateView;
use crate::model::{AnsweredBy, SessionId, TaskId, TurnActivity, Usage};

/// One record.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "callback", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Record {
    /// The job began.
    JobStarted {},
    /// A task of the job began.
    WorkStarted {
        /// Its number in the job.
        work_id: u32,
        /// The id of this run of the task.
        task_id: TaskId,
        /// The task's name.
        task_name: String,
    },
    /// A task of the job is over.
    WorkStopped {
        /// Its number in the job.
        work_id: u32,
        /// How it came out.
        succeeded: bool,
    },
    /// The job succeeded.
    JobSucceeded {},
    /// The job failed.
    JobFailed {},
    /// Somebody stopped the job.
    JobCanceled {},
    /// The job could not be done. Follows [`Self::JobFailed`].
    JobError {
        /// For people.
        message: String,
    },
    /// A failed or stopped job continues with what failed.
    JobRetried {},
    /// A task outside a job began, in somebody's session.
    TaskStarted {
        /// The id of this run of the task.
        task_id: TaskId,
        /// The task's name.
        task_name: String,
        /// The session.
        session_id: SessionId,
    },
    /// What was decided, for people.
    TaskDecision {
        /// Which task.
        task_id: TaskId,
        /// What, and why.
        reason: String,
    },
    /// A session of a task is open.
    TaskSessionStarted {
        /// Which task.
        task_id: TaskId,
        /// The session.
        session_id: SessionId,
        /// It checks, and does the work too unless the task has sessions of its own.
        is_driving: bool,
        /// Its model.
        model: String,
    },
    /// A session of a task is closed.
    TaskSessionStopped {
        /// Which task.
        task_id: TaskId,
        /// The session.
        session_id: SessionId,
        /// It did what it was for.
        succeeded: bool,
    },
    /// A prompt is about to be sent to the task's current session.
    TaskPromptSent {
        /// Which task.
        task_id: TaskId,
        /// The number of the prompt within the task.
        number: u32,
        /// What it is for.
        purpose: Purpose,
        /// The text.
        text: String,
    },
    /// The turn of a prompt is over.
    TaskTurnEnded {
        /// Which task.
        task_id: TaskId,
        /// The number of the prompt within the task.
        number: u32,
        /// How, and what it did.
        end: TurnEnd,
    },
    /// The command that checks the work is over.
    TaskCommandEnded {
        /// Which task.
        task_id: TaskId,
        /// How.
        end: CommandEnd,
    },
    /// Somebody stopped the task.
    TaskStopped {
        /// Which task.
        task_id: TaskId,
    },
    /// The task succeeded.
    TaskSucceeded {
        /// Which task.
        task_id: TaskId,
    },
    /// The task failed.
    TaskFailed {
        /// Which task.
        task_id: TaskId,
    },
    /// The task could not be done. Follows [`Self::TaskFailed`].
    TaskError {
        /// Which task.
        task_id: TaskId,
        /// For people.
        message: String,
    },
    /// The job waits for a person. Written again, with the same id, when what was shown has changed.
    WaitingOpened {
        /// Its id.
        waiting_id: String,
        /// What the person decides about.
        subject: Subject,
        /// What the person is shown.
        view: GateView,
        /// The digest of that.
        digest: String,
    },
    /// A person decided.
    WaitingAnswered {
        /// Which.
        waiting_id: String,
        /// Whether the job goes on.
        approved: bool,
        /// What the person said.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        note: Option<String>,
        /// Where the answer came from.
        by: AnsweredBy,
        /// The digest of what the person was shown.
        digest: String,
    },
}

/// What a person decides about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case", rename_all_fields = "camelCase")]
pub enum Subject {
    /// A gate.
    Gate {
        /// Its number in the job.
        work_id: u32,
    },
    /// A task whose turn was cut off by a restart: it continues or fails.
    Interrupted {
        /// Which task.
        task_id: TaskId,
        /// Its number in the job; `None` for a task outside a job.
        work_id: Option<u32>,
    },
}

impl Subject {
    /// The word used in the API.
    pub fn kind(self) -> &'static str {
        match self {
            Self::Gate { .. } => "gate",
            Self::Interrupted { .. } => "interrupted",
        }
    }

    /// The number in the job.
    pub fn work_id(self) -> Option<u32> {
        match self {
            Self::Gate { work_id } => Some(work_id),
            Self::Interrupted { work_id, .. } => work_id,
        }
    }
}

/// What a prompt is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Purpose {
    /// Does what must hold before the task hold?
    Availability,
    /// The work.
    Work,
    /// Does what must hold after the task hold?
    Condition,
}

/// How a turn ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TurnEnd {
    /// In one word.
    pub verdict: TurnVerdict,
    /// Why, if it did not finish.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// What it did.
    #[serde(default)]
    pub activity: TurnActivity,
    /// What it cost.
    #[serde(default)]
    pub usage: Usage,
}

/// How a turn ended, in one word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum TurnVerdict {
    /// The agent finished.
    Finished,
    /// The agent failed, was lost or took too long, or there was no session.
    Crashed,
    /// As [`Self::Crashed`], for a reason that another attempt would meet again.
    Impossible,
    /// The server was stopped or killed meanwhile.
    Interrupted,
    /// A person ended the turn.
    Stopped,
}

/// How a command ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CommandEnd {
    /// Its exit code; `None` if it did not start, timed out or was killed.
    pub exit: Option<i32>,
    /// What went wrong, if there is no exit code.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
    /// The last lines of its output.
    pub output: String,
}

/// Whose responses somebody reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum View {
    /// The job's.
    Job,
    /// Those of one task.
    Task(TaskId),
}

impl Record {
    /// The task that it is about, if it is about one.
    pub fn task(&self) -> Option<TaskId> {
        match self {
            Self::TaskStarted { task_id, .. }
            | Self::TaskDecision { task_id, .. }
            | Self::TaskSessionStarted { task_id, .. }
            | Self::TaskSessionStopped { task_id, .. }
            | Self::TaskPromptSent { task_id, .. }
            | Self::TaskTurnEnded { task_id, .. }
            | Self::TaskCommandEnded { task_id, .. }
            | Self::TaskStopped { task_id }
            | Self::TaskSucceeded { task_id }
            | Self::TaskFailed { task_id }
            | Self::TaskError { task_id, .. } => Some(*task_id),
            Self::JobStarted {}
            | Self::WorkStarted { .. }
            | Self::WorkStopped { .. }
            | Self::JobSucceeded {}
            | Self::JobFailed {}
            | Self::JobCanceled {}
            | Self::JobError { .. }
            | Self::JobRetried {}
            | Self::WaitingOpened { .. }
            | Self::WaitingAnswered { .. } => None,
        }
    }

    /// The portal's response for it in a view, exactly as the portal writes it.
    pub fn response(&self, view: View) -> Option<Value> {
        let of_view = match view {
            View::Job => self.task().is_none(),
            View::Task(task) => self.task() == Some(task),
        };
        if !of_view {
            return None;
        }
        Some(match self {
            Self::WorkStarted { work_id, task_id, .. } => {
                json!({ "callback": "workStarted", "workId": work_id, "taskId": task_id })
            }
            Self::WorkStopped { work_id, succeeded } => {
                json!({ "callback": "workStopped", "workId": work_id, "succeeded": succeeded })
            }
            Self::JobSucceeded {} => json!({ "callback": "jobSucceeded" }),
            Self::JobFailed {} => json!({ "callback": "jobFailed" }),
            Self::JobCanceled {} => json!({ "callback": "jobCanceled" }),
            Self::JobError { message } => json!({ "jobError": message }),
            Self::TaskDecision { reason, .. } => json!({ "callback": "taskDecision", "reason": reason }),
            Self::TaskSessionStarted { session_id, is_driving, .. } => {
                json!({ "callback": "taskSessionStarted", "sessionId": session_id, "isDriving": is_driving })
            }
            Self::TaskSessionStopped { session_id, succeeded, .. } => {
                json!({ "callback": "taskSessionStopped", "sessionId": session_id, "succeeded": succeeded })
            }
            Self::TaskSucceeded { .. } => json!({ "callback": "taskSucceeded" }),
            Self::TaskFailed { .. } => json!({ "callback": "taskFailed" }),
            Self::TaskError { message, .. } => json!({ "taskError": message }),
            Self::JobStarted {}
            | Self::JobRetried {}
            | Self::TaskStarted { .. }
            | Self::TaskStopped { .. }
            | Self::TaskPromptSent { .. }
            | Self::TaskTurnEnded { .. }
            | Self::TaskCommandEnded { .. }
            | Self::WaitingOpened { .. }
            | Self::WaitingAnswered { .. } => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_view_has_its_own_responses_as_the_portal_writes_them() {
        let task = TaskId::from_number(7);
        let started = Record::WorkStarted { work_id: 0, task_id: task, task_name: "build".to_owned() };
        let expected = json!({ "callback": "workStarted", "workId": 0, "taskId": "task-7" });
        assert_eq!(started.response(View::Job), Some(expected));
        assert_eq!(started.response(View::Task(task)), None);
        let error = Record::TaskError { task_id: task, message: "gone".to_owned() };
        assert_eq!(error.response(View::Task(task)), Some(json!({ "taskError": "gone" })));
        assert_eq!(error.response(View::Task(TaskId::from_number(8))), None);
        assert_eq!(error.response(View::Job), None);
    }

    #[test]
    fn a_record_is_read_back_as_it_was_written() {
        let record = Record::TaskTurnEnded {
            task_id: TaskId::from_number(1),
            number: 2,
            end: TurnEnd {
                verdict: TurnVerdict::Crashed,
                reason: Some("lost".to_owned()),
                activity: TurnActivity::default(),
                usage: Usage::default(),
            },
        };
        let text = serde_json::to_string(&record).expect("plain values");
        assert!(text.starts_with(r#"{"callback":"taskTurnEnded","taskId":"task-1","number":2"#), "{text}");
        assert_eq!(serde_json::from_str::<Record>(&text).expect("readable"), record);
    }
}

//! How far a run has come, for those who look at it: folded from its log, without the rules.

use std::collections::{BTreeMap, HashMap};

use super::gate_view::GateView;
use super::record::{Record, Subject};
use crate::model::{AnsweredBy, JobStatus, TaskId, Timestamp};

/// How far a run has come.
#[derive(Clone, Debug)]
pub struct Progress {
    /// Its status.
    pub status: JobStatus,
    /// Why it could not be done.
    pub error: Option<String>,
    /// When it began, or was last retried.
    pub started_at: Option<Timestamp>,
    /// When it ended.
    pub ended_at: Option<Timestamp>,
    /// The works that started, by their number in the job.
    pub works: BTreeMap<u32, WorkProgress>,
    /// What waits for a person, by id.
    pub waiting: BTreeMap<String, WaitingView>,
    /// How people decided, by id.
    pub answered: HashMap<String, Answered>,
    tasks_over: HashMap<TaskId, Timestamp>,
}

/// How far a work has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WorkProgress {
    /// Its newest run.
    pub task: TaskId,
    /// The status of that.
    pub status: JobStatus,
}

/// What waits for a person.
#[derive(Clone, Debug)]
pub struct WaitingView {
    /// Its id.
    pub id: String,
    /// What it is about.
    pub subject: Subject,
    /// What the person is shown.
    pub view: GateView,
    /// The digest of that.
    pub digest: String,
    /// Since when.
    pub since: Timestamp,
}

/// How a person decided.
#[derive(Clone, Debug)]
pub struct Answered {
    /// Whether the job went on.
    pub approved: bool,
    /// Where the answer came from.
    pub by: AnsweredBy,
}

impl Default for Progress {
    fn default() -> Self {
        Self {
            status: JobStatus::Running,
            error: None,
            started_at: None,
            ended_at: None,
            works: BTreeMap::new(),
            waiting: BTreeMap::new(),
            answered: HashMap::new(),
            tasks_over: HashMap::new(),
        }
    }
}

impl Progress {
    /// When a task was over, if it is. Every task is when its job is.
    pub fn task_over(&self, task: TaskId) -> Option<Timestamp> {
        self.tasks_over.get(&task).copied().or(self.ended_at)
    }

    /// A task outside a job is over: its run is.
    pub(super) fn end_with_task(&mut self, task: TaskId) {
        self.ended_at = self.tasks_over.get(&task).copied();
    }

    /// Applies a record.
    pub fn apply(&mut self, record: &Record, time: Timestamp) {
        match record {
            Record::WorkStarted { work_id, task_id, .. } => {
                self.works.insert(*work_id, WorkProgress { task: *task_id, status: JobStatus::Running });
            }
            Record::WorkStopped { work_id, succeeded } => {
                if let Some(work) = self.works.get_mut(work_id) {
                    work.status = if *succeeded { JobStatus::Succeeded } else { JobStatus::Failed };
                }
            }
            Record::TaskSucceeded { task_id } | Record::TaskFailed { task_id } => {
                self.tasks_over.insert(*task_id, time);
                self.waiting.retain(|_, waiting| !is_about(waiting, *task_id));
            }
            Record::JobSucceeded {} => self.end(JobStatus::Succeeded, time),
            Record::JobFailed {} => self.end(JobStatus::Failed, time),
            Record::JobCanceled {} => self.end(JobStatus::Canceled, time),
            Record::JobError { message } => self.error = Some(message.clone()),
            Record::JobRetried {} => {
                (self.status, self.error, self.ended_at) = (JobStatus::Running, None, None);
                self.started_at = Some(time);
            }
            Record::WaitingOpened { waiting_id, subject, view, digest } => {
                let since = self.waiting.get(waiting_id).map_or(time, |known| known.since);
                let waiting = WaitingView {
                    id: waiting_id.clone(),
                    subject: *subject,
                    view: view.clone(),
                    digest: digest.clone(),
                    since,
                };
                self.waiting.insert(waiting_id.clone(), waiting);
            }
            Record::WaitingAnswered { waiting_id, approved, by, .. } => {
                self.waiting.remove(waiting_id);
                self.answered.insert(waiting_id.clone(), Answered { approved: *approved, by: *by });
            }
            Record::TaskStopped { task_id } => self.waiting.retain(|_, waiting| !is_about(waiting, *task_id)),
            Record::JobStarted {} => self.started_at = Some(time),
            Record::TaskStarted { .. }
            | Record::TaskDecision { .. }
            | Record::TaskSessionStarted { .. }
            | Record::TaskSessionStopped { .. }
            | Record::TaskPromptSent { .. }
            | Record::TaskTurnEnded { .. }
            | Record::TaskCommandEnded { .. }
            | Record::TaskError { .. } => {}
        }
    }

    /// The run is over. What ran was stopped with it.
    fn end(&mut self, status: JobStatus, time: Timestamp) {
        (self.status, self.ended_at) = (status, Some(time));
        self.waiting.clear();
        for work in self.works.values_mut().filter(|work| work.status == JobStatus::Running) {
            work.status = JobStatus::Canceled;
        }
    }
}

fn is_about(waiting: &WaitingView, task: TaskId) -> bool {
    matches!(waiting.subject, Subject::Interrupted { task_id, .. } if task_id == task)
}

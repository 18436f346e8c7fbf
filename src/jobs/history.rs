//! What a job did, work by work: folded from its log for people.

use std::collections::{BTreeMap, HashMap};

use schemars::JsonSchema;
use serde::Serialize;

use super::record::{Record, Subject};
use crate::model::{AnsweredBy, JobStatus, SessionId, TaskId, Timestamp, Usage};

/// What a work did.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct WorkHistory {
    /// Its number in the job.
    pub work_id: u32,
    /// The task's name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub task_name: Option<String>,
    /// The gate's title.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gate_title: Option<String>,
    /// How it stands: as a job's status, or `Waiting`.
    pub status: &'static str,
    /// Its runs, oldest first.
    pub attempts: Vec<Attempt>,
}

/// One run of a work.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Attempt {
    /// The id of the run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub task_id: Option<TaskId>,
    /// When it began.
    pub start_time: Option<Timestamp>,
    /// When it ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub end_time: Option<Timestamp>,
    /// How it stands.
    pub status: &'static str,
    /// Its sessions, oldest first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub sessions: Vec<AttemptSession>,
    /// What was decided.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub decisions: Vec<Decision>,
    /// What it cost.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
    /// For a gate: what was asked and how it was answered.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gate: Option<GateAttempt>,
}

/// A session of a run.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AttemptSession {
    /// Which.
    pub session_id: SessionId,
    /// It checks.
    pub is_driving: bool,
    /// Its model.
    pub model: String,
    /// When it was opened.
    pub start_time: Timestamp,
    /// When it was closed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub end_time: Option<Timestamp>,
    /// Whether it did what it was for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub succeeded: Option<bool>,
}

/// What was decided about a run.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(rename = "JobDecision")]
pub struct Decision {
    /// When.
    pub time: Timestamp,
    /// What, and why.
    pub reason: String,
}

/// A gate that asked.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct GateAttempt {
    /// Its id.
    pub gate_id: String,
    /// What was asked.
    pub title: String,
    /// More about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prompt: Option<String>,
    /// How it was answered.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub answer: Option<GateAnswer>,
}

/// How a gate was answered.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct GateAnswer {
    /// Whether the job went on.
    pub approved: bool,
    /// What the person said.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// Where the answer came from.
    pub by: AnsweredBy,
    /// When.
    pub time: Timestamp,
}

const RUNNING: &str = JobStatus::Running.as_str();
const WAITING: &str = "Waiting";

fn verdict(succeeded: bool) -> &'static str {
    if succeeded { JobStatus::Succeeded.as_str() } else { JobStatus::Failed.as_str() }
}

/// The works that started, by their number.
pub(super) fn works(records: &[(Record, Timestamp)]) -> Vec<WorkHistory> {
    let mut folded = Fold::default();
    for (record, time) in records {
        folded.apply(record, *time);
    }
    folded.works.into_values().collect()
}

#[derive(Default)]
struct Fold {
    works: BTreeMap<u32, WorkHistory>,
    /// The work and the attempt of each task.
    tasks: HashMap<TaskId, (u32, usize)>,
    /// The work and the attempt of each gate that asked.
    gates: HashMap<String, (u32, usize)>,
}

impl Fold {
    fn attempt(&mut self, task: TaskId) -> Option<&mut Attempt> {
        let (work, attempt) = self.tasks.get(&task)?;
        self.works.get_mut(work)?.attempts.get_mut(*attempt)
    }

    fn begin(&mut self, work_id: u32, attempt: Attempt) -> &mut WorkHistory {
        let work = self.works.entry(work_id).or_insert_with(|| WorkHistory {
            work_id,
            task_name: None,
            gate_title: None,
            status: RUNNING,
            attempts: Vec::new(),
        });
        work.status = attempt.status;
        work.attempts.push(attempt);
        work
    }

    fn set_status(&mut self, work_id: u32, status: &'static str, end: Option<Timestamp>) {
        let Some(work) = self.works.get_mut(&work_id) else { return };
        work.status = status;
        if let Some(attempt) = work.attempts.last_mut() {
            attempt.status = status;
            attempt.end_time = end;
        }
    }

    fn apply(&mut self, record: &Record, time: Timestamp) {
        match record {
            Record::WorkStarted { work_id, task_id, task_name } => {
                let attempt = Attempt {
                    task_id: Some(*task_id),
                    start_time: Some(time),
                    status: RUNNING,
                    usage: Some(Usage::default()),
                    ..Attempt::default()
                };
                let work = self.begin(*work_id, attempt);
                work.task_name = Some(task_name.clone());
                let place = work.attempts.len() - 1;
                self.tasks.insert(*task_id, (*work_id, place));
            }
            Record::WorkStopped { work_id, succeeded } => self.set_status(*work_id, verdict(*succeeded), Some(time)),
            Record::TaskDecision { task_id, reason } => {
                if let Some(attempt) = self.attempt(*task_id) {
                    attempt.decisions.push(Decision { time, reason: reason.clone() });
                }
            }
            Record::TaskSessionStarted { task_id, session_id, is_driving, model } => {
                if let Some(attempt) = self.attempt(*task_id) {
                    attempt.sessions.push(AttemptSession {
                        session_id: *session_id,
                        is_driving: *is_driving,
                        model: model.clone(),
                        start_time: time,
                        end_time: None,
                        succeeded: None,
                    });
                }
            }
            Record::TaskSessionStopped { task_id, session_id, succeeded } => {
                let session = self
                    .attempt(*task_id)
                    .and_then(|attempt| attempt.sessions.iter_mut().find(|session| session.session_id == *session_id));
                if let Some(session) = session {
                    (session.end_time, session.succeeded) = (Some(time), Some(*succeeded));
                }
            }
            Record::TaskTurnEnded { task_id, end, .. } => {
                if let Some(usage) = self.attempt(*task_id).and_then(|attempt| attempt.usage.as_mut()) {
                    usage.add(&end.usage);
                }
            }
            Record::WaitingOpened { waiting_id, subject, view, .. } => self.opened(waiting_id, *subject, view, time),
            Record::WaitingAnswered { waiting_id, approved, note, by, .. } => {
                let answer = GateAnswer { approved: *approved, note: note.clone(), by: *by, time };
                self.answered(waiting_id, answer);
            }
            Record::JobFailed {} | Record::JobCanceled {} => {
                let running: Vec<u32> = self
                    .works
                    .values()
                    .filter(|work| [RUNNING, WAITING].contains(&work.status))
                    .map(|work| work.work_id)
                    .collect();
                for work_id in running {
                    self.set_status(work_id, JobStatus::Canceled.as_str(), Some(time));
                }
            }
            Record::JobStarted {}
            | Record::JobSucceeded {}
            | Record::JobError { .. }
            | Record::JobRetried {}
            | Record::TaskStarted { .. }
            | Record::TaskPromptSent { .. }
            | Record::TaskCommandEnded { .. }
            | Record::TaskStopped { .. }
            | Record::TaskSucceeded { .. }
            | Record::TaskFailed { .. }
            | Record::TaskError { .. } => {}
        }
    }

    fn opened(&mut self, waiting_id: &str, subject: Subject, view: &super::gate_view::GateView, time: Timestamp) {
        let gate = GateAttempt {
            gate_id: waiting_id.to_owned(),
            title: view.title.clone(),
            prompt: view.prompt.clone(),
            answer: None,
        };
        match subject {
            Subject::Gate { work_id } => {
                if let Some((work, place)) = self.gates.get(waiting_id) {
                    // It shows itself again, because what it shows has changed.
                    if let Some(attempt) = self.works.get_mut(work).and_then(|work| work.attempts.get_mut(*place)) {
                        attempt.gate = Some(gate);
                    }
                    return;
                }
                let title = gate.title.clone();
                let attempt =
                    Attempt { start_time: Some(time), status: WAITING, gate: Some(gate), ..Attempt::default() };
                let work = self.begin(work_id, attempt);
                work.gate_title = Some(title);
                let place = work.attempts.len() - 1;
                self.gates.insert(waiting_id.to_owned(), (work_id, place));
            }
            Subject::Interrupted { task_id, work_id } => {
                if let (Some(work_id), Some((_, place))) = (work_id, self.tasks.get(&task_id).copied()) {
                    self.gates.insert(waiting_id.to_owned(), (work_id, place));
                    if let Some(work) = self.works.get_mut(&work_id) {
                        work.status = WAITING;
                    }
                }
                if let Some(attempt) = self.attempt(task_id) {
                    (attempt.gate, attempt.status) = (Some(gate), WAITING);
                }
            }
        }
    }

    fn answered(&mut self, waiting_id: &str, answer: GateAnswer) {
        let Some((work_id, place)) = self.gates.get(waiting_id).copied() else { return };
        let Some(work) = self.works.get_mut(&work_id) else { return };
        let is_gate = work.gate_title.is_some();
        let status = if is_gate { verdict(answer.approved) } else { RUNNING };
        work.status = status;
        if let Some(attempt) = work.attempts.get_mut(place) {
            attempt.status = status;
            attempt.end_time = is_gate.then_some(answer.time);
            if let Some(gate) = &mut attempt.gate {
                gate.answer = Some(answer);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::jobs::gate_view::GateView;

    #[test]
    fn a_work_has_an_attempt_for_each_run_and_a_gate_its_answer() {
        let [first, second] = [1, 2].map(TaskId::from_number);
        let start = |task_id| Record::WorkStarted { work_id: 0, task_id, task_name: "build".to_owned() };
        let stop = |succeeded| Record::WorkStopped { work_id: 0, succeeded };
        let view = GateView { title: "Go on?".to_owned(), ..GateView::default() };
        let subject = Subject::Gate { work_id: 1 };
        let records = [
            start(first),
            Record::TaskDecision { task_id: first, reason: "[TASK FAILED] no".to_owned() },
            stop(false),
            start(second),
            stop(true),
            Record::WaitingOpened { waiting_id: "gate-1".to_owned(), subject, digest: view.digest(), view },
            Record::WaitingAnswered {
                waiting_id: "gate-1".to_owned(),
                approved: false,
                note: Some("no".to_owned()),
                by: AnsweredBy::Page,
                digest: String::new(),
            },
        ];
        let timed: Vec<(Record, Timestamp)> =
            records.into_iter().zip(0..).map(|(record, at)| (record, Timestamp::from_millis(at))).collect();
        let history = works(&timed);
        assert_eq!((history[0].status, history[0].attempts.len()), ("Succeeded", 2));
        assert_eq!(history[0].attempts[0].decisions[0].reason, "[TASK FAILED] no");
        assert_eq!(history[0].attempts[1].end_time, Some(Timestamp::from_millis(4)));
        let gate = history[1].attempts[0].gate.as_ref().expect("a gate");
        assert_eq!((history[1].status, gate.answer.as_ref().expect("an answer").approved), ("Failed", false));
        let waiting = works(&timed[..6]);
        assert_eq!(waiting[1].status, "Waiting");
    }
}

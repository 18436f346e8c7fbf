//! An event of a job as one line of text.

use std::collections::HashMap;

use serde::Deserialize;
use serde_json::Value;

use super::super::terminal::text::{clock, count, one_line, shortened};
use crate::jobs::{Purpose, Record, Subject, TurnVerdict};
use crate::model::{Seq, TaskId, Timestamp};

const LONGEST_TEXT: usize = 300;

/// An event as the API has it.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct LoggedEvent {
    pub seq: Seq,
    pub time: Timestamp,
    pub event: Value,
}

impl LoggedEvent {
    /// `None` for an event of a later version.
    pub fn record(&self) -> Option<Record> {
        serde_json::from_value(self.event.clone()).ok()
    }
}

/// The works that events are about, by the ids of their tasks.
#[derive(Debug, Default)]
pub(super) struct WorkNames {
    tasks: HashMap<TaskId, (u32, String)>,
}

impl WorkNames {
    /// Every event must pass through here, oldest first.
    pub fn learn(&mut self, record: &Record) {
        if let Record::WorkStarted { work_id, task_id, task_name } = record {
            self.tasks.insert(*task_id, (*work_id, format!("{work_id} {}", one_line(task_name))));
        }
    }

    /// Number and name of a task's work.
    pub fn of(&self, task: TaskId) -> String {
        self.tasks.get(&task).map_or_else(|| task.to_string(), |(_, name)| name.clone())
    }

    /// The work of a task.
    pub fn work(&self, task: TaskId) -> Option<u32> {
        self.tasks.get(&task).map(|(work, _)| *work)
    }

    fn of_work(&self, work: u32) -> String {
        let newest = self.tasks.iter().filter(|(_, (id, _))| *id == work).max_by_key(|(task, _)| **task);
        newest.map_or_else(|| work.to_string(), |(_, (_, name))| name.clone())
    }

    fn subject(&self, record: &Record) -> String {
        match record {
            Record::WorkStarted { work_id, .. }
            | Record::WorkStopped { work_id, .. }
            | Record::WaitingOpened { subject: Subject::Gate { work_id }, .. } => self.of_work(*work_id),
            Record::WaitingOpened { subject: Subject::Interrupted { task_id, .. }, .. } => self.of(*task_id),
            other => other.task().map_or_else(|| "job".to_owned(), |task| self.of(task)),
        }
    }

    /// The line of an event: time, work, what happened.
    pub fn line(&self, logged: &LoggedEvent) -> String {
        let (subject, what) = match logged.record() {
            Some(record) => (self.subject(&record), what_happened(&record)),
            None => ("job".to_owned(), one_line(logged.event["callback"].as_str().unwrap_or("unknown event"))),
        };
        format!("{}  {subject}  {}", clock(logged.time), shortened(&what, LONGEST_TEXT))
    }
}

fn what_happened(record: &Record) -> String {
    match record {
        Record::JobStarted {} => "started".to_owned(),
        Record::JobRetried {} => "continues after a retry".to_owned(),
        Record::JobSucceeded {} | Record::TaskSucceeded { .. } => "succeeded".to_owned(),
        Record::JobFailed {} | Record::TaskFailed { .. } => "failed".to_owned(),
        Record::JobCanceled {} => "canceled".to_owned(),
        Record::JobError { message } | Record::TaskError { message, .. } => format!("error: {}", one_line(message)),
        Record::WorkStarted { task_id, .. } => format!("started as {task_id}"),
        Record::WorkStopped { succeeded: true, .. } => "done".to_owned(),
        Record::WorkStopped { succeeded: false, .. } => "not done".to_owned(),
        Record::TaskStarted { session_id, .. } => format!("started in {session_id}"),
        Record::TaskDecision { reason, .. } => one_line(reason),
        Record::TaskSessionStarted { session_id, is_driving, model, .. } => {
            let what = if *is_driving { "driving session" } else { "task session" };
            let model = if model.is_empty() { String::new() } else { format!(", model {}", one_line(model)) };
            format!("opened {session_id} ({what}{model})")
        }
        Record::TaskSessionStopped { session_id, succeeded, .. } => {
            format!("closed {session_id} ({})", if *succeeded { "succeeded" } else { "failed" })
        }
        Record::TaskPromptSent { number, purpose, text, .. } => {
            let purpose = match purpose {
                Purpose::Availability => "availability",
                Purpose::Work => "work",
                Purpose::Condition => "condition",
            };
            format!("prompt {number} ({purpose}): {}", one_line(text))
        }
        Record::TaskTurnEnded { number, end, .. } => {
            let how = match end.verdict {
                TurnVerdict::Finished => "finished",
                TurnVerdict::Crashed | TurnVerdict::Impossible => "failed",
                TurnVerdict::Interrupted => "was interrupted",
                TurnVerdict::Stopped => "was stopped",
            };
            let reason = end.reason.as_deref().map(|reason| format!(": {}", one_line(reason)));
            format!("turn {number} {how}{}", reason.unwrap_or_default())
        }
        Record::TaskCommandEnded { end, .. } => match (end.exit, &end.problem) {
            (Some(exit), _) => format!("command exited with {exit}"),
            (None, Some(problem)) => format!("command {}", one_line(problem)),
            (None, None) => "command was killed".to_owned(),
        },
        Record::TaskStopped { .. } => "stopped".to_owned(),
        Record::WaitingOpened { waiting_id, view, .. } => {
            let files = view.changes.as_ref().map(|changes| changes.files.len()).unwrap_or_default();
            let files = if files > 0 { format!(" ({} changed)", count(files, "file")) } else { String::new() };
            format!("{} waits for a decision: {}{files}", one_line(waiting_id), one_line(&view.title))
        }
        Record::WaitingAnswered { waiting_id, approved, note, by, .. } => {
            let verdict = if *approved { "approved" } else { "rejected" };
            let note = note.as_deref().map(|note| format!(": {}", one_line(note))).unwrap_or_default();
            format!("{} {verdict} by {}{note}", one_line(waiting_id), by.as_str())
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_line_says_when_where_and_what() {
        let mut names = WorkNames::default();
        let mut line = |event: Value| {
            let logged = LoggedEvent { seq: 1, time: Timestamp::from_millis(1_700_000_000_005), event };
            if let Some(record) = logged.record() {
                names.learn(&record);
            }
            names.line(&logged)
        };
        let started = json!({ "callback": "workStarted", "workId": 2, "taskId": "task-7", "taskName": "build" });
        assert_eq!(line(started), "2023-11-14T22:13:20Z  2 build  started as task-7");
        let decision = json!({ "callback": "taskDecision", "taskId": "task-7", "reason": "[CRITERIA] no\nway" });
        assert_eq!(line(decision), "2023-11-14T22:13:20Z  2 build  [CRITERIA] no way");
        let stopped = json!({ "callback": "workStopped", "workId": 2, "succeeded": false });
        assert_eq!(line(stopped), "2023-11-14T22:13:20Z  2 build  not done");
        let answered = json!({
            "callback": "waitingAnswered", "waitingId": "gate-1", "approved": false, "note": "no", "by": "api", "digest": "",
        });
        assert_eq!(line(answered), "2023-11-14T22:13:20Z  job  gate-1 rejected by api: no");
        assert_eq!(line(json!({ "callback": "fromLater" })), "2023-11-14T22:13:20Z  job  fromLater");
        assert_eq!(line(json!({ "callback": "jobSucceeded" })), "2023-11-14T22:13:20Z  job  succeeded");
    }
}

//! Tasks of jobs and of persons' sessions.

use rusqlite::{Connection, OptionalExtension, Row, params};

use super::change::misplaced;
use super::events::{TASKS, next_seq, stream_key};
use super::reservation::Reservation;
use super::{Sqlite, runs};
use crate::model::{JobId, JobStatus, SessionId, TaskId};
use crate::store::{Answer, Change, NewTaskRun, StoreError, StoredTask, StoredTaskRun, TaskOwner, TaskRecords};

impl TaskRecords for Sqlite {
    fn reserve_task_ids(&self, count: u32) -> Answer<'_, u32> {
        let reserved = self.write_durably(move |connection| reserve(connection, count));
        Box::pin(async move { reserved.await?.ok_or(StoreError::NoMoreIds) })
    }

    fn create_task_run(&self, new: NewTaskRun) -> Answer<'_, ()> {
        self.write_durably(move |connection| {
            connection.execute(
                "INSERT INTO task (id, session, name, status, started_at, is_settled, user_input, plan)
                 VALUES (?1, ?2, ?3, ?4, ?5, 0, ?6, ?7)",
                params![
                    new.task.number(),
                    new.session.number(),
                    new.name,
                    JobStatus::Running.as_str(),
                    new.now.as_millis(),
                    new.user_input,
                    new.plan,
                ],
            )?;
            Reservation::NEW.save(connection, new.task.into())
        })
    }

    fn task(&self, id: TaskId) -> Answer<'_, Option<StoredTask>> {
        self.read(move |connection| {
            let run = runs::COLUMNS;
            connection
                .prepare_cached(&format!(
                    "SELECT job, work_id, session, name, plan, user_input, {run} FROM task WHERE id = ?1"
                ))?
                .query_row([id.number()], |row| Ok(StoredTask { id, owner: owner(connection, id, row)? }))
                .optional()
        })
    }

    fn unsettled_task_runs(&self) -> Answer<'_, Vec<TaskId>> {
        self.read(|connection| ids(connection, "SELECT id FROM task WHERE is_settled = 0 ORDER BY id", []))
    }
}

/// `None` when there are no ids left.
fn reserve(connection: &Connection, count: u32) -> rusqlite::Result<Option<u32>> {
    let kept: Option<String> =
        connection.query_row("SELECT value FROM meta WHERE key = 'last_task'", [], |row| row.get(0)).optional()?;
    let last: u32 = kept.and_then(|text| text.parse().ok()).unwrap_or(0);
    let Some(reserved) = last.checked_add(count).filter(|reserved| *reserved < TASKS) else { return Ok(None) };
    connection.execute("INSERT OR REPLACE INTO meta (key, value) VALUES ('last_task', ?1)", [reserved.to_string()])?;
    Ok(Some(last + 1))
}

fn owner(connection: &Connection, id: TaskId, row: &Row<'_>) -> rusqlite::Result<TaskOwner> {
    if let Some(job) = row.get::<_, Option<u32>>(0)? {
        return Ok(TaskOwner::Job { job: JobId::from_number(job), work_id: row.get(1)? });
    }
    Ok(TaskOwner::Session(Box::new(StoredTaskRun {
        session: SessionId::from_number(row.get(2)?),
        name: row.get(3)?,
        plan: row.get(4)?,
        user_input: row.get(5)?,
        run: runs::state(row, 6)?,
        next_seq: next_seq(connection, id.into())?,
    })))
}

/// Adds a task to a job, unless the job is deleted.
pub(super) fn add_to_job(connection: &Connection, job: JobId, task: TaskId, work_id: u32) -> rusqlite::Result<()> {
    connection
        .prepare_cached("INSERT INTO task (id, job, work_id) SELECT ?1, id, ?3 FROM job WHERE id = ?2")?
        .execute(params![task.number(), job.number(), work_id])
        .map(drop)
}

/// Writes a change in the log of a task.
pub(super) fn write_change(connection: &Connection, task: TaskId, change: &Change) -> rusqlite::Result<()> {
    let is_of_job =
        connection.prepare_cached("SELECT 1 FROM task WHERE id = ?1 AND job IS NOT NULL")?.exists([task.number()])?;
    if is_of_job && !matches!(change, Change::ReadersReopened) {
        // The job's log says how far its tasks have come.
        return Err(misplaced(task.into()));
    }
    runs::write_change(connection, "task", task.number(), task.into(), change)
}

/// Deletes the tasks of a job.
pub(super) fn delete_of_job(connection: &Connection, job: JobId) -> rusqlite::Result<()> {
    // Their events are in the job's log.
    connection.execute(
        "DELETE FROM reader WHERE stream IN (SELECT id + ?2 FROM task WHERE job = ?1)",
        params![job.number(), stream_key(TaskId::from_number(0).into())],
    )?;
    connection.execute("DELETE FROM task WHERE job = ?1", [job.number()]).map(drop)
}

/// Deletes the tasks that ran in a session, outside jobs.
pub(super) fn delete_of_session(connection: &Connection, session: SessionId) -> rusqlite::Result<()> {
    for task in ids(connection, "SELECT id FROM task WHERE session = ?1", [session.number()])? {
        runs::delete_stream(connection, task.into())?;
    }
    connection.execute("DELETE FROM task WHERE session = ?1", [session.number()]).map(drop)
}

fn ids(connection: &Connection, sql: &str, parameters: impl rusqlite::Params) -> rusqlite::Result<Vec<TaskId>> {
    connection.prepare_cached(sql)?.query_map(parameters, |row| Ok(TaskId::from_number(row.get(0)?)))?.collect()
}

//! Jobs: creating, finding, listing, changing and deleting them.

use std::path::PathBuf;
use std::sync::LazyLock;

use rusqlite::{Connection, OptionalExtension, Row, params};

use super::events::{JOBS, LAST_OF_KIND, next_seq, seq_of};
use super::reservation::Reservation;
use super::sessions::{origin_of, path, path_value};
use super::{Sqlite, runs, tasks};
use crate::model::{JobId, JobStatus, Timestamp};
use crate::store::{Answer, Change, JobCreation, JobFilter, JobRecords, JobSummary, NewJob, StoreError, StoredJob};

static COLUMNS: LazyLock<String> = LazyLock::new(|| {
    let key = format!("(job.id + {LAST_OF_KIND})");
    let run = runs::COLUMNS;
    format!(
        "id, name, working_directory, user_input, origin, {run},
         (SELECT max(event.id) FROM event WHERE event.id BETWEEN {key} << 40 AND ({key} << 40) + (1 << 40) - 1)"
    )
});

impl JobRecords for Sqlite {
    fn create_job(&self, new: NewJob) -> Answer<'_, JobCreation> {
        let created = self.write_durably(move |connection| create(connection, &new));
        Box::pin(async move { created.await?.ok_or(StoreError::NoMoreIds) })
    }

    fn job_by_creation_key(&self, key: String) -> Answer<'_, Option<(JobId, String)>> {
        self.read(move |connection| by_key(connection, &key))
    }

    fn job(&self, id: JobId) -> Answer<'_, Option<StoredJob>> {
        self.read(move |connection| {
            let columns = &*COLUMNS;
            let found = connection
                .prepare_cached(&format!("SELECT {columns}, plan FROM job WHERE id = ?1"))?
                .query_row([id.number()], |row| Ok((summary(row)?, row.get(11)?)))
                .optional()?;
            let Some((summary, plan)) = found else { return Ok(None) };
            Ok(Some(StoredJob { summary, plan, next_seq: next_seq(connection, id.into())? }))
        })
    }

    fn jobs(&self, filter: JobFilter) -> Answer<'_, Vec<JobSummary>> {
        self.read(move |connection| {
            let before = filter.before.map_or(i64::MAX, |id| i64::from(id.number()));
            let status = filter.status.map(JobStatus::as_str);
            let condition = if status.is_some() { "status = ?3" } else { "?3 IS NULL" };
            let columns = &*COLUMNS;
            connection
                .prepare_cached(&format!(
                    "SELECT {columns} FROM job WHERE id < ?1 AND {condition} ORDER BY id DESC LIMIT ?2"
                ))?
                .query_map(params![before, filter.limit, status], summary)?
                .collect()
        })
    }

    fn recent_jobs(&self, since: Timestamp) -> Answer<'_, Vec<JobSummary>> {
        self.read(move |connection| {
            let columns = &*COLUMNS;
            connection
                .prepare_cached(&format!(
                    "SELECT {columns} FROM job WHERE status = ?1 OR ended_at > ?2 ORDER BY id DESC"
                ))?
                .query_map(params![JobStatus::Running.as_str(), since.as_millis()], summary)?
                .collect()
        })
    }

    fn unsettled_jobs(&self) -> Answer<'_, Vec<JobId>> {
        self.read(|connection| {
            connection
                .prepare_cached("SELECT id FROM job WHERE is_settled = 0 ORDER BY id")?
                .query_map([], |row| Ok(JobId::from_number(row.get(0)?)))?
                .collect()
        })
    }

    fn delete_job(&self, id: JobId) -> Answer<'_, ()> {
        self.forget_pending_appends(id.into());
        self.write(move |connection| {
            tasks::delete_of_job(connection, id)?;
            runs::delete_stream(connection, id.into())?;
            connection.execute("DELETE FROM job WHERE id = ?1", [id.number()]).map(drop)
        })
    }
}

/// `None` when there are no ids left.
fn create(connection: &Connection, new: &NewJob) -> rusqlite::Result<Option<JobCreation>> {
    if let Some(key) = &new.key
        && let Some((id, fingerprint)) = by_key(connection, &key.key)?
    {
        let same = fingerprint == key.fingerprint;
        return Ok(Some(if same { JobCreation::Known(id) } else { JobCreation::KeyReused }));
    }
    let inserted = connection.execute(
        "INSERT INTO job (name, working_directory, origin, status, started_at, creation_key, creation_fingerprint,
             user_input, plan)
         SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9
         WHERE coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'job'), 0) + 1 < ?10",
        params![
            new.name,
            path_value(&new.working_directory),
            new.origin.as_str(),
            JobStatus::Running.as_str(),
            new.now.as_millis(),
            new.key.as_ref().map(|key| &key.key),
            new.key.as_ref().map(|key| &key.fingerprint),
            new.user_input,
            new.plan,
            JOBS,
        ],
    )?;
    let number = u32::try_from(connection.last_insert_rowid()).ok().filter(|_| inserted > 0);
    let Some(number) = number else { return Ok(None) };
    let id = JobId::from_number(number);
    Reservation::NEW.save(connection, id.into())?;
    Ok(Some(JobCreation::New(id)))
}

fn by_key(connection: &Connection, key: &str) -> rusqlite::Result<Option<(JobId, String)>> {
    connection
        .prepare_cached("SELECT id, creation_fingerprint FROM job WHERE creation_key = ?1")?
        .query_row([key], |row| Ok((JobId::from_number(row.get(0)?), row.get(1)?)))
        .optional()
}

/// Writes a change in the log of a job.
pub(super) fn write_change(connection: &Connection, job: JobId, change: &Change) -> rusqlite::Result<()> {
    match change {
        Change::TaskCreated { task, work_id } => tasks::add_to_job(connection, job, *task, *work_id),
        other => runs::write_change(connection, "job", job.number(), job.into(), other),
    }
}

fn summary(row: &Row<'_>) -> rusqlite::Result<JobSummary> {
    Ok(JobSummary {
        id: JobId::from_number(row.get(0)?),
        name: row.get(1)?,
        working_directory: path(row, 2)?.unwrap_or_else(PathBuf::new),
        user_input: row.get(3)?,
        origin: origin_of(row, 4)?,
        run: runs::state(row, 5)?,
        last_seq: row.get::<_, Option<i64>>(10)?.map_or(0, seq_of),
    })
}

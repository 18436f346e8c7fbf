//! Jobs in memory.

use super::Memory;
use super::state::{State, misplaced};
use crate::model::{JobId, JobStatus, Timestamp};
use crate::store::{
    Answer, Change, JobCreation, JobFilter, JobRecords, JobSummary, NewJob, RunState, StoreError, StoredJob, TaskOwner,
};

#[derive(Clone)]
pub(super) struct JobRow {
    new: NewJob,
    run: RunState,
}

impl JobRecords for Memory {
    fn create_job(&self, new: NewJob) -> Answer<'_, JobCreation> {
        self.write_durably(|state| {
            let mut keys = state.jobs.iter().filter_map(|(id, row)| Some((*id, row.new.key.as_ref()?)));
            let known = new.key.as_ref().and_then(|key| keys.find(|(_, known)| known.key == key.key));
            if let Some((id, known)) = known {
                return if Some(known) == new.key.as_ref() { JobCreation::Known(id) } else { JobCreation::KeyReused };
            }
            state.last_job += 1;
            let id = JobId::from_number(state.last_job);
            let run = begun(new.now);
            state.jobs.insert(id, JobRow { new, run });
            JobCreation::New(id)
        })
    }

    fn job_by_creation_key(&self, key: String) -> Answer<'_, Option<(JobId, String)>> {
        self.read(|state| {
            let mut keys = state.jobs.iter().filter_map(|(id, row)| Some((*id, row.new.key.as_ref()?)));
            keys.find(|(_, known)| known.key == key).map(|(id, known)| (id, known.fingerprint.clone()))
        })
    }

    fn job(&self, id: JobId) -> Answer<'_, Option<StoredJob>> {
        self.read(|state| {
            let row = state.jobs.get(&id)?;
            let (plan, next_seq) = (row.new.plan.clone(), state.next_seq(id.into()));
            Some(StoredJob { summary: summary(state, id, row), plan, next_seq })
        })
    }

    fn jobs(&self, filter: JobFilter) -> Answer<'_, Vec<JobSummary>> {
        self.read(|state| {
            let rows = state.jobs.iter().rev().filter(|(id, row)| {
                filter.before.is_none_or(|before| **id < before)
                    && filter.status.is_none_or(|status| row.run.status == status)
            });
            rows.take(filter.limit).map(|(id, row)| summary(state, *id, row)).collect()
        })
    }

    fn recent_jobs(&self, since: Timestamp) -> Answer<'_, Vec<JobSummary>> {
        self.read(|state| {
            let rows = state.jobs.iter().rev().filter(|(_, row)| {
                row.run.status == JobStatus::Running || row.run.ended_at.is_some_and(|ended_at| ended_at > since)
            });
            rows.map(|(id, row)| summary(state, *id, row)).collect()
        })
    }

    fn unsettled_jobs(&self) -> Answer<'_, Vec<JobId>> {
        self.read(|state| state.jobs.iter().filter(|(_, row)| !row.run.is_settled).map(|(id, _)| *id).collect())
    }

    fn delete_job(&self, id: JobId) -> Answer<'_, ()> {
        self.write(|state| {
            state.jobs.remove(&id);
            state.forget_stream(id.into());
            state.forget_tasks(|owner| matches!(owner, TaskOwner::Job { job, .. } if *job == id));
        })
    }
}

fn summary(state: &State, id: JobId, row: &JobRow) -> JobSummary {
    let NewJob { name, working_directory, user_input, origin, .. } = row.new.clone();
    JobSummary {
        id,
        name,
        working_directory,
        user_input,
        origin,
        run: row.run.clone(),
        last_seq: state.last_seq(id.into()),
    }
}

/// The state of what begins now.
pub(super) fn begun(now: Timestamp) -> RunState {
    RunState { status: JobStatus::Running, error: None, started_at: now, ended_at: None, is_settled: false }
}

/// Applies a change of a job or of a task outside a job. Returns whether it is one.
pub(super) fn change_run(run: &mut RunState, change: &Change) -> bool {
    match change.clone() {
        Change::RunStatus { status, error, ended_at } => {
            *run = RunState { status, error, ended_at, is_settled: false, started_at: run.started_at };
        }
        // A retry may have come first: then the run goes on.
        Change::RunSettled => run.is_settled = run.ended_at.is_some(),
        Change::PersonDecided => {}
        _ => return false,
    }
    true
}

impl State {
    pub fn change_job(&mut self, id: JobId, change: &Change) -> Result<(), StoreError> {
        match change {
            Change::ReadersReopened => self.reopen_readers(id.into()),
            Change::TaskCreated { task, work_id } => {
                let owner = TaskOwner::Job { job: id, work_id: *work_id };
                if self.jobs.contains_key(&id) && self.tasks.insert(*task, owner).is_some() {
                    return Err(StoreError::Statement("the id is taken".into()));
                }
            }
            other => {
                // A job that is deleted has none, but what does not belong in a job's log is a bug then too.
                let mut nobody = begun(Timestamp::from_millis(0));
                let run = self.jobs.get_mut(&id).map_or(&mut nobody, |row| &mut row.run);
                if !change_run(run, other) {
                    return Err(misplaced(id.into()));
                }
            }
        }
        Ok(())
    }
}

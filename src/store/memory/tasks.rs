//! Tasks in memory.

use super::Memory;
use super::jobs::{begun, change_run};
use super::state::{State, misplaced};
use crate::model::{SessionId, TaskId, Timestamp};
use crate::store::{Answer, Change, NewTaskRun, StoreError, StoredTask, StoredTaskRun, TaskOwner, TaskRecords};

impl TaskRecords for Memory {
    fn reserve_task_ids(&self, count: u32) -> Answer<'_, u32> {
        self.write_durably(|state| {
            let first = state.last_task + 1;
            state.last_task += count;
            first
        })
    }

    fn create_task_run(&self, new: NewTaskRun) -> Answer<'_, ()> {
        let outcome = self.write_durably(|state| {
            let NewTaskRun { task, name, plan, session, user_input, now } = new;
            if state.tasks.contains_key(&task) {
                return Err(StoreError::Statement("the id is taken".into()));
            }
            let run = StoredTaskRun { session, name, plan, user_input, run: begun(now), next_seq: 0 };
            // The number of the next event is filled in when the task is read.
            state.tasks.insert(task, TaskOwner::Session(Box::new(run)));
            Ok(())
        });
        Box::pin(async move { outcome.await? })
    }

    fn task(&self, id: TaskId) -> Answer<'_, Option<StoredTask>> {
        self.read(|state| {
            let mut owner = state.tasks.get(&id)?.clone();
            if let TaskOwner::Session(run) = &mut owner {
                run.next_seq = state.next_seq(id.into());
            }
            Some(StoredTask { id, owner })
        })
    }

    fn unsettled_task_runs(&self) -> Answer<'_, Vec<TaskId>> {
        self.read(|state| {
            let unsettled = |owner: &TaskOwner| matches!(owner, TaskOwner::Session(run) if !run.run.is_settled);
            state.tasks.iter().filter(|(_, owner)| unsettled(owner)).map(|(id, _)| *id).collect()
        })
    }
}

impl State {
    pub fn change_task(&mut self, id: TaskId, change: &Change) -> Result<(), StoreError> {
        if matches!(change, Change::ReadersReopened) {
            self.reopen_readers(id.into());
            return Ok(());
        }
        // A task that is deleted has none, but what does not belong in a task's log is a bug then too.
        let mut nobody = begun(Timestamp::from_millis(0));
        let run = match self.tasks.get_mut(&id) {
            None => &mut nobody,
            Some(TaskOwner::Session(run)) => &mut run.run,
            Some(TaskOwner::Job { .. }) => return Err(misplaced(id.into())),
        };
        if change_run(run, change) { Ok(()) } else { Err(misplaced(id.into())) }
    }

    pub fn forget_task_runs(&mut self, id: SessionId) {
        self.forget_tasks(|owner| matches!(owner, TaskOwner::Session(run) if run.session == id));
    }

    pub fn forget_tasks(&mut self, is_gone: impl Fn(&TaskOwner) -> bool) {
        let gone: Vec<TaskId> = self.tasks.iter().filter(|(_, owner)| is_gone(owner)).map(|(id, _)| *id).collect();
        for task in gone {
            self.tasks.remove(&task);
            self.forget_stream(task.into());
        }
    }
}

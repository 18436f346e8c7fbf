//! Ids of tasks: reserved in the store, a few at a time.

use parking_lot::Mutex;

use crate::model::TaskId;
use crate::store::{Store, StoreError};

/// Ids that are reserved at once, at least.
const RESERVED_AT_ONCE: u32 = 16;

/// Ids that are reserved and not used.
#[derive(Debug, Default)]
pub(super) struct TaskIds {
    free: Mutex<Vec<u32>>,
}

impl TaskIds {
    /// Takes this many.
    pub async fn take(&self, store: &Store, count: usize) -> Result<Vec<TaskId>, StoreError> {
        loop {
            let missing = {
                let mut free = self.free.lock();
                if free.len() >= count {
                    let from = free.len() - count;
                    return Ok(free.split_off(from).into_iter().rev().map(TaskId::from_number).collect());
                }
                count - free.len()
            };
            let reserved = u32::try_from(missing).unwrap_or(u32::MAX).max(RESERVED_AT_ONCE);
            let first = store.reserve_task_ids(reserved).await?;
            let mut free = self.free.lock();
            free.extend(first..first.saturating_add(reserved));
            // The lowest is the next.
            free.sort_unstable_by(|one, two| two.cmp(one));
        }
    }

    /// Gives back those that were not used.
    pub fn give_back(&self, unused: impl Iterator<Item = TaskId>) {
        let mut free = self.free.lock();
        free.extend(unused.map(TaskId::number));
        free.sort_unstable_by(|one, two| two.cmp(one));
    }
}

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
        let missing = count.saturating_sub(self.free.lock().len());
        if missing > 0 {
            let reserved = u32::try_from(missing).unwrap_or(u32::MAX).max(RESERVED_AT_ONCE);
            let first = store.reserve_task_ids(reserved).await?;
            self.free.lock().extend((first..first.saturating_add(reserved)).rev());
        }
        let mut free = self.free.lock();
        // Another run may have taken some meanwhile; then there are fewer, and the caller asks again.
        let from = free.len().saturating_sub(count);
        Ok(free.split_off(from).into_iter().rev().map(TaskId::from_number).collect())
    }

    /// Gives back those that were not used.
    pub fn give_back(&self, unused: impl DoubleEndedIterator<Item = TaskId>) {
        self.free.lock().extend(unused.rev().map(TaskId::number));
    }
}

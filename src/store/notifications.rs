//! The handle on the backend, for notifications.

use tokio::sync::watch;

use super::{
    DeliveryId, DeliveryProgress, HappeningId, NewDelivery, Store, StoreError, StoredDelivery, StoredHappening,
};
use crate::model::{Timestamp, redact};

impl Store {
    /// Happenings without planned deliveries, oldest first.
    pub async fn happenings(&self, limit: usize) -> Result<Vec<StoredHappening>, StoreError> {
        self.backend.happenings(limit).await
    }

    /// How many happenings were committed since the start, and changes of it.
    pub fn happening_count(&self) -> watch::Receiver<u64> {
        self.backend.happening_count()
    }

    /// Plans the deliveries of a happening, which is then forgotten. What is planned already is not planned again.
    pub async fn plan_deliveries(&self, id: HappeningId, deliveries: Vec<NewDelivery>) -> Result<(), StoreError> {
        self.backend.plan_deliveries(id, deliveries).await
    }

    /// Deliveries to a target that may still be sent, the first that is due first.
    pub async fn open_deliveries(&self, target: &str, limit: usize) -> Result<Vec<StoredDelivery>, StoreError> {
        self.backend.open_deliveries(target.to_owned(), limit).await
    }

    /// The targets of all deliveries that may still be sent.
    pub async fn targets_with_open_deliveries(&self) -> Result<Vec<String>, StoreError> {
        self.backend.targets_with_open_deliveries().await
    }

    /// Records how far deliveries are. One that has ended meanwhile stays as it is. Secrets in the error are redacted.
    pub async fn record_deliveries(&self, ids: Vec<DeliveryId>, progress: DeliveryProgress) -> Result<(), StoreError> {
        let error = progress.error.map(|error| redact(&error).into_owned());
        self.backend.record_deliveries(ids, DeliveryProgress { error, ..progress }).await
    }

    /// At most that many deliveries with a number below `before`, newest first.
    pub async fn deliveries(
        &self,
        before: Option<DeliveryId>,
        limit: usize,
    ) -> Result<Vec<StoredDelivery>, StoreError> {
        self.backend.deliveries(before, limit).await
    }

    /// Deletes ended deliveries of what happened before that moment.
    pub async fn expire_deliveries(&self, before: Timestamp) -> Result<(), StoreError> {
        self.backend.expire_deliveries(before).await
    }
}

//! Happenings and deliveries in memory.

use tokio::sync::watch;

use super::Memory;
use super::state::State;
use crate::model::{Happening, HappeningKind, HappeningSubject, Timestamp};
use crate::store::{
    Answer, Append, Change, DeliveryId, DeliveryProgress, DeliveryState, HappeningId, NewDelivery, NotificationRecords,
    StoredDelivery, StoredHappening,
};

impl NotificationRecords for Memory {
    fn happenings(&self, limit: usize) -> Answer<'_, Vec<StoredHappening>> {
        self.read(|state| state.happenings.values().take(limit).cloned().collect())
    }

    fn happening_count(&self) -> watch::Receiver<u64> {
        self.happenings.subscribe()
    }

    fn plan_deliveries(&self, id: HappeningId, deliveries: Vec<NewDelivery>) -> Answer<'_, ()> {
        self.write(|state| {
            let Some(StoredHappening { subject, at, happening, .. }) = state.happenings.remove(&id) else { return };
            for delivery in deliveries {
                let is_known = state.deliveries.values().any(|known| {
                    known.subject == subject
                        && known.happening.key == happening.key
                        && known.delivery.target == delivery.target
                });
                if !is_known {
                    state.last_delivery += 1;
                    let (id, happening) = (state.last_delivery, happening.clone());
                    state.deliveries.insert(id, StoredDelivery { id, subject, happened_at: at, happening, delivery });
                }
            }
        })
    }

    fn open_deliveries(&self, target: String, limit: usize) -> Answer<'_, Vec<StoredDelivery>> {
        self.read(|state| {
            let of_target =
                |stored: &&StoredDelivery| stored.delivery.target == target && stored.delivery.progress.state.is_open();
            let mut open: Vec<StoredDelivery> = state.deliveries.values().filter(of_target).cloned().collect();
            open.sort_by_key(|stored| (stored.delivery.progress.at, stored.id));
            open.truncate(limit);
            open
        })
    }

    fn targets_with_open_deliveries(&self) -> Answer<'_, Vec<String>> {
        self.read(|state| {
            let open = state.deliveries.values().filter(|stored| stored.delivery.progress.state.is_open());
            let mut targets: Vec<String> = open.map(|stored| stored.delivery.target.clone()).collect();
            targets.sort();
            targets.dedup();
            targets
        })
    }

    fn record_deliveries(&self, ids: Vec<DeliveryId>, progress: DeliveryProgress) -> Answer<'_, ()> {
        self.write(|state| {
            for id in ids {
                if let Some(stored) = state.deliveries.get_mut(&id)
                    && (stored.delivery.progress.state.is_open() || progress.state == DeliveryState::Delivered)
                {
                    stored.delivery.progress = progress.clone();
                }
            }
        })
    }

    fn deliveries(&self, before: Option<DeliveryId>, limit: usize) -> Answer<'_, Vec<StoredDelivery>> {
        self.read(|state| {
            state
                .deliveries
                .range(..before.unwrap_or(DeliveryId::MAX))
                .rev()
                .take(limit)
                .map(|(_, it)| it.clone())
                .collect()
        })
    }

    fn expire_deliveries(&self, before: Timestamp) -> Answer<'_, ()> {
        self.write(|state| {
            state
                .deliveries
                .retain(|_, stored| stored.happened_at >= before || stored.delivery.progress.state.is_open());
        })
    }
}

impl State {
    /// Applies what a change means for notifications. Returns whether it means nothing else.
    pub fn change_notifications(&mut self, append: &Append, change: &Change) -> bool {
        let Some(subject) = HappeningSubject::of(append.stream) else { return false };
        match change {
            Change::Happened(happening) => {
                self.last_happening += 1;
                let (id, at, happening) = (self.last_happening, append.time, happening.clone());
                self.happenings.insert(id, StoredHappening { id, subject, at, happening });
                return true;
            }
            Change::HappeningOver(key) => {
                self.settle(subject, append.time, |happening| happening.key == *key);
                return true;
            }
            Change::RequestClosed { request_id, .. } => {
                self.settle(subject, append.time, |happening| happening.key == request_id.as_str());
            }
            Change::RunStatus { ended_at: Some(_), .. } => {
                self.settle(subject, append.time, |happening| happening.kind == HappeningKind::NeedsYou);
            }
            _ => {}
        }
        false
    }

    fn settle(&mut self, subject: HappeningSubject, now: Timestamp, is_over: impl Fn(&Happening) -> bool) {
        self.happenings.retain(|_, stored| stored.subject != subject || !is_over(&stored.happening));
        for stored in self.deliveries.values_mut() {
            let progress = &mut stored.delivery.progress;
            if stored.subject == subject && progress.state.is_open() && is_over(&stored.happening) {
                (progress.state, progress.at) = (DeliveryState::Superseded, now);
            }
        }
    }
}

//! The settings of sessions as they are now. A change counts for every session, from its next step on.

use std::sync::Arc;

use tokio::sync::watch;

use super::SessionSettings;

/// Settings that may be replaced while sessions run.
pub(super) struct LiveSettings(watch::Sender<Arc<SessionSettings>>);

impl LiveSettings {
    pub fn new(settings: SessionSettings) -> Self {
        Self(watch::Sender::new(Arc::new(settings)))
    }

    pub fn current(&self) -> Arc<SessionSettings> {
        Arc::clone(&self.0.borrow())
    }

    /// Resolves when they were replaced since the last time.
    pub fn subscribe(&self) -> watch::Receiver<Arc<SessionSettings>> {
        self.0.subscribe()
    }

    pub fn replace(&self, settings: SessionSettings) {
        self.0.send_replace(Arc::new(settings));
    }
}

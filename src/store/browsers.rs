//! The handle on the backend, for browsers that notifications are pushed to.

use super::{BrowserId, NewBrowser, Store, StoreError, StoredBrowser};
use crate::model::Timestamp;

impl Store {
    /// Adds a browser. One with the same endpoint is replaced and keeps its number.
    pub async fn add_browser(&self, browser: NewBrowser) -> Result<BrowserId, StoreError> {
        self.backend.add_browser(browser).await
    }

    /// The browsers whose login is still valid, oldest first.
    pub async fn browsers(&self, now: Timestamp) -> Result<Vec<StoredBrowser>, StoreError> {
        self.backend.browsers(now).await
    }

    /// Removes a browser, for good even if the power is cut. Returns whether there was one.
    pub async fn remove_browser(&self, id: BrowserId) -> Result<bool, StoreError> {
        self.backend.remove_browser(id).await
    }

    /// Removes browsers whose login has ended.
    pub async fn remove_logged_out_browsers(&self, now: Timestamp) -> Result<(), StoreError> {
        self.backend.remove_logged_out_browsers(now).await
    }
}

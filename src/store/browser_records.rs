//! Browsers that notifications are pushed to, as they are stored.

use std::collections::BTreeSet;

use crate::model::{HappeningKind, Timestamp};

/// The number of a browser.
pub type BrowserId = u64;

/// A browser to store.
#[derive(Clone, PartialEq, Eq)]
pub struct NewBrowser {
    /// Where its push service takes messages for it. Whoever knows the address may send some, so it is a secret.
    pub endpoint: String,
    /// The key that messages are encrypted for, in base64.
    pub public_key: String,
    /// The secret that it shares with those who send messages, in base64.
    pub secret: String,
    /// What it wants to hear of.
    pub events: BTreeSet<HappeningKind>,
    /// Its name, for people.
    pub name: String,
    /// The hash of the cookie of its login, which the messages end with; `None` if the server needs no login.
    pub login: Option<String>,
    /// When it was added.
    pub added_at: Timestamp,
}

impl std::fmt::Debug for NewBrowser {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("NewBrowser")
            .field("name", &self.name)
            .field("events", &self.events)
            .finish_non_exhaustive()
    }
}

/// A stored browser.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredBrowser {
    /// Its number.
    pub id: BrowserId,
    /// What it was added with.
    pub browser: NewBrowser,
}

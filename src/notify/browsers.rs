//! Browsers as targets: they come and go by themselves, and with their logins.

use std::sync::Arc;

use super::notifier::{Notifier, Shared};
use super::push::{PushKey, PushTarget, Subscription};
use super::{NotifySettings, Protocol, Target};
use crate::model::Template;
use crate::store::{BrowserId, NewBrowser, StoreError, StoredBrowser};

/// The name of a browser's target is this and its number.
const PREFIX: &str = "browser-";

/// Push services want an address at which their operators could complain. This one is nobody's.
const NO_CONTACT: &str = "mailto:flightdeck@example.com";

/// The name of a browser, by which targets and the API know it.
pub fn browser_name(id: BrowserId) -> String {
    format!("{PREFIX}{id}")
}

/// The number of the browser with that name.
pub fn browser_number(name: &str) -> Option<BrowserId> {
    name.strip_prefix(PREFIX)?.parse().ok().filter(|id| browser_name(*id) == name)
}

impl Notifier {
    /// What browsers subscribe with.
    pub fn push_public_key(&self) -> String {
        self.shared.parts.push_key.public()
    }

    /// The browsers that notifications are pushed to, oldest first.
    pub async fn browsers(&self) -> Result<Vec<StoredBrowser>, StoreError> {
        self.shared.parts.store.browsers(self.shared.now()).await
    }

    /// Pushes notifications to a browser from now on. Returns its number.
    pub async fn add_browser(&self, browser: NewBrowser) -> Result<BrowserId, StoreError> {
        let id = self.shared.parts.store.add_browser(browser).await?;
        self.shared.refresh_browsers().await?;
        Ok(id)
    }

    /// Pushes nothing to a browser any more. Returns whether there was one.
    pub async fn remove_browser(&self, id: BrowserId) -> Result<bool, StoreError> {
        self.shared.remove_browser(id).await
    }
}

impl Shared {
    /// Makes targets of the browsers that are logged in. What is meant for others is given up.
    pub(super) async fn refresh_browsers(self: &Arc<Self>) -> Result<(), StoreError> {
        let browsers = self.parts.store.browsers(self.now()).await?;
        let contact = contact(&self.settings().base_url);
        let targets = browsers.iter().filter_map(|stored| target_of(stored, &self.parts.push_key, &contact)).collect();
        {
            let mut settings = self.settings.write();
            *settings = Arc::new(with_browsers(&settings, targets));
        }
        self.serve_targets();
        Ok(())
    }

    pub(super) async fn remove_browser(self: &Arc<Self>, id: BrowserId) -> Result<bool, StoreError> {
        let was_there = self.parts.store.remove_browser(id).await?;
        self.refresh_browsers().await?;
        self.targets_changed.notify_one();
        Ok(was_there)
    }

    /// The push service says that a browser is gone.
    pub(super) async fn forget_browser(self: &Arc<Self>, id: BrowserId) {
        tracing::info!(browser = id, "the browser is no longer subscribed to notifications; removing it");
        if let Err(error) = self.remove_browser(id).await {
            // The next message gets the same answer.
            tracing::warn!(browser = id, %error, "cannot remove the browser");
        }
    }
}

/// The targets of browsers in these settings.
pub(super) fn browsers_in(settings: &NotifySettings) -> Vec<Target> {
    settings.targets.iter().filter(|target| matches!(target.protocol, Protocol::Push(_))).cloned().collect()
}

/// The settings with these browsers instead of the ones they have.
pub(super) fn with_browsers(settings: &NotifySettings, browsers: Vec<Target>) -> NotifySettings {
    let mut settings = settings.clone();
    settings.targets.retain(|target| !matches!(target.protocol, Protocol::Push(_)));
    settings.targets.extend(browsers);
    settings
}

fn target_of(stored: &StoredBrowser, key: &Arc<PushKey>, contact: &str) -> Option<Target> {
    let StoredBrowser { id, browser } = stored;
    let subscription = Subscription::parse(&browser.endpoint, &browser.public_key, &browser.secret);
    // It was checked when it was added, so this is damage.
    let subscription =
        subscription.inspect_err(|error| tracing::warn!(browser = id, %error, "cannot use a browser")).ok()?;
    Some(Target {
        name: browser_name(*id),
        protocol: Protocol::Push(PushTarget { subscription, key: Arc::clone(key), contact: contact.to_owned() }),
        events: browser.events.clone(),
        sessions: true,
        jobs: true,
        // A browser writes its own words.
        title: Template::parse("").ok()?,
        body: None,
        min_duration: std::time::Duration::ZERO,
        include_text: false,
    })
}

fn contact(base_url: &str) -> String {
    if base_url.starts_with("https://") { base_url.to_owned() } else { NO_CONTACT.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_browser_is_known_by_its_number() {
        assert_eq!(browser_number(&browser_name(7)), Some(7));
        for name in ["browser-", "browser-x", "browser-07", "browser-+7", "browser-1 ", "phone", "7"] {
            assert_eq!(browser_number(name), None, "{name}");
        }
    }

    #[test]
    fn push_services_are_told_where_the_server_is_if_it_is_anywhere() {
        assert_eq!(contact("https://deck.example.com"), "https://deck.example.com");
        assert_eq!(contact("http://localhost:8888"), NO_CONTACT);
    }
}

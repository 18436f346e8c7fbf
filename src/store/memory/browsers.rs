//! Browsers in memory.

use super::Memory;
use super::state::State;
use crate::model::Timestamp;
use crate::store::{Answer, BrowserId, BrowserRecords, NewBrowser, StoredBrowser};

impl BrowserRecords for Memory {
    fn add_browser(&self, new: NewBrowser) -> Answer<'_, BrowserId> {
        self.write_durably(|state| {
            if let Some(known) = state.browsers.values_mut().find(|known| known.browser.endpoint == new.endpoint) {
                known.browser = NewBrowser { added_at: known.browser.added_at, ..new };
                return known.id;
            }
            state.last_browser += 1;
            let id = state.last_browser;
            state.browsers.insert(id, StoredBrowser { id, browser: new });
            id
        })
    }

    fn browsers(&self, now: Timestamp) -> Answer<'_, Vec<StoredBrowser>> {
        self.read(|state| state.browsers.values().filter(|stored| is_logged_in(state, stored, now)).cloned().collect())
    }

    fn remove_browser(&self, id: BrowserId) -> Answer<'_, bool> {
        self.write_durably(|state| state.browsers.remove(&id).is_some())
    }

    fn remove_logged_out_browsers(&self, now: Timestamp) -> Answer<'_, ()> {
        self.write(|state| {
            let gone =
                state.browsers.values().filter(|stored| !is_logged_in(state, stored, now)).map(|stored| stored.id);
            for id in gone.collect::<Vec<_>>() {
                state.browsers.remove(&id);
            }
        })
    }
}

fn is_logged_in(state: &State, stored: &StoredBrowser, now: Timestamp) -> bool {
    let login = stored.browser.login.as_ref();
    login.is_none_or(|hash| state.logins.get(hash).is_some_and(|login| login.expires_at > now))
}

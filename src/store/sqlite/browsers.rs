//! Browsers that notifications are pushed to.

use rusqlite::{Row, params};

use super::Sqlite;
use crate::model::Timestamp;
use crate::store::{Answer, BrowserId, BrowserRecords, NewBrowser, StoredBrowser};

const COLUMNS: &str = "id, endpoint, public_key, secret, events, name, login, added_at";

/// A browser that needs no login, or whose login is valid at the moment ?1.
const LOGGED_IN: &str = "(login IS NULL OR login IN (SELECT hash FROM login WHERE expires_at > ?1))";

impl BrowserRecords for Sqlite {
    fn add_browser(&self, new: NewBrowser) -> Answer<'_, BrowserId> {
        self.write_durably(move |connection| {
            let events = new.events.iter().map(|kind| kind.as_str()).collect::<Vec<_>>().join(" ");
            connection.query_row(
                "INSERT INTO browser (endpoint, public_key, secret, events, name, login, added_at)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
                 ON CONFLICT (endpoint) DO UPDATE SET public_key = ?2, secret = ?3, events = ?4, name = ?5, login = ?6
                 RETURNING id",
                params![
                    new.endpoint,
                    new.public_key,
                    new.secret,
                    events,
                    new.name,
                    new.login,
                    new.added_at.as_millis()
                ],
                |row| row.get(0),
            )
        })
    }

    fn browsers(&self, now: Timestamp) -> Answer<'_, Vec<StoredBrowser>> {
        self.read(move |connection| {
            connection
                .prepare_cached(&format!("SELECT {COLUMNS} FROM browser WHERE {LOGGED_IN} ORDER BY id"))?
                .query_map([now.as_millis()], stored)?
                .collect()
        })
    }

    fn remove_browser(&self, id: BrowserId) -> Answer<'_, bool> {
        self.write_durably(move |connection| Ok(connection.execute("DELETE FROM browser WHERE id = ?1", [id])? > 0))
    }

    fn remove_logged_out_browsers(&self, now: Timestamp) -> Answer<'_, ()> {
        self.write(move |connection| {
            connection.execute(&format!("DELETE FROM browser WHERE NOT {LOGGED_IN}"), [now.as_millis()]).map(drop)
        })
    }
}

fn stored(row: &Row<'_>) -> rusqlite::Result<StoredBrowser> {
    Ok(StoredBrowser {
        id: row.get("id")?,
        browser: NewBrowser {
            endpoint: row.get("endpoint")?,
            public_key: row.get("public_key")?,
            secret: row.get("secret")?,
            // A kind of a later version is unknown here, and nothing of that kind happens.
            events: row.get::<_, String>("events")?.split(' ').filter_map(|word| word.parse().ok()).collect(),
            name: row.get("name")?,
            login: row.get("login")?,
            added_at: Timestamp::from_millis(row.get("added_at")?),
        },
    })
}

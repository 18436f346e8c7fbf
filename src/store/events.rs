//! Reading a session's log, forwards and backwards, a page at a time.

use bytes::Bytes;
use rusqlite::{Connection, Row, params};

use super::{Store, StoreError};
use crate::model::{Seq, SessionId, Timestamp};

/// Bits of an event's key that hold its number; the session's are above.
const SEQ_BITS: u32 = 40;
/// Sessions beyond this would not fit beside the number.
pub(super) const LAST_SESSION: u32 = 1 << (63 - SEQ_BITS - 1);

/// The highest number that fits.
const LAST_SEQ: Seq = (1 << SEQ_BITS) - 1;

/// A number that no event can have is taken for the last one, so that no cursor reaches into another session's events.
pub(super) fn event_id(session: SessionId, seq: Seq) -> i64 {
    (i64::from(session.number()) << SEQ_BITS) | i64::try_from(seq.min(LAST_SEQ)).unwrap_or(i64::MAX)
}

pub(super) fn seq_of(event_id: i64) -> Seq {
    (event_id & ((1 << SEQ_BITS) - 1)).unsigned_abs()
}

/// The keys of all events that a session can have.
pub(super) fn whole_log(session: SessionId) -> (i64, i64) {
    (event_id(session, 0), event_id(session, LAST_SEQ))
}

/// An event as it stands in the store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredEvent {
    /// Its number.
    pub seq: Seq,
    /// When it was made.
    pub time: Timestamp,
    /// The response, as JSON.
    pub body: Bytes,
}

/// Which events to read. Both bounds are exclusive.
#[derive(Clone, Copy, Debug)]
pub struct EventPage {
    /// Only events with higher numbers.
    pub after: Seq,
    /// Only events with lower numbers; the page then is the last one before it.
    pub before: Option<Seq>,
    /// At most that many.
    pub limit: usize,
    /// Stop after that many bytes, but never before the first event.
    pub max_bytes: usize,
}

/// Events that are looked at in one go when one is searched for; others may read in between.
const SEARCH_SLICE: usize = 10_000;
/// Events that are looked at in all; what is further back is not found.
const SEARCH_LIMIT: usize = 1_000_000;

/// Deltas whose block has ended are gone for readers as soon as the end is committed, even while their rows are still
/// being dropped in slices.
const NOT_DROPPED: &str = "NOT EXISTS (SELECT 1 FROM dropped_range
    WHERE event.id BETWEEN dropped_range.first AND dropped_range.last AND event.block = dropped_range.block)";

impl Store {
    /// A page of a session's log, in order, and whether more follow in the direction of reading.
    pub async fn events(&self, session: SessionId, page: EventPage) -> Result<(Vec<StoredEvent>, bool), StoreError> {
        self.read(move |connection| read_page(connection, session, page)).await
    }

    /// The event with this number, if it is there.
    pub async fn event(&self, session: SessionId, seq: Seq) -> Result<Option<StoredEvent>, StoreError> {
        let page = EventPage {
            after: seq.saturating_sub(1),
            before: Some(seq.saturating_add(1)),
            limit: 1,
            max_bytes: usize::MAX,
        };
        let (events, _) = self.events(session, page).await?;
        Ok(events.into_iter().next())
    }

    /// The last event before `before` that is no delta and whose JSON begins like this. Looked for backwards, a slice at
    /// a time: what is searched for is mostly near.
    pub async fn last_event_beginning_with(
        &self,
        session: SessionId,
        before: Seq,
        beginning: &str,
    ) -> Result<Option<StoredEvent>, StoreError> {
        let (first, mut last) = (event_id(session, 0), event_id(session, before) - 1);
        for _ in 0..SEARCH_LIMIT / SEARCH_SLICE {
            let beginning = beginning.as_bytes().to_owned();
            let found = self.read(move |connection| search_slice(connection, first, last, &beginning)).await?;
            match found {
                Search::Found(event) => return Ok(Some(event)),
                Search::NotFrom(lowest) => last = lowest - 1,
                Search::AtTheEnd => break,
            }
        }
        Ok(None)
    }
}

enum Search {
    Found(StoredEvent),
    /// Not from this key upwards.
    NotFrom(i64),
    AtTheEnd,
}

fn search_slice(connection: &Connection, first: i64, last: i64, beginning: &[u8]) -> rusqlite::Result<Search> {
    let mut statement = connection.prepare_cached(
        "SELECT id, block IS NULL AND substr(body, 1, length(?4)) = ?4 FROM event
         WHERE id BETWEEN ?1 AND ?2 ORDER BY id DESC LIMIT ?3",
    )?;
    let mut rows = statement.query(params![first, last, SEARCH_SLICE, beginning])?;
    let mut lowest = None;
    while let Some(row) = rows.next()? {
        let id: i64 = row.get(0)?;
        if row.get(1)? {
            let select = "SELECT id, time, body FROM event WHERE id = ?1";
            return connection.prepare_cached(select)?.query_row([id], stored).map(Search::Found);
        }
        lowest = Some(id);
    }
    Ok(lowest.map_or(Search::AtTheEnd, Search::NotFrom))
}

fn read_page(
    connection: &Connection,
    session: SessionId,
    page: EventPage,
) -> rusqlite::Result<(Vec<StoredEvent>, bool)> {
    let first = event_id(session, page.after) + 1;
    let last = match page.before {
        Some(before) => event_id(session, before) - 1,
        None => whole_log(session).1,
    };
    let backwards = page.before.is_some();
    let order = if backwards { "DESC" } else { "ASC" };
    let mut statement = connection.prepare_cached(&format!(
        "SELECT id, time, body FROM event WHERE id BETWEEN ?1 AND ?2 AND {NOT_DROPPED} ORDER BY id {order} LIMIT ?3"
    ))?;
    let mut rows = statement.query(params![first, last, page.limit + 1])?;
    let (mut events, mut bytes, mut more) = (Vec::new(), 0, false);
    while let Some(row) = rows.next()? {
        let event = stored(row)?;
        bytes += event.body.len();
        if events.len() == page.limit || (bytes > page.max_bytes && !events.is_empty()) {
            more = true;
            break;
        }
        events.push(event);
    }
    if backwards {
        events.reverse();
    }
    Ok((events, more))
}

fn stored(row: &Row<'_>) -> rusqlite::Result<StoredEvent> {
    Ok(StoredEvent {
        seq: seq_of(row.get(0)?),
        time: Timestamp::from_millis(row.get(1)?),
        body: Bytes::from(row.get::<_, Vec<u8>>(2)?),
    })
}

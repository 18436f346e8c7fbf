//! Reading logs, forwards and backwards, a page at a time.

use bytes::Bytes;
use rusqlite::{Connection, OptionalExtension, Row, params};

use crate::model::{Seq, StreamId, Timestamp};
use crate::store::log::PROMPT_BEGINNINGS;
use crate::store::{EventPage, StoredEvent};

/// Bits of an event's key that hold its number; the stream's key is above.
const SEQ_BITS: u32 = 40;
/// Streams of a kind beyond this would not fit beside the number.
pub(super) const LAST_OF_KIND: u32 = 1 << (63 - SEQ_BITS - 1);
/// Jobs and tasks share the second half: the number of the last job plus one, and that of the last task plus one.
pub(super) const JOBS: u32 = LAST_OF_KIND / 2;
pub(super) const TASKS: u32 = LAST_OF_KIND - JOBS;

/// The highest number that fits.
const LAST_SEQ: Seq = (1 << SEQ_BITS) - 1;

/// The key of a stream: sessions first, so that a session's key is its number, then jobs, then tasks.
pub(super) fn stream_key(stream: StreamId) -> i64 {
    let (first, number, limit) = match stream {
        StreamId::Session(id) => (0, id.number(), LAST_OF_KIND),
        StreamId::Job(id) => (LAST_OF_KIND, id.number(), JOBS),
        StreamId::Task(id) => (LAST_OF_KIND + JOBS, id.number(), TASKS),
    };
    i64::from(first) + i64::from(number.min(limit - 1))
}

/// A number that is too high counts as the last possible one, so that no cursor reaches into another stream's events.
pub(super) fn event_id(stream: StreamId, seq: Seq) -> i64 {
    (stream_key(stream) << SEQ_BITS) | i64::try_from(seq.min(LAST_SEQ)).unwrap_or(i64::MAX)
}

pub(super) fn seq_of(event_id: i64) -> Seq {
    (event_id & ((1 << SEQ_BITS) - 1)).unsigned_abs()
}

/// The keys of all events that a stream can have.
pub(super) fn whole_log(stream: StreamId) -> (i64, i64) {
    (event_id(stream, 0), event_id(stream, LAST_SEQ))
}

/// Deltas whose block has ended are gone for readers as soon as the end is committed, even while their rows are still
/// being dropped in slices.
const NOT_DROPPED: &str = "NOT EXISTS (SELECT 1 FROM dropped_range
    WHERE event.id BETWEEN dropped_range.first AND dropped_range.last AND event.block = dropped_range.block)";

/// The event that started the block which ended with the event `end`.
pub(super) fn block_start(
    connection: &Connection,
    stream: StreamId,
    end: Seq,
) -> rusqlite::Result<Option<StoredEvent>> {
    let start: Option<Option<Seq>> = connection
        .prepare_cached("SELECT block FROM event WHERE id = ?1")?
        .query_row([event_id(stream, end)], |row| row.get(0))
        .optional()?;
    let Some(start) = start.flatten() else { return Ok(None) };
    connection
        .prepare_cached("SELECT id, time, body FROM event WHERE id = ?1")?
        .query_row([event_id(stream, start)], stored)
        .optional()
}

/// The prompts in a log, in order.
pub(super) fn prompts(connection: &Connection, stream: StreamId) -> rusqlite::Result<Vec<StoredEvent>> {
    let (first, last) = whole_log(stream);
    let [by_user, generated] = PROMPT_BEGINNINGS.map(str::as_bytes);
    connection
        .prepare_cached(
            "SELECT id, time, body FROM event WHERE id BETWEEN ?1 AND ?2
             AND (substr(body, 1, length(?3)) = ?3 OR substr(body, 1, length(?4)) = ?4) ORDER BY id",
        )?
        .query_map(params![first, last, by_user, generated], stored)?
        .collect()
}

/// The number of a log's next event.
pub(super) fn next_seq(connection: &Connection, stream: StreamId) -> rusqlite::Result<Seq> {
    let (first, last) = whole_log(stream);
    let newest: Option<i64> = connection
        .prepare_cached("SELECT max(id) FROM event WHERE id BETWEEN ?1 AND ?2")?
        .query_row([first, last], |row| row.get(0))?;
    let floor: Option<Seq> = connection
        .prepare_cached("SELECT floor FROM stream WHERE id = ?1")?
        .query_row([stream_key(stream)], |row| row.get(0))
        .optional()?;
    Ok(newest.map_or(0, seq_of).max(floor.unwrap_or(0)) + 1)
}

pub(super) fn read_page(
    connection: &Connection,
    stream: StreamId,
    page: EventPage,
) -> rusqlite::Result<(Vec<StoredEvent>, bool)> {
    let first = event_id(stream, page.after) + 1;
    let last = match page.before {
        Some(before) => event_id(stream, before) - 1,
        None => whole_log(stream).1,
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

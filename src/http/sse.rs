//! Server-sent events: one response per event, numbered, resumable.

use std::convert::Infallible;
use std::future::Future;
use std::time::Duration;

use axum::body::Body;
use axum::http::{HeaderMap, header};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;

use super::error::ApiError;
use super::pieces::{Pieces, PiecesBuilder};
use crate::model::Seq;
use crate::store::StoredEvent;

/// How often a quiet stream sends a comment.
pub(super) const KEEP_ALIVE: Duration = Duration::from_secs(15);
const KEEP_ALIVE_COMMENT: Bytes = Bytes::from_static(b": keep-alive\n\n");
/// What a frame adds to an event: `id: `, up to 20 digits, `data: ` and line ends.
const FRAME_OVERHEAD: usize = 36;

/// Produces the next part of a stream, or ends it.
pub(super) trait Chunks: Send + 'static {
    fn next(&mut self) -> impl Future<Output = Option<Pieces>> + Send;
}

/// A streaming response. The next part is built when the reader has taken the last one, so a slow reader holds one part
/// in memory and delays nobody. Other tasks run between the pieces of a long part: many readers of one long message must
/// not delay a short request until all of them have it.
pub(super) fn stream(chunks: impl Chunks) -> Response {
    let stream = futures_util::stream::unfold((chunks, Pieces::default()), |(mut chunks, mut pieces)| async move {
        let piece = if pieces.len() > 0 {
            tokio::task::yield_now().await;
            pieces.next()
        } else {
            pieces = chunks.next().await?;
            pieces.next()
        };
        piece.map(|piece| (Ok::<_, Infallible>(piece), (chunks, pieces)))
    });
    let headers = [(header::CONTENT_TYPE, "text/event-stream"), (header::CACHE_CONTROL, "no-store")];
    (headers, Body::from_stream(stream)).into_response()
}

/// Events, each with its `id:` and `data:`.
pub(super) fn frames(events: &[StoredEvent]) -> Pieces {
    let size = events.iter().map(|event| PiecesBuilder::copied(event.body.len()) + FRAME_OVERHEAD).sum();
    let mut frames = PiecesBuilder::with_capacity(size);
    for event in events {
        frames.write(b"id: ");
        frames.write_number(event.seq);
        frames.write(b"\ndata: ");
        frames.write_body(&event.body);
        frames.write(b"\n\n");
    }
    frames.finish()
}

/// A comment that keeps a quiet stream alive.
pub(super) fn keep_alive() -> Pieces {
    KEEP_ALIVE_COMMENT.into()
}

/// The last frame of a closed session.
pub(super) fn closed_frame(last: Seq) -> Pieces {
    Bytes::from(format!("id: {last}\nevent: closed\ndata: {{}}\n\n")).into()
}

/// The number to resume after: the header that browsers send, or else the parameter.
pub(super) fn resume_point(headers: &HeaderMap, after: Option<Seq>) -> Result<Option<Seq>, ApiError> {
    match headers.get("last-event-id") {
        None => Ok(after),
        Some(value) if value.is_empty() => Ok(after),
        Some(value) => value.to_str().ok().and_then(|text| text.parse().ok()).map(Some).ok_or_else(|| {
            ApiError::bad_request("InvalidCursor", "The header Last-Event-ID takes the number of an event.")
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Timestamp;

    #[test]
    fn an_event_is_its_number_and_one_line_of_data() {
        let event = |seq, body: &'static str| StoredEvent {
            seq,
            time: Timestamp::from_millis(0),
            body: Bytes::from_static(body.as_bytes()),
        };
        let mut pieces = frames(&[event(9, "{}"), event(u64::MAX, "{\"a\":1}")]);
        let only = pieces.next().expect("small events are one piece");
        assert_eq!(only, "id: 9\ndata: {}\n\nid: 18446744073709551615\ndata: {\"a\":1}\n\n");
        assert_eq!(pieces.len(), 0);
    }

    #[test]
    fn a_reader_of_a_long_message_copies_none_of_it() {
        let body = Bytes::from(vec![b'x'; 10_000_000]);
        let event = StoredEvent { seq: 7, time: Timestamp::from_millis(0), body: body.clone() };
        let readers: Vec<Pieces> = (0..250).map(|_| frames(std::slice::from_ref(&event))).collect();
        let memory = body.as_ptr_range();
        let mut copied = 0;
        for mut pieces in readers {
            while let Some(piece) = pieces.next() {
                copied += if memory.contains(&piece.as_ptr()) { 0 } else { piece.len() };
            }
        }
        assert!(copied < 250 * 64, "{copied} bytes for 250 readers");
    }
}

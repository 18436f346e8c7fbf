//! Server-sent events: one response per event, numbered, resumable.

use std::convert::Infallible;
use std::future::Future;
use std::time::Duration;

use axum::body::Body;
use axum::http::{HeaderMap, header};
use axum::response::{IntoResponse, Response};
use bytes::{Bytes, BytesMut};

use super::error::ApiError;
use crate::model::Seq;
use crate::store::StoredEvent;

/// How often a quiet stream says that it is still there.
pub(super) const KEEP_ALIVE: Duration = Duration::from_secs(15);
pub(super) const KEEP_ALIVE_COMMENT: Bytes = Bytes::from_static(b": keep-alive\n\n");

/// Something that gives the next chunk of a stream, or ends it.
pub(super) trait Chunks: Send + 'static {
    fn next(&mut self) -> impl Future<Output = Option<Bytes>> + Send;
}

/// A response that streams. The next chunk is made when the reader has taken the last one, so a slow reader holds one
/// chunk and nobody else up.
pub(super) fn stream(chunks: impl Chunks) -> Response {
    let stream = futures_util::stream::unfold(chunks, |mut chunks| async move {
        chunks.next().await.map(|chunk| (Ok::<_, Infallible>(chunk), chunks))
    });
    let headers = [(header::CONTENT_TYPE, "text/event-stream"), (header::CACHE_CONTROL, "no-store")];
    (headers, Body::from_stream(stream)).into_response()
}

/// Events as one chunk: `id:` and `data:` each.
pub(super) fn frames(events: &[StoredEvent]) -> Bytes {
    let size = events.iter().map(|event| event.body.len() + 32).sum();
    let mut chunk = BytesMut::with_capacity(size);
    let mut digits = itoa_buffer();
    for event in events {
        chunk.extend_from_slice(b"id: ");
        chunk.extend_from_slice(digits.write(event.seq));
        chunk.extend_from_slice(b"\ndata: ");
        chunk.extend_from_slice(&event.body);
        chunk.extend_from_slice(b"\n\n");
    }
    chunk.freeze()
}

/// The last word on a closed session.
pub(super) fn closed_frame(last: Seq) -> Bytes {
    Bytes::from(format!("id: {last}\nevent: closed\ndata: {{}}\n\n"))
}

/// Where a reader wants to go on: the header that browsers send, else the parameter.
pub(super) fn resume_point(headers: &HeaderMap, after: Option<Seq>) -> Result<Option<Seq>, ApiError> {
    match headers.get("last-event-id") {
        None => Ok(after),
        Some(value) if value.is_empty() => Ok(after),
        Some(value) => value.to_str().ok().and_then(|text| text.parse().ok()).map(Some).ok_or_else(|| {
            ApiError::bad_request("InvalidCursor", "The header Last-Event-ID takes the number of an event.")
        }),
    }
}

struct Digits([u8; 20]);

fn itoa_buffer() -> Digits {
    Digits([0; 20])
}

impl Digits {
    /// The number in decimal, without an allocation: this runs once per event and reader.
    fn write(&mut self, mut number: u64) -> &[u8] {
        let mut at = self.0.len();
        loop {
            at -= 1;
            self.0[at] = b'0' + u8::try_from(number % 10).unwrap_or(0);
            number /= 10;
            if number == 0 {
                return &self.0[at..];
            }
        }
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
        assert_eq!(
            frames(&[event(9, "{}"), event(u64::MAX, "{\"a\":1}")]),
            "id: 9\ndata: {}\n\nid: 18446744073709551615\ndata: {\"a\":1}\n\n"
        );
    }
}

//! The bytes of a response, built from shared parts: a large event is sent from memory that all its readers share, and
//! a small one is copied, which costs less than counting references to it.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::{Bytes, BytesMut};
use http_body::{Frame, SizeHint};

/// The most bytes that a connection takes at a time.
pub(super) const PIECE_BYTES: usize = 64 * 1024;
/// Event bodies from this size on are shared.
const SHARED_FROM: usize = 16 * 1024;

/// A response that is being built.
#[derive(Debug, Default)]
pub(super) struct PiecesBuilder {
    done: VecDeque<Bytes>,
    open: BytesMut,
}

/// The parts of a response that have not been sent yet.
#[derive(Debug, Default)]
pub(super) struct Pieces {
    parts: VecDeque<Bytes>,
    len: usize,
    /// As a body: a piece was sent, and other tasks run before the next one.
    yields: bool,
}

impl PiecesBuilder {
    /// With room for this many copied bytes.
    pub fn with_capacity(bytes: usize) -> Self {
        Self { done: VecDeque::new(), open: BytesMut::with_capacity(bytes) }
    }

    /// How much of a body of this size is copied.
    pub fn copied(len: usize) -> usize {
        if len < SHARED_FROM { len } else { 0 }
    }

    pub fn write(&mut self, bytes: &[u8]) {
        self.open.extend_from_slice(bytes);
    }

    pub fn write_number(&mut self, number: u64) {
        self.write(itoa::Buffer::new().format(number).as_bytes());
    }

    pub fn write_body(&mut self, body: &Bytes) {
        if body.len() < SHARED_FROM {
            self.write(body);
            return;
        }
        self.close_open();
        self.done.push_back(body.clone());
    }

    pub fn finish(mut self) -> Pieces {
        self.close_open();
        Pieces { len: self.done.iter().map(Bytes::len).sum(), parts: self.done, yields: false }
    }

    fn close_open(&mut self) {
        if !self.open.is_empty() {
            self.done.push_back(self.open.split().freeze());
        }
    }
}

impl Pieces {
    /// Bytes that are left.
    pub fn len(&self) -> usize {
        self.len
    }

    /// The next bytes to send.
    pub fn next(&mut self) -> Option<Bytes> {
        let first = self.parts.front_mut()?;
        let piece = if first.len() > PIECE_BYTES { first.split_to(PIECE_BYTES) } else { self.parts.pop_front()? };
        self.len -= piece.len();
        Some(piece)
    }
}

/// Other tasks run between two pieces: many readers of one long message must not delay a short request until all of
/// them have it.
impl http_body::Body for Pieces {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        if std::mem::take(&mut self.yields) {
            context.waker().wake_by_ref();
            return Poll::Pending;
        }
        let piece = self.next();
        self.yields = self.len > 0;
        Poll::Ready(piece.map(|piece| Ok(Frame::data(piece))))
    }

    fn is_end_stream(&self) -> bool {
        self.len == 0
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.len as u64)
    }
}

impl From<Bytes> for Pieces {
    fn from(bytes: Bytes) -> Self {
        Self { len: bytes.len(), parts: VecDeque::from([bytes]), yields: false }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_large_body_is_sent_from_the_memory_that_its_readers_share() {
        let body = Bytes::from(vec![b'x'; 3 * PIECE_BYTES]);
        let mut builder = PiecesBuilder::with_capacity(16);
        builder.write(b"id: ");
        builder.write_number(u64::MAX);
        builder.write_body(&Bytes::from_static(b" small "));
        builder.write_body(&body);
        builder.write(b"\n\n");
        let mut pieces = builder.finish();
        let len = pieces.len();
        let sent: Vec<Bytes> = std::iter::from_fn(|| pieces.next()).collect();
        assert_eq!((pieces.len(), sent.iter().map(Bytes::len).sum::<usize>()), (0, len));
        assert_eq!(sent[0], "id: 18446744073709551615 small ");
        for (number, piece) in sent[1..4].iter().enumerate() {
            assert_eq!(piece.as_ptr(), body[number * PIECE_BYTES..].as_ptr(), "a slice of the event, not a copy");
        }
        assert_eq!((sent.len(), &sent[4][..]), (5, &b"\n\n"[..]));
    }

    #[test]
    fn what_a_response_copies_is_what_its_small_bodies_take() {
        assert_eq!(PiecesBuilder::copied(SHARED_FROM - 1), SHARED_FROM - 1);
        assert_eq!(PiecesBuilder::copied(10_000_000), 0);
    }
}

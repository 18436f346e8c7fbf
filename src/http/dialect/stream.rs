//! An answer as a stream.

use axum::http::{HeaderName, HeaderValue};
use axum::response::Response;
use bytes::Bytes;

use super::refusal::redacted;
use super::{Dialect, Frames};
use crate::capture::{Answer, Piece};
use crate::http::pieces::Pieces;
use crate::http::sse::{self, Chunks};

/// Streams an answer from its first piece, or from its beginning if there is none yet. Each piece is sent at once. The
/// next one is taken when the client has taken the last, so a client that does not read costs no memory, and one that
/// hangs up drops the answer.
pub(super) fn stream<D: Dialect + Sync>(dialect: D, answer: Answer, first: Option<Piece>) -> Response {
    let mut chunks = AnswerStream { dialect, answer, frames: Frames::default(), has_ended: false };
    chunks.dialect.begin_stream(&mut chunks.frames);
    if let Some(piece) = first {
        chunks.encode(piece);
    }
    let mut response = sse::stream(chunks);
    // Proxies collect a response before they pass it on unless they are asked not to.
    response.headers_mut().insert(HeaderName::from_static("x-accel-buffering"), HeaderValue::from_static("no"));
    response
}

struct AnswerStream<D> {
    dialect: D,
    answer: Answer,
    frames: Frames,
    has_ended: bool,
}

impl<D: Dialect> AnswerStream<D> {
    fn encode(&mut self, piece: Piece) {
        self.has_ended = piece.is_end();
        let piece = if let Piece::Failed(error) = piece { Piece::Failed(redacted(error)) } else { piece };
        self.dialect.encode(piece, &mut self.frames);
    }
}

impl<D: Dialect + Sync> Chunks for AnswerStream<D> {
    async fn next(&mut self) -> Option<Pieces> {
        loop {
            // A piece may encode to nothing, such as reasoning that the client does not want.
            let ready = self.frames.take();
            if !ready.is_empty() {
                return Some(ready.into());
            }
            if self.has_ended {
                return None;
            }
            tokio::select! {
                piece = self.answer.next() => self.encode(piece?),
                () = tokio::time::sleep(sse::KEEP_ALIVE) => return Some(Bytes::from_static(D::KEEP_ALIVE).into()),
            }
        }
    }
}

#[cfg(test)]
mod tests;

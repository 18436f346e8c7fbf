use http_body_util::BodyExt as _;
use serde_json::{Value, json};

use super::*;
use crate::capture::{CaptureError, Origin, Reading, Recording, StopReason};
use crate::http::dialect::{ErrorShape, Fields, ReadRequest, Whole};
use crate::http::openai;

/// A dialect that writes text as it is.
struct Plain;

impl Dialect for Plain {
    const NAME: &'static str = "plain";
    const ERRORS: ErrorShape = openai::ERRORS;
    const KEEP_ALIVE: &'static [u8] = b"alive";
    type Answer = Value;

    fn read(_: Fields) -> Result<ReadRequest<Self>, CaptureError> {
        Ok(ReadRequest { request: crate::capture::Request::default(), wants_stream: true, dialect: Self })
    }

    fn begin_answer(&mut self, _: &str, _: i64) {}

    fn whole(&self, _: Whole) -> Value {
        json!({})
    }

    fn begin_stream(&mut self, frames: &mut Frames) {
        frames.raw(b"begin ");
    }

    fn encode(&mut self, piece: Piece, frames: &mut Frames) {
        match piece {
            Piece::Text(text) => frames.raw(text.as_bytes()),
            Piece::End { .. } => frames.raw(b"end"),
            Piece::Failed(error) => frames.raw(error.message.as_bytes()),
            _ => {}
        }
    }
}

fn text(text: &str) -> Piece {
    Piece::Text(text.to_owned())
}

async fn next(body: &mut axum::body::Body) -> Option<String> {
    let frame = body.frame().await?.expect("no errors").into_data().expect("data");
    Some(String::from_utf8(frame.to_vec()).expect("UTF-8"))
}

#[tokio::test(start_paused = true)]
async fn each_piece_is_sent_at_once_and_a_quiet_stream_stays_alive() {
    let recording = Recording::new(Origin::Fresh);
    let response = stream(Plain, recording.reader(), Some(text("one")));
    assert_eq!(response.headers()["content-type"], "text/event-stream");
    assert_eq!(response.headers()["x-accel-buffering"], "no");
    let mut body = response.into_body();
    assert_eq!(next(&mut body).await.as_deref(), Some("begin one"));
    let before = tokio::time::Instant::now();
    assert_eq!(next(&mut body).await.as_deref(), Some("alive"));
    assert_eq!(before.elapsed(), sse::KEEP_ALIVE);
    // What encodes to nothing is passed over.
    recording.push(Piece::Reasoning("hidden".to_owned()));
    recording.push(text("two"));
    assert_eq!(next(&mut body).await.as_deref(), Some("two"));
    recording.push(text("three"));
    recording.push(Piece::End { stop: StopReason::Stop, usage: None });
    assert_eq!(next(&mut body).await.as_deref(), Some("three"));
    assert_eq!(next(&mut body).await.as_deref(), Some("end"));
    assert_eq!(next(&mut body).await, None);
    assert_eq!(*recording.reading().borrow(), Reading::Delivered);
}

#[tokio::test]
async fn a_client_that_does_not_read_takes_no_piece_and_one_that_hangs_up_drops_the_answer() {
    let recording = Recording::new(Origin::Fresh);
    let response = stream(Plain, recording.reader(), None);
    for number in 0..1_000 {
        recording.push(text(&number.to_string()));
    }
    let mut body = response.into_body();
    assert_eq!(next(&mut body).await.as_deref(), Some("begin "));
    assert_eq!(next(&mut body).await.as_deref(), Some("0"), "one piece at a time");
    assert_eq!(*recording.reading().borrow(), Reading::Connected);
    drop(body);
    assert_eq!(*recording.reading().borrow(), Reading::HungUp);
}

#[tokio::test]
async fn a_failure_is_sent_without_secrets() {
    let recording = Recording::new(Origin::Fresh);
    let mut body = stream(Plain, recording.reader(), Some(text("one"))).into_body();
    assert_eq!(next(&mut body).await.as_deref(), Some("begin one"));
    let message = "ghp_0123456789abcdefghijklmnopqrstuvwxyz was refused";
    recording.push(Piece::Failed(CaptureError::new(crate::capture::ErrorKind::Failed, message)));
    assert_eq!(next(&mut body).await.as_deref(), Some("[redacted] was refused"));
    assert_eq!(next(&mut body).await, None);
}

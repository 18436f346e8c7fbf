use http_body_util::BodyExt as _;
use serde_json::{Value, json};

use super::*;
use crate::capture::{Origin, Reading, Recording, StopReason};
use crate::http::openai::Chat;

fn failure() -> CaptureError {
    CaptureError::new(ErrorKind::Limited, "Too many calls.").with_retry_after(Duration::from_millis(1_500))
}

fn end() -> Piece {
    Piece::End { stop: StopReason::Stop, usage: None }
}

/// A chat request and the answer to it, as a response.
async fn respond_to(pieces: Vec<Piece>, wants_stream: bool) -> (StatusCode, HeaderMap, String) {
    let response = finish(Chat::default(), Answer::of(pieces), wants_stream, "seed, stop".to_owned()).await;
    let (status, headers) = (response.status(), response.headers().clone());
    let bytes = response.into_body().collect().await.expect("a body").to_bytes();
    (status, headers, String::from_utf8(bytes.to_vec()).expect("UTF-8"))
}

#[tokio::test]
async fn a_response_says_how_it_was_made_and_what_was_ignored() {
    for wants_stream in [false, true] {
        let (status, headers, body) = respond_to(vec![Piece::Text("Hi".to_owned()), end()], wants_stream).await;
        assert_eq!(status, StatusCode::OK);
        assert_eq!(
            (&headers[CAPTURE_HEADER], &headers[IGNORED_HEADER]),
            (&"fresh".parse().expect("valid"), &"seed, stop".parse().expect("valid"))
        );
        let id = headers["x-request-id"].to_str().expect("text").strip_prefix("req_").expect("a prefix");
        assert_eq!(id.len(), 32, "{id}");
        assert!(body.contains(&format!("chatcmpl-{id}")) && body.contains("Hi"), "{body}");
    }
}

#[tokio::test]
async fn a_failure_before_the_first_piece_is_an_error_with_a_status() {
    for wants_stream in [false, true] {
        let (status, headers, body) = respond_to(vec![Piece::Failed(failure())], wants_stream).await;
        assert_eq!((status, &headers["retry-after"]), (StatusCode::TOO_MANY_REQUESTS, &"2".parse().expect("valid")));
        assert_eq!(headers[CAPTURE_HEADER], "fresh");
        let body: Value = serde_json::from_str(&body).expect("JSON");
        assert_eq!(body["error"]["message"], "Too many calls.");
    }
}

#[tokio::test]
async fn a_failure_after_some_text_is_a_status_or_an_event() {
    let pieces = || vec![Piece::Text("Hi".to_owned()), Piece::Failed(failure())];
    let (status, _, body) = respond_to(pieces(), false).await;
    assert_eq!(status, StatusCode::TOO_MANY_REQUESTS);
    assert!(!body.contains("Hi"), "half an answer is no answer: {body}");
    let (status, _, body) = respond_to(pieces(), true).await;
    assert_eq!(status, StatusCode::OK);
    assert!(body.contains("Hi") && body.contains("rate_limit_exceeded"), "{body}");
}

#[tokio::test(start_paused = true)]
async fn a_stream_begins_before_its_first_piece_if_that_takes_long() {
    let recording = Recording::new(Origin::Held);
    let answer = recording.reader();
    let before = tokio::time::Instant::now();
    let response = finish(Chat::default(), answer, true, String::new()).await;
    assert_eq!(before.elapsed(), FIRST_PIECE);
    assert_eq!(response.headers()[CAPTURE_HEADER], "held");
    assert!(!response.headers().contains_key(IGNORED_HEADER));
    drop(response);
    assert_eq!(*recording.reading().borrow(), Reading::HungUp);
}

#[test]
fn a_caller_may_wish_for_a_mode() {
    let mode = |value: &str| {
        let headers = HeaderMap::from_iter([(CAPTURE_HEADER, value.parse().expect("valid"))]);
        mode_of(&headers).map_err(|error| error.param)
    };
    assert_eq!(mode_of(&HeaderMap::new()).expect("valid"), None);
    assert_eq!((mode("hold"), mode("destroy")), (Ok(Some(Mode::Hold)), Ok(Some(Mode::Destroy))));
    assert_eq!(mode("Destroy it"), Err(Some("x-flightdeck-capture".to_owned())));
    assert_eq!(json!(mode("").is_err()), json!(true));
}

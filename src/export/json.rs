//! A log as JSON: the session, every event and every blob.

use std::fmt::Write as _;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use crate::model::Timestamp;
use crate::store::{Blob, StoredEvent};

/// Raised when a reader of the document would have to change.
const FORMAT: &str = "flightdeck-session/1";
/// Bytes of a blob that are encoded at a time; a multiple of three, so that the pieces fit together.
const PIECE: usize = 3 * 16 * 1024;

pub(super) fn head(out: &mut String, session: &Value, exported_at: Timestamp) {
    let _ =
        write!(out, "{{\"format\":\"{FORMAT}\",\"exportedAt\":\"{exported_at}\",\"session\":{session},\"events\":[");
}

pub(super) fn event(out: &mut String, event: &StoredEvent, is_first: bool) {
    if !is_first {
        out.push(',');
    }
    let _ = write!(out, "\n{{\"seq\":{},\"time\":\"{}\",\"response\":", event.seq, event.time);
    out.push_str(&String::from_utf8_lossy(&event.body));
    out.push('}');
}

pub(super) fn blobs(out: &mut String) {
    out.push_str("\n],\"blobs\":{");
}

pub(super) fn blob(out: &mut String, hash: &str, blob: &Blob, is_first: bool) {
    if !is_first {
        out.push(',');
    }
    let _ = write!(out, "\n{}:{{\"mime\":{},\"base64\":\"", json!(hash), json!(blob.mime));
    for piece in blob.data.chunks(PIECE) {
        STANDARD.encode_string(piece, out);
    }
    out.push_str("\"}");
}

pub(super) fn end(out: &mut String) {
    out.push_str("\n}}\n");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pieces_are_one_document() {
        let mut out = String::new();
        head(&mut out, &json!({ "sessionId": "session-1", "usage": {} }), Timestamp::from_millis(0));
        for seq in 1..=2 {
            let body = format!("{{\"callback\":\"onIdle\",\"n\":{seq}}}").into();
            event(&mut out, &StoredEvent { seq, time: Timestamp::from_millis(0), body }, seq == 1);
        }
        blobs(&mut out);
        let data: Vec<u8> = (0..=255).cycle().take(100_000).collect();
        blob(&mut out, "abc", &Blob { mime: "image/png".to_owned(), data: data.clone() }, true);
        end(&mut out);
        let read: Value = serde_json::from_str(&out).expect("JSON");
        assert_eq!(read["format"], FORMAT);
        assert_eq!(read["session"], json!({ "sessionId": "session-1", "usage": {} }));
        assert_eq!(read["events"][1]["response"]["n"], 2);
        let encoded = read["blobs"]["abc"]["base64"].as_str().expect("text");
        assert_eq!(STANDARD.decode(encoded).expect("base64"), data);
    }
}

//! Server-sent events of a stream.

use bytes::{BufMut as _, Bytes, BytesMut};
use serde::Serialize;

/// Frames that are ready to be sent.
#[derive(Debug, Default)]
pub(in crate::http) struct Frames(BytesMut);

impl Frames {
    /// A frame without a name.
    pub fn data(&mut self, data: &impl Serialize) {
        self.0.extend_from_slice(b"data: ");
        serde_json::to_writer((&mut self.0).writer(), data).expect("plain values, and memory takes them");
        self.0.extend_from_slice(b"\n\n");
    }

    /// A frame with a name.
    pub fn event(&mut self, name: &str, data: &impl Serialize) {
        for part in ["event: ", name, "\n"] {
            self.0.extend_from_slice(part.as_bytes());
        }
        self.data(data);
    }

    /// Bytes as they are.
    pub fn raw(&mut self, bytes: &[u8]) {
        self.0.extend_from_slice(bytes);
    }

    /// Takes what is ready.
    pub fn take(&mut self) -> Bytes {
        self.0.split().freeze()
    }

    /// All events as pairs of name and data; data that is not JSON is a string.
    #[cfg(test)]
    pub fn events(&mut self) -> Vec<(String, serde_json::Value)> {
        use serde_json::Value;

        let text = String::from_utf8(self.take().to_vec()).expect("UTF-8");
        assert!(text.is_empty() || text.ends_with("\n\n"), "{text}");
        let frame = |frame: &str| {
            let (mut name, mut data) = (String::new(), Value::Null);
            for line in frame.lines() {
                match line.split_once(": ") {
                    Some(("event", value)) => value.clone_into(&mut name),
                    Some(("data", value)) => data = serde_json::from_str(value).unwrap_or_else(|_| value.into()),
                    _ => panic!("an unexpected line: {line}"),
                }
            }
            (name, data)
        };
        text.split_terminator("\n\n").map(frame).collect()
    }
}

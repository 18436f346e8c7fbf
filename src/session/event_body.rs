//! The JSON of events, in memory of exactly their size: a tail holds thousands of them, and a buffer that grew by
//! doubling would hold up to twice as much.

use std::io::{self, Write};

use bytes::Bytes;

use crate::model::Response;

/// An event up to this size is copied from the buffer. A larger one is measured first and then written to memory of its
/// own: a buffer that grew with it would hold it twice for a moment.
const BUFFERED: usize = 8 * 1024;

/// Encodes one event after the other in the same buffer.
#[derive(Debug, Default)]
pub(super) struct BodyEncoder {
    buffer: Vec<u8>,
}

impl BodyEncoder {
    pub fn encode(&mut self, response: &Response) -> Bytes {
        self.buffer.clear();
        let mut measured = Measured { buffer: &mut self.buffer, len: 0 };
        response.write_json(&mut measured);
        let len = measured.len;
        if len <= BUFFERED {
            return Bytes::copy_from_slice(&self.buffer);
        }
        let mut body = Vec::with_capacity(len);
        response.write_json(&mut body);
        Bytes::from(body)
    }
}

/// Counts what is written, and keeps the beginning.
struct Measured<'a> {
    buffer: &'a mut Vec<u8>,
    len: usize,
}

impl Write for Measured<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.write_all(bytes)?;
        Ok(bytes.len())
    }

    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.len += bytes.len();
        if self.len <= BUFFERED {
            self.buffer.extend_from_slice(bytes);
        }
        Ok(())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Callback;

    #[test]
    fn an_event_takes_the_memory_of_its_json_and_no_more() {
        let mut encoder = BodyEncoder::default();
        for size in [10, 1_000, BUFFERED - 100, BUFFERED, 1_000_000] {
            let delta = "x".repeat(size);
            let response = Response::from(Callback::Message { message_id: "m".to_owned(), delta });
            let body = encoder.encode(&response);
            assert_eq!(body, response.to_json());
            let len = body.len();
            assert_eq!(Vec::from(body).capacity(), len);
            assert!(encoder.buffer.capacity() <= 2 * BUFFERED, "no room is kept for a large event");
        }
    }
}

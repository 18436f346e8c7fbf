//! The JSON of events, in memory of exactly their size: a tail holds thousands of them, and a buffer that grew by
//! doubling would hold up to twice as much.

use bytes::Bytes;

use crate::model::Response;

/// The buffer is kept for the next event up to this size; a larger one becomes the event itself.
const KEPT: usize = 8 * 1024;

/// Encodes one event after the other in the same buffer.
#[derive(Debug, Default)]
pub(super) struct BodyEncoder {
    buffer: Vec<u8>,
}

impl BodyEncoder {
    pub fn encode(&mut self, response: &Response) -> Bytes {
        self.buffer.clear();
        response.write_json(&mut self.buffer);
        if self.buffer.len() <= KEPT {
            return Bytes::copy_from_slice(&self.buffer);
        }
        let mut body = std::mem::take(&mut self.buffer);
        body.shrink_to_fit();
        Bytes::from(body)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Callback;

    #[test]
    fn an_event_takes_the_memory_of_its_json_and_no_more() {
        let mut encoder = BodyEncoder::default();
        for size in [10, 1_000, KEPT, 1_000_000] {
            let delta = "x".repeat(size);
            let response = Response::from(Callback::Message { message_id: "m".to_owned(), delta });
            let body = encoder.encode(&response);
            assert_eq!(body, response.to_json());
            let len = body.len();
            assert_eq!(Vec::from(body).capacity(), len);
            assert!(encoder.buffer.capacity() <= 2 * KEPT, "no room is kept for a large event");
        }
    }
}

//! A call of `POST /v1/chat/completions`.

use super::chat_answer::{self, ChatCompletion};
use super::chat_request;
use super::error::ERRORS;
use crate::capture::{CaptureError, Piece};
use crate::http::dialect::{Dialect, ErrorShape, Fields, Frames, ReadRequest, Whole};

/// What an answer must know about its request.
#[derive(Debug, Default)]
pub(in crate::http) struct Chat {
    pub id: String,
    pub created: i64,
    pub model: String,
    /// A stream ends with the usage.
    pub include_usage: bool,
    /// Names of free-form tools, whose calls have another shape.
    pub free_form: Vec<String>,
    /// The caller defined `functions` instead of `tools`, and reads one `function_call`.
    pub is_legacy: bool,
    /// The calls that were streamed.
    pub calls: usize,
}

impl Dialect for Chat {
    const NAME: &'static str = "chat";
    const ERRORS: ErrorShape = ERRORS;
    const KEEP_ALIVE: &'static [u8] = b": keep-alive\n\n";
    type Answer = ChatCompletion;

    fn read(body: Fields) -> Result<ReadRequest<Self>, CaptureError> {
        chat_request::read(body)
    }

    fn begin_answer(&mut self, id: &str, time: i64) {
        self.id = format!("chatcmpl-{id}");
        self.created = time;
    }

    fn whole(&self, answer: Whole) -> ChatCompletion {
        chat_answer::whole(self, &answer)
    }

    fn begin_stream(&mut self, frames: &mut Frames) {
        chat_answer::begin(self, frames);
    }

    fn encode(&mut self, piece: Piece, frames: &mut Frames) {
        chat_answer::encode(self, piece, frames);
    }
}

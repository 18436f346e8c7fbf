//! A call of `POST /v1/messages`.

use super::error::ERRORS;
use super::messages_answer::{self, ContentBlock, MessageObject};
use super::messages_request;
use super::usage::MessageUsage;
use crate::capture::{CaptureError, Piece};
use crate::http::dialect::{Block, Dialect, ErrorShape, Fields, Frames, ReadRequest, Whole};

/// What an answer must know about its request, and how far its stream is.
#[derive(Debug, Default)]
pub(super) struct Messages {
    pub id: String,
    pub model: String,
    /// The caller asked for thinking, and to see it.
    pub shows_thinking: bool,
    /// The index of the next content block.
    pub next_block: usize,
    /// The block that is being streamed, without its text.
    pub open: Option<Block>,
}

impl Dialect for Messages {
    const NAME: &'static str = "messages";
    const ERRORS: ErrorShape = ERRORS;
    const KEEP_ALIVE: &'static [u8] = b"event: ping\ndata: {\"type\":\"ping\"}\n\n";
    type Answer = MessageObject;

    fn read(body: Fields) -> Result<ReadRequest<Self>, CaptureError> {
        messages_request::read(body)
    }

    fn begin_answer(&mut self, id: &str, _time: i64) {
        self.id = format!("msg_{id}");
    }

    fn whole(&self, answer: Whole) -> MessageObject {
        messages_answer::whole(self, &answer)
    }

    fn begin_stream(&mut self, frames: &mut Frames) {
        messages_answer::begin(self, frames);
    }

    fn encode(&mut self, piece: Piece, frames: &mut Frames) {
        messages_answer::encode(self, piece, frames);
    }
}

impl Messages {
    /// The message object.
    pub fn object(
        &self,
        content: Vec<ContentBlock>,
        stop_reason: Option<&'static str>,
        usage: MessageUsage,
    ) -> MessageObject {
        MessageObject {
            id: self.id.clone(),
            kind: "message",
            role: "assistant",
            model: self.model.clone(),
            content,
            stop_reason,
            stop_sequence: (),
            usage,
        }
    }
}

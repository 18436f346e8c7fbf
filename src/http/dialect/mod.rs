//! What all dialects of the model API share: reading JSON with errors that name the parameter, collecting a
//! conversation, and answering a request as one response or as a stream.
//!
//! What must always hold here:
//!
//! - A dialect reads and writes JSON and knows nothing of HTTP; `answering` and `stream` know HTTP and no dialect.
//! - A parameter is honoured, ignored and named in the response, or refused by name. None is dropped silently, except
//!   the model's own reasoning, which comes back in histories.
//! - Every error is in the shape of the dialect, also those of the checks before it.

mod answering;
mod estimate;
mod fields;
mod frames;
mod ids;
mod ignored;
mod images;
mod refusal;
mod stream;
mod tools;
mod transcript;
mod whole;

pub(super) use answering::{TokenEstimate, answer, estimate_tokens};
pub(super) use estimate::estimate;
pub(super) use fields::{Fields, content, wrong_kind};
pub(super) use frames::Frames;
pub(super) use ids::random_id;
pub(super) use ignored::Ignored;
pub(super) use images::{from_base64, from_url};
pub(super) use refusal::{ErrorBody, ErrorShape, refusal};
pub(super) use tools::{ToolList, input_of};
pub(super) use transcript::Transcript;
pub(super) use whole::{Block, Whole};

use schemars::JsonSchema;
use serde::Serialize;

use crate::capture::{CaptureError, Piece, Request};

/// One call in a dialect: made from a request, it encodes the answer.
pub(super) trait Dialect: Sized + Send + 'static {
    /// Its name, for the log.
    const NAME: &'static str;
    /// The shape of its errors.
    const ERRORS: ErrorShape;
    /// What a quiet stream sends.
    const KEEP_ALIVE: &'static [u8];
    /// The whole answer.
    type Answer: Serialize + JsonSchema;

    /// Reads the body of a request.
    fn read(body: Fields) -> Result<ReadRequest<Self>, CaptureError>;

    /// Sets the id of the answer (32 hexadecimal digits) and the time in seconds.
    fn begin_answer(&mut self, id: &str, time: i64);

    /// The whole answer.
    fn whole(&self, answer: Whole) -> Self::Answer;

    /// What a stream begins with.
    fn begin_stream(&mut self, frames: &mut Frames);

    /// One more piece of a stream; the last one ends it.
    fn encode(&mut self, piece: Piece, frames: &mut Frames);
}

/// A request that was read.
#[derive(Debug)]
pub(super) struct ReadRequest<D> {
    pub request: Request,
    pub wants_stream: bool,
    pub dialect: D,
}

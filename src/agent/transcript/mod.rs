//! What a stream of an agent's events comes to: the same for a live turn and for a recorded one.
//!
//! What must always hold here: nothing in a recording can stop its reading, and a turn counts as succeeded only by the
//! rules of `verdict.rs`.

mod recording;
mod replay;
mod stream;
mod verdict;

pub use recording::EventReader;
pub(super) use recording::{Recorded, message};
pub use replay::{NotReplayable, Replayed, replay};
pub(super) use stream::Tally;
pub use stream::{StreamEnd, StreamReader, Terminal};
pub use verdict::{ProcessEnd, judge};

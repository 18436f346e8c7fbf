//! The result of a stream of agent events, computed by the same code for live and recorded turns.
//!
//! Invariants: no content of a recording stops the reader, and a turn succeeds only by the rules of `verdict.rs`.

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

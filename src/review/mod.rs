//! What agents did to files: since the last commit, in a session or in a turn; reverted on request, and undone.
//!
//! Sessions report when turns begin and end ([`crate::session::TurnObserver`]). A snapshot of the folder is taken each time,
//! in the background.
//!
//! What must always hold here:
//!
//! - No turn, reader or command waits for a snapshot.
//! - A snapshot that is not taken has a reason, which people are shown.
//! - What a revert replaces is on disk, in a copy, before it is replaced.
//! - Everything of a session is below one folder in the data folder, has limits, and is deleted with the session. All sessions together
//!   have one too: the snapshots of those that worked last stay.

mod cleanup;
mod error;
mod kept;
mod record;
mod reviews;
mod room;
mod snapshots;

pub use error::ReviewError;
pub use kept::KeptRevert;
pub use record::{Outcome, TurnRecord};
pub use reviews::{FileReview, Review, ReviewScope, Reviews, ReviewsParts, Target};

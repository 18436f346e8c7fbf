//! The client of the server on this machine, for every command: requests, typed calls, and streams of events.
//!
//! What must always hold here:
//!
//! - A stream that was cut off continues after the last number that was read: nothing is skipped and nothing repeated.
//! - A server is found by its data folder each time, because a restarted one may have another address.
//! - What a server of a later version adds to an answer is ignored, never an error.

mod call;
mod error;
mod event_stream;
mod follower;
mod local_server;
mod session_entry;
mod sessions;

pub use call::{about_folder, with_query};
pub use error::ClientError;
pub use event_stream::{EventStream, ServerEvent};
pub use follower::{Follower, Step};
pub use local_server::LocalServer;
pub use session_entry::{LoggedResponse, MoreDetails, SessionDetails, SessionEntry};
pub use sessions::{NewSession, PermissionAnswer, Prompt, QuestionAnswer};

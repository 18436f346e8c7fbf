//! Full-text search over the logs of all sessions: what of an event can be found (`text.rs`), how it gets into the index
//! (`indexer.rs`), what a search means (`query.rs`), and what it finds (`results.rs`).
//!
//! What must always hold here:
//!
//! - No session waits for the index. It is behind the logs for a moment, or longer after an update or a restore, and says so.
//! - No search is a syntax error of the database: what is not an operator of ours is text.
//! - A deleted session is not found.

mod indexer;
mod query;
mod results;
mod text;

pub use indexer::run_indexer;
pub use query::{InvalidSearch, LastWord, parse};
pub use results::{Cursor, Hit, RANKED, Results, Search, search};

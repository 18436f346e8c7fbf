//! A session as a document: Markdown for people, JSON for programs, or Markdown with its files in one archive.
//!
//! What must always hold here:
//!
//! - A document is written piece by piece while the log is read: no session is too long for it.
//! - What an agent wrote cannot break out of its place: outputs are fenced with more backticks than they contain, and what is
//!   folded stays folded.
//! - An export that cannot be completed ends with an error, never as if it were complete.

mod archive;
mod document;
mod fence;
mod json;
mod markdown;

pub use document::{Export, ExportError, ExportFormat};
pub use markdown::SessionHead;

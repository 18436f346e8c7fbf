//! Translates Copilot's messages into events, without I/O.

mod event;
mod event_kinds;
mod model_retry;
mod notices;
mod permission;
mod questions;
mod seen;
mod tool_results;
mod translate;

pub(super) use event::{Event, EventHead, Source};
pub(super) use event_kinds::is_of_ignored_family;
pub use event_kinds::{EventUse, known_event_use};
pub(super) use questions::{Question, Reply};
pub(super) use translate::Translated;
pub(in crate::agent) use translate::Translator;

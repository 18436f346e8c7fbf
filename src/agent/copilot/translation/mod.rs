//! Translates Copilot's messages into events, without I/O.

mod event;
mod notices;
mod permission;
mod questions;
mod seen;
mod tool_results;
mod translate;

pub(super) use event::{Event, EventHead, Source};
pub(super) use questions::{Question, Reply};
pub(super) use translate::Translated;
pub(in crate::agent) use translate::Translator;

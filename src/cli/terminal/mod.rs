//! What commands share that talk to a person: texts without control characters, colours, lines that are redrawn, and
//! what is typed.

pub(super) mod keyboard;
pub(super) mod markdown;
pub(super) mod screen;
pub(super) mod style;
pub(super) mod text;

//! The machine with a scripted outside.

mod crashes;
mod kills;
mod tasks;
mod trees;
mod world;

//! Behaviour of the whole program: the real binary on a free port, real SQLite files, real signals.

mod bad_input;
mod command_line;
mod security;
mod sessions;
mod storage;
mod support;

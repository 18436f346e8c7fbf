//! The command line: what is printed, where the server answers, and how it ends.

mod commands;
mod settings;
mod shutdown;
mod start;

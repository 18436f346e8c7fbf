//! The command line: what is printed, where the server answers, and how it ends.

mod commands;
mod config_set;
mod jobs;
mod settings;
mod shutdown;
mod start;
mod tokens;

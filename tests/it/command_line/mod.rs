//! The command line: what is printed, where the server answers, and how it ends.

mod backup;
mod commands;
mod completions;
mod config_set;
mod jobs;
mod service;
mod sessions;
mod settings;
mod shutdown;
mod start;
mod tokens;
mod turn;

//! Flightdeck hosts coding-agent sessions on a person's own machine.
//!
//! `ARCHITECTURE.md` says which module may use which, and `tests/it/architecture.rs` enforces it. In reading order, from
//! plain values outwards:
//!
//! - [`model`]: ids, responses, states and the other plain values
//! - [`private_file`]: small files that nobody else may read
//! - [`scripted_model`]: the model that `doctor` and the tests use
//! - [`config`]: files, environment, flags and their precedence
//! - [`process`]: child processes: started, supervised, ended
//! - [`agent`]: what an agent runtime is, and the runtimes
//! - [`store`]: the only SQL
//! - [`folder`]: the folders that sessions work in, and what changed in them
//! - [`render`]: what agents wrote, as HTML that a page may show
//! - [`search`]: full-text search over all logs
//! - [`export`]: a session as a document
//! - [`session`]: one actor per session, its log and its readers
//! - [`capture`]: an agent as a model for other programs
//! - [`jobs`]: tasks and jobs, which lead sessions through checked steps
//! - [`review`]: what agents did to files, by turn and by session; reverts
//! - [`notify`]: notifications to webhooks, ntfy and Gotify
//! - [`doctor`]: diagnostics of the machine, the database and the agents
//! - [`http`]: the HTTP server
//! - [`client`]: the server as commands see it
//! - [`cli`]: a file per command

pub mod agent;
pub mod capture;
pub mod cli;
pub mod client;
pub mod config;
pub mod doctor;
pub mod export;
pub mod folder;
pub mod http;
pub mod jobs;
pub mod model;
pub mod notify;
pub mod private_file;
pub mod process;
pub mod render;
pub mod review;
pub mod scripted_model;
pub mod search;
pub mod session;
pub mod store;

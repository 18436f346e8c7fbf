//! Behaviour of the whole program: the real binary on a free port, real `SQLite` files, real signals.

mod acp;
mod architecture;
mod bad_input;
mod budget;
mod choices;
mod command_line;
mod copilot;
mod demo;
mod doctor;
mod documentation;
#[path = "../fake_runtime/mod.rs"]
mod fake_runtime;
mod falling_behind;
mod folders;
mod fuzz_corpus;
mod hang_up;
mod headless;
mod kill;
mod live;
mod live_token;
mod log_property;
mod paused_reader;
mod permissions;
mod readme;
mod rendering;
mod replay;
mod retrying;
mod routes;
mod security;
mod sessions;
mod silence;
mod slow_store;
mod storage;
mod stream;
mod support;
mod usage;

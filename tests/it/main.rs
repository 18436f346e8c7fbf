//! Behaviour of the whole program: the real binary on a free port, real `SQLite` files, real signals.

mod architecture;
mod demo;
mod kill;
mod live;
mod live_token;
mod log_property;
mod permissions;
mod routes;
mod sessions;
mod stream;
mod support;

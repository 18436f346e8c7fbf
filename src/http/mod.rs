//! The only HTTP: who gets in, the portal's routes, our own, the pages.
//!
//! What must always hold here:
//!
//! - Every request passes `guard` first: host, origin, authentication, in this order. A route cannot opt out; the open
//!   ones are named there.
//! - The portal's routes answer business errors with 200 and `{"error":"Name"}`; our own use the right status.
//! - A handler that is dropped because its caller hung up has changed nothing, or everything it was asked to: what takes
//!   several steps runs in a task of its own (`Sessions` sees to that).
//! - Nothing here waits for a reader: a slow one holds its own cursor and at most one chunk. Large events are sent from
//!   memory that all their readers share.

mod api;
mod app;
pub mod auth;
mod body;
mod client;
mod error;
mod guard;
mod listen;
mod metrics;
mod pages;
mod pieces;
mod portal;
mod router;
mod serve;
mod sse;
mod usage_metrics;
mod web_files;

pub use api::{UsageQuery, UsageQuestion, models_json, runtimes_json, usage_json};
pub use app::{App, AppParts};
pub use client::{ClientError, LocalServer};
pub use guard::{AllowedHosts, Guard};
pub use listen::{ListenError, Listeners};
pub use serve::{Serving, serve};

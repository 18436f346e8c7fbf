//! HTTP: authentication, the portal's routes, Flightdeck's own routes, and the pages.
//!
//! What must always hold here:
//!
//! - Every request passes `guard` first: host, origin, authentication, in this order. A route cannot opt out; the open
//!   ones are named there.
//! - The portal's routes return errors with status 200 and `{"error":"Name"}`; Flightdeck's own use HTTP status codes.
//! - A handler that is dropped because its client disconnected has done nothing or everything: operations of several
//!   steps run in tasks of their own (in `Sessions`).
//! - Nothing here waits for a reader: a slow one holds its own cursor and at most one chunk. Large events are sent from
//!   memory that all their readers share.

mod anthropic;
mod api;
mod app;
pub mod auth;
mod body;
mod dialect;
mod error;
mod guard;
mod listen;
mod metrics;
mod openai;
mod openapi;
mod pages;
mod pieces;
mod portal;
mod route_needs;
mod router;
mod serve;
mod sse;
mod usage_metrics;
#[cfg_attr(not(debug_assertions), expect(dead_code, reason = "a release build embeds what build.rs made with it"))]
mod web_bundle;
mod web_files;
#[cfg(debug_assertions)]
mod web_folder;
mod web_shell;

pub use api::{UsageQuery, UsageQuestion, models_reply, runtimes_reply, usage_report};
pub use app::{App, AppParts};
pub use guard::{AllowedHosts, Guard};
pub use listen::{ListenError, Listeners};
pub use openapi::openapi;
pub use route_needs::{Need, route_needs};
pub use serve::{Connections, Serving, serve};

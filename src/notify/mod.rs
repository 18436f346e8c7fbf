//! Notifications: what happened is sent to webhooks, ntfy, Gotify and browsers.
//!
//! What must always hold here:
//!
//! - A happening is committed with what it reports, its deliveries are planned in one commit, and each is sent until its
//!   target accepts it or it is given up. A killed server loses none and repeats only what it could not record any more;
//!   the repetition has the same id.
//! - A target waits for nobody: each has its own task and at most one request under way, on a thread of its own.
//! - Secrets and addresses of targets are in no log, no error and no answer.
//! - Everything except `sender.rs`, `notifier.rs` and `browsers.rs` is pure: no I/O and no clock.

mod backoff;
mod browsers;
mod message;
mod notifier;
mod plan;
mod push;
mod quiet_hours;
mod sender;
mod settings;
mod signature;
mod statistics;
mod wire;

pub use browsers::{browser_name, browser_number};
pub use notifier::{Notifier, NotifierParts, TestOutcome};
pub use push::{PushKey, PushTarget, Subscription, SubscriptionError};
pub use quiet_hours::QuietHours;
pub use settings::{NotifySettings, Protocol, Retries, Secret, Target};
pub use statistics::{DeliveryLabels, NotifyStatistics};

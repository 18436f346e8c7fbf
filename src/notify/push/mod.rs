//! Web Push: notifications to browsers, also while no page is open.
//!
//! A browser gives the address of its push service (the endpoint), a key and a secret. A message is encrypted for that key
//! (RFC 8291), so the push service cannot read it, and signed with the server's key (RFC 8292), so nobody else can send
//! one. It says what happened to which session or job, and nothing of what was said or asked there.

mod encryption;
mod endpoint;
mod key;
mod message;
mod subscription;

pub use endpoint::{Endpoint, EndpointError};
pub use key::PushKey;
pub use subscription::{PushTarget, Subscription, SubscriptionError};

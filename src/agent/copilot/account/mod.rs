//! Access to models: a GitHub login or the user's own provider.

mod authentication;
mod catalogue;
mod login;
mod models;
pub(super) mod provider;
pub(super) mod provider_check;

pub(super) use authentication::{Answer, Authentication};
pub(super) use login::DeviceLogin;
pub(super) use models::Models;
pub(super) use provider::{Route, Router};
pub use provider_check::check_provider;

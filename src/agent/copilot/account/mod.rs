//! Who pays for the models: a GitHub login, or a provider of the user's own.

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

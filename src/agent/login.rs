//! Logging in to an agent from the server.

use schemars::JsonSchema;
use serde::Serialize;

use super::BoxFuture;

/// The options of a login.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LoginRequest {
    /// A GitHub host other than github.com.
    pub host: Option<String>,
    /// Store the token in a plain-text file if the machine has no key store.
    pub plain_text: bool,
}

/// The state of a login.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum LoginStage {
    /// No login was started.
    #[default]
    None,
    /// Waiting for a code from the agent.
    Starting,
    /// The user must open the URL and enter the code.
    Waiting,
    /// Done.
    Succeeded,
    /// It failed.
    Failed,
}

/// The current login, or the last one.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct LoginProgress {
    /// Its state.
    #[serde(rename = "state")]
    pub stage: LoginStage,
    /// The URL to open.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub address: Option<String>,
    /// The code to enter there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
    /// The result, for display.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
}

/// A login that the user completes in a browser.
pub trait Login: Send + Sync {
    /// Starts a login unless one is in progress. Returns its state once there is a code or it has failed.
    fn begin(&self, request: LoginRequest) -> BoxFuture<'_, LoginProgress>;

    /// Its state.
    fn progress(&self) -> LoginProgress;

    /// Cancels the current login.
    fn cancel(&self) -> BoxFuture<'_, ()>;
}

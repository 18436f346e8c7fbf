//! Logging in to an agent from here.

use serde::Serialize;

use super::BoxFuture;

/// What the caller chooses.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LoginRequest {
    /// Another GitHub than github.com.
    pub host: Option<String>,
    /// Keep the token in a plain file where the machine has no key store.
    pub plain_text: bool,
}

/// How far a login has come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum LoginStage {
    /// Nobody has begun one.
    #[default]
    None,
    /// The agent is asked for a code.
    Starting,
    /// A person is to visit the address and enter the code.
    Waiting,
    /// Done.
    Succeeded,
    /// It came to nothing.
    Failed,
}

/// A login under way, or the last one.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct LoginProgress {
    /// How far it is.
    #[serde(rename = "state")]
    pub stage: LoginStage,
    /// Where to go.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub address: Option<String>,
    /// What to enter there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
    /// What came of it, for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
}

/// A login that takes a person and a browser.
pub trait Login: Send + Sync {
    /// Begins one, unless one is under way; gives how far it is once there is a code, or it failed.
    fn begin(&self, request: LoginRequest) -> BoxFuture<'_, LoginProgress>;

    /// How far it is.
    fn progress(&self) -> LoginProgress;

    /// Gives up the one under way.
    fn cancel(&self) -> BoxFuture<'_, ()>;
}

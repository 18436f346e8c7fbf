//! Who gets in: the token of the data folder, and browsers that logged in with a one-time code or that token.

mod attempts;
mod caller;
mod codes;
mod cookie;
mod secret;

use std::collections::HashMap;
use std::time::Duration;

use axum::http::{HeaderMap, header};
use parking_lot::Mutex;

use attempts::Attempts;
pub use caller::Caller;
use codes::LoginCodes;
pub(super) use cookie::cookie_header;
use secret::{digest, random_secret};

use crate::config::AuthMode;
use crate::model::{Timestamp, hex};
use crate::session::now;
use crate::store::{DataFolder, FolderError, Store, StoreError};

/// How long a browser stays logged in.
const LOGIN_LIFE: Duration = Duration::from_hours(24 * 30);

/// The server's token, made once per data folder.
#[derive(Clone)]
pub struct ServerToken(String);

impl ServerToken {
    /// Reads the token of a data folder, or makes one. Only the owner can read the file.
    pub fn of(folder: &DataFolder) -> Result<Self, FolderError> {
        let kept =
            folder.read(DataFolder::TOKEN)?.map(|text| text.trim().to_owned()).filter(|text| secret::is_token(text));
        if let Some(token) = kept {
            // Not written again: on a full disk the server must start, so that somebody can make room. The file may
            // have been made readable for others.
            folder.make_private(DataFolder::TOKEN)?;
            return Ok(Self(token));
        }
        let token = random_secret("fd_");
        folder.write_private(DataFolder::TOKEN, &token)?;
        Ok(Self(token))
    }

    /// Reads the token for a program of the same user, such as `flightdeck stop`.
    pub fn read(folder: &std::path::Path) -> Option<Self> {
        Some(Self(std::fs::read_to_string(folder.join(DataFolder::TOKEN)).ok()?.trim().to_owned()))
    }

    pub(super) fn as_str(&self) -> &str {
        &self.0
    }
}

/// Decides who a request comes from.
pub struct Auth {
    mode: AuthMode,
    token: [u8; 32],
    codes: LoginCodes,
    logins: Mutex<HashMap<String, Timestamp>>,
    attempts: Attempts,
    cookie_name: String,
    secure_cookie: bool,
    store: Store,
}

/// What [`Auth`] needs to know.
pub struct AuthSettings {
    /// Who is let in.
    pub mode: AuthMode,
    /// The port, which names the cookie: cookies of one host are shared by all its ports.
    pub port: u16,
    /// Browsers come over TLS.
    pub behind_proxy: bool,
    /// Wrong secrets per minute before further ones are put off.
    pub failures_per_minute: u32,
}

/// Why a request is not let in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Refusal {
    /// Nothing, or something wrong, was shown.
    Unknown,
    /// Too many wrong secrets; try again later.
    TooManyAttempts,
}

impl Auth {
    /// Lets in whoever has `token`, and the browsers that logged in earlier.
    pub async fn new(token: &ServerToken, settings: AuthSettings, store: Store) -> Result<Self, StoreError> {
        let logins = store.logins(now()).await?.into_iter().collect();
        Ok(Self {
            mode: settings.mode,
            token: digest(token.as_str()),
            codes: LoginCodes::default(),
            logins: Mutex::new(logins),
            attempts: Attempts::new(settings.failures_per_minute),
            cookie_name: format!("flightdeck_{}", settings.port),
            secure_cookie: settings.behind_proxy,
            store,
        })
    }

    /// Whether anybody who reaches the port is let in.
    pub(super) fn is_open(&self) -> bool {
        self.mode == AuthMode::None
    }

    /// A code that logs one browser in; without a span it is good until it is used.
    pub fn new_code(&self, good_for: Option<Duration>) -> String {
        self.codes.issue(good_for)
    }

    /// Who a request comes from.
    pub(super) fn identify(&self, headers: &HeaderMap) -> Result<Caller, Refusal> {
        if let Some(shown) = bearer(headers) {
            if digest(shown) == self.token {
                return Ok(Caller::Program);
            }
            if !self.is_open() {
                return Err(self.refuse());
            }
        }
        if self.has_login(headers) {
            return Ok(Caller::Page);
        }
        if self.is_open() {
            // Browsers say where a request comes from; programs do not.
            let from_page = headers.contains_key("sec-fetch-site");
            return Ok(if from_page { Caller::Page } else { Caller::Program });
        }
        Err(Refusal::Unknown)
    }

    fn has_login(&self, headers: &HeaderMap) -> bool {
        let Some(shown) = cookie::find(headers, &self.cookie_name) else { return false };
        let hash = hex(&digest(shown));
        self.logins.lock().get(&hash).is_some_and(|expires_at| *expires_at > now())
    }

    /// Logs a browser in with a one-time code. Gives the cookie to set.
    pub(super) async fn log_in_with_code(&self, code: &str) -> Result<String, LogInError> {
        if !self.codes.redeem(code) {
            return Err(LogInError::Refused(self.refuse()));
        }
        self.log_in().await
    }

    /// Logs a browser in with the token itself. Gives the cookie to set.
    pub(super) async fn log_in_with_token(&self, token: &str) -> Result<String, LogInError> {
        if digest(token) != self.token {
            return Err(LogInError::Refused(self.refuse()));
        }
        self.log_in().await
    }

    async fn log_in(&self) -> Result<String, LogInError> {
        let held = random_secret("fdc_");
        let hash = hex(&digest(&held));
        let life = i64::try_from(LOGIN_LIFE.as_millis()).unwrap_or(i64::MAX);
        let expires_at = Timestamp::from_millis(now().as_millis().saturating_add(life));
        self.store.add_login(hash.clone(), now(), expires_at).await.map_err(LogInError::Store)?;
        self.logins.lock().insert(hash, expires_at);
        Ok(cookie::set(&self.cookie_name, &held, LOGIN_LIFE, self.secure_cookie))
    }

    /// Counts a wrong secret.
    fn refuse(&self) -> Refusal {
        if self.attempts.one_more() { Refusal::TooManyAttempts } else { Refusal::Unknown }
    }
}

/// A browser could not be logged in.
#[derive(Debug)]
pub(super) enum LogInError {
    Refused(Refusal),
    Store(StoreError),
}

fn bearer(headers: &HeaderMap) -> Option<&str> {
    let value = headers.get(header::AUTHORIZATION)?.to_str().ok()?;
    let (scheme, token) = value.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
}

//! Authentication: by the token of the data folder, by a token with scopes, or by a login in a browser with a one-time
//! code or the token of the data folder.
//!
//! A browser's login has two halves. The cookie is sent to every port of the host, so other programs on this machine
//! see it: it opens pages and nothing else. The secret is in the page's storage, which belongs to one port, and is sent
//! in a header with every request for data.

mod attempts;
mod caller;
mod codes;
mod cookie;
mod secret;
mod tickets;
mod token_request;
mod tokens;

use std::collections::HashMap;
use std::time::{Duration, Instant};

use axum::http::{HeaderMap, header};
use parking_lot::Mutex;

use attempts::Attempts;
pub use caller::Caller;
use codes::LoginCodes;
pub(super) use cookie::cookie_header;
use secret::{digest, is_same, random_secret};
use tickets::Tickets;
pub use token_request::{TokenLife, TokenName, TokenRequest, TokenRequestError};
pub use tokens::{CreatedToken, RevokeError, ShownNewToken, ShownToken, Tokens};

use super::route_needs::Need;
use crate::config::AuthMode;
use crate::model::{Scope, Scopes, Timestamp, hex};
use crate::session::now;
use crate::store::{DataFolder, FolderError, Store, StoreError, StoredLogin};

/// The header in which a page sends the secret of its login.
pub(super) const SECRET_HEADER: &str = "flightdeck-secret";

/// The header in which Anthropic's clients send a token.
const API_KEY_HEADER: &str = "x-api-key";

/// How long a browser stays logged in.
const LOGIN_LIFE: Duration = Duration::from_hours(24 * 30);

/// The server's token, created once per data folder.
#[derive(Clone)]
pub struct ServerToken(String);

impl ServerToken {
    /// Reads the token of a data folder, or creates one. Only the owner can read the file.
    pub fn of(folder: &DataFolder) -> Result<Self, FolderError> {
        let kept =
            folder.read(DataFolder::TOKEN)?.map(|text| text.trim().to_owned()).filter(|text| secret::is_token(text));
        if let Some(token) = kept {
            // Not rewritten: the server must start on a full disk, so that somebody can free space. The file may
            // have been made readable for others.
            folder.make_private(DataFolder::TOKEN)?;
            return Ok(Self(token));
        }
        let token = random_secret("fd_");
        folder.write_private(DataFolder::TOKEN, &token)?;
        Ok(Self(token))
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
    tickets: Tickets,
    tokens: Tokens,
    /// By the hash of the cookie.
    logins: Mutex<HashMap<String, Login>>,
    attempts: Attempts,
    cookie_name: String,
    secure_cookie: bool,
    store: Store,
}

struct Login {
    /// The hash of the secret, in hexadecimal digits.
    secret: String,
    expires_at: Timestamp,
}

/// What a browser gets when it logs in.
pub(super) struct NewLogin {
    /// The value of the `Set-Cookie` header.
    pub cookie: String,
    /// What the page keeps and sends with every request for data.
    pub secret: String,
}

/// The settings of [`Auth`].
pub struct AuthSettings {
    /// Whether authentication is required.
    pub mode: AuthMode,
    /// The port, which is part of the cookie's name: all ports of a host share its cookies.
    pub port: u16,
    /// Browsers connect over TLS.
    pub behind_proxy: bool,
    /// Wrong secrets per minute; further ones are rejected.
    pub failures_per_minute: u32,
}

/// Why a request is rejected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Refusal {
    /// The credentials are missing or wrong.
    Unknown,
    /// The token is valid, but not for this.
    ScopeMissing(Need),
    /// Too many wrong secrets; try again later.
    TooManyAttempts,
}

impl Auth {
    /// Accepts `token` and the browsers that logged in earlier.
    pub async fn new(token: &ServerToken, settings: AuthSettings, store: Store) -> Result<Self, StoreError> {
        let logins = store
            .logins(now())
            .await?
            .into_iter()
            .map(|login| (login.cookie_hash, Login { secret: login.secret_hash, expires_at: login.expires_at }));
        Ok(Self {
            mode: settings.mode,
            token: digest(token.as_str()),
            codes: LoginCodes::default(),
            tickets: Tickets::default(),
            tokens: Tokens::load(store.clone()).await?,
            logins: Mutex::new(logins.collect()),
            attempts: Attempts::new(settings.failures_per_minute),
            cookie_name: format!("flightdeck_{}", settings.port),
            secure_cookie: settings.behind_proxy,
            store,
        })
    }

    /// Whether authentication is turned off.
    pub(super) fn is_open(&self) -> bool {
        self.mode == AuthMode::None
    }

    /// A code that logs one browser in; without a duration it is valid until it is used.
    pub fn new_code(&self, good_for: Option<Duration>) -> String {
        self.codes.issue(good_for)
    }

    /// The tokens with scopes.
    pub(super) fn tokens(&self) -> &Tokens {
        &self.tokens
    }

    /// Who a request comes from, if that caller has what the request needs.
    pub(super) fn identify(&self, headers: &HeaderMap, need: Need) -> Result<Caller, Refusal> {
        let is_for_models = need == Need::Scope(Scope::Models);
        let shown = bearer(headers).map(digest);
        // The header of Anthropic's clients. The server's own token counts in it for models only.
        let api_key = headers.get(API_KEY_HEADER).and_then(|value| value.to_str().ok()).map(digest);
        for (key, takes_own_token) in [(shown, true), (api_key, is_for_models)] {
            let Some(key) = key else { continue };
            if takes_own_token && is_same(&key, &self.token) {
                return Ok(Caller::Program);
            }
            let now = now();
            if let Some(token) = self.tokens.find(&key, now) {
                let scopes: Scopes = token.scopes.iter().collect();
                let is_enough = scopes.include(match need {
                    Need::Scope(scope) => scope,
                    Need::Admin => Scope::Admin,
                    // Open to anybody; whoever may read is told more.
                    Need::Nothing => Scope::View,
                });
                if !is_enough && !self.is_open() {
                    return Err(Refusal::ScopeMissing(need));
                }
                self.tokens.note_use(&token, now);
                return Ok(Caller::Token(token.id, scopes));
            }
        }
        if !self.is_open() && (shown.is_some() || (is_for_models && api_key.is_some())) {
            return Err(self.refuse());
        }
        // Clients of models are programs, so a login in a browser does not open models.
        if !is_for_models && self.has_secret(headers) {
            return Ok(Caller::Page);
        }
        if self.is_open() {
            // Browsers say where a request comes from; programs do not.
            let from_page = headers.contains_key("sec-fetch-site");
            return Ok(if from_page { Caller::Page } else { Caller::Program });
        }
        Err(Refusal::Unknown)
    }

    /// Whether the request has the cookie of a login. That opens pages, never data.
    pub(super) fn may_see_pages(&self, headers: &HeaderMap) -> bool {
        self.with_login(headers, |_| true)
    }

    /// Whether the request has a cookie and the secret that belongs to it.
    fn has_secret(&self, headers: &HeaderMap) -> bool {
        let Some(shown) = headers.get(SECRET_HEADER).and_then(|value| value.to_str().ok()) else { return false };
        let hash = hex(&digest(shown));
        self.with_login(headers, |login| is_same(hash.as_bytes(), login.secret.as_bytes()))
    }

    /// The login that a request belongs to, by the hash of its cookie.
    pub(super) fn login_of(&self, headers: &HeaderMap) -> Option<String> {
        let shown = cookie::find(headers, &self.cookie_name).filter(|_| self.has_secret(headers))?;
        Some(hex(&digest(shown)))
    }

    fn with_login(&self, headers: &HeaderMap, check: impl FnOnce(&Login) -> bool) -> bool {
        let Some(shown) = cookie::find(headers, &self.cookie_name) else { return false };
        let hash = hex(&digest(shown));
        self.logins.lock().get(&hash).is_some_and(|login| login.expires_at > now() && check(login))
    }

    /// A ticket that opens this path and query once, within a minute.
    pub(super) fn new_ticket(&self, address: &str) -> String {
        self.tickets.issue(address, Instant::now())
    }

    /// Accepts an unused ticket for this path and query.
    pub(super) fn redeem_ticket(&self, ticket: &str, address: &str) -> Result<Caller, Refusal> {
        if self.tickets.redeem(ticket, address, Instant::now()) { Ok(Caller::Page) } else { Err(self.refuse()) }
    }

    /// Logs a browser in with a one-time code.
    pub(super) async fn log_in_with_code(&self, code: &str) -> Result<NewLogin, LogInError> {
        if !self.codes.redeem(code) {
            return Err(LogInError::Refused(self.refuse()));
        }
        self.log_in().await
    }

    /// Logs a browser in with the token itself.
    pub(super) async fn log_in_with_token(&self, token: &str) -> Result<NewLogin, LogInError> {
        if !is_same(&digest(token), &self.token) {
            return Err(LogInError::Refused(self.refuse()));
        }
        self.log_in().await
    }

    async fn log_in(&self) -> Result<NewLogin, LogInError> {
        let (held, secret) = (random_secret("fdc_"), random_secret("fds_"));
        let (cookie_hash, secret_hash) = (hex(&digest(&held)), hex(&digest(&secret)));
        let life = i64::try_from(LOGIN_LIFE.as_millis()).unwrap_or(i64::MAX);
        let expires_at = Timestamp::from_millis(now().as_millis().saturating_add(life));
        let login = StoredLogin { cookie_hash: cookie_hash.clone(), secret_hash: secret_hash.clone(), expires_at };
        self.store.add_login(login, now()).await.map_err(LogInError::Store)?;
        self.logins.lock().insert(cookie_hash, Login { secret: secret_hash, expires_at });
        Ok(NewLogin { cookie: cookie::set(&self.cookie_name, &held, LOGIN_LIFE, self.secure_cookie), secret })
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

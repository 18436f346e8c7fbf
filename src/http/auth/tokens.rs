//! Tokens with scopes: created, listed, revoked, and recognised by the hash of their secret.
//!
//! A request looks its token up in memory. The store is written when a token is created or revoked, and at most once a
//! minute per token for the time of its last use, which nobody waits for.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use parking_lot::RwLock;
use schemars::JsonSchema;
use serde::Serialize;

use super::secret::{digest, random_secret};
use super::token_request::TokenRequest;
use crate::model::{Scope, Timestamp, TokenId, hex};
use crate::store::{NewToken, Revocation, Store, StoreError, StoredToken};

/// The time of the last use is written at most this often.
const MILLIS_BETWEEN_NOTES: i64 = 60_000;
/// Not used yet.
const NEVER: i64 = i64::MIN;

/// The tokens that are not revoked, by the hash of their secret.
pub struct Tokens {
    store: Store,
    known: RwLock<HashMap<String, Arc<Token>>>,
}

pub(super) struct Token {
    pub id: TokenId,
    pub scopes: BTreeSet<Scope>,
    expires_at: Option<Timestamp>,
    /// Milliseconds, or [`NEVER`].
    last_used: AtomicI64,
    /// The last use that was passed to the store.
    last_noted: AtomicI64,
}

/// A token that was just created. It has no `Debug`, so that its secret is not printed by mistake.
pub struct CreatedToken {
    /// Its record.
    pub token: StoredToken,
    /// What its bearer sends. This is the only place where it exists.
    pub secret: String,
}

/// A token could not be revoked.
#[derive(Debug, thiserror::Error)]
pub enum RevokeError {
    /// There is no such token.
    #[error("token {0} not found; `flightdeck tokens list` shows all tokens")]
    NotFound(TokenId),
    /// It was revoked before.
    #[error("token {id} was already revoked on {at}")]
    AlreadyRevoked {
        /// Which.
        id: TokenId,
        /// When.
        at: Timestamp,
    },
    /// The store failed; the token is still valid.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl Tokens {
    /// The tokens of a store.
    pub async fn load(store: Store) -> Result<Self, StoreError> {
        let tokens = store.tokens().await?;
        let valid = tokens.into_iter().filter(|token| token.revoked_at.is_none());
        let known = valid.map(|token| (token.token.hash.clone(), Arc::new(Token::new(&token)))).collect();
        Ok(Self { store, known: RwLock::new(known) })
    }

    /// Creates a token.
    pub async fn create(&self, request: TokenRequest, now: Timestamp) -> Result<CreatedToken, StoreError> {
        let secret = random_secret("fdk_");
        let token = NewToken {
            hash: hex(&digest(&secret)),
            name: request.name.map(|name| name.as_str().to_owned()),
            scopes: request.scopes,
            created_at: now,
            expires_at: request.life.end(now),
        };
        let id = self.store.add_token(token.clone()).await?;
        let token = StoredToken { id, token, last_used_at: None, revoked_at: None };
        self.known.write().insert(token.token.hash.clone(), Arc::new(Token::new(&token)));
        Ok(CreatedToken { token, secret })
    }

    /// All tokens, newest first, including those that expired or were revoked.
    pub async fn list(&self) -> Result<Vec<StoredToken>, StoreError> {
        let mut tokens = self.store.tokens().await?;
        let known = self.known.read();
        for token in &mut tokens {
            let used = known.get(&token.token.hash).and_then(|known| known.last_used());
            token.last_used_at = token.last_used_at.max(used);
        }
        Ok(tokens)
    }

    /// Revokes a token: from now on it opens nothing.
    pub async fn revoke(&self, id: TokenId, now: Timestamp) -> Result<StoredToken, RevokeError> {
        // Out of memory before the store is asked: a caller that hangs up in between leaves a token that opens nothing.
        let removed = self.take(id);
        match self.store.revoke_token(id, now).await {
            Ok(Revocation::Revoked(token)) => Ok(token),
            Ok(Revocation::Earlier(token)) => {
                Err(RevokeError::AlreadyRevoked { id, at: token.revoked_at.unwrap_or(now) })
            }
            Ok(Revocation::NotFound) => Err(RevokeError::NotFound(id)),
            Err(error) => {
                self.known.write().extend(removed);
                Err(error.into())
            }
        }
    }

    /// The token with this secret, if it is valid.
    pub(super) fn find(&self, secret_digest: &[u8; 32], now: Timestamp) -> Option<Arc<Token>> {
        // The time of this lookup depends on the digest, from which nothing about the secret can be learned.
        let token = self.known.read().get(&hex(secret_digest)).cloned()?;
        token.expires_at.is_none_or(|end| end > now).then_some(token)
    }

    /// Records that a token was used.
    pub(super) fn note_use(&self, token: &Token, now: Timestamp) {
        let millis = now.as_millis();
        token.last_used.fetch_max(millis, Ordering::Relaxed);
        let noted = token.last_noted.load(Ordering::Relaxed);
        let is_due = millis.saturating_sub(noted) >= MILLIS_BETWEEN_NOTES;
        // Of several requests at the same moment, one writes.
        if is_due && token.last_noted.compare_exchange(noted, millis, Ordering::Relaxed, Ordering::Relaxed).is_ok() {
            self.store.note_token_use(token.id, now);
        }
    }

    fn take(&self, id: TokenId) -> Option<(String, Arc<Token>)> {
        let mut known = self.known.write();
        let hash = known.iter().find(|(_, token)| token.id == id).map(|(hash, _)| hash.clone())?;
        known.remove_entry(&hash)
    }
}

impl Token {
    fn new(stored: &StoredToken) -> Self {
        let last_used = stored.last_used_at.map_or(NEVER, Timestamp::as_millis);
        Self {
            id: stored.id,
            scopes: stored.token.scopes.clone(),
            expires_at: stored.token.expires_at,
            last_used: AtomicI64::new(last_used),
            last_noted: AtomicI64::new(last_used),
        }
    }

    fn last_used(&self) -> Option<Timestamp> {
        Some(self.last_used.load(Ordering::Relaxed)).filter(|millis| *millis != NEVER).map(Timestamp::from_millis)
    }
}

/// A token as the API and `flightdeck tokens` show it, without hash or secret.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Token")]
pub struct ShownToken {
    id: TokenId,
    name: Option<String>,
    scopes: BTreeSet<Scope>,
    state: TokenState,
    created_at: Timestamp,
    /// Null if it never expires.
    expires_at: Option<Timestamp>,
    last_used_at: Option<Timestamp>,
    revoked_at: Option<Timestamp>,
}

/// Whether a token opens anything.
#[derive(Clone, Copy, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
enum TokenState {
    Active,
    Expired,
    Revoked,
}

impl ShownToken {
    /// The token as it is now.
    pub fn new(stored: StoredToken, now: Timestamp) -> Self {
        let StoredToken { id, token, last_used_at, revoked_at } = stored;
        let state = match (revoked_at, token.expires_at) {
            (Some(_), _) => TokenState::Revoked,
            (None, Some(end)) if end <= now => TokenState::Expired,
            _ => TokenState::Active,
        };
        Self {
            id,
            name: token.name,
            scopes: token.scopes,
            state,
            created_at: token.created_at,
            expires_at: token.expires_at,
            last_used_at,
            revoked_at,
        }
    }
}

/// A new token as the API and `flightdeck tokens create` show it: the only time that its secret is shown.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "CreatedToken")]
pub struct ShownNewToken {
    #[serde(flatten)]
    token: ShownToken,
    /// What its bearer sends. It is not shown again.
    secret: String,
}

impl ShownNewToken {
    /// The token with its secret.
    pub fn new(created: CreatedToken, now: Timestamp) -> Self {
        Self { token: ShownToken::new(created.token, now), secret: created.secret }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::{DataFolder, StoreSettings};

    async fn with_tokens(work: impl AsyncFnOnce(&Store, &Tokens)) {
        let root = tempfile::tempdir().expect("a folder");
        let folder = DataFolder::lock(root.path()).expect("locked");
        let store = Store::open(&folder, StoreSettings::default()).expect("opened");
        let tokens = Tokens::load(store.clone()).await.expect("loaded");
        work(&store, &tokens).await;
        store.close().await;
    }

    fn request() -> TokenRequest {
        TokenRequest::read(&["models".to_owned()], None, Some("1d")).expect("valid")
    }

    fn at(millis: i64) -> Timestamp {
        Timestamp::from_millis(millis)
    }

    #[tokio::test]
    async fn the_last_use_is_written_at_most_once_a_minute_and_listed_exactly() {
        with_tokens(async |store, tokens| {
            let created = tokens.create(request(), at(0)).await.expect("created");
            let token = tokens.find(&digest(&created.secret), at(0)).expect("known");
            for (used, written) in [(5, 5), (6, 5), (60_004, 5), (60_005, 60_005), (120_004, 60_005)] {
                tokens.note_use(&token, at(used));
                store.flush().await.expect("written");
                let stored = store.tokens().await.expect("read");
                assert_eq!(stored[0].last_used_at, Some(at(written)), "{used}");
                assert_eq!(tokens.list().await.expect("read")[0].last_used_at, Some(at(used)));
            }
        })
        .await;
    }

    #[tokio::test]
    async fn a_token_is_known_until_it_expires() {
        with_tokens(async |store, tokens| {
            let created = tokens.create(request(), at(0)).await.expect("created");
            let end = 24 * 3600 * 1000;
            let again = Tokens::load(store.clone()).await.expect("loaded");
            for tokens in [tokens, &again] {
                assert!(tokens.find(&digest(&created.secret), at(end - 1)).is_some());
                assert!(tokens.find(&digest(&created.secret), at(end)).is_none());
                assert!(tokens.find(&digest("fdk_guess"), at(0)).is_none());
            }
        })
        .await;
    }

    #[tokio::test]
    async fn a_token_that_could_not_be_revoked_stays_valid() {
        with_tokens(async |store, tokens| {
            let created = tokens.create(request(), at(0)).await.expect("created");
            store.close().await;
            let error = tokens.revoke(created.token.id, at(1)).await.expect_err("refused");
            assert!(matches!(error, RevokeError::Store(_)), "{error}");
            assert!(tokens.find(&digest(&created.secret), at(1)).is_some());
        })
        .await;
    }
}

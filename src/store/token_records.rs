//! Tokens with scopes, as they are stored: by the hash of their secret.

use std::collections::BTreeSet;

use crate::model::{Scope, Timestamp, TokenId};

/// A token to store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewToken {
    /// The hash of its secret.
    pub hash: String,
    /// Its name, for people.
    pub name: Option<String>,
    /// What it opens.
    pub scopes: BTreeSet<Scope>,
    /// When it was created.
    pub created_at: Timestamp,
    /// From when on it opens nothing; `None` for never.
    pub expires_at: Option<Timestamp>,
}

/// A stored token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredToken {
    /// Its id.
    pub id: TokenId,
    /// What it was created with.
    pub token: NewToken,
    /// When it was last used, to the minute.
    pub last_used_at: Option<Timestamp>,
    /// When it was revoked.
    pub revoked_at: Option<Timestamp>,
}

/// What became of a revocation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Revocation {
    /// The token is revoked now.
    Revoked(StoredToken),
    /// It had been revoked before, at `revoked_at`.
    Earlier(StoredToken),
    /// There is no such token.
    NotFound,
}

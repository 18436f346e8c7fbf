//! Tokens with scopes.

use super::Memory;
use crate::model::{Timestamp, TokenId};
use crate::store::{Answer, NewToken, Revocation, StoredToken, TokenRecords};

impl TokenRecords for Memory {
    fn add_token(&self, new: NewToken) -> Answer<'_, TokenId> {
        self.write_durably(|state| {
            let id = TokenId::from_number(state.tokens.keys().next_back().map_or(0, |id| id.number()) + 1);
            state.tokens.insert(id, StoredToken { id, token: new, last_used_at: None, revoked_at: None });
            id
        })
    }

    fn tokens(&self) -> Answer<'_, Vec<StoredToken>> {
        self.read(|state| state.tokens.values().rev().cloned().collect())
    }

    fn revoke_token(&self, id: TokenId, now: Timestamp) -> Answer<'_, Revocation> {
        self.write_durably(|state| match state.tokens.get_mut(&id) {
            None => Revocation::NotFound,
            Some(token) if token.revoked_at.is_some() => Revocation::Earlier(token.clone()),
            Some(token) => {
                token.revoked_at = Some(now);
                Revocation::Revoked(token.clone())
            }
        })
    }

    fn note_token_use(&self, id: TokenId, at: Timestamp) {
        drop(self.write(|state| {
            if let Some(token) = state.tokens.get_mut(&id) {
                token.last_used_at = token.last_used_at.max(Some(at));
            }
        }));
    }
}

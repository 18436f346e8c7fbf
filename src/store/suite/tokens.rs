//! What must hold for tokens with scopes.

use super::{Ending, Medium};
use crate::model::{Scope, Timestamp, TokenId};
use crate::store::{NewToken, Revocation, StoredToken};

fn at(millis: i64) -> Timestamp {
    Timestamp::from_millis(millis)
}

fn token(name: &str) -> NewToken {
    NewToken {
        hash: format!("hash of {name}"),
        name: Some(name.to_owned()),
        scopes: [Scope::Models].into(),
        created_at: at(1),
        expires_at: Some(at(100)),
    }
}

fn stored(id: TokenId, token: NewToken) -> StoredToken {
    StoredToken { id, token, last_used_at: None, revoked_at: None }
}

pub(super) async fn a_token_is_there_until_it_is_revoked_and_its_record_stays(medium: &Medium) {
    let store = medium.open();
    assert_eq!(store.tokens().await.expect("read"), []);
    let first = store.add_token(token("first")).await.expect("added");
    let unnamed = NewToken { name: None, expires_at: None, scopes: [].into(), ..token("second") };
    let second = store.add_token(unnamed.clone()).await.expect("added");
    assert_ne!(first, second);
    let both = [stored(second, unnamed.clone()), stored(first, token("first"))];
    assert_eq!(store.tokens().await.expect("read"), both, "newest first");

    store.note_token_use(first, at(50));
    store.note_token_use(first, at(40));
    store.note_token_use(TokenId::from_number(99), at(40));
    let used = StoredToken { last_used_at: Some(at(50)), ..stored(first, token("first")) };
    store.flush().await.expect("written");
    assert_eq!(store.tokens().await.expect("read"), [stored(second, unnamed.clone()), used.clone()]);

    let revoked = StoredToken { revoked_at: Some(at(60)), ..used };
    let revoke = async |id, now| store.revoke_token(id, at(now)).await.expect("answered");
    assert_eq!(revoke(first, 60).await, Revocation::Revoked(revoked.clone()));
    assert_eq!(revoke(first, 70).await, Revocation::Earlier(revoked.clone()), "the first time counts");
    assert_eq!(revoke(TokenId::from_number(99), 70).await, Revocation::NotFound);
    assert_eq!(store.tokens().await.expect("read"), [stored(second, unnamed), revoked]);
    store.close().await;
}

pub(super) async fn tokens_and_revocations_survive_a_power_cut(medium: &Medium) {
    let store = medium.open();
    let (first, second) = (store.add_token(token("first")).await, store.add_token(token("second")).await);
    let (first, second) = (first.expect("added"), second.expect("added"));
    store.revoke_token(first, at(5)).await.expect("revoked");
    let store = medium.restart(store, Ending::PowerCut).await;
    let left = store.tokens().await.expect("read");
    let revoked: Vec<(TokenId, bool)> = left.iter().map(|token| (token.id, token.revoked_at.is_some())).collect();
    assert_eq!(revoked, [(second, false), (first, true)]);
    let third = store.add_token(token("third")).await.expect("added");
    assert!(third > second, "an id is never given twice");
    store.close().await;
}

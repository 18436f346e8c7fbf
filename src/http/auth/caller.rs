//! Who a request comes from.

use crate::http::error::{ApiError, ApiResult};
use crate::model::{AnsweredBy, Scope, Scopes, SessionOrigin, TokenId};

/// An authenticated caller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Caller {
    /// A browser that is logged in.
    Page,
    /// A program with the server's own token.
    Program,
    /// A program with a token that has scopes.
    Token(TokenId, Scopes),
}

impl Caller {
    /// How the log names this caller when it answers a request.
    pub fn answered_by(self) -> AnsweredBy {
        match self {
            Self::Page => AnsweredBy::Page,
            Self::Program | Self::Token(..) => AnsweredBy::Api,
        }
    }

    /// The origin of sessions that this caller creates.
    pub fn origin(self) -> SessionOrigin {
        match self {
            Self::Page => SessionOrigin::User,
            Self::Program | Self::Token(..) => SessionOrigin::Api,
        }
    }

    /// Whether this caller may do what needs a scope.
    pub fn may(self, scope: Scope) -> bool {
        match self {
            Self::Page | Self::Program => true,
            Self::Token(_, scopes) => scopes.include(scope),
        }
    }

    /// The error for a caller who may not do what needs a scope.
    pub(in crate::http) fn must_have(self, scope: Scope) -> ApiResult<()> {
        if self.may(scope) { Ok(()) } else { Err(ApiError::scope_missing(scope)) }
    }

    /// Whose token it is, for what is kept apart by token: `admin` for the server's own, or else the token's id.
    pub fn token_id(self) -> String {
        match self {
            Self::Page | Self::Program => "admin".to_owned(),
            Self::Token(id, _) => id.to_string(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_token_has_its_own_name() {
        let token = |number| Caller::Token(TokenId::from_number(number), Scopes::default()).token_id();
        assert_eq!([token(1), token(2), Caller::Program.token_id()], ["token-1", "token-2", "admin"]);
    }
}

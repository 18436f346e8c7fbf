//! Who a request comes from.

use crate::model::{AnsweredBy, SessionOrigin};

/// Somebody who was let in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Caller {
    /// A browser that is logged in.
    Page,
    /// A program with the token.
    Program,
}

impl Caller {
    /// Who the log says answered a request.
    pub fn answered_by(self) -> AnsweredBy {
        match self {
            Self::Page => AnsweredBy::Page,
            Self::Program => AnsweredBy::Api,
        }
    }

    /// Who creates the sessions that this caller creates.
    pub fn origin(self) -> SessionOrigin {
        match self {
            Self::Page => SessionOrigin::User,
            Self::Program => SessionOrigin::Api,
        }
    }
}

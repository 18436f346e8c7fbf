//! Who a request comes from.

use crate::model::{AnsweredBy, SessionOrigin};

/// An authenticated caller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Caller {
    /// A browser that is logged in.
    Page,
    /// A program with the token.
    Program,
}

impl Caller {
    /// How the log names this caller when it answers a request.
    pub fn answered_by(self) -> AnsweredBy {
        match self {
            Self::Page => AnsweredBy::Page,
            Self::Program => AnsweredBy::Api,
        }
    }

    /// The origin of sessions that this caller creates.
    pub fn origin(self) -> SessionOrigin {
        match self {
            Self::Page => SessionOrigin::User,
            Self::Program => SessionOrigin::Api,
        }
    }
}

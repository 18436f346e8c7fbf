//! Who a request comes from.

use crate::model::SessionOrigin;

/// Somebody who was let in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Caller {
    /// A browser that is logged in.
    Page,
    /// A program with the token.
    Program,
}

impl Caller {
    /// The word that stands in the log for whoever answered a request.
    pub fn name(self) -> &'static str {
        match self {
            Self::Page => "page",
            Self::Program => "api",
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

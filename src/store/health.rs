//! Whether the database is writable.

/// Whether the database is writable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StoreHealth {
    /// It is.
    Good,
    /// Not for now; accepted events are kept in memory and retried.
    Refusing {
        /// For people.
        reason: String,
    },
    /// Never again: the writer died because of a bug. The process has to be restarted.
    Dead {
        /// For people.
        reason: String,
    },
}

impl StoreHealth {
    /// Why nothing can be written, if so.
    pub fn reason(&self) -> Option<&str> {
        match self {
            Self::Good => None,
            Self::Refusing { reason } | Self::Dead { reason } => Some(reason),
        }
    }
}

//! Whether the database takes writes.

/// Whether the database takes writes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StoreHealth {
    /// It does.
    Good,
    /// It does not, for now; what was accepted is kept in memory and tried again.
    Refusing {
        /// For people.
        reason: String,
    },
    /// It never will again: the writer ended by a defect. The process has to be restarted.
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

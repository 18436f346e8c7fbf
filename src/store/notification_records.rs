//! What people are notified of, as it is stored: happenings until their deliveries are planned, and the deliveries.

use crate::model::{Happening, HappeningSubject, Timestamp};

/// The number of a stored happening.
pub type HappeningId = u64;
/// The number of a delivery.
pub type DeliveryId = u64;

/// A happening for which no deliveries are planned yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredHappening {
    /// Its number; they are read in this order.
    pub id: HappeningId,
    /// What it is about.
    pub subject: HappeningSubject,
    /// When it was committed.
    pub at: Timestamp,
    /// What happened.
    pub happening: Happening,
}

/// A notification to one target.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewDelivery {
    /// The name of the target.
    pub target: String,
    /// The title of the session or the name of the job at that time.
    pub title: String,
    /// Its folder at that time; empty if it has none.
    pub folder: String,
    /// Where it stands.
    pub progress: DeliveryProgress,
}

/// What became of a delivery.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DeliveryState {
    /// It is sent when it is due.
    Pending,
    /// It is sent when the quiet hours end, together with others that are held.
    Held,
    /// The target accepted it.
    Delivered,
    /// The target did not accept it in time.
    GivenUp,
    /// It came in quiet hours, and those are dropped.
    Dropped,
    /// Somebody was looking.
    Seen,
    /// It asked for something that was done before it was sent.
    Superseded,
}

impl DeliveryState {
    /// Every state.
    pub const ALL: [Self; 7] =
        [Self::Pending, Self::Held, Self::Delivered, Self::GivenUp, Self::Dropped, Self::Seen, Self::Superseded];

    /// The word used in the API and in the store.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Held => "held",
            Self::Delivered => "delivered",
            Self::GivenUp => "given-up",
            Self::Dropped => "dropped",
            Self::Seen => "seen",
            Self::Superseded => "superseded",
        }
    }

    /// The state with that word.
    pub fn named(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|state| state.as_str() == word)
    }

    /// Whether it may still be sent.
    pub fn is_open(self) -> bool {
        matches!(self, Self::Pending | Self::Held)
    }
}

/// How far a delivery is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeliveryProgress {
    /// Its state.
    pub state: DeliveryState,
    /// How often it was sent.
    pub attempts: u32,
    /// When it is due, or when it ended.
    pub at: Timestamp,
    /// Why the last attempt failed.
    pub error: Option<String>,
}

/// A stored delivery.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredDelivery {
    /// Its number.
    pub id: DeliveryId,
    /// What it is about.
    pub subject: HappeningSubject,
    /// When that happened.
    pub happened_at: Timestamp,
    /// What happened.
    pub happening: Happening,
    /// To whom, and how far it is.
    pub delivery: NewDelivery,
}

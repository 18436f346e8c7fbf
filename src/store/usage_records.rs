//! Usage by day, as it is stored.

use crate::model::{Day, SessionId, Usage, UsageTotal};

/// One report of an agent.
#[derive(Clone, Debug)]
pub struct UsageReport {
    /// The day it came.
    pub day: Day,
    /// The session's runtime.
    pub runtime: String,
    /// The model that was used.
    pub model: String,
    /// The figures.
    pub usage: Usage,
}

/// How figures are grouped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UsageGrouping {
    /// By day, the latest first.
    Day,
    /// By model, whatever runtime it was used through; the most tokens first.
    Model,
    /// By runtime, the most tokens first.
    Runtime,
    /// By session, the newest first.
    Session,
}

/// What a row of figures is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum UsageKey {
    /// A day.
    Day(Day),
    /// A model.
    Model {
        /// Its id; empty for an agent's own default.
        model: String,
        /// The runtimes it was used through.
        runtimes: Vec<String>,
    },
    /// A runtime.
    Runtime(String),
    /// A session.
    Session {
        /// Which.
        id: SessionId,
        /// Its title; `None` also when the session was deleted.
        title: Option<String>,
        /// Its runtime.
        runtime: String,
        /// Whether only its figures are left.
        deleted: bool,
    },
}

/// Figures and what they are about.
#[derive(Clone, Debug, PartialEq)]
pub struct UsageRow {
    /// What they are about.
    pub key: UsageKey,
    /// The sums.
    pub total: UsageTotal,
}

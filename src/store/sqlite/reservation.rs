//! Numbers that may be used. They are reserved durably, ahead of their use and in steps, so that after a power cut that
//! lost the last commits no number is used again that a client has seen.

use rusqlite::{Connection, OptionalExtension, params};

use super::events::stream_key;
use crate::model::{Seq, StreamId};
use crate::store::{Append, Change};

/// How far ahead events are reserved: one durable commit per this many events of a stream.
pub(super) const EVENTS: Seq = 65_536;
/// How far ahead prompts are reserved; people see these numbers, so they jump little.
const PROMPTS: u32 = 64;

/// The highest numbers that a stream may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Reservation {
    events: Seq,
    prompts: u32,
}

impl Reservation {
    /// What a new session has; its creation is durable.
    pub const NEW: Self = Self { events: EVENTS, prompts: PROMPTS };
    const NONE: Self = Self { events: 0, prompts: 0 };
    /// A session that is being deleted needs no reservation.
    const NOT_NEEDED: Self = Self { events: Seq::MAX, prompts: u32::MAX };

    pub fn load(connection: &Connection, stream: StreamId) -> rusqlite::Result<Self> {
        let found = match stream {
            StreamId::Session(id) => connection
                .prepare_cached(
                    "SELECT stream.reserved, prompt_reserved FROM session
                     JOIN stream ON stream.id = session.id WHERE session.id = ?1",
                )?
                .query_row([id.number()], |row| Ok(Self { events: row.get(0)?, prompts: row.get(1)? }))
                .optional()?
                .unwrap_or(Self::NOT_NEEDED),
            StreamId::Job(_) | StreamId::Task(_) => connection
                .prepare_cached("SELECT reserved FROM stream WHERE id = ?1")?
                .query_row([stream_key(stream)], |row| Ok(Self { events: row.get(0)?, ..Self::NOT_NEEDED }))
                .optional()?
                .unwrap_or(Self { events: 0, ..Self::NOT_NEEDED }),
        };
        Ok(found)
    }

    /// This reservation, raised as far as an append needs it.
    pub fn covering(self, append: &Append) -> Self {
        let used = Self::used_by(append);
        Self {
            events: if used.events > self.events { used.events + EVENTS } else { self.events },
            prompts: if used.prompts > self.prompts { used.prompts.saturating_add(PROMPTS) } else { self.prompts },
        }
    }

    fn used_by(append: &Append) -> Self {
        let mut used = Self { events: append.last_seq().unwrap_or(0), ..Self::NONE };
        for change in &append.changes {
            if let Change::PromptAccepted(prompt) = change {
                used.prompts = used.prompts.max(prompt.id.number());
            }
        }
        used
    }

    pub fn save(self, connection: &Connection, stream: StreamId) -> rusqlite::Result<()> {
        connection
            .prepare_cached(
                "INSERT INTO stream (id, reserved) VALUES (?1, ?2) ON CONFLICT (id) DO UPDATE SET reserved = ?2",
            )?
            .execute(params![stream_key(stream), self.events])?;
        if let StreamId::Session(id) = stream {
            connection
                .prepare_cached("UPDATE session SET prompt_reserved = ?2 WHERE id = ?1")?
                .execute(params![id.number(), self.prompts])?;
        }
        Ok(())
    }
}

/// After a power cut: numbers continue above everything that was reserved.
pub(super) fn jump(connection: &Connection) -> rusqlite::Result<()> {
    connection.execute_batch(
        "UPDATE stream SET floor = reserved;
         UPDATE session SET prompt_floor = prompt_reserved;",
    )
}

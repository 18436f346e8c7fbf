//! What is known of a session's turns: their snapshots, or why there are none.

use std::path::Path;
use std::time::SystemTime;

use serde::{Deserialize, Serialize};

use crate::folder::Snapshot;
use crate::model::{Timestamp, TurnId};
use crate::private_file::{JsonFileError, read_json, write_json};

/// The newest turns are kept.
const MOST_TURNS: usize = 200;
const FILE: &str = "turns.json";

/// A snapshot, or why there is none.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Outcome {
    /// It was taken.
    Snapshot(Snapshot),
    /// It was not taken, for this reason.
    Skipped(String),
}

/// A turn.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TurnRecord {
    /// Which.
    pub turn: TurnId,
    /// The beginning of its prompt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prompt: Option<String>,
    /// When it began.
    pub started_at: Timestamp,
    /// The folder then.
    pub start: Outcome,
    /// When it ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended_at: Option<Timestamp>,
    /// The folder then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end: Option<Outcome>,
}

/// The turns of a session.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Record {
    /// When the first turn began, and the folder then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first: Option<(Timestamp, Outcome)>,
    /// The newest turns, oldest first.
    pub turns: Vec<TurnRecord>,
}

impl Record {
    /// The record in a session's folder; an empty one if there is none. Blocks.
    pub fn read(folder: &Path) -> Self {
        match read_json(&folder.join(FILE)) {
            Ok(record) => record.unwrap_or_default(),
            Err(error @ (JsonFileError::Read(_) | JsonFileError::Parse(_))) => {
                tracing::warn!(folder = %folder.display(), %error, "could not read the snapshots of a session; starting new ones");
                Self::default()
            }
        }
    }

    /// When the record in a session's folder was last written. Blocks.
    pub fn changed_at(folder: &Path) -> Option<SystemTime> {
        folder.join(FILE).metadata().ok()?.modified().ok()
    }

    /// There are no snapshots any more, for this reason.
    pub fn replace_snapshots(&mut self, reason: &Outcome) {
        let first = self.first.iter_mut().map(|(_, outcome)| outcome);
        let of_turns = self.turns.iter_mut().flat_map(|turn| [Some(&mut turn.start), turn.end.as_mut()]).flatten();
        for outcome in first.chain(of_turns).filter(|outcome| matches!(outcome, Outcome::Snapshot(_))) {
            outcome.clone_from(reason);
        }
    }

    /// Writes the record. Blocks.
    pub fn write(&self, folder: &Path) -> std::io::Result<()> {
        write_json(&folder.join(FILE), self)
    }

    /// A turn began. One that is known already goes on.
    pub fn begin(&mut self, turn: TurnRecord) {
        if self.turns.iter().any(|known| known.turn == turn.turn) {
            return;
        }
        if self.first.is_none() {
            self.first = Some((turn.started_at, turn.start.clone()));
        }
        self.turns.push(turn);
        let surplus = self.turns.len().saturating_sub(MOST_TURNS);
        self.turns.drain(..surplus);
    }

    /// A turn ended.
    pub fn end(&mut self, turn: &TurnId, at: Timestamp, outcome: Outcome) {
        if let Some(known) = self.turns.iter_mut().find(|known| known.turn == *turn) {
            (known.ended_at, known.end) = (Some(at), Some(outcome));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn turn(number: usize) -> TurnRecord {
        TurnRecord {
            turn: TurnId::from(format!("turn-{number}")),
            prompt: None,
            started_at: Timestamp::from_millis(number.try_into().expect("small")),
            start: Outcome::Skipped(format!("reason {number}")),
            ended_at: None,
            end: None,
        }
    }

    #[test]
    fn the_first_moment_stays_when_old_turns_are_dropped() {
        let folder = tempfile::tempdir().expect("a folder");
        let mut record = Record::read(folder.path());
        assert_eq!(record, Record::default());
        for number in 1..=MOST_TURNS + 5 {
            record.begin(turn(number));
        }
        record.begin(TurnRecord { start: Outcome::Skipped("another".to_owned()), ..turn(7) });
        record.end(&TurnId::from("turn-7"), Timestamp::from_millis(9), Outcome::Skipped("end".to_owned()));
        record.end(&TurnId::from("turn-1"), Timestamp::from_millis(9), Outcome::Skipped("forgotten".to_owned()));
        assert_eq!((record.turns.len(), record.turns[0].turn.as_str()), (MOST_TURNS, "turn-6"));
        assert_eq!(record.turns[1].start, Outcome::Skipped("reason 7".to_owned()), "a turn goes on");
        assert_eq!(record.turns[1].ended_at, Some(Timestamp::from_millis(9)));
        assert_eq!(record.first, Some((Timestamp::from_millis(1), Outcome::Skipped("reason 1".to_owned()))));
        record.write(folder.path()).expect("written");
        assert_eq!(Record::read(folder.path()), record);
        std::fs::write(folder.path().join(FILE), "rubbish").expect("written");
        assert_eq!(Record::read(folder.path()), Record::default());
    }
}

//! Requests and responses about changes.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::folder::{Change, ChangeKind};
use crate::http::error::{ApiError, ApiResult};
use crate::model::{SessionId, Timestamp, TurnId};
use crate::review::{KeptRevert, Outcome, ReviewScope, TurnRecord};

/// Since when, and until when.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(in crate::http) enum ScopeName {
    /// Since the last commit.
    #[default]
    Commit,
    /// Since the first turn of the session began.
    Session,
    /// From the beginning of a turn to its end.
    Turn,
}

impl ScopeName {
    /// The scope with its turn.
    pub fn scope(self, turn: Option<TurnId>) -> ApiResult<ReviewScope> {
        match (self, turn) {
            (Self::Commit, None) => Ok(ReviewScope::Commit),
            (Self::Session, None) => Ok(ReviewScope::Session),
            (Self::Turn, Some(turn)) => Ok(ReviewScope::Turn(turn)),
            (Self::Turn, None) | (_, Some(_)) => Err(ApiError::bad_request(
                "InvalidScope",
                "Give a turn together with the scope turn, and only then; GET …/changes lists the turns.",
            )),
        }
    }
}

/// The query of the list.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::http) struct ChangesQuery {
    #[serde(default)]
    pub scope: ScopeName,
    pub turn: Option<TurnId>,
}

/// The query of one file, or of a patch.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::http) struct FileQuery<P> {
    #[serde(default)]
    pub scope: ScopeName,
    pub turn: Option<TurnId>,
    /// The comparison that listed the file, if it is still remembered.
    pub view: Option<String>,
    pub path: P,
}

/// What changed.
#[derive(Debug, Default, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::http) struct ChangesBody {
    pub scope: ScopeName,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub turn: Option<TurnId>,
    /// The top of the repository; null without one.
    pub repository: Option<String>,
    pub branch: Option<String>,
    /// Names this comparison for the requests that follow.
    pub view: Option<String>,
    pub files: Vec<ChangedFileBody>,
    /// Whether there are more files.
    pub truncated: bool,
    /// Why there is nothing, or less than expected.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub since: Option<Timestamp>,
    /// Not there if it is until now.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub until: Option<Timestamp>,
    /// The turns that can be asked for, oldest first.
    pub turns: Vec<TurnBody>,
    /// Other sessions that were in a turn in the same folder meanwhile; what they changed is in the list too.
    pub shared_with: Vec<SharingSession>,
    /// Reverts that can be undone, newest first.
    pub reverted: Vec<RevertBody>,
}

/// A file that changed.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::http) struct ChangedFileBody {
    pub path: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub old_path: Option<String>,
    pub status: ChangeKind,
    /// Lines; null if that is unknown.
    pub added: Option<u64>,
    pub removed: Option<u64>,
    /// Names exactly this change: it is another one when the file is changed again.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub state: Option<String>,
}

impl ChangedFileBody {
    pub fn of(change: &Change, state: Option<String>) -> Self {
        Self {
            state,
            path: change.shown_path(),
            old_path: change.old_path.as_ref().map(|path| path.to_string_lossy().into_owned()),
            status: change.kind,
            added: change.added,
            removed: change.removed,
        }
    }
}

/// A turn whose changes can be asked for.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::http) struct TurnBody {
    pub turn: TurnId,
    /// The beginning of its prompt.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prompt: Option<String>,
    pub started_at: Timestamp,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ended_at: Option<Timestamp>,
    /// Why its changes cannot be shown, if that is so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub skipped: Option<String>,
}

impl From<TurnRecord> for TurnBody {
    fn from(turn: TurnRecord) -> Self {
        let skipped = [Some(turn.start), turn.end].into_iter().flatten().find_map(|outcome| match outcome {
            Outcome::Skipped(reason) => Some(reason),
            Outcome::Snapshot(_) => None,
        });
        Self { turn: turn.turn, prompt: turn.prompt, started_at: turn.started_at, ended_at: turn.ended_at, skipped }
    }
}

/// Another session in the same folder.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::http) struct SharingSession {
    pub session_id: SessionId,
    pub title: Option<String>,
}

/// A revert that can be undone.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::http) struct RevertBody {
    pub revert: u64,
    pub path: String,
    /// Counted from 0; the whole file if there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hunk: Option<usize>,
    pub reverted_at: Timestamp,
}

impl From<KeptRevert> for RevertBody {
    fn from(kept: KeptRevert) -> Self {
        Self { revert: kept.number, path: kept.path, hunk: kept.hunk, reverted_at: kept.at }
    }
}

/// The diff of one file.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::http) struct FileDiffBody {
    pub path: String,
    pub html: String,
    pub truncated: bool,
    /// Names exactly this change, for a revert; not there if it cannot be reverted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub state: Option<String>,
    /// Whether single hunks can be reverted.
    pub hunks: bool,
    /// Why it cannot be reverted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub not_revertible: Option<String>,
}

/// A patch.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::http) struct PatchBody {
    pub patch: String,
    pub left_out: Vec<LeftOut>,
}

/// A file that is not in a patch.
#[derive(Debug, Serialize, JsonSchema)]
pub(in crate::http) struct LeftOut {
    pub path: String,
    pub reason: String,
}

/// What to revert.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::http) struct RevertRequest {
    #[serde(default)]
    pub scope: ScopeName,
    pub turn: Option<TurnId>,
    pub path: String,
    /// Counted from 0; the whole file without one.
    pub hunk: Option<usize>,
    /// As the diff of the file named it.
    pub state: String,
}

/// What to undo.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::http) struct UndoRequest {
    pub revert: u64,
}

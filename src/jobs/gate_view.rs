//! What a person is shown before they decide.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::model::hex;

/// What a person is shown before they decide.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct GateView {
    /// What is decided, in one line.
    pub title: String,
    /// More about it, as Markdown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prompt: Option<String>,
    /// What the works before produced, oldest first.
    #[serde(default)]
    pub works: Vec<WorkResult>,
    /// What changed in the working directory since its last commit; `None` outside a repository.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub changes: Option<ChangedFiles>,
}

/// A work that is over.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct WorkResult {
    /// Its number in the job.
    pub work_id: u32,
    /// The task's name.
    pub task_name: String,
    /// How it came out.
    pub succeeded: bool,
    /// The last decision about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_decision: Option<String>,
}

/// Files that changed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ChangedFiles {
    /// Sorted by path.
    pub files: Vec<ChangedFile>,
    /// There are more.
    #[serde(default)]
    pub truncated: bool,
}

/// A file that changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ChangedFile {
    /// Relative to the top of the repository.
    pub path: String,
    /// How it changed.
    pub kind: String,
    /// Lines added.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub added: Option<u64>,
    /// Lines removed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub removed: Option<u64>,
    /// A hash of what the file holds now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content: Option<String>,
}

impl GateView {
    /// What an answer refers to: it is for exactly this view.
    pub fn digest(&self) -> String {
        let text = serde_json::to_string(self).expect("plain values");
        hex(&Sha256::digest(text))
    }
}

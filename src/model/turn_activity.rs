//! What a turn did.
use serde::{Deserialize, Serialize};

/// What a turn did.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TurnActivity {
    /// Tools
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<String>,
    /// Reports
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reports: Vec<ToolReport>,
    /// Denied
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub denied: Vec<String>,
}

/// A report
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolReport {
    /// Tool
    pub tool: String,
    /// Text
    pub text: String,
}

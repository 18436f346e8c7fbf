//! What sessions of one runtime get when they choose nothing themselves.

use serde_json::{Map, Value};

use super::PermissionMode;

/// The defaults of one runtime. `None` leaves the choice to the defaults of all sessions.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RuntimeDefaults {
    /// The model's id, as the runtime knows it.
    pub model: Option<String>,
    /// The effort.
    pub effort: Option<String>,
    /// The permission mode.
    pub permission_mode: Option<PermissionMode>,
    /// The runtime's own options.
    pub options: Map<String, Value>,
}

impl RuntimeDefaults {
    /// The options of a session: its own, and the defaults for what it leaves out. Null is a choice too: of what the
    /// agent does without the option.
    pub fn complete(&self, mut own: Map<String, Value>) -> Map<String, Value> {
        for (name, value) in &self.options {
            if !own.contains_key(name) {
                own.insert(name.clone(), value.clone());
            }
        }
        own
    }
}

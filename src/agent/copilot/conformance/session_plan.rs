//! The session that a check opens.

use serde_json::{Value, json};

/// What `session.create` gets besides the model.
#[derive(Clone, Default)]
pub(super) struct SessionPlan {
    pub tools: Vec<Value>,
    /// The allow-list; `None` leaves every tool of the program.
    pub available: Option<Vec<String>>,
    pub excluded: Option<Vec<String>>,
    /// Replaces the program's system message.
    pub system: Option<String>,
}

impl SessionPlan {
    /// A session as capture opens it: exactly these tools.
    pub fn of_capture(tools: Vec<Value>) -> Self {
        let names = tools.iter().filter_map(|tool| tool["name"].as_str().map(str::to_owned)).collect();
        Self { tools, available: Some(names), excluded: None, system: Some(SYSTEM_MESSAGE.to_owned()) }
    }

    /// A session as capture opens it for one tool with the parameter `city`.
    pub fn with_tool(name: &str) -> Self {
        Self::of_capture(vec![city_tool(name)])
    }

    /// A session with all of the program's own tools.
    pub fn with_built_ins() -> Self {
        Self::default()
    }

    pub fn parameters(&self) -> Value {
        let mut params = json!({ "tools": self.tools });
        if let Some(names) = &self.available {
            params["availableTools"] = json!(names);
        }
        if let Some(names) = &self.excluded {
            params["excludedTools"] = json!(names);
        }
        if let Some(text) = &self.system {
            params["systemMessage"] = json!({ "mode": "replace", "content": text });
        }
        params
    }
}

pub(super) const SYSTEM_MESSAGE: &str = "You take part in a conformance check.";

/// A declared tool.
pub(super) fn tool(name: &str, parameters: &Value) -> Value {
    json!({
        "name": name,
        "description": format!("The tool {name} of a conformance check"),
        "parameters": parameters,
        "overridesBuiltInTool": true,
    })
}

/// A prompt for one call of a tool with the parameter `city`.
pub(super) fn call_of(tool: &str) -> String {
    format!("@@tool {tool} {{\"city\":\"Paris\"}}")
}

/// A declared tool with one parameter, `city`.
pub(super) fn city_tool(name: &str) -> Value {
    let city = json!({ "city": { "type": "string" } });
    tool(name, &json!({ "type": "object", "properties": city, "required": ["city"] }))
}

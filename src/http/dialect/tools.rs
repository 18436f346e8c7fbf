//! The caller's tools.

use serde_json::{Value, json};

use super::fields::{Fields, wrong_kind};
use crate::capture::{CaptureError, Tool, ToolChoice};
use crate::model::kind_of;

/// The longest name. OpenAI documents 64 and Anthropic 128; the longer one works in both dialects, because the model's
/// own service has the last word.
const LONGEST_NAME: usize = 128;

/// Tools without duplicate names: the first one wins.
#[derive(Debug, Default)]
pub(in crate::http) struct ToolList(Vec<Tool>);

impl ToolList {
    /// Takes a tool out of its definition. The schema of its arguments is in the named field; without one it takes none.
    pub fn add(&mut self, name: String, definition: &mut Fields, schema: &str) -> Result<(), CaptureError> {
        check_name(&name, &definition.path_of("name"))?;
        let description = definition.text("description")?.unwrap_or_default();
        let parameters = parameters(definition.take(schema), definition.path_of(schema))?;
        self.push(Tool { name, description, parameters, is_free_form: false });
        Ok(())
    }

    /// Adds a free-form tool: one that takes a string.
    pub fn add_free_form(&mut self, name: String, description: String, path: &str) -> Result<(), CaptureError> {
        check_name(&name, &format!("{path}.name"))?;
        let parameters = json!({
            "type": "object", "properties": { "input": { "type": "string" } }, "required": ["input"],
            "additionalProperties": false,
        });
        self.push(Tool { name, description, parameters, is_free_form: true });
        Ok(())
    }

    fn push(&mut self, tool: Tool) {
        if !self.has(&tool.name) {
            self.0.push(tool);
        }
    }

    pub fn has(&self, name: &str) -> bool {
        self.0.iter().any(|tool| tool.name == name)
    }

    /// Keeps only the tools with these names.
    pub fn keep(&mut self, names: &[String]) {
        self.0.retain(|tool| names.contains(&tool.name));
    }

    /// The names of the free-form tools.
    pub fn free_form(&self) -> Vec<String> {
        self.0.iter().filter(|tool| tool.is_free_form).map(|tool| tool.name.clone()).collect()
    }

    /// Checks that a choice can be met.
    pub fn check(&self, choice: &ToolChoice, path: &str) -> Result<(), CaptureError> {
        let problem = match choice {
            ToolChoice::Named(name) if !self.has(name) => format!("no tool is named {name:?}"),
            ToolChoice::Required if self.0.is_empty() => "a call is required, but there are no tools".to_owned(),
            _ => return Ok(()),
        };
        Err(CaptureError::invalid(path, format!("Invalid {path}: {problem}.")))
    }

    pub fn into_tools(self) -> Vec<Tool> {
        self.0
    }
}

fn check_name(name: &str, path: &str) -> Result<(), CaptureError> {
    let is_allowed = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
    if (1..=LONGEST_NAME).contains(&name.len()) && name.bytes().all(is_allowed) {
        return Ok(());
    }
    let message = format!(
        "Invalid {path}: a tool's name has 1 to {LONGEST_NAME} letters, digits, underscores or dashes, got {:?}.",
        name.chars().take(LONGEST_NAME + 1).collect::<String>()
    );
    Err(CaptureError::invalid(path, message))
}

fn parameters(schema: Option<Value>, path: String) -> Result<Value, CaptureError> {
    let mut schema = match schema {
        None => return Ok(json!({ "type": "object", "properties": {} })),
        Some(Value::Object(schema)) => schema,
        Some(other) => return Err(wrong_kind(path, "a JSON Schema object", &other)),
    };
    match schema.get("type") {
        Some(Value::String(kind)) if kind == "object" => {}
        None | Some(Value::Null) => {
            schema.insert("type".to_owned(), json!("object"));
        }
        Some(other) => {
            let got = other.as_str().unwrap_or_else(|| kind_of(other));
            let message = format!("Invalid {path}: the schema's type must be \"object\", got {got}.");
            return Err(CaptureError::invalid(path, message));
        }
    }
    Ok(Value::Object(schema))
}

/// The string in the arguments of a call to a free-form tool. A model that wrote something else is quoted as it is.
pub(in crate::http) fn input_of(arguments: &str) -> String {
    let parsed: Option<Value> = serde_json::from_str(arguments).ok();
    match parsed.as_ref().map(|parsed| &parsed["input"]) {
        Some(Value::String(input)) => input.clone(),
        _ => arguments.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_schemas_are_checked_and_the_first_of_a_name_wins() {
        let mut tools = ToolList::default();
        let mut add = |name: &str, schema: Value| {
            let mut definition = Fields::of(json!({ "parameters": schema }), "tools[0]").expect("an object");
            tools.add(name.to_owned(), &mut definition, "parameters").map_err(|error| error.param)
        };
        let name_at = Err(Some("tools[0].name".to_owned()));
        for wrong in ["", "a b", "multi_tool_use.parallel", "ü", &"x".repeat(129)] {
            assert_eq!(add(wrong, json!({})), name_at, "{wrong}");
        }
        for wrong in [json!(true), json!([]), json!("object"), json!({"type": "string"}), json!({"type": ["object"]})] {
            assert_eq!(add("ok", wrong.clone()), Err(Some("tools[0].parameters".to_owned())), "{wrong}");
        }
        assert_eq!(add("mcp__a-b__C1", json!({"properties": {}})), Ok(()));
        assert_eq!(add("mcp__a-b__C1", json!({"type": "object", "title": "second"})), Ok(()));
        let tools = tools.into_tools();
        assert_eq!(tools.len(), 1);
        assert_eq!(tools[0].parameters, json!({"type": "object", "properties": {}}));
    }

    #[test]
    fn the_input_of_a_free_form_call_is_its_string() {
        assert_eq!(input_of(r#"{"input":"*** Begin"}"#), "*** Begin");
        assert_eq!(input_of("broken {"), "broken {");
        assert_eq!(input_of(r#"{"input":5}"#), r#"{"input":5}"#);
    }
}

//! What a caller demands of an answer that an agent cannot be forced to: a tool call, or JSON of a shape. It is asked for,
//! checked, and asked for again.

use serde_json::Value;

use super::{AnswerFormat, CaptureError, Request, ToolChoice};

/// Corrections of one answer; each is another model call.
pub(super) const MOST_CORRECTIONS: usize = 2;

/// The demands of a request.
pub(super) struct Demands {
    choice: ToolChoice,
    format: Format,
}

enum Format {
    Text,
    Object,
    Schema(Box<jsonschema::Validator>),
}

impl Demands {
    /// The demands of a request; an error if its schema is invalid.
    pub fn of(request: &Request) -> Result<Self, CaptureError> {
        let format = match &request.format {
            AnswerFormat::Text => Format::Text,
            AnswerFormat::JsonObject => Format::Object,
            AnswerFormat::JsonSchema { name, schema } => match jsonschema::validator_for(schema) {
                Ok(validator) => Format::Schema(Box::new(validator)),
                Err(error) => {
                    let message =
                        format!("The schema {name:?} of the response format is not a valid JSON Schema: {error}.");
                    return Err(CaptureError::invalid("response_format", message));
                }
            },
        };
        Ok(Self { choice: request.tool_choice.clone(), format })
    }

    /// Whether text must be checked before the caller sees any of it.
    pub fn withhold_text(&self) -> bool {
        !matches!(self.format, Format::Text) || self.must_call()
    }

    fn must_call(&self) -> bool {
        matches!(self.choice, ToolChoice::Required | ToolChoice::Named(_))
    }

    /// What the model is told in this turn.
    pub fn instruction(&self) -> Option<String> {
        match &self.choice {
            ToolChoice::Required => Some("Answer this by calling one or more of the tools, not with text.".to_owned()),
            ToolChoice::Named(name) => Some(format!("Answer this by calling the tool {name}, not with text.")),
            ToolChoice::Auto | ToolChoice::None => None,
        }
    }

    /// The answer's text as the caller gets it, or what the model must be told to correct it.
    pub fn check_text(&self, text: &str) -> Result<String, String> {
        if self.must_call() {
            let said = self.instruction().unwrap_or_default();
            return Err(format!("You answered with text. {said}"));
        }
        let schema = match &self.format {
            Format::Text => return Ok(text.to_owned()),
            Format::Object => None,
            Format::Schema(schema) => Some(schema),
        };
        let json = without_fence(text);
        let value: Value = serde_json::from_str(json)
            .map_err(|error| format!("Your answer is not valid JSON: {error}. Answer with the corrected JSON only."))?;
        match schema {
            None if !value.is_object() => {
                Err("Your answer is not a JSON object. Answer with one JSON object only.".to_owned())
            }
            None => Ok(json.to_owned()),
            Some(schema) => match schema.validate(&value) {
                Ok(()) => Ok(json.to_owned()),
                Err(error) => Err(format!(
                    "Your answer does not match the schema: {error} (at {:?}). Answer with the corrected JSON only.",
                    error.instance_path().to_string()
                )),
            },
        }
    }
}

/// The system message of a request, with what its format demands.
pub(super) fn system(request: &Request) -> String {
    let demand = match &request.format {
        AnswerFormat::Text => return request.system.clone(),
        AnswerFormat::JsonObject => "Answer with one JSON object and nothing else.".to_owned(),
        AnswerFormat::JsonSchema { schema, .. } => {
            format!("Answer with JSON and nothing else. It must match this JSON Schema:\n{schema}")
        }
    };
    if request.system.trim().is_empty() { demand } else { format!("{}\n\n{demand}", request.system) }
}

/// JSON that a model put into a Markdown code block.
fn without_fence(text: &str) -> &str {
    let text = text.trim();
    let inner = text.strip_prefix("```json").or_else(|| text.strip_prefix("```"));
    inner.and_then(|inner| inner.strip_suffix("```")).map_or(text, str::trim)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn demands(choice: ToolChoice, format: AnswerFormat) -> Demands {
        Demands::of(&Request { tool_choice: choice, format, ..Request::default() }).expect("valid")
    }

    #[test]
    fn text_is_free_unless_something_is_demanded() {
        let free = demands(ToolChoice::Auto, AnswerFormat::Text);
        assert!(!free.withhold_text());
        assert_eq!(free.check_text("anything").as_deref(), Ok("anything"));
        for choice in [ToolChoice::Required, ToolChoice::Named("look".to_owned())] {
            let forced = demands(choice, AnswerFormat::Text);
            assert!(forced.withhold_text());
            assert!(forced.check_text("no").expect_err("a call").contains("calling"));
        }
    }

    #[test]
    fn json_is_checked_against_its_schema_and_freed_of_its_fence() {
        let schema = json!({ "type": "object", "properties": { "age": { "type": "integer" } }, "required": ["age"] });
        let bound = demands(ToolChoice::Auto, AnswerFormat::JsonSchema { name: "person".to_owned(), schema });
        assert_eq!(bound.check_text("```json\n{\"age\": 7}\n```").as_deref(), Ok("{\"age\": 7}"));
        assert!(bound.check_text("{\"age\": \"seven\"}").expect_err("a mismatch").contains("age"));
        assert!(bound.check_text("about seven").expect_err("no JSON").contains("JSON"));
        let object = demands(ToolChoice::Auto, AnswerFormat::JsonObject);
        assert!(object.check_text("[1]").is_err());
        assert!(object.check_text("{}").is_ok());
    }

    #[test]
    fn a_schema_that_is_none_is_the_callers_error() {
        let schema = json!({ "type": "nothing like it" });
        let format = AnswerFormat::JsonSchema { name: "x".to_owned(), schema };
        let error = Demands::of(&Request { format, ..Request::default() }).err().expect("invalid");
        assert_eq!(error.param.as_deref(), Some("response_format"));
    }
}

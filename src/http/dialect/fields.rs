//! The fields of a JSON object, with errors that name the parameter.

use serde_json::{Map, Value};

use super::Ignored;
use crate::capture::{CaptureError, Part};
use crate::model::kind_of;

/// An object that is being read. Fields are taken out of it; those that are left were not understood.
#[derive(Debug)]
pub(in crate::http) struct Fields {
    path: String,
    map: Map<String, Value>,
}

impl Fields {
    /// The body of a request.
    pub fn of_body(bytes: &[u8]) -> Result<Self, CaptureError> {
        let value: Value = serde_json::from_slice(bytes)
            .map_err(|error| CaptureError::invalid("body", format!("Invalid request body: {error}.")))?;
        match value {
            Value::Object(map) => Ok(Self { path: String::new(), map }),
            other => {
                let message = format!("Invalid request body: expected a JSON object, got {}.", kind_of(&other));
                Err(CaptureError::invalid("body", message))
            }
        }
    }

    /// An object at a path such as `messages[2]`.
    pub fn of(value: Value, path: impl Into<String>) -> Result<Self, CaptureError> {
        let path = path.into();
        match value {
            Value::Object(map) => Ok(Self { path, map }),
            other => Err(wrong_kind(path, "an object", &other)),
        }
    }

    /// The path of a field, as errors name it.
    pub fn path_of(&self, name: &str) -> String {
        if self.path.is_empty() { name.to_owned() } else { format!("{}.{name}", self.path) }
    }

    /// The path of the object itself.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// Whether a field is there and not null.
    pub fn has(&self, name: &str) -> bool {
        self.map.get(name).is_some_and(|value| !value.is_null())
    }

    /// Takes a field; null is as good as absent.
    pub fn take(&mut self, name: &str) -> Option<Value> {
        self.map.remove(name).filter(|value| !value.is_null())
    }

    /// Takes a string.
    pub fn text(&mut self, name: &str) -> Result<Option<String>, CaptureError> {
        match self.take(name) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(other) => Err(wrong_kind(self.path_of(name), "a string", &other)),
        }
    }

    /// Takes a string that must be there.
    pub fn required_text(&mut self, name: &str) -> Result<String, CaptureError> {
        self.text(name)?.ok_or_else(|| self.missing(name))
    }

    /// Takes a boolean.
    pub fn flag(&mut self, name: &str) -> Result<Option<bool>, CaptureError> {
        match self.take(name) {
            None => Ok(None),
            Some(Value::Bool(flag)) => Ok(Some(flag)),
            Some(other) => Err(wrong_kind(self.path_of(name), "a boolean", &other)),
        }
    }

    /// Takes an array, each element with its path.
    pub fn list(&mut self, name: &str) -> Result<Option<Vec<(String, Value)>>, CaptureError> {
        let path = self.path_of(name);
        match self.take(name) {
            None => Ok(None),
            Some(Value::Array(list)) => {
                Ok(Some(list.into_iter().enumerate().map(|(at, value)| (format!("{path}[{at}]"), value)).collect()))
            }
            Some(other) => Err(wrong_kind(path, "an array", &other)),
        }
    }

    /// Takes an object.
    pub fn object(&mut self, name: &str) -> Result<Option<Self>, CaptureError> {
        let path = self.path_of(name);
        self.take(name).map(|value| Self::of(value, path)).transpose()
    }

    /// A required field is missing.
    pub fn missing(&self, name: &str) -> CaptureError {
        let path = self.path_of(name);
        CaptureError::invalid(&path, format!("Missing required parameter: {path}."))
    }

    /// Names all fields that are left.
    pub fn name_the_rest(self, ignored: &mut Ignored) {
        let mut names: Vec<String> =
            self.map.into_iter().filter(|(_, value)| !value.is_null()).map(|(name, _)| name).collect();
        names.sort_unstable();
        for name in names {
            ignored.add(if self.path.is_empty() { name } else { format!("{}.{name}", self.path) });
        }
    }
}

/// A content: a string, or parts that the dialect reads, each with its path. Nothing if it is missing.
pub(in crate::http) fn content(
    of: &mut Fields,
    name: &str,
    read_part: impl Fn(Value, String) -> Result<Part, CaptureError>,
) -> Result<Vec<Part>, CaptureError> {
    let path = of.path_of(name);
    match of.take(name) {
        None => Ok(Vec::new()),
        Some(Value::String(text)) => Ok(vec![Part::Text(text)]),
        Some(Value::Array(parts)) => {
            parts.into_iter().enumerate().map(|(at, part)| read_part(part, format!("{path}[{at}]"))).collect()
        }
        Some(other) => Err(wrong_kind(path, "a string or an array", &other)),
    }
}

/// A value of the wrong kind.
pub(in crate::http) fn wrong_kind(path: String, expected: &str, got: &Value) -> CaptureError {
    let message = format!("Invalid {path}: expected {expected}, got {}.", kind_of(got));
    CaptureError::invalid(path, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_field_of_the_wrong_kind_is_refused_by_its_path() {
        let mut body = Fields::of_body(br#"{"messages":[{"role":5}],"n":null}"#).expect("an object");
        assert!(!body.has("n"), "null is as good as absent");
        let (path, value) = body.list("messages").expect("a list").expect("there").remove(0);
        let error = Fields::of(value, path).expect("an object").required_text("role").expect_err("a number");
        assert_eq!(error.param.as_deref(), Some("messages[0].role"));
        assert_eq!(error.message, "Invalid messages[0].role: expected a string, got a number.");
        assert_eq!(body.required_text("model").expect_err("absent").message, "Missing required parameter: model.");
    }

    #[test]
    fn a_body_that_is_no_object_is_refused() {
        for body in ["", "{", "[]", "null", "\"a\""] {
            let error = Fields::of_body(body.as_bytes()).expect_err(body);
            assert!(error.message.starts_with("Invalid request body: "), "{}", error.message);
        }
        assert!(Fields::of_body("[".repeat(5_000).as_bytes()).is_err(), "deep nesting is refused, not followed");
    }
}

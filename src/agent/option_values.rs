//! Reads and validates the options of a session. Unknown options and wrong types are errors.

use serde_json::{Map, Value};

/// The values of one session's options.
pub(in crate::agent) struct OptionValues<'a> {
    agent: &'a str,
    values: &'a Map<String, Value>,
}

impl<'a> OptionValues<'a> {
    /// `known` lists all supported options.
    pub fn new(agent: &'a str, values: &'a Map<String, Value>, known: &[&str]) -> Result<Self, String> {
        if let Some(unknown) = values.keys().find(|name| !known.contains(&name.as_str())) {
            return Err(format!("{agent} has no option {unknown:?}; available options: {}", known.join(", ")));
        }
        Ok(Self { agent, values })
    }

    fn get(&self, name: &str) -> Option<&'a Value> {
        self.values.get(name).filter(|value| !value.is_null())
    }

    fn read<T>(&self, name: &str, kind: &str, read: impl FnOnce(&'a Value) -> Option<T>) -> Result<Option<T>, String> {
        let Some(value) = self.get(name) else { return Ok(None) };
        let wrong = || format!("{}: invalid options.{name}: expected {kind}, got {value}", self.agent);
        read(value).map(Some).ok_or_else(wrong)
    }

    pub fn switch(&self, name: &str, default: bool) -> Result<bool, String> {
        Ok(self.read(name, "true or false", Value::as_bool)?.unwrap_or(default))
    }

    pub fn count(&self, name: &str) -> Result<Option<u64>, String> {
        self.read(name, "a positive integer", |value| value.as_u64().filter(|count| *count > 0))
    }

    pub fn amount(&self, name: &str) -> Result<Option<f64>, String> {
        self.read(name, "a positive number", |value| value.as_f64().filter(|amount| *amount > 0.0))
    }

    pub fn text(&self, name: &str) -> Result<Option<String>, String> {
        let text = self.read(name, "a text", |value| value.as_str().map(str::to_owned))?;
        Ok(text.filter(|text| !text.is_empty()))
    }

    pub fn list(&self, name: &str) -> Result<Vec<String>, String> {
        let texts = |value: &Value| {
            value.as_array()?.iter().map(|entry| entry.as_str().map(str::to_owned)).collect::<Option<Vec<_>>>()
        };
        Ok(self.read(name, "a list of strings", texts)?.unwrap_or_default())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn options_are_read_and_what_is_wrong_is_said_with_what_there_is() {
        let values = json!({ "on": false, "n": 3, "usd": 0.5, "text": "x", "list": ["a"], "none": null });
        let values = values.as_object().expect("a table");
        let known = ["on", "n", "usd", "text", "list", "none"];
        let options = OptionValues::new("X", values, &known).expect("known");
        assert_eq!((options.switch("on", true), options.switch("none", true)), (Ok(false), Ok(true)));
        assert_eq!((options.count("n"), options.amount("usd")), (Ok(Some(3)), Ok(Some(0.5))));
        assert_eq!((options.text("text"), options.list("list")), (Ok(Some("x".to_owned())), Ok(vec!["a".to_owned()])));
        for wrong in [
            options.switch("n", true).expect_err("wrong"),
            options.count("usd").expect_err("wrong"),
            options.list("text").expect_err("wrong"),
        ] {
            assert!(wrong.starts_with("X: invalid options.") && wrong.contains("expected "), "{wrong}");
        }
        let error = OptionValues::new("X", values, &["on"]).err().expect("unknown");
        assert!(error.contains("available options: on"), "{error}");
    }
}

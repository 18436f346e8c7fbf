//! The options that sessions of a runtime take, described so that pages can offer them and configurations can be checked.

use serde::Serialize;
use serde_json::{Map, Value};

/// What the value of an option is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum OptionKind {
    /// True or false.
    Switch,
    /// A positive integer.
    Count,
    /// A positive number.
    Amount,
    /// A text.
    Text,
    /// A list of texts.
    List,
    /// One of some words.
    Choice,
}

/// One option of a session, besides `provider` and `mcpServers`.
#[derive(Clone, Copy, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RuntimeOption {
    /// Its name in `options` of a session.
    pub name: &'static str,
    /// What it is called on a page.
    pub label: &'static str,
    /// What it does, in a sentence or two.
    pub description: &'static str,
    /// What its value is.
    pub kind: OptionKind,
    /// What a session has that does not choose; null if the agent decides.
    pub default: Option<bool>,
    /// The words of a choice.
    #[serde(skip_serializing_if = "<[&str]>::is_empty")]
    pub choices: &'static [&'static str],
}

impl RuntimeOption {
    /// A switch, with what it is if nobody chooses.
    pub const fn switch(name: &'static str, default: bool, label: &'static str, description: &'static str) -> Self {
        Self { name, label, description, kind: OptionKind::Switch, default: Some(default), choices: &[] }
    }

    /// Any other option.
    pub const fn of(kind: OptionKind, name: &'static str, label: &'static str, description: &'static str) -> Self {
        Self { name, label, description, kind, default: None, choices: &[] }
    }

    /// One of some words.
    pub const fn choice(
        name: &'static str,
        choices: &'static [&'static str],
        label: &'static str,
        description: &'static str,
    ) -> Self {
        Self { name, label, description, kind: OptionKind::Choice, default: None, choices }
    }

    fn check(&self, value: &Value) -> Result<(), String> {
        let (fits, expected) = match self.kind {
            OptionKind::Switch => (value.is_boolean(), "true or false".to_owned()),
            OptionKind::Count => (value.as_u64().is_some_and(|count| count > 0), "a positive integer".to_owned()),
            OptionKind::Amount => (value.as_f64().is_some_and(|amount| amount > 0.0), "a positive number".to_owned()),
            OptionKind::Text => (value.is_string(), "a text".to_owned()),
            OptionKind::List => {
                let texts = value.as_array().is_some_and(|items| items.iter().all(Value::is_string));
                (texts, "a list of texts".to_owned())
            }
            OptionKind::Choice => {
                let known = value.as_str().is_some_and(|word| self.choices.contains(&word));
                (known, format!("one of {}", self.choices.join(", ")))
            }
        };
        if fits { Ok(()) } else { Err(format!("invalid option {}: expected {expected}, got {value}", self.name)) }
    }
}

/// Checks options that a configuration sets for a runtime with these options.
pub fn check_runtime_options(known: &[RuntimeOption], options: &Map<String, Value>) -> Result<(), String> {
    for (name, value) in options {
        let Some(option) = known.iter().find(|option| option.name == name) else {
            let names: Vec<&str> = known.iter().map(|option| option.name).collect();
            let there_are = if names.is_empty() { "there are none".to_owned() } else { names.join(", ") };
            return Err(format!("unknown option {name:?}; available options: {there_are}"));
        };
        option.check(value)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const KNOWN: &[RuntimeOption] = &[
        RuntimeOption::switch("on", true, "", ""),
        RuntimeOption::of(OptionKind::Count, "n", "", ""),
        RuntimeOption::of(OptionKind::Amount, "usd", "", ""),
        RuntimeOption::of(OptionKind::Text, "text", "", ""),
        RuntimeOption::of(OptionKind::List, "list", "", ""),
        RuntimeOption::choice("mode", &["plan", "do"], "", ""),
    ];

    #[test]
    fn a_value_must_fit_its_option_and_the_error_says_what_would() {
        let check = |options: Value| check_runtime_options(KNOWN, options.as_object().expect("an object"));
        assert_eq!(check(json!({ "on": false, "n": 3, "usd": 0.5, "text": "", "list": ["a"], "mode": "plan" })), Ok(()));
        for (wrong, word) in [
            (json!({ "on": "yes" }), "true or false"),
            (json!({ "n": 0 }), "a positive integer"),
            (json!({ "usd": -1 }), "a positive number"),
            (json!({ "text": 1 }), "a text"),
            (json!({ "list": [1] }), "a list of texts"),
            (json!({ "mode": "sleep" }), "one of plan, do"),
            (json!({ "off": true }), "available options: on, n"),
        ] {
            let error = check(wrong).expect_err(word);
            assert!(error.contains(word), "{error}");
        }
        assert!(check_runtime_options(&[], &json!({ "a": 1 }).as_object().cloned().expect("an object")).is_err());
    }
}

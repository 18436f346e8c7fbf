//! What sessions of one runtime get when they choose nothing themselves.

use serde::{Deserialize, Serialize};
use toml::{Table, Value};

use super::settings::optional_mode;
use crate::model::{self, PermissionMode};

/// `[runtimes.NAME]`: more specific than `sessions` and `permissions.default`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RuntimeDefaults {
    /// The model; empty for none.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub model: String,
    /// The effort; empty for none.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub effort: String,
    /// The permission mode; empty for none.
    #[serde(with = "optional_mode", skip_serializing_if = "Option::is_none")]
    pub permission_mode: Option<PermissionMode>,
    /// The runtime's own options. Which there are, only the runtime knows.
    #[serde(skip_serializing_if = "Table::is_empty")]
    pub options: Table,
}

impl RuntimeDefaults {
    /// What is wrong with it, if anything.
    pub(super) fn problem(&self) -> Option<String> {
        let nested = self.options.iter().find(|(_, value)| value.is_table());
        nested.map(|(name, _)| format!("options.{name} is a table; an option is a single value or a list"))
    }

    /// The same for sessions, where options have the names that the API uses.
    pub fn for_sessions(&self) -> model::RuntimeDefaults {
        let text = |text: &String| Some(text.clone()).filter(|text| !text.is_empty());
        let json = |value: &Value| serde_json::to_value(value).unwrap_or_default();
        model::RuntimeDefaults {
            model: text(&self.model),
            effort: text(&self.effort),
            permission_mode: self.permission_mode,
            options: self.options.iter().map(|(name, value)| (camel_case(name), json(value))).collect(),
        }
    }
}

/// `disable_builtin_mcps` is `disableBuiltinMcps`.
fn camel_case(name: &str) -> String {
    let mut parts = name.split('_').filter(|part| !part.is_empty());
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |camel, part| {
        let mut letters = part.chars();
        let head: String = letters.next().map(|letter| letter.to_uppercase().collect()).unwrap_or_default();
        camel + &head + letters.as_str()
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn options_get_the_names_of_the_api_and_an_empty_text_is_no_choice() {
        let text = "model = 'm'\neffort = ''\npermission_mode = 'deny'\n[options]\nstream = false\n\
                    disable_builtin_mcps = false\nadd_dirs = ['/a']\nmaxTurns = 3";
        let defaults: RuntimeDefaults = toml::from_str(text).expect("valid");
        assert_eq!(defaults.problem(), None);
        let model::RuntimeDefaults { model, effort, permission_mode, options } = defaults.for_sessions();
        assert_eq!((model.as_deref(), effort), (Some("m"), None));
        assert_eq!(permission_mode, Some(PermissionMode::Deny));
        let expected = json!({ "stream": false, "disableBuiltinMcps": false, "addDirs": ["/a"], "maxTurns": 3 });
        assert_eq!(serde_json::Value::Object(options), expected);
    }

    #[test]
    fn an_option_is_no_table_and_an_unknown_key_is_an_error() {
        let nested: RuntimeDefaults = toml::from_str("[options.provider]\nurl = 'x'").expect("TOML");
        assert!(nested.problem().is_some_and(|problem| problem.contains("options.provider")));
        assert!(toml::from_str::<RuntimeDefaults>("stream = true").is_err());
    }
}

//! Secrets in settings: hidden when they are shown, and kept when the hidden value comes back.

use toml::Value;

use crate::model::names_a_secret;

const HIDDEN: &str = "[redacted]";

/// The value of a setting without provider keys and other secrets, because what shows settings ends up in bug reports.
pub fn without_secrets(key: &str, value: &Value) -> Value {
    let name = key.rsplit('.').next().unwrap_or(key);
    // Whoever knows the address of a target of notifications can send to it.
    let is_target = key.starts_with("notifications.targets.");
    let is_secret = |name: &str| names_a_secret(name) || (is_target && name == "url");
    // A number is a limit on tokens, not a token.
    if is_secret(name) && value.as_str().is_some_and(|text| !text.is_empty()) {
        return hidden();
    }
    match value {
        Value::Table(entries) => Value::Table(
            entries
                .iter()
                .map(|(key, value)| (key.clone(), if is_secret(key) { hidden() } else { without_secrets("", value) }))
                .collect(),
        ),
        Value::Array(items) => Value::Array(items.iter().map(|item| without_secrets("", item)).collect()),
        other => other.clone(),
    }
}

fn hidden() -> Value {
    Value::String(HIDDEN.to_owned())
}

/// The value that a client means: where it sends back what hides a secret, that is the secret as it was. The error is
/// the name of a secret that there is not.
pub(super) fn with_secrets_of(old: Option<&Value>, new: Value) -> Result<Value, String> {
    match (new, old) {
        (Value::String(text), Some(old)) if text == HIDDEN => Ok(old.clone()),
        (Value::String(text), None) if text == HIDDEN => Err("value".to_owned()),
        (Value::Table(entries), old) => {
            let meant = |(key, value): (String, Value)| {
                let value = with_secrets_of(old.and_then(|old| old.get(&key)), value).map_err(|_| key.clone())?;
                Ok((key, value))
            };
            entries.into_iter().map(meant).collect::<Result<_, String>>().map(Value::Table)
        }
        (new, _) => Ok(new),
    }
}

#[cfg(test)]
mod tests {
    use toml::Table;

    use super::*;

    fn table(text: &str) -> Value {
        Value::Table(text.parse::<Table>().expect("TOML"))
    }

    #[test]
    fn a_secret_is_hidden_and_comes_back_as_it_was() {
        let kept = table("base_url = 'http://x'\napi_key = 'sk-1'\n[headers]\nAuthorization = 'Bearer y'");
        let shown = without_secrets("providers.mine", &kept);
        assert!(!shown.to_string().contains("sk-1") && !shown.to_string().contains("Bearer y"), "{shown}");
        let mut sent = shown;
        sent["base_url"] = Value::String("http://z".to_owned());
        let meant = with_secrets_of(Some(&kept), sent.clone()).expect("known");
        assert_eq!((meant["api_key"].as_str(), meant["base_url"].as_str()), (Some("sk-1"), Some("http://z")));
        assert_eq!(meant["headers"]["Authorization"].as_str(), Some("Bearer y"));
        let new = Value::String("new".to_owned());
        assert_eq!(with_secrets_of(None, new.clone()), Ok(new));
        assert_eq!(with_secrets_of(None, sent), Err("api_key".to_owned()), "the mark is never stored as a secret");
    }

    #[test]
    fn a_setting_that_is_a_secret_itself_is_hidden_unless_it_is_empty() {
        let value = |text: &str| Value::String(text.to_owned());
        assert_eq!(without_secrets("a.api_key", &value("x")), value(HIDDEN));
        assert_eq!(without_secrets("a.api_key", &value("")), value(""));
        assert_eq!(without_secrets("sessions.model", &value("x")), value("x"));
        assert_eq!(without_secrets("budget.session_tokens", &Value::Integer(7)), Value::Integer(7));
    }
}

//! A model provider of the user's own. The SDK server ignores the CLI's environment variables for it, so they are turned
//! into the `provider` of create and resume here.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

/// The provider of a session: its own option, else the environment's.
pub(super) fn provider(options: &Map<String, Value>, environment: &BTreeMap<String, String>) -> Option<Value> {
    options.get("provider").cloned().filter(|own| !own.is_null()).or_else(|| from_environment(environment))
}

/// What `COPILOT_PROVIDER_…` says.
pub(super) fn from_environment(environment: &BTreeMap<String, String>) -> Option<Value> {
    let value = |name: &str| environment.get(name).filter(|value| !value.is_empty()).cloned();
    let base_url = value("COPILOT_PROVIDER_BASE_URL")?;
    let mut provider = json!({
        "type": value("COPILOT_PROVIDER_TYPE").unwrap_or_else(|| "openai".to_owned()),
        "baseUrl": base_url,
    });
    for (field, name) in [
        ("apiKey", "COPILOT_PROVIDER_API_KEY"),
        ("bearerToken", "COPILOT_PROVIDER_BEARER_TOKEN"),
        ("wireApi", "COPILOT_PROVIDER_WIRE_API"),
    ] {
        if let Some(value) = value(name) {
            provider[field] = json!(value);
        }
    }
    Some(provider)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_environment_becomes_a_provider_and_a_sessions_own_goes_before_it() {
        let environment: BTreeMap<String, String> = [
            ("COPILOT_PROVIDER_BASE_URL", "http://localhost:1/v1"),
            ("COPILOT_PROVIDER_API_KEY", "k"),
            ("COPILOT_PROVIDER_WIRE_API", "responses"),
        ]
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .into();
        let expected =
            json!({ "type": "openai", "baseUrl": "http://localhost:1/v1", "apiKey": "k", "wireApi": "responses" });
        assert_eq!(provider(&Map::new(), &environment), Some(expected));
        let own = json!({ "type": "azure", "baseUrl": "x" });
        let options: Map<String, Value> = [("provider".to_owned(), own.clone())].into_iter().collect();
        assert_eq!(provider(&options, &environment), Some(own));
        assert_eq!(provider(&Map::new(), &BTreeMap::new()), None);
    }
}

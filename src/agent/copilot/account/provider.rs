//! Model providers of the user's own. The SDK server ignores the CLI's environment variables for them, so these are
//! turned into the `provider` of create and resume here, as are the configured ones.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::{Value, json};

use crate::agent::copilot::settings::{CopilotSettings, OwnProvider};
use crate::agent::{StartError, StartSpec};

/// The provider and model of a session.
#[derive(Debug, PartialEq)]
pub(in crate::agent::copilot) struct Route {
    /// `None` for GitHub's own models.
    pub provider: Option<Value>,
    /// As the provider knows it; empty for the default.
    pub model: String,
}

/// Where an open session's requests go, and where they would go with another model.
pub(in crate::agent::copilot) struct Router {
    pub settings: Arc<CopilotSettings>,
    pub spec: StartSpec,
    /// Of the session as it is open.
    pub provider: Option<Value>,
}

impl Router {
    /// The model as the session's provider knows it; `None` if it is another provider's.
    pub fn switched_to(&self, model: &str) -> Option<String> {
        let spec = StartSpec { model: model.to_owned(), ..self.spec.clone() };
        let route = route(&spec, &self.settings.providers, &self.settings.environment).ok()?;
        (route.provider == self.provider).then_some(route.model)
    }
}

/// Which provider a session uses: its own option (an object, or the name of a configured one), else the one its model's
/// name begins with, else the environment's.
pub(in crate::agent::copilot) fn route(
    spec: &StartSpec,
    configured: &BTreeMap<String, OwnProvider>,
    environment: &BTreeMap<String, String>,
) -> Result<Route, StartError> {
    let by_name = |name: &str| configured.get(name).map(|provider| provider.value.clone());
    let named_by_model = spec.model.split_once('/').and_then(|(name, model)| Some((by_name(name)?, model.to_owned())));
    match spec.options.get("provider") {
        Some(Value::String(name)) => {
            let provider = by_name(name).ok_or_else(|| {
                let known: Vec<&str> = configured.keys().map(String::as_str).collect();
                StartError::Permanent(format!(
                    "there is no provider {name:?} in the configuration; there are: {}",
                    if known.is_empty() { "none".to_owned() } else { known.join(", ") }
                ))
            })?;
            let model = spec.model.strip_prefix(&format!("{name}/")).unwrap_or(&spec.model).to_owned();
            Ok(Route { provider: Some(provider), model })
        }
        Some(own @ Value::Object(_)) => Ok(Route { provider: Some(own.clone()), model: spec.model.clone() }),
        Some(Value::Null) | None => Ok(named_by_model.map_or_else(
            || {
                let provider = from_environment(environment);
                // A provider of the user's own has no default model of its own.
                let default = environment.get("COPILOT_MODEL").filter(|_| provider.is_some() && spec.model.is_empty());
                Route { model: default.unwrap_or(&spec.model).clone(), provider }
            },
            |(provider, model)| Route { provider: Some(provider), model },
        )),
        Some(other) => Err(StartError::Permanent(format!(
            "options.provider is {other}; it is an object {{type,baseUrl,apiKey,wireApi}} or the name of a configured provider"
        ))),
    }
}

/// What `COPILOT_PROVIDER_…` says.
pub(in crate::agent::copilot) fn from_environment(environment: &BTreeMap<String, String>) -> Option<Value> {
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
    if let Some(version) = value("COPILOT_PROVIDER_AZURE_API_VERSION") {
        provider["azure"] = json!({ "apiVersion": version });
    }
    if let Some(headers) = value("COPILOT_PROVIDER_HEADERS") {
        provider["headers"] = headers
            .replace("\\n", "\n")
            .lines()
            .filter_map(|line| line.split_once(':'))
            .map(|(name, value)| (name.trim().to_owned(), json!(value.trim())))
            .collect();
    }
    Some(provider)
}

/// The variables that give a CLI the provider that the SDK server gets as an object. Those of another provider go.
pub(in crate::agent::copilot) fn into_environment(provider: &Value, environment: &mut BTreeMap<String, String>) {
    environment.retain(|name, _| !name.starts_with("COPILOT_PROVIDER_"));
    let text = |value: &Value| value.as_str().map(str::to_owned);
    for (name, value) in [
        ("TYPE", text(&provider["type"])),
        ("BASE_URL", text(&provider["baseUrl"])),
        ("API_KEY", text(&provider["apiKey"])),
        ("BEARER_TOKEN", text(&provider["bearerToken"])),
        ("WIRE_API", text(&provider["wireApi"])),
        ("AZURE_API_VERSION", text(&provider["azure"]["apiVersion"])),
        ("HEADERS", headers(&provider["headers"])),
    ] {
        if let Some(value) = value {
            environment.insert(format!("COPILOT_PROVIDER_{name}"), value);
        }
    }
}

fn headers(headers: &Value) -> Option<String> {
    let line = |(name, value): (&String, &Value)| format!("{name}: {}", value.as_str().unwrap_or_default());
    Some(headers.as_object()?.iter().map(line).collect::<Vec<_>>().join("\n"))
}

#[cfg(test)]
mod tests {
    use serde_json::Map;

    use super::*;

    fn spec(model: &str, provider: Option<Value>) -> StartSpec {
        StartSpec {
            model: model.to_owned(),
            options: provider.map(|value| ("provider".to_owned(), value)).into_iter().collect::<Map<_, _>>(),
            ..StartSpec::in_folder(std::path::Path::new("/"))
        }
    }

    fn configured() -> BTreeMap<String, OwnProvider> {
        let provider = OwnProvider { value: json!({ "baseUrl": "http://local" }), models: vec!["qwen".to_owned()] };
        [("ollama".to_owned(), provider)].into()
    }

    #[test]
    fn the_environment_becomes_a_provider() {
        let environment: BTreeMap<String, String> = [
            ("COPILOT_PROVIDER_BASE_URL", "http://localhost:1/v1"),
            ("COPILOT_PROVIDER_API_KEY", "k"),
            ("COPILOT_PROVIDER_WIRE_API", "responses"),
            ("COPILOT_PROVIDER_AZURE_API_VERSION", "2024-10-21"),
            ("COPILOT_PROVIDER_HEADERS", "X-Team: a\\nX-Other: b: c"),
        ]
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .into();
        let expected = json!({
            "type": "openai", "baseUrl": "http://localhost:1/v1", "apiKey": "k", "wireApi": "responses",
            "azure": { "apiVersion": "2024-10-21" }, "headers": { "X-Team": "a", "X-Other": "b: c" },
        });
        let found = route(&spec("m", None), &BTreeMap::new(), &environment).expect("fits");
        assert_eq!(found, Route { provider: Some(expected), model: "m".to_owned() });
    }

    #[test]
    fn a_session_chooses_by_option_or_by_the_models_name() {
        let local = Some(json!({ "baseUrl": "http://local" }));
        for (model, option, provider, plain) in [
            ("ollama/qwen", None, local.clone(), "qwen"),
            ("qwen", Some(json!("ollama")), local.clone(), "qwen"),
            ("ollama/qwen", Some(json!("ollama")), local, "qwen"),
            ("m", Some(json!({ "baseUrl": "x" })), Some(json!({ "baseUrl": "x" })), "m"),
            ("org/m", None, None, "org/m"),
            ("m", Some(Value::Null), None, "m"),
        ] {
            let found = route(&spec(model, option), &configured(), &BTreeMap::new()).expect("fits");
            assert_eq!(found, Route { provider, model: plain.to_owned() });
        }
    }

    #[test]
    fn a_provider_becomes_variables_and_back() {
        let provider = json!({
            "type": "azure", "baseUrl": "http://x", "apiKey": "k", "wireApi": "responses",
            "azure": { "apiVersion": "v1" }, "headers": { "A": "1", "B": "2" },
        });
        let mut environment: BTreeMap<String, String> =
            [("COPILOT_PROVIDER_BEARER_TOKEN".to_owned(), "another's".to_owned())].into();
        into_environment(&provider, &mut environment);
        assert_eq!(from_environment(&environment), Some(provider));
    }

    #[test]
    fn an_unknown_provider_is_named_with_those_there_are() {
        for (option, word) in [(json!("olama"), "ollama"), (json!(7), "options.provider")] {
            let error = route(&spec("m", Some(option)), &configured(), &BTreeMap::new()).expect_err("unknown");
            assert!(error.to_string().contains(word), "{error}");
        }
    }
}

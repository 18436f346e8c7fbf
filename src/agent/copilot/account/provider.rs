//! The user's own model providers in Copilot's format: an object in the SDK protocol, environment variables for the
//! CLI. The SDK server ignores those variables, so they are read here and converted to the object.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::{Value, json};

use crate::agent::copilot::settings::{ConfiguredProvider, CopilotSettings};
use crate::agent::{StartError, StartSpec};
use crate::model::{Provider, ProviderChoice, ProviderKind, WireApi};

/// The provider and model of a session.
#[derive(Debug, PartialEq)]
pub(in crate::agent::copilot) struct Route {
    /// `None` for GitHub's own models.
    pub provider: Option<Provider>,
    /// The provider's name for the model; empty for the default.
    pub model: String,
}

/// Where an open session's requests go, and where they would go with another model.
pub(in crate::agent::copilot) struct Router {
    pub settings: Arc<CopilotSettings>,
    pub spec: StartSpec,
    /// The provider of the open session.
    pub provider: Option<Provider>,
}

impl Router {
    /// The session provider's name for the model; `None` if it belongs to another provider.
    pub fn switched_to(&self, model: &str) -> Option<String> {
        let spec = StartSpec { model: model.to_owned(), ..self.spec.clone() };
        let route = route(&spec, &self.settings.providers, &self.settings.environment).ok()?;
        (route.provider == self.provider).then_some(route.model)
    }
}

/// Which provider a session uses: its own option (a provider or the name of a configured one), else the prefix of its
/// model name, else the environment's.
pub(in crate::agent::copilot) fn route(
    spec: &StartSpec,
    configured: &BTreeMap<String, ConfiguredProvider>,
    environment: &BTreeMap<String, String>,
) -> Result<Route, StartError> {
    let by_name = |name: &str| configured.get(name).map(|configured| configured.provider.clone());
    match &spec.provider {
        Some(ProviderChoice::Configured(name)) => {
            let provider = by_name(name).ok_or_else(|| {
                let known: Vec<&str> = configured.keys().map(String::as_str).collect();
                StartError::Permanent(format!(
                    "unknown provider {name:?}; configured providers: {}",
                    if known.is_empty() { "none".to_owned() } else { known.join(", ") }
                ))
            })?;
            let model = spec.model.strip_prefix(&format!("{name}/")).unwrap_or(&spec.model).to_owned();
            Ok(Route { provider: Some(provider), model })
        }
        Some(ProviderChoice::Own(own)) => Ok(Route { provider: Some(own.as_ref().clone()), model: spec.model.clone() }),
        None => {
            let named_by_model =
                spec.model.split_once('/').and_then(|(name, model)| Some((by_name(name)?, model.to_owned())));
            if let Some((provider, model)) = named_by_model {
                return Ok(Route { provider: Some(provider), model });
            }
            let provider = from_environment(environment)?;
            // The user's own provider has no default model.
            let default = environment.get("COPILOT_MODEL").filter(|_| provider.is_some() && spec.model.is_empty());
            Ok(Route { model: default.unwrap_or(&spec.model).clone(), provider })
        }
    }
}

/// Whether the environment names a provider.
pub(in crate::agent::copilot) fn is_in_environment(environment: &BTreeMap<String, String>) -> bool {
    environment.get("COPILOT_PROVIDER_BASE_URL").is_some_and(|url| !url.is_empty())
}

/// The provider from the variables `COPILOT_PROVIDER_…`.
pub(in crate::agent::copilot) fn from_environment(
    environment: &BTreeMap<String, String>,
) -> Result<Option<Provider>, StartError> {
    let value = |name: &str| environment.get(&format!("COPILOT_PROVIDER_{name}")).filter(|value| !value.is_empty());
    let Some(base_url) = value("BASE_URL") else { return Ok(None) };
    let invalid = |name: &str, value: &str, expected: &str| {
        StartError::Permanent(format!("invalid COPILOT_PROVIDER_{name}: expected {expected}, got {value:?}"))
    };
    let kind = match value("TYPE") {
        Some(word) => {
            ProviderKind::named(word).ok_or_else(|| invalid("TYPE", word, "\"openai\", \"azure\" or \"anthropic\""))?
        }
        None => ProviderKind::default(),
    };
    let wire_api = match value("WIRE_API") {
        Some(word) => {
            Some(WireApi::named(word).ok_or_else(|| invalid("WIRE_API", word, "\"completions\" or \"responses\""))?)
        }
        None => None,
    };
    let count = |name: &str| match value(name) {
        Some(digits) => digits.parse().map(Some).map_err(|_| invalid(name, digits, "a number")),
        None => Ok(None),
    };
    let headers = value("HEADERS").map(|headers| headers.replace("\\n", "\n")).unwrap_or_default();
    Ok(Some(Provider {
        kind,
        base_url: base_url.clone(),
        wire_api,
        api_key: value("API_KEY").cloned(),
        bearer_token: value("BEARER_TOKEN").cloned(),
        api_version: value("AZURE_API_VERSION").cloned(),
        headers: headers
            .lines()
            .filter_map(|line| line.split_once(':'))
            .map(|(name, value)| (name.trim().to_owned(), value.trim().to_owned()))
            .collect(),
        model_id: value("MODEL_ID").cloned(),
        wire_model: value("WIRE_MODEL").cloned(),
        max_prompt_tokens: count("MAX_PROMPT_TOKENS")?,
        max_output_tokens: count("MAX_OUTPUT_TOKENS")?,
    }))
}

/// Sets the variables that configure the provider for the CLI and removes those of another provider.
pub(in crate::agent::copilot) fn into_environment(provider: &Provider, environment: &mut BTreeMap<String, String>) {
    environment.retain(|name, _| !name.starts_with("COPILOT_PROVIDER_"));
    let headers: Vec<String> = provider.headers.iter().map(|(name, value)| format!("{name}: {value}")).collect();
    for (name, value) in [
        ("TYPE", Some(provider.kind.as_str().to_owned())),
        ("BASE_URL", Some(provider.base_url.clone())),
        ("API_KEY", provider.api_key.clone()),
        ("BEARER_TOKEN", provider.bearer_token.clone()),
        ("WIRE_API", provider.wire_api.map(|api| api.as_str().to_owned())),
        ("AZURE_API_VERSION", provider.api_version.clone()),
        ("HEADERS", (!headers.is_empty()).then(|| headers.join("\n"))),
        ("MODEL_ID", provider.model_id.clone()),
        ("WIRE_MODEL", provider.wire_model.clone()),
        ("MAX_PROMPT_TOKENS", provider.max_prompt_tokens.map(|count| count.to_string())),
        ("MAX_OUTPUT_TOKENS", provider.max_output_tokens.map(|count| count.to_string())),
    ] {
        if let Some(value) = value {
            environment.insert(format!("COPILOT_PROVIDER_{name}"), value);
        }
    }
}

/// The `provider` of `session.create` and `session.resume`.
pub(in crate::agent::copilot) fn encode(provider: &Provider) -> Value {
    let mut value = json!({ "type": provider.kind.as_str(), "baseUrl": provider.base_url });
    for (field, text) in [
        ("wireApi", provider.wire_api.map(WireApi::as_str)),
        ("apiKey", provider.api_key.as_deref()),
        ("bearerToken", provider.bearer_token.as_deref()),
        ("modelId", provider.model_id.as_deref()),
        ("wireModel", provider.wire_model.as_deref()),
    ] {
        if let Some(text) = text {
            value[field] = json!(text);
        }
    }
    for (field, count) in
        [("maxPromptTokens", provider.max_prompt_tokens), ("maxOutputTokens", provider.max_output_tokens)]
    {
        if let Some(count) = count {
            value[field] = json!(count);
        }
    }
    if let Some(version) = &provider.api_version {
        value["azure"] = json!({ "apiVersion": version });
    }
    if !provider.headers.is_empty() {
        value["headers"] = json!(provider.headers);
    }
    value
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent::Owner;

    fn spec(model: &str, provider: Option<ProviderChoice>) -> StartSpec {
        StartSpec {
            model: model.to_owned(),
            provider,
            ..StartSpec::in_folder(Owner::Canary, std::path::Path::new("/"))
        }
    }

    fn at(base_url: &str) -> Provider {
        Provider { base_url: base_url.to_owned(), ..Provider::default() }
    }

    fn configured() -> BTreeMap<String, ConfiguredProvider> {
        let provider = ConfiguredProvider { provider: at("http://local"), models: vec!["qwen".to_owned()] };
        [("ollama".to_owned(), provider)].into()
    }

    fn variables(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
        pairs.iter().map(|(name, value)| (format!("COPILOT_PROVIDER_{name}"), (*value).to_owned())).collect()
    }

    #[test]
    fn the_environment_becomes_a_provider() {
        let environment = variables(&[
            ("BASE_URL", "http://localhost:1/v1"),
            ("API_KEY", "k"),
            ("WIRE_API", "responses"),
            ("AZURE_API_VERSION", "2024-10-21"),
            ("HEADERS", "X-Team: a\\nX-Other: b: c"),
        ]);
        let found = route(&spec("m", None), &BTreeMap::new(), &environment).expect("valid");
        assert_eq!(found.model, "m");
        assert_eq!(
            encode(&found.provider.expect("one")),
            json!({
                "type": "openai", "baseUrl": "http://localhost:1/v1", "apiKey": "k", "wireApi": "responses",
                "azure": { "apiVersion": "2024-10-21" }, "headers": { "X-Team": "a", "X-Other": "b: c" },
            })
        );
    }

    #[test]
    fn a_variable_with_an_unknown_value_is_named_with_those_there_are() {
        for (name, value, word) in [("TYPE", "openrouter", "anthropic"), ("WIRE_API", "grpc", "responses")] {
            let environment = variables(&[("BASE_URL", "http://x"), (name, value)]);
            let error = from_environment(&environment).expect_err("unknown").to_string();
            assert!(error.contains(name) && error.contains(value) && error.contains(word), "{error}");
        }
    }

    #[test]
    fn a_session_chooses_by_option_or_by_the_models_name() {
        let local = Some(at("http://local"));
        let named = || Some(ProviderChoice::Configured("ollama".to_owned()));
        for (model, option, provider, plain) in [
            ("ollama/qwen", None, local.clone(), "qwen"),
            ("qwen", named(), local.clone(), "qwen"),
            ("ollama/qwen", named(), local, "qwen"),
            ("m", Some(ProviderChoice::Own(Box::new(at("x")))), Some(at("x")), "m"),
            ("org/m", None, None, "org/m"),
        ] {
            let found = route(&spec(model, option), &configured(), &BTreeMap::new()).expect("valid");
            assert_eq!(found, Route { provider, model: plain.to_owned() });
        }
    }

    #[test]
    fn a_provider_becomes_variables_and_back() {
        let provider = Provider {
            kind: ProviderKind::Azure,
            base_url: "http://x".to_owned(),
            wire_api: Some(WireApi::Responses),
            api_key: Some("k".to_owned()),
            bearer_token: None,
            api_version: Some("v1".to_owned()),
            headers: [("A".to_owned(), "1".to_owned()), ("B".to_owned(), "2".to_owned())].into(),
            model_id: Some("gpt-5".to_owned()),
            wire_model: Some("mine".to_owned()),
            max_prompt_tokens: Some(32_000),
            max_output_tokens: None,
        };
        let mut environment = variables(&[("BEARER_TOKEN", "another's")]);
        into_environment(&provider, &mut environment);
        assert_eq!(from_environment(&environment).expect("valid"), Some(provider));
    }

    #[test]
    fn an_unknown_provider_is_named_with_those_there_are() {
        let option = Some(ProviderChoice::Configured("olama".to_owned()));
        let error = route(&spec("m", option), &configured(), &BTreeMap::new()).expect_err("unknown");
        assert!(error.to_string().contains("ollama"), "{error}");
    }
}

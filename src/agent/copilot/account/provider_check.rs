//! Checks whether the user's own providers can be reached.

use std::time::Duration;

use super::provider;
use crate::agent::copilot::settings::CopilotSettings;
use crate::model::{Check, Provider, ProviderKind, redact};

const ANSWER_WITHIN: Duration = Duration::from_secs(5);

/// One check for the environment's provider and one for each configured provider.
pub(in crate::agent::copilot) async fn checks(settings: &CopilotSettings) -> Vec<Check> {
    let of_environment = match provider::from_environment(&settings.environment) {
        Ok(provider) => provider,
        Err(error) => {
            let hint = "fix the variable, or unset COPILOT_PROVIDER_BASE_URL";
            return vec![Check::failure("copilot: provider from the environment", error.to_string(), hint)];
        }
    };
    let of_environment = of_environment.map(|provider| ("from the environment", provider));
    let configured = settings.providers.iter().map(|(name, entry)| (name.as_str(), entry.provider.clone()));
    let asked = of_environment
        .into_iter()
        .chain(configured)
        .map(|(name, provider)| async move { check_provider(format!("copilot: provider {name}"), provider).await });
    futures_util::future::join_all(asked).await
}

/// Asks a provider for its models. `name` is the name of the check.
pub async fn check_provider(name: String, provider: Provider) -> Check {
    match tokio::task::spawn_blocking(move || check(&name, &provider)).await {
        Ok(check) => check,
        Err(error) => Check::warning("copilot: provider", error.to_string(), "report this"),
    }
}

/// Any response shows that the server is running; its status shows whether the key is valid.
fn check(name: &str, provider: &Provider) -> Check {
    let base = provider.base_url.trim_end_matches('/');
    let shown = redact(base).into_owned();
    let agent: ureq::Agent =
        ureq::Agent::config_builder().timeout_global(Some(ANSWER_WITHIN)).http_status_as_error(false).build().into();
    match request(&agent, base, provider).call() {
        Ok(answer) if matches!(answer.status().as_u16(), 401 | 403) => Check::warning(
            name,
            format!("{shown} rejected the key ({})", answer.status()),
            "check api_key, or the variable that api_key_variable names",
        ),
        Ok(answer) if answer.status().is_server_error() => {
            Check::warning(name, format!("{shown} returned {}", answer.status()), "check that server")
        }
        Ok(_) => Check::ok(name, format!("{shown} responds")),
        Err(error) => Check::warning(
            name,
            format!("cannot reach {shown}: {}", redact(&error.to_string())),
            "check base_url, and that the server is running",
        ),
    }
}

/// The request for the model list of each kind of service.
fn request(agent: &ureq::Agent, base: &str, provider: &Provider) -> ureq::RequestBuilder<ureq::typestate::WithoutBody> {
    let mut request = match provider.kind {
        ProviderKind::Anthropic => agent.get(format!("{base}/v1/models")).header("anthropic-version", "2023-06-01"),
        ProviderKind::Azure => agent.get(base),
        ProviderKind::Openai => agent.get(format!("{base}/models")),
    };
    request = match (provider.kind, &provider.api_key, &provider.bearer_token) {
        (_, _, Some(token)) => request.header("Authorization", format!("Bearer {token}")),
        (ProviderKind::Anthropic, Some(key), None) => request.header("x-api-key", key),
        (ProviderKind::Azure, Some(key), None) => request.header("api-key", key),
        (ProviderKind::Openai, Some(key), None) => request.header("Authorization", format!("Bearer {key}")),
        (_, None, None) => request,
    };
    for (header, value) in &provider.headers {
        request = request.header(header, value);
    }
    request
}

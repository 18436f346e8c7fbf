//! GitHub's model list over HTTP, used when the program cannot provide it.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use serde_json::Value;
use tokio::process::Command;

use crate::agent::Model;

const ANSWER_WITHIN: Duration = Duration::from_secs(10);
/// The timeout for reading the token of `gh`.
const GH_WITHIN: Duration = Duration::from_secs(5);
const LARGEST_ANSWER: u64 = 4 * 1024 * 1024;
/// The variables that may contain a token, in the CLI's own order.
const TOKEN_VARIABLES: [&str; 3] = ["COPILOT_GITHUB_TOKEN", "GH_TOKEN", "GITHUB_TOKEN"];

/// The models that the catalogue at `address` lists for the owner of the environment's token.
pub(in crate::agent::copilot) async fn models(
    address: &str,
    environment: &BTreeMap<String, String>,
) -> Result<Vec<Model>, String> {
    let token = token(environment).await.ok_or("no GitHub token for the model catalogue")?;
    let at = address.to_owned();
    let answer = tokio::task::spawn_blocking(move || fetch(&at, &token))
        .await
        .map_err(|error| error.to_string())
        .flatten()
        .map_err(|error| format!("the model catalogue at {address} did not respond: {error}"))?;
    Ok(listed(&answer))
}

async fn token(environment: &BTreeMap<String, String>) -> Option<String> {
    let given = TOKEN_VARIABLES.iter().find_map(|name| environment.get(*name).filter(|value| !value.is_empty()));
    if let Some(token) = given {
        return Some(token.clone());
    }
    let mut gh = Command::new(Path::new("gh"));
    gh.args(["auth", "token"]).env_clear().envs(environment);
    gh.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).kill_on_drop(true);
    let output = tokio::time::timeout(GH_WITHIN, gh.output()).await.ok()?.ok()?;
    let token = String::from_utf8(output.stdout).ok()?.trim().to_owned();
    (output.status.success() && !token.is_empty()).then_some(token)
}

fn fetch(address: &str, token: &str) -> Result<Value, String> {
    let agent: ureq::Agent = ureq::Agent::config_builder().timeout_global(Some(ANSWER_WITHIN)).build().into();
    let mut response = agent
        .get(address)
        .header("Authorization", format!("Bearer {token}"))
        .header("Accept", "application/json")
        .header("Copilot-Integration-Id", "copilot-developer-cli")
        .header("User-Agent", concat!("flightdeck/", env!("CARGO_PKG_VERSION")))
        .call()
        .map_err(|error| error.to_string())?;
    let text =
        response.body_mut().with_config().limit(LARGEST_ANSWER).read_to_string().map_err(|error| error.to_string())?;
    serde_json::from_str(&text).map_err(|error| format!("invalid JSON: {error}"))
}

/// Chat models that are not disabled. Models that the catalogue excludes from pickers are hidden, and so are those without
/// a policy: the account is not entitled to them as a rule, but may name them.
fn listed(answer: &Value) -> Vec<Model> {
    let entries = answer["data"].as_array().or_else(|| answer["models"].as_array());
    entries
        .into_iter()
        .flatten()
        .filter(|entry| entry["capabilities"]["type"] == "chat")
        .filter_map(|entry| {
            let id = entry["id"].as_str()?.to_owned();
            let state = entry["policy"]["state"].as_str();
            let is_preview = entry["preview"] == Value::Bool(true);
            let is_enabled = state == Some("enabled") || is_preview;
            (is_enabled || state.is_none()).then(|| Model {
                name: entry["name"].as_str().unwrap_or(&id).to_owned(),
                multiplier: entry["billing"]["multiplier"].as_f64().unwrap_or(1.0),
                hidden: !is_enabled || entry["model_picker_enabled"] == Value::Bool(false),
                provider: entry["vendor"].as_str().map(str::to_owned),
                id,
            })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chat_models_that_can_be_used_are_kept() {
        let models = listed(&serde_json::json!({ "data": [
            { "id": "a", "name": "A", "vendor": "Anthropic", "capabilities": { "type": "chat" }, "policy": { "state": "enabled" }, "billing": { "multiplier": 0.33 } },
            { "id": "b", "capabilities": { "type": "embeddings" } },
            { "id": "c", "capabilities": { "type": "chat" }, "policy": { "state": "disabled" } },
            { "id": "d", "capabilities": { "type": "chat" }, "policy": { "state": "disabled" }, "preview": true },
            { "id": "e", "capabilities": { "type": "chat" }, "policy": { "state": "enabled" }, "model_picker_enabled": false },
            { "id": "f", "capabilities": { "type": "chat" } },
            { "id": "g", "policy": { "state": "enabled" } },
        ] }));
        assert_eq!(models[0].provider.as_deref(), Some("Anthropic"));
        let seen: Vec<(&str, &str, f64, bool)> = models
            .iter()
            .map(|model| (model.id.as_str(), model.name.as_str(), model.multiplier, model.hidden))
            .collect();
        assert_eq!(
            seen,
            [("a", "A", 0.33, false), ("d", "d", 1.0, false), ("e", "e", 1.0, true), ("f", "f", 1.0, true)]
        );
    }
}

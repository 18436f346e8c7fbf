//! The models to offer: those of the user's own providers, then GitHub's, from the program, or else the catalogue, or
//! else the configuration.

use std::path::PathBuf;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use parking_lot::Mutex;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::authentication::{Answer, Authentication};
use super::{catalogue, provider};
use crate::agent::copilot::LOGIN_HINT;
use crate::agent::copilot::settings::CopilotSettings;
use crate::agent::copilot::transport::Servers;
use crate::agent::{Freshness, Model, ModelList};
use crate::private_file::{read_json, write_json};

/// How long a list, or the reason for a missing list, is cached.
const GOOD_FOR: Duration = Duration::from_hours(1);
/// How long a failure is cached while nobody knows who is logged in.
const FAILURE_GOOD_FOR: Duration = Duration::from_mins(1);
/// The version of the file format; files of another version are ignored.
const VERSION: u32 = 1;

/// The last list of GitHub's models, or why there is none.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Listed {
    version: u32,
    /// In seconds since 1970.
    at: u64,
    /// The login at that time.
    who: String,
    models: Result<Vec<Model>, String>,
}

impl Listed {
    /// Whether it may still be used. A catalogue that did not answer is asked again soon.
    fn is_good_at(&self, now: u64) -> bool {
        let limit = if self.models.is_ok() || self.who.starts_with("logged") { GOOD_FOR } else { FAILURE_GOOD_FOR };
        now.saturating_sub(self.at) < limit.as_secs()
    }
}

pub(in crate::agent::copilot) struct Models {
    settings: CopilotSettings,
    file: Option<PathBuf>,
    listed: Mutex<Option<Listed>>,
}

impl Models {
    pub fn new(settings: CopilotSettings) -> Self {
        let file = settings.data_folder.as_ref().map(|folder| folder.join("cache").join("copilot-models.json"));
        let listed = file.as_ref().and_then(|file| read_json::<Listed>(file).ok()?);
        Self { settings, file, listed: Mutex::new(listed.filter(|listed| listed.version == VERSION)) }
    }

    /// All models to offer.
    pub async fn list(&self, servers: &Servers, authentication: &Authentication, freshness: Freshness) -> ModelList {
        let mut models: Vec<Model> = Vec::new();
        for (name, provider) in &self.settings.providers {
            models.extend(
                provider
                    .models
                    .iter()
                    .map(|model| Model { name: format!("{model} ({name})"), ..own(&format!("{name}/{model}")) }),
            );
        }
        let environment = &self.settings.environment;
        if provider::is_in_environment(environment) {
            models.extend(self.settings.models.iter().map(|id| own(id)));
            return match environment.get("COPILOT_MODEL").filter(|model| !model.is_empty()) {
                Some(model) => {
                    models.insert(0, own(model));
                    ModelList::known(models)
                }
                None => ModelList::incomplete(models, "COPILOT_MODEL is not set"),
            };
        }
        match self.of_github(servers, authentication, freshness).await {
            Ok(of_github) => {
                models.extend(of_github);
                ModelList::known(models)
            }
            Err(reason) => {
                models.extend(self.settings.models.iter().map(|id| plain(id)));
                ModelList::incomplete(models, reason)
            }
        }
    }

    async fn of_github(
        &self,
        servers: &Servers,
        authentication: &Authentication,
        freshness: Freshness,
    ) -> Result<Vec<Model>, String> {
        let answer = match freshness {
            Freshness::Recent => authentication.recent(servers).await,
            Freshness::Now => authentication.ask(servers).await,
        };
        let who = match &answer {
            Answer::LoggedIn { who } => format!("logged in as {}", who.as_deref().unwrap_or("an unknown user")),
            Answer::LoggedOut => "logged out".to_owned(),
            Answer::Unknown(_) => "unknown login".to_owned(),
        };
        let known = self.listed.lock().clone();
        let is_good = |listed: &Listed| listed.who == who && listed.is_good_at(now());
        if let Some(listed) = known.filter(|listed| freshness == Freshness::Recent && is_good(listed)) {
            return match (listed.models, answer) {
                // The reason why the program could not be queried may change at any time.
                (Err(_), Answer::Unknown(reason)) => Err(reason),
                (models, _) => models,
            };
        }
        let asked = match answer {
            Answer::LoggedIn { .. } => ask_program(servers).await,
            Answer::LoggedOut => Err(LOGIN_HINT.to_owned()),
            Answer::Unknown(reason) => Err(reason),
        };
        let models = match asked {
            Ok(models) => Ok(models),
            Err(reason) => match catalogue::models(&self.settings.catalogue, &self.settings.environment).await {
                Ok(models) => Ok(models),
                Err(more) => {
                    tracing::debug!(%reason, catalogue = %more, "no list of models is available");
                    Err(reason)
                }
            },
        };
        self.remember(who, models.clone());
        models
    }

    fn remember(&self, who: String, models: Result<Vec<Model>, String>) {
        let listed = Listed { version: VERSION, at: now(), who, models };
        if let Some(file) = &self.file
            && let Err(error) = write_json(file, &listed)
        {
            tracing::warn!(%error, file = %file.display(), "cannot cache the list of models");
        }
        *self.listed.lock() = Some(listed);
    }
}

async fn ask_program(servers: &Servers) -> Result<Vec<Model>, String> {
    let server = servers.get().await.map_err(|error| error.to_string())?;
    let listed = server.ask("models.list").await?;
    let entries = listed["models"].as_array().ok_or("Copilot returned no list of models")?;
    Ok(entries.iter().filter_map(model).collect())
}

fn model(entry: &Value) -> Option<Model> {
    let id = entry["id"].as_str()?.to_owned();
    Some(Model {
        name: entry["name"].as_str().unwrap_or(&id).to_owned(),
        multiplier: entry["billing"]["multiplier"].as_f64().unwrap_or(1.0),
        hidden: entry["policy"]["state"].as_str() == Some("disabled"),
        provider: entry["vendor"].as_str().map(str::to_owned),
        id,
    })
}

/// A model of the user's own provider, which uses no premium requests.
fn own(id: &str) -> Model {
    Model { multiplier: 0.0, ..plain(id) }
}

fn plain(id: &str) -> Model {
    Model::named(id, id)
}

fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map(|since| since.as_secs()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::agent::copilot::settings::ConfiguredProvider;
    use crate::model::Provider;

    #[tokio::test]
    async fn models_of_the_users_own_providers_cost_no_premium_requests() {
        let provider = ConfiguredProvider { provider: Provider::default(), models: vec!["qwen".to_owned()] };
        let environment = [("COPILOT_PROVIDER_BASE_URL", "http://localhost:1/v1"), ("COPILOT_MODEL", "mine")];
        let settings = CopilotSettings {
            environment: environment.map(|(name, value)| (name.to_owned(), value.to_owned())).into(),
            providers: [("ollama".to_owned(), provider)].into(),
            models: vec!["other".to_owned()],
            ..CopilotSettings::default()
        };
        let servers = Arc::new(Servers::new(settings.clone()));
        let list = Models::new(settings).list(&servers, &Authentication::new(), Freshness::Recent).await;
        let costs: Vec<(&str, f64)> = list.models.iter().map(|model| (model.id.as_str(), model.multiplier)).collect();
        assert_eq!(costs, [("mine", 0.0), ("ollama/qwen", 0.0), ("other", 0.0)]);
    }
}

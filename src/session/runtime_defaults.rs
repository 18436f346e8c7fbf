//! What a session gets that chooses its runtime and nothing else, in no folder in particular: what a form shows before
//! anything is chosen.

use serde_json::Map;

use super::{SessionSettings, Sessions, choice};
use crate::model::{RuntimeDefaults, SessionDefaults};

impl Sessions {
    /// Everything but the model: [`Self::default_model_of`] asks the agent.
    pub fn defaults_of(&self, runtime: &str) -> RuntimeDefaults {
        let settings = self.settings();
        RuntimeDefaults {
            model: None,
            effort: choice::effort(runtime, &layers(&settings, runtime), &settings),
            permission_mode: Some(settings.permission_mode(runtime)),
            options: settings.options(runtime, Map::new()),
        }
    }

    /// The model, as the runtime knows it. Empty if the agent chooses; `None` if such a session cannot be started.
    pub async fn default_model_of(&self, runtime: &str) -> Option<String> {
        let settings = self.settings();
        let choice = choice::choose(self.runtimes(), &layers(&settings, runtime), &settings, &Map::new()).await;
        choice.ok().map(|choice| choice.model)
    }
}

fn layers(settings: &SessionSettings, runtime: &str) -> Vec<SessionDefaults> {
    let own = SessionDefaults { runtime: Some(runtime.to_owned()), ..SessionDefaults::default() };
    std::iter::once(own).chain((settings.defaults)(None).layers).collect()
}

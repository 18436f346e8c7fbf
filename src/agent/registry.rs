//! The runtimes of this server, and how a model name selects one.

use std::sync::Arc;

use parking_lot::{Mutex, RwLock};
use serde_json::{Map, Value};

use super::pending_connection::{PendingConnection, Start};
use super::process_slots::ProcessSlots;
use super::session_leases::SessionLeases;
use super::{AgentProcess, Freshness, Model, Readiness, Runtime, StartError, StartSpec};

/// The runtimes at one moment, in order of preference.
type RuntimeList = Arc<[Arc<dyn Runtime>]>;

/// All runtimes, in order of preference; the demo is last. Clones share everything.
#[derive(Clone)]
pub struct Runtimes {
    current: Arc<RwLock<RuntimeList>>,
    /// Those that were replaced. Sessions that are connected keep them.
    replaced: Arc<Mutex<Vec<Arc<dyn Runtime>>>>,
    slots: ProcessSlots,
    leases: SessionLeases,
}

/// No runtime has that name.
#[derive(Debug, thiserror::Error)]
#[error("unknown runtime {name:?}; available runtimes: {known}")]
pub struct RuntimeNotFound {
    /// The requested name.
    pub name: String,
    /// The available names.
    pub known: String,
}

/// The runtime's model list is complete and does not contain the model.
#[derive(Debug, thiserror::Error)]
#[error("runtime {runtime} has no model {model:?}; available models: {known}")]
pub struct ModelNotFound {
    /// The runtime.
    pub runtime: String,
    /// The requested name.
    pub model: String,
    /// The available names.
    pub known: String,
}

/// A runtime and one of its models.
pub struct ModelChoice {
    /// The runtime of the session.
    pub runtime: Arc<dyn Runtime>,
    /// The model's id, as that runtime knows it.
    pub model: String,
}

/// The models of one runtime, with the ids that lists use for them.
pub struct RuntimeModels {
    /// The runtime.
    pub runtime: String,
    /// The listed id and the model.
    pub models: Vec<(String, Model)>,
    /// Why the list may be incomplete or is empty.
    pub note: Option<String>,
}

impl RuntimeModels {
    async fn of(runtime: &dyn Runtime, is_default: bool, freshness: Freshness) -> Self {
        let list = runtime.models(freshness).await;
        let name = runtime.name();
        let listed_id = |id: &str| if is_default { id.to_owned() } else { format!("{name}/{id}") };
        let models = list.models.into_iter().map(|model| (listed_id(&model.id), model)).collect();
        Self { runtime: name.to_owned(), models, note: list.incomplete }
    }
}

impl Runtimes {
    /// A registry of the given runtimes, in order of preference, without a process limit.
    pub fn new(all: Vec<Arc<dyn Runtime>>) -> Self {
        Self {
            current: Arc::new(RwLock::new(all.into())),
            replaced: Arc::default(),
            slots: ProcessSlots::new(0),
            leases: SessionLeases::default(),
        }
    }

    /// Replaces all runtimes. Sessions that are connected keep their agent; the next connection is made by the new runtime
    /// of the same name.
    pub fn replace(&self, all: Vec<Arc<dyn Runtime>>) {
        let old = std::mem::replace(&mut *self.current.write(), all.into());
        self.replaced.lock().extend(old.iter().cloned());
    }

    fn all(&self) -> RuntimeList {
        Arc::clone(&self.current.read())
    }

    /// Sets the process limit; 0 for no limit.
    pub fn limit_processes(&self, limit: usize) {
        self.slots.set_limit(limit);
    }

    /// Opens a connection. It waits for a process slot where the runtime starts a process for each connection, and leases
    /// the agent's session; the connection holds both until it is closed.
    pub fn open(&self, runtime: &str, spec: StartSpec) -> PendingConnection {
        match self.named(runtime) {
            Ok(runtime) => {
                let (slots, leases) = (self.slots.clone(), self.leases.clone());
                PendingConnection::new(Start { runtime, spec, slots, leases })
            }
            Err(error) => PendingConnection::failed(StartError::Permanent(error.to_string())),
        }
    }

    /// Resolves when a request is waiting for an agent process and none is free. Idle connections that hold one should
    /// then be closed.
    pub async fn process_wanted(&self) {
        self.slots.wanted().await;
    }

    /// The number of agent processes that count against the limit, and of requests that wait for one.
    pub fn process_figures(&self) -> (usize, usize) {
        self.slots.figures()
    }

    /// Every runtime.
    pub fn iter(&self) -> impl Iterator<Item = Arc<dyn Runtime>> + use<> {
        self.all().to_vec().into_iter()
    }

    /// The runtime with that name.
    pub fn named(&self, name: &str) -> Result<Arc<dyn Runtime>, RuntimeNotFound> {
        let all = self.all();
        all.iter().find(|runtime| runtime.name() == name).cloned().ok_or_else(|| RuntimeNotFound {
            name: name.to_owned(),
            known: all.iter().map(|runtime| runtime.name()).collect::<Vec<_>>().join(", "),
        })
    }

    /// The runtimes that are ready, the default one first and demos last.
    async fn ready(&self, default: &str) -> Vec<Arc<dyn Runtime>> {
        let mut ready = Vec::new();
        for runtime in self.iter() {
            if runtime.readiness().await.ready {
                ready.push(runtime);
            }
        }
        ready.sort_by_key(|runtime| (runtime.capabilities().demo, runtime.name() != default));
        ready
    }

    /// The default runtime: the configured one, or else the first that is ready.
    pub async fn default_runtime(&self, configured: &str) -> Result<Arc<dyn Runtime>, RuntimeNotFound> {
        if !configured.is_empty() {
            return self.named(configured);
        }
        let ready = self.ready(configured).await;
        ready
            .into_iter()
            .next()
            .or_else(|| self.all().first().cloned())
            .ok_or_else(|| RuntimeNotFound { name: String::new(), known: "none".to_owned() })
    }

    /// The models of all ready runtimes as the portal lists them: plain ids for the default runtime, `runtime/model`
    /// for the others.
    pub async fn listed_models(&self, configured: &str) -> Vec<Model> {
        let mut listed = Vec::new();
        for (position, runtime) in self.ready(configured).await.iter().enumerate() {
            let list = RuntimeModels::of(runtime.as_ref(), position == 0, Freshness::Recent).await;
            let shown = list.models.into_iter().filter(|(_, model)| !model.hidden);
            listed.extend(shown.map(|(id, model)| Model { id, ..model }));
        }
        listed
    }

    /// The models of every runtime in the order of [`Self::listed_models`], then those of runtimes that are not ready.
    pub async fn model_lists(&self, configured: &str, freshness: Freshness) -> Vec<RuntimeModels> {
        let mut lists = Vec::new();
        for (position, runtime) in self.ready(configured).await.iter().enumerate() {
            lists.push(RuntimeModels::of(runtime.as_ref(), position == 0, freshness).await);
        }
        for (runtime, readiness) in self.described().await.into_iter().filter(|(_, readiness)| !readiness.ready) {
            let (runtime, note) = (runtime.name().to_owned(), Some(readiness.hint));
            if !lists.iter().any(|list| list.runtime == runtime) {
                lists.push(RuntimeModels { runtime, models: Vec::new(), note });
            }
        }
        lists
    }

    /// Resolves an id of [`Self::listed_models`] to a runtime and a model. A model's own id may contain slashes.
    pub async fn choose(
        &self,
        configured: &str,
        id: &str,
        options: &Map<String, Value>,
    ) -> Result<ModelChoice, ModelNotFound> {
        let by_prefix = id.split_once('/').and_then(|(name, model)| Some((self.named(name).ok()?, model)));
        let (runtime, model) = match by_prefix {
            Some((runtime, model)) => (runtime, model),
            None => match self.default_runtime(configured).await {
                Ok(runtime) => (runtime, id),
                Err(error) => {
                    return Err(ModelNotFound { runtime: error.name, model: id.to_owned(), known: error.known });
                }
            },
        };
        if !runtime.takes_any_model(options) {
            check_model(runtime.as_ref(), model).await?;
        }
        Ok(ModelChoice { model: model.to_owned(), runtime })
    }

    /// Whether an id starts with the name of a runtime and so selects it.
    pub fn names_runtime(&self, id: &str) -> bool {
        id.split_once('/').is_some_and(|(name, _)| self.named(name).is_ok())
    }

    /// Why a runtime probably does not know a model, and what to use instead. Only a warning, because model names
    /// change.
    pub fn misfit(&self, runtime: &str, model: &str, options: &Map<String, Value>) -> Option<String> {
        let runtime = self.named(runtime).ok().filter(|runtime| !runtime.takes_any_model(options))?;
        runtime.capabilities().misfit(runtime.name(), model)
    }

    /// Stops the processes that the runtimes keep running.
    pub async fn shut_down(&self) {
        let replaced = std::mem::take(&mut *self.replaced.lock());
        for runtime in replaced.into_iter().chain(self.iter()) {
            runtime.shut_down().await;
        }
    }

    /// The resource use of all processes of all runtimes.
    pub async fn processes(&self) -> Vec<AgentProcess> {
        let all: Vec<_> = self.replaced.lock().iter().cloned().chain(self.iter()).collect();
        let looked_at =
            tokio::task::spawn_blocking(move || all.iter().flat_map(|runtime| runtime.processes()).collect()).await;
        looked_at.unwrap_or_else(|error| {
            tracing::error!(%error, "reading the resource use of agent processes failed");
            Vec::new()
        })
    }

    /// Name, readiness and capabilities of every runtime.
    pub async fn described(&self) -> Vec<(Arc<dyn Runtime>, Readiness)> {
        let mut described = Vec::new();
        for runtime in self.iter() {
            let readiness = runtime.readiness().await;
            described.push((runtime, readiness));
        }
        described
    }
}

/// Rejects a model only if the runtime's list is complete and does not contain it.
async fn check_model(runtime: &dyn Runtime, model: &str) -> Result<(), ModelNotFound> {
    let list = runtime.models(Freshness::Recent).await;
    if list.incomplete.is_some() || list.models.iter().any(|known| known.id == model) {
        return Ok(());
    }
    Err(ModelNotFound {
        runtime: runtime.name().to_owned(),
        model: model.to_owned(),
        known: list.models.iter().map(|known| known.id.as_str()).collect::<Vec<_>>().join(", "),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent::{BoxFuture, Capabilities, Connection, ModelList, StartError, StartSpec};

    struct Listed {
        name: &'static str,
        capabilities: Capabilities,
        ready: bool,
        models: ModelList,
    }

    impl Runtime for Listed {
        fn name(&self) -> &str {
            self.name
        }
        fn capabilities(&self) -> &Capabilities {
            &self.capabilities
        }
        fn readiness(&self) -> BoxFuture<'_, Readiness> {
            Box::pin(async { Readiness { ready: self.ready, ..Readiness::ready("") } })
        }
        fn models(&self, _: Freshness) -> BoxFuture<'_, ModelList> {
            Box::pin(async { self.models.clone() })
        }
        fn start(&self, _: StartSpec) -> BoxFuture<'_, Result<Connection, StartError>> {
            Box::pin(async { Err(StartError::Permanent("not in this test".to_owned())) })
        }
    }

    fn listed(name: &'static str, ready: bool, models: &[&str]) -> Arc<dyn Runtime> {
        let models = models
            .iter()
            .map(|id| Model {
                name: (*id).to_owned(),
                id: id.trim_start_matches('-').to_owned(),
                multiplier: 1.0,
                hidden: id.starts_with('-'),
            })
            .collect();
        Arc::new(Listed {
            name,
            capabilities: Capabilities { demo: name == "demo", ..Capabilities::default() },
            ready,
            models: ModelList::known(models),
        })
    }

    async fn ids(runtimes: &Runtimes, configured: &str) -> Vec<String> {
        runtimes.listed_models(configured).await.into_iter().map(|model| model.id).collect()
    }

    #[tokio::test]
    async fn the_default_runtimes_models_are_plain_and_first_and_the_demos_come_last() {
        let runtimes =
            Runtimes::new(vec![listed("demo", true, &["d"]), listed("a", true, &["m/1"]), listed("b", true, &["n"])]);
        assert_eq!(ids(&runtimes, "b").await, ["n", "a/m/1", "demo/d"]);
        assert_eq!(ids(&runtimes, "").await, ["m/1", "b/n", "demo/d"]);
    }

    #[tokio::test]
    async fn with_nothing_else_ready_the_demos_models_are_plain() {
        let runtimes = Runtimes::new(vec![listed("a", false, &["m"]), listed("demo", true, &["d"])]);
        assert_eq!(ids(&runtimes, "").await, ["d"]);
    }

    #[tokio::test]
    async fn hidden_models_count_as_known_and_slashes_belong_to_the_model() {
        let runtimes = Runtimes::new(vec![listed("a", true, &["org/m", "-secret"]), listed("demo", true, &["d"])]);
        for (id, runtime, model) in [("org/m", "a", "org/m"), ("secret", "a", "secret"), ("demo/d", "demo", "d")] {
            let choice = runtimes.choose("", id, &Map::new()).await.expect(id);
            assert_eq!((choice.runtime.name(), choice.model.as_str()), (runtime, model));
        }
        assert!(runtimes.choose("", "nope", &Map::new()).await.is_err());
        assert!(runtimes.choose("", "demo/nope", &Map::new()).await.is_err());
    }

    #[tokio::test]
    async fn with_an_unknown_list_a_name_is_passed_on() {
        let runtimes = Runtimes::new(vec![Arc::new(Listed {
            name: "a",
            capabilities: Capabilities::default(),
            ready: true,
            models: ModelList::unknown("not logged in"),
        }) as Arc<dyn Runtime>]);
        assert_eq!(runtimes.choose("", "whatever", &Map::new()).await.expect("passed on").model, "whatever");
    }
}

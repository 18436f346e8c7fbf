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
#[error("runtime {runtime} has no model {model:?}; available models: {known}{}", and_hint(.hint.as_deref()))]
pub struct ModelNotFound {
    /// The runtime.
    pub runtime: String,
    /// The requested name.
    pub model: String,
    /// The available names.
    pub known: String,
    /// What the name probably is, and what to use instead.
    pub hint: Option<String>,
}

fn and_hint(hint: Option<&str>) -> String {
    hint.map(|hint| format!(". {hint}")).unwrap_or_default()
}

/// A runtime and one of its models.
pub struct ModelChoice {
    /// The runtime of the session.
    pub runtime: Arc<dyn Runtime>,
    /// The model's id, as that runtime knows it.
    pub model: String,
}

/// A model as lists of all agents name it.
pub struct ListedModel {
    /// Its id in such a list: plain for the default runtime, `runtime/model` for the others.
    pub listed_id: String,
    /// Whether it is in the portal's list.
    pub is_listed: bool,
    /// The model.
    pub model: Model,
}

/// The models of one runtime.
pub struct RuntimeModels {
    /// The runtime.
    pub runtime: String,
    /// Its models.
    pub models: Vec<ListedModel>,
    /// Why the list may be incomplete or is empty, or why no session can be started.
    pub note: Option<String>,
    /// The runtime passes on names that are not in the list.
    pub takes_any_name: bool,
    /// A session that names no model gets the agent's own default.
    pub agent_chooses: bool,
}

/// A runtime with its state, in the order of lists.
struct Candidate {
    runtime: Arc<dyn Runtime>,
    readiness: Readiness,
    /// Sessions that choose no runtime get this one.
    is_default: bool,
}

impl Candidate {
    async fn models(&self, freshness: Freshness) -> RuntimeModels {
        let list = self.runtime.models(freshness).await;
        let name = self.runtime.name();
        // The other ways to the same agent have the same models.
        let is_listed = self.readiness.ready && (self.is_default || name == self.runtime.family());
        let has_none = list.models.is_empty();
        let listed = |model: Model| ListedModel {
            listed_id: if self.is_default { model.id.clone() } else { format!("{name}/{}", model.id) },
            is_listed: is_listed && !model.hidden,
            model,
        };
        RuntimeModels {
            runtime: name.to_owned(),
            models: list.models.into_iter().map(listed).collect(),
            takes_any_name: list.incomplete.is_some() || self.runtime.takes_any_model(&Map::new()),
            agent_chooses: list.agent_chooses || has_none,
            note: if self.readiness.ready { list.incomplete } else { Some(self.readiness.hint.clone()) },
        }
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

    /// The runtimes that are ready, the default one first and demos last; then those that are not.
    async fn candidates(&self, default: &str) -> Vec<Candidate> {
        let mut all: Vec<Candidate> = self
            .described()
            .await
            .into_iter()
            .map(|(runtime, readiness)| Candidate { runtime, readiness, is_default: false })
            .collect();
        all.sort_by_key(|Candidate { runtime, readiness, .. }| {
            (!readiness.ready, runtime.capabilities().demo, runtime.name() != default)
        });
        if let Some(first) = all.first_mut().filter(|first| first.readiness.ready) {
            first.is_default = true;
        }
        all
    }

    /// The default runtime: the configured one, or else the first that is ready.
    pub async fn default_runtime(&self, configured: &str) -> Result<Arc<dyn Runtime>, RuntimeNotFound> {
        if !configured.is_empty() {
            return self.named(configured);
        }
        let first_ready = self.candidates(configured).await.into_iter().find(|candidate| candidate.is_default);
        first_ready
            .map(|candidate| candidate.runtime)
            .or_else(|| self.all().first().cloned())
            .ok_or_else(|| RuntimeNotFound { name: String::new(), known: "none".to_owned() })
    }

    /// The models of all ready runtimes as the portal lists them: plain ids for the default runtime, `runtime/model`
    /// for the others. Of several ways to the same agent, the default one is listed, and the agent's main one.
    pub async fn listed_models(&self, configured: &str) -> Vec<Model> {
        let ready: Vec<Candidate> =
            self.candidates(configured).await.into_iter().filter(|candidate| candidate.readiness.ready).collect();
        let lists = models_of(&ready, Freshness::Recent).await;
        let listed = lists.into_iter().flat_map(|list| list.models).filter(|model| model.is_listed);
        listed.map(|ListedModel { listed_id, model, .. }| Model { id: listed_id, ..model }).collect()
    }

    /// The models of every runtime in the order of [`Self::listed_models`], then those of runtimes that are not ready.
    pub async fn model_lists(&self, configured: &str, freshness: Freshness) -> Vec<RuntimeModels> {
        models_of(&self.candidates(configured).await, freshness).await
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
                    return Err(ModelNotFound {
                        runtime: error.name,
                        model: id.to_owned(),
                        known: error.known,
                        hint: None,
                    });
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
        let all: Vec<Arc<dyn Runtime>> = self.iter().collect();
        let readiness =
            by_family(&all, |runtime| runtime.family(), |runtime, _| async move { runtime.readiness().await }).await;
        all.into_iter().zip(readiness).collect()
    }
}

/// The models of some runtimes, in their order.
async fn models_of(candidates: &[Candidate], freshness: Freshness) -> Vec<RuntimeModels> {
    // The first one of a family asks the agent that they share.
    by_family(
        candidates,
        |candidate| candidate.runtime.family(),
        |candidate, is_first| candidate.models(if is_first { freshness } else { Freshness::Recent }),
    )
    .await
}

/// Asks about many things at once, but one after the other about those of the same agent, which share its program. The
/// answers are in the order of the things; `ask` also gets whether a thing is the first of its family.
async fn by_family<'a, T, A, F>(
    things: &'a [T],
    family: impl Fn(&'a T) -> &'a str,
    ask: impl Fn(&'a T, bool) -> F,
) -> Vec<A>
where
    F: Future<Output = A>,
{
    let mut families: Vec<(&str, Vec<usize>)> = Vec::new();
    for (position, thing) in things.iter().enumerate() {
        let name = family(thing);
        match families.iter_mut().find(|(known, _)| *known == name) {
            Some((_, members)) => members.push(position),
            None => families.push((name, vec![position])),
        }
    }
    let ask = &ask;
    let answers = families.into_iter().map(|(_, members)| async move {
        let mut answers = Vec::with_capacity(members.len());
        for (number, position) in members.into_iter().enumerate() {
            answers.push((position, ask(&things[position], number == 0).await));
        }
        answers
    });
    let mut answers: Vec<(usize, A)> = futures_util::future::join_all(answers).await.into_iter().flatten().collect();
    answers.sort_by_key(|(position, _)| *position);
    answers.into_iter().map(|(_, answer)| answer).collect()
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
        hint: runtime.capabilities().misfit(runtime.name(), model),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent::{BoxFuture, Capabilities, Connection, ModelList, ModelNames, StartError, StartSpec};

    struct Listed {
        name: &'static str,
        /// The agent, if it is not the runtime's own.
        family: &'static str,
        capabilities: Capabilities,
        ready: bool,
        models: ModelList,
    }

    impl Runtime for Listed {
        fn name(&self) -> &str {
            self.name
        }
        fn family(&self) -> &str {
            if self.family.is_empty() { self.name } else { self.family }
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
        way_to("", name, ready, models)
    }

    fn way_to(family: &'static str, name: &'static str, ready: bool, models: &[&str]) -> Arc<dyn Runtime> {
        let models = models
            .iter()
            .map(|id| Model { hidden: id.starts_with('-'), ..Model::named(*id, id.trim_start_matches('-')) })
            .collect();
        Arc::new(Listed {
            name,
            family,
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
    async fn of_several_ways_to_an_agent_the_default_one_and_the_main_one_are_listed() {
        let runtimes = Runtimes::new(vec![
            listed("a", true, &["m"]),
            way_to("a", "a-acp", true, &["m"]),
            way_to("a", "a-headless", true, &["m"]),
        ]);
        assert_eq!(ids(&runtimes, "").await, ["m"]);
        assert_eq!(ids(&runtimes, "a-headless").await, ["m", "a/m"]);
        let lists = runtimes.model_lists("", Freshness::Recent).await;
        let all: Vec<(&str, bool, bool)> = lists
            .iter()
            .flat_map(|list| &list.models)
            .map(|one| (one.listed_id.as_str(), one.is_listed, one.model.hidden))
            .collect();
        assert_eq!(all, [("m", true, false), ("a-acp/m", false, false), ("a-headless/m", false, false)]);
    }

    #[tokio::test]
    async fn a_runtime_that_is_not_ready_offers_its_models_with_the_reason() {
        let runtimes = Runtimes::new(vec![listed("a", false, &["m"]), listed("demo", true, &["d"])]);
        let lists = runtimes.model_lists("", Freshness::Recent).await;
        let of_a = lists.last().expect("both are there");
        assert_eq!((of_a.runtime.as_str(), of_a.models[0].listed_id.as_str()), ("a", "a/m"));
        assert!(!of_a.models[0].is_listed && of_a.note.is_some());
        assert_eq!(ids(&runtimes, "").await, ["d"]);
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
    async fn a_name_of_another_agent_is_refused_with_a_hint() {
        let copilot = Listed {
            name: "copilot",
            family: "",
            capabilities: Capabilities { model_names: ModelNames::Copilot, ..Capabilities::default() },
            ready: true,
            models: ModelList::known(vec![Model::named("Claude Sonnet 4.5", "claude-sonnet-4.5")]),
        };
        let runtimes = Runtimes::new(vec![Arc::new(copilot) as Arc<dyn Runtime>]);
        let runtimes = &runtimes;
        let refusal = |id| async move { runtimes.choose("", id, &Map::new()).await.err().expect(id).to_string() };
        let known = "available models: claude-sonnet-4.5";
        assert_eq!(refusal("nope").await, format!("runtime copilot has no model \"nope\"; {known}"));
        let alias = refusal("sonnet").await;
        assert!(alias.contains(known) && alias.contains("\"sonnet\" is a Claude Code alias; copilot needs"), "{alias}");
        let spelling = refusal("claude-sonnet-4-5").await;
        assert!(spelling.contains("use \"claude-sonnet-4.5\" with copilot."), "{spelling}");
    }

    #[tokio::test]
    async fn with_an_unknown_list_a_name_is_passed_on() {
        let runtimes = Runtimes::new(vec![Arc::new(Listed {
            name: "a",
            family: "",
            capabilities: Capabilities::default(),
            ready: true,
            models: ModelList::unknown("not logged in"),
        }) as Arc<dyn Runtime>]);
        assert_eq!(runtimes.choose("", "whatever", &Map::new()).await.expect("passed on").model, "whatever");
    }
}

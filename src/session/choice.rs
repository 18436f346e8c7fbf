//! Which runtime, model and effort a session gets: its own choice, then the configured layers, then the first available.

use std::ops::Range;

use serde_json::{Map, Value};

use super::{CreateError, SessionSettings};
use crate::agent::{Freshness, ModelChoice, Runtime, Runtimes};
use crate::model::SessionDefaults;

/// Resolves the layers, the session's own first and the user's file last. Nothing is written here, and nothing is started.
pub(super) async fn choose(
    runtimes: &Runtimes,
    layers: &[SessionDefaults],
    settings: &SessionSettings,
    options: &Map<String, Value>,
) -> Result<ModelChoice, CreateError> {
    // The runtime whose models are listed by their plain ids.
    let listed = settings.default_runtime.as_str();
    let runtime = layers.iter().position(|layer| chosen(layer.runtime.as_ref()).is_some());
    let name = runtime.and_then(|layer| chosen(layers[layer].runtime.as_ref())).unwrap_or_default();
    let user = user_layer(layers);
    let mut found = model(runtimes, layers, 0..user, runtime, name).await;
    if found.is_none() {
        if let Some((runtime, model)) = default_of_runtime(runtimes, settings, name).await? {
            return Ok(runtimes.choose(&runtime, &format!("{runtime}/{model}"), options).await?);
        }
        found = model(runtimes, layers, user..layers.len(), runtime, name).await;
    }
    let Some(model) = found else {
        let runtime = runtimes.default_runtime(name).await?;
        // Listed models do not apply to a session's own provider.
        let is_open = runtime.takes_any_model(options);
        let model = if is_open { String::new() } else { first_model(runtime.as_ref()).await };
        return Ok(ModelChoice { runtime, model });
    };
    let is_own_runtime = runtime == Some(0);
    let is_own_model = layers.first().is_some_and(|own| chosen(own.model.as_ref()).is_some());
    if is_own_model && !is_own_runtime && is_from_list(runtimes, name, listed, model).await {
        return Ok(runtimes.choose(listed, model, options).await?);
    }
    if !name.is_empty() && (is_own_runtime || !runtimes.names_runtime(model)) {
        // Reported here, where the available runtimes can be named.
        runtimes.named(name)?;
    }
    let prefix = format!("{name}/");
    if is_own_runtime && !model.starts_with(&prefix) {
        // With a runtime named by the session the model is that runtime's, whatever its id looks like.
        return Ok(runtimes.choose(name, &format!("{prefix}{model}"), options).await?);
    }
    Ok(runtimes.choose(name, model, options).await?)
}

/// The effort of a session of this runtime.
pub(super) fn effort(runtime: &str, layers: &[SessionDefaults], settings: &SessionSettings) -> Option<String> {
    let (stronger, user) = layers.split_at(user_layer(layers));
    let of =
        |layers: &[SessionDefaults]| layers.iter().find_map(|layer| chosen(layer.effort.as_ref()).map(str::to_owned));
    let of_runtime = || settings.runtime_defaults.get(runtime)?.effort.clone();
    of(stronger).or_else(of_runtime).or_else(|| of(user))
}

/// Where the user's own file is among the layers: the last one, if there is any but the session's own. What it says of
/// one runtime is stronger than what it says of all sessions.
fn user_layer(layers: &[SessionDefaults]) -> usize {
    layers.len().saturating_sub(1).max(1).min(layers.len())
}

/// The configured model of the runtime, or of the first that is ready if no runtime was chosen, and that runtime's name.
async fn default_of_runtime<'a>(
    runtimes: &Runtimes,
    settings: &'a SessionSettings,
    name: &str,
) -> Result<Option<(String, &'a str)>, CreateError> {
    let model_of = |name: &str| settings.runtime_defaults.get(name).and_then(|defaults| defaults.model.as_deref());
    if settings.runtime_defaults.values().all(|defaults| defaults.model.is_none()) {
        return Ok(None);
    }
    let runtime = runtimes.default_runtime(name).await?.name().to_owned();
    Ok(model_of(&runtime).map(|model| (runtime, model)))
}

/// The first model of these layers that was meant for the runtime. One of a weaker layer than the runtime's was meant for that layer's
/// own runtime: it counts where that is the same, or where the layer named none and the runtime offers the model.
async fn model<'a>(
    runtimes: &Runtimes,
    layers: &'a [SessionDefaults],
    positions: Range<usize>,
    runtime: Option<usize>,
    name: &str,
) -> Option<&'a str> {
    for position in positions {
        let Some(model) = chosen(layers[position].model.as_ref()) else { continue };
        if runtime.is_none_or(|runtime| position <= runtime) {
            return Some(model);
        }
        let meant_for = layers[position..].iter().find_map(|layer| chosen(layer.runtime.as_ref()));
        let fits = match meant_for {
            Some(meant_for) => meant_for == name,
            None => offers(runtimes, name, model).await,
        };
        if fits {
            return Some(model);
        }
    }
    None
}

/// Whether a session took a plain id from a list that knows nothing of its folder, where another runtime is usual.
async fn is_from_list(runtimes: &Runtimes, name: &str, listed: &str, model: &str) -> bool {
    if listed.is_empty() || listed == name || runtimes.names_runtime(model) {
        return false;
    }
    let usual = match runtimes.default_runtime(name).await {
        Ok(usual) => usual.name().to_owned(),
        // The error in the configuration is reported.
        Err(_) => return false,
    };
    !offers(runtimes, &usual, model).await && offers(runtimes, listed, model).await
}

async fn offers(runtimes: &Runtimes, name: &str, model: &str) -> bool {
    let Ok(runtime) = runtimes.named(name) else { return false };
    let model = model.strip_prefix(name).and_then(|rest| rest.strip_prefix('/')).unwrap_or(model);
    runtime.models(Freshness::Recent).await.models.iter().any(|offered| offered.id == model)
}

fn chosen(choice: Option<&String>) -> Option<&str> {
    choice.map(String::as_str).filter(|text| !text.is_empty())
}

/// `gpt-5.2` where it is offered, as the portal always did, else the first; empty lets the agent choose.
async fn first_model(runtime: &dyn Runtime) -> String {
    let list = runtime.models(Freshness::Recent).await;
    if list.agent_chooses {
        return String::new();
    }
    let models = list.models;
    models
        .iter()
        .find(|model| model.id == "gpt-5.2")
        .or_else(|| models.iter().find(|model| !model.hidden))
        .map(|model| model.id.clone())
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::agent::{BoxFuture, Capabilities, Connection, Model, ModelList, Readiness, StartError, StartSpec};
    use crate::model::RuntimeDefaults;

    struct Listed(&'static str, &'static [&'static str], Capabilities);

    impl Runtime for Listed {
        fn name(&self) -> &str {
            self.0
        }
        fn capabilities(&self) -> &Capabilities {
            &self.2
        }
        fn readiness(&self) -> BoxFuture<'_, Readiness> {
            Box::pin(async { Readiness::ready("") })
        }
        fn models(&self, _: Freshness) -> BoxFuture<'_, ModelList> {
            let model = |id: &&str| Model::named(*id, *id);
            let agent_chooses = self.0 == "own-choice";
            let models = ModelList::known(self.1.iter().map(model).collect());
            Box::pin(async move { ModelList { agent_chooses, ..models } })
        }
        fn start(&self, _: StartSpec) -> BoxFuture<'_, Result<Connection, StartError>> {
            Box::pin(async { Err(StartError::Permanent("not in this test".to_owned())) })
        }
    }

    /// Resolves layers written as runtime and model, the session's own first.
    async fn resolved(layers: &[(&str, &str)]) -> Result<String, String> {
        resolved_with_list(layers, "").await
    }

    async fn resolved_with_list(layers: &[(&str, &str)], listed_by: &str) -> Result<String, String> {
        resolved_with(layers, listed_by, SessionSettings::default()).await
    }

    async fn resolved_with(
        layers: &[(&str, &str)],
        listed_by: &str,
        settings: SessionSettings,
    ) -> Result<String, String> {
        let listed = |name, models| Arc::new(Listed(name, models, Capabilities::default())) as Arc<dyn Runtime>;
        let runtimes = Runtimes::new(vec![listed("a", &["a1", "a2", "both"]), listed("b", &["b1", "b2", "both"])]);
        let layers: Vec<SessionDefaults> = layers
            .iter()
            .map(|(runtime, model)| SessionDefaults {
                runtime: Some((*runtime).to_owned()),
                model: Some((*model).to_owned()),
                effort: None,
            })
            .collect();
        let settings = SessionSettings { default_runtime: listed_by.to_owned(), ..settings };
        let choice = choose(&runtimes, &layers, &settings, &Map::new()).await.map_err(|error| error.to_string())?;
        Ok(format!("{} {}", choice.runtime.name(), choice.model))
    }

    async fn check(layers: &[(&str, &str)], expected: &str) {
        assert_eq!(resolved(layers).await.as_deref(), Ok(expected), "{layers:?}");
    }

    #[tokio::test]
    async fn an_agent_with_a_default_of_its_own_is_given_no_model() {
        for (name, model) in [("own-choice", ""), ("another", "first")] {
            let runtime = Listed(name, &["first", "second"], Capabilities::default());
            assert_eq!(first_model(&runtime).await, model, "{name}");
        }
        let portal = Listed("another", &["first", "gpt-5.2"], Capabilities::default());
        assert_eq!(first_model(&portal).await, "gpt-5.2", "the portal's own default, where it is offered");
    }

    const NONE: (&str, &str) = ("", "");

    #[tokio::test]
    async fn the_stronger_layer_wins_and_the_empty_text_is_no_choice() {
        check(&[NONE, NONE, NONE], "a a1").await;
        check(&[NONE, NONE, ("b", "b2")], "b b2").await;
        check(&[NONE, ("a", "a2"), ("b", "b2")], "a a2").await;
        check(&[("b", "b1"), ("a", "a2"), ("b", "b2")], "b b1").await;
        check(&[("", "b2"), ("b", "b1"), NONE], "b b2").await;
        check(&[("", "a/a2"), ("b", "b1"), NONE], "a a2").await;
    }

    #[tokio::test]
    async fn a_model_goes_with_the_runtime_that_it_was_meant_for() {
        check(&[("b", ""), NONE, ("a", "a2")], "b b1").await;
        check(&[NONE, ("b", ""), ("a", "a2")], "b b1").await;
        check(&[("b", ""), NONE, ("b", "b2")], "b b2").await;
        check(&[("b", ""), ("a", "a2"), ("b", "b2")], "b b2").await;
        check(&[("b", ""), NONE, ("", "b2")], "b b2").await;
        check(&[("b", ""), NONE, ("", "a2")], "b b1").await;
        check(&[("b", ""), NONE, ("a", "both")], "b b1").await;
    }

    fn with_defaults(defaults: &[(&str, &str, &str)]) -> SessionSettings {
        let of = |(name, model, effort): &(&str, &str, &str)| {
            let text = |text: &str| Some(text.to_owned()).filter(|text| !text.is_empty());
            let defaults = RuntimeDefaults { model: text(model), effort: text(effort), ..RuntimeDefaults::default() };
            ((*name).to_owned(), defaults)
        };
        SessionSettings { runtime_defaults: defaults.iter().map(of).collect(), ..SessionSettings::default() }
    }

    #[tokio::test]
    async fn the_default_of_a_runtime_is_stronger_than_that_of_all_sessions_in_the_same_file() {
        let check = async |layers: &[(&str, &str)], expected: &str| {
            let settings = with_defaults(&[("a", "a2", ""), ("b", "b2", "")]);
            assert_eq!(resolved_with(layers, "", settings).await.as_deref(), Ok(expected), "{layers:?}");
        };
        check(&[NONE], "a a2").await;
        check(&[NONE, NONE, NONE, NONE], "a a2").await;
        check(&[NONE, NONE, NONE, ("b", "both")], "b b2").await;
        check(&[NONE, NONE, NONE, ("", "a1")], "a a2").await;
        check(&[("b", ""), NONE, NONE, ("b", "b1")], "b b2").await;
        check(&[("b", ""), NONE, ("a", "a1"), NONE], "b b2").await;
        check(&[("", "b/b1"), NONE, NONE, NONE], "b b1").await;
        check(&[("a", "a1"), NONE, NONE, NONE], "a a1").await;
        check(&[NONE, NONE, ("", "a1"), NONE], "a a1").await;
        check(&[NONE, ("b", "b1"), NONE, ("b", "both")], "b b1").await;
        let only_b = with_defaults(&[("b", "b2", "")]);
        assert_eq!(resolved_with(&[NONE, ("", "a2")], "", only_b).await.as_deref(), Ok("a a2"));
        let wrong = with_defaults(&[("a", "b1", "")]);
        assert!(resolved_with(&[NONE], "", wrong).await.is_err_and(|error| error.contains("runtime a has no model")));
    }

    #[test]
    fn an_effort_is_chosen_in_the_same_order() {
        let settings = with_defaults(&[("a", "", "of-a")]);
        let of = |layers: &[&str], runtime: &str| {
            let layer = |effort: &&str| SessionDefaults { effort: Some((*effort).to_owned()), ..Default::default() };
            effort(runtime, &layers.iter().map(layer).collect::<Vec<_>>(), &settings)
        };
        for (layers, runtime, expected) in [
            (&["", "", "", "user"][..], "a", Some("of-a")),
            (&["", "", "", "user"], "b", Some("user")),
            (&["", "", "project", "user"], "a", Some("project")),
            (&["own", "flag", "", ""], "a", Some("own")),
            (&[""], "a", Some("of-a")),
            (&[""], "b", None),
            (&[], "a", Some("of-a")),
        ] {
            assert_eq!(of(layers, runtime).as_deref(), expected, "{layers:?} {runtime}");
        }
    }

    #[tokio::test]
    async fn a_plain_id_of_a_list_means_what_it_means_there_unless_the_usual_runtime_has_it_too() {
        let from_list = async |layers: &[(&str, &str)]| resolved_with_list(layers, "b").await;
        assert_eq!(from_list(&[("", "b2"), ("a", ""), NONE]).await.as_deref(), Ok("b b2"));
        assert_eq!(from_list(&[("", "b2"), NONE, NONE]).await.as_deref(), Ok("b b2"));
        assert_eq!(from_list(&[("", "both"), ("a", ""), NONE]).await.as_deref(), Ok("a both"));
        assert_eq!(from_list(&[("", "a/a2"), NONE, NONE]).await.as_deref(), Ok("a a2"));
        assert!(from_list(&[("", "b2"), ("c", "")]).await.is_err_and(|error| error.contains("unknown runtime \"c\"")));
        assert!(from_list(&[NONE, ("a", "b2")]).await.is_err(), "a file is no list");
    }

    #[tokio::test]
    async fn a_runtime_that_does_not_exist_is_refused_with_those_that_do() {
        for layers in [
            &[("c", "")][..],
            &[("c", "a1")],
            &[NONE, ("c", "a1")],
            &[NONE, ("c", ""), ("a", "a1")],
            &[("", "a1"), ("c", "")],
        ] {
            let error = resolved(layers).await.expect_err("there is no c");
            assert!(error.contains("unknown runtime \"c\"") && error.contains("a, b"), "{layers:?} {error}");
        }
        check(&[("", "b/b1"), ("c", "")], "b b1").await;
    }

    #[tokio::test]
    async fn a_model_that_the_runtime_does_not_have_is_refused_with_those_it_has() {
        for layers in [&[("b", "a1")][..], &[("", "nope"), ("b", "")], &[NONE, ("b", "a1")]] {
            let error = resolved(layers).await.expect_err("not there");
            assert!(error.contains("runtime b has no model") && error.contains("b1"), "{layers:?} {error}");
        }
    }
}

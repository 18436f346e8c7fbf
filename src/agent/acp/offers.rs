//! What an agent lets a client choose in a session: model, mode, effort. Agents report these as dedicated lists or as
//! configuration options; both are supported.

use serde_json::{Value, json};

use crate::agent::Model;

#[derive(Clone, Debug, PartialEq, Eq)]
struct Choice {
    id: String,
    name: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Setting {
    id: String,
    category: String,
    current: String,
    choices: Vec<Choice>,
}

/// The available and the current choices.
#[derive(Clone, Debug, Default)]
pub(super) struct Offers {
    options: Vec<Setting>,
    models: Vec<Choice>,
    modes: Vec<Choice>,
}

/// A call that makes a choice.
pub(super) type Call = (&'static str, Value);

impl Offers {
    /// From the answer to `session/new` or `session/load`.
    pub fn read(answer: &Value) -> Self {
        let mut offers = Self {
            models: choices(&answer["models"]["availableModels"], "modelId"),
            modes: choices(&answer["modes"]["availableModes"], "id"),
            options: Vec::new(),
        };
        offers.learn_options(&answer["configOptions"]);
        offers
    }

    /// From an update or a response; always the complete list.
    pub fn learn_options(&mut self, options: &Value) {
        let Some(all) = options.as_array() else { return };
        self.options = all
            .iter()
            .filter_map(|option| {
                let id = option["id"].as_str()?.to_owned();
                let values = option["options"].as_array().map(Vec::as_slice).unwrap_or_default();
                // Options may be grouped.
                let flat: Vec<Value> = values
                    .iter()
                    .flat_map(|value| value["options"].as_array().cloned().unwrap_or_else(|| vec![value.clone()]))
                    .collect();
                Some(Setting {
                    category: option["category"].as_str().unwrap_or(&id).to_owned(),
                    current: option["currentValue"].as_str().unwrap_or_default().to_owned(),
                    choices: choices(&Value::Array(flat), "value"),
                    id,
                })
            })
            .collect();
    }

    fn option(&self, category: &str) -> Option<&Setting> {
        self.options.iter().find(|option| option.category == category || option.id == category)
    }

    /// The current value of an option.
    pub fn current(&self, category: &str) -> Option<&str> {
        self.option(category).map(|option| option.current.as_str()).filter(|current| !current.is_empty())
    }

    /// The models that the agent lists.
    pub fn models(&self) -> Vec<Model> {
        let of_option = self.option("model").map(|option| option.choices.as_slice()).unwrap_or_default();
        let listed = if self.models.is_empty() { of_option } else { &self.models };
        let model = |choice: &Choice| Model::named(&choice.name, &choice.id);
        listed.iter().map(model).collect()
    }

    /// The call that selects a model. An agent that lists no models may still accept it.
    pub fn choose_model(&self, session: &str, model: &str) -> Call {
        match self.option("model") {
            Some(option) => set_option(session, &option.id, model),
            None => ("session/set_model", json!({ "sessionId": session, "modelId": model })),
        }
    }

    /// The call that selects a reasoning effort, if the agent supports it.
    pub fn choose_effort(&self, session: &str, effort: &str) -> Option<Call> {
        let option = self.option("thought_level")?;
        let choice = find(&option.choices, effort)?;
        Some(set_option(session, &option.id, &choice.id))
    }

    /// The call that selects a mode, or the available modes.
    pub fn choose_mode(&self, session: &str, mode: &str) -> Result<Call, String> {
        let of_option = self.option("mode").map(|option| option.choices.as_slice()).unwrap_or_default();
        if let Some(choice) = find(&self.modes, mode) {
            return Ok(("session/set_mode", json!({ "sessionId": session, "modeId": choice.id })));
        }
        if let (Some(option), Some(choice)) = (self.option("mode"), find(of_option, mode)) {
            return Ok(set_option(session, &option.id, &choice.id));
        }
        let mut known: Vec<&str> = self.modes.iter().map(|choice| choice.name.as_str()).collect();
        // An agent may list its modes both ways.
        for choice in of_option {
            if !known.contains(&choice.name.as_str()) {
                known.push(&choice.name);
            }
        }
        Err(if known.is_empty() { "none".to_owned() } else { known.join(", ") })
    }

    /// The display name of a mode.
    pub fn mode_name(&self, id: &str) -> String {
        let of_option = self.option("mode").map(|option| option.choices.as_slice()).unwrap_or_default();
        let known = self.modes.iter().chain(of_option).find(|choice| choice.id == id);
        known.map_or_else(|| id.to_owned(), |choice| choice.name.clone())
    }
}

fn set_option(session: &str, option: &str, value: &str) -> Call {
    ("session/set_config_option", json!({ "sessionId": session, "configId": option, "value": value }))
}

/// Matches by id, by name, or by the end of an id that is a URL.
fn find<'a>(choices: &'a [Choice], wanted: &str) -> Option<&'a Choice> {
    let fits = |choice: &&Choice| {
        choice.id == wanted
            || choice.name.eq_ignore_ascii_case(wanted)
            || choice.id.rsplit_once('#').is_some_and(|(_, end)| end == wanted)
    };
    choices.iter().find(fits)
}

fn choices(list: &Value, id: &str) -> Vec<Choice> {
    let all = list.as_array().map(Vec::as_slice).unwrap_or_default();
    all.iter()
        .filter_map(|entry| {
            let id = entry[id].as_str()?.to_owned();
            Some(Choice { name: entry["name"].as_str().unwrap_or(&id).to_owned(), id })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn offers(transcript: &str) -> Offers {
        let answer = transcript
            .lines()
            .map(|line| serde_json::from_str::<Value>(line).expect("JSON"))
            .find(|line| line["msg"]["result"]["sessionId"].is_string())
            .expect("a session is made");
        Offers::read(&answer["msg"]["result"])
    }

    #[test]
    fn models_and_modes_are_found_however_an_agent_says_them() {
        let copilot = offers(include_str!("../../../tests/transcripts/acp/copilot-basic.ndjson"));
        let plan = copilot.choose_mode("s", "plan").expect("it has one");
        assert_eq!(plan.0, "session/set_mode");
        assert!(plan.1["modeId"].as_str().expect("an id").ends_with("#plan"));
        assert_eq!(copilot.choose_mode("s", "nap"), Err("Agent, Plan, Autopilot".to_owned()), "each once");
        assert_eq!(copilot.choose_model("s", "m").0, "session/set_model");
        let gemini = offers(include_str!("../../../tests/transcripts/acp/gemini.ndjson"));
        assert_eq!(gemini.models()[0].id, "auto");
        assert_eq!(gemini.choose_mode("s", "YOLO").expect("it has one").1["modeId"], "yolo");
        let opencode = offers(include_str!("../../../tests/transcripts/acp/opencode.ndjson"));
        assert_eq!(opencode.current("model"), Some("fake/fake-model"));
        let (method, params) = opencode.choose_model("s", "fake/fake-model");
        assert_eq!((method, &params["configId"]), ("session/set_config_option", &json!("model")));
        assert_eq!(opencode.choose_mode("s", "plan").expect("it has one").1["value"], "plan");
        assert!(opencode.choose_effort("s", "high").is_none());
    }
}

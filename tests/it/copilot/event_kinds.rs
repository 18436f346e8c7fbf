//! Every kind of event in the programs' own schemas is classified, and is used as classified.

use std::path::{Path, PathBuf};

use flightdeck::agent::AgentEvent;
use flightdeck::agent::copilot::{EventUse, known_event_use};
use flightdeck::agent::headless::CopilotReader;
use flightdeck::agent::transcript::StreamReader as _;
use serde_json::{Map, Value, json};

use crate::support::{Program, agents};

const FILE: &str = "schemas/session-events.schema.json";

/// The schema of the CLI, which it unpacks into its cache when it first runs.
fn schema_of_cli() -> PathBuf {
    let cache = agents().join("cache");
    let said = std::process::Command::new(Program::Cli.path())
        .arg("--version")
        .env("COPILOT_CACHE_HOME", &cache)
        .env("COPILOT_AUTO_UPDATE", "false")
        .output()
        .expect("it runs");
    let said = String::from_utf8(said.stdout).expect("text");
    let is_version = |word: &&str| word.starts_with(|letter: char| letter.is_ascii_digit());
    let version = said.split_whitespace().find(is_version).expect("a version").trim_end_matches('.').to_owned();
    cache.join("pkg/linux-x64").join(version).join(FILE)
}

fn schema_of_runtime() -> PathBuf {
    agents().join("node_modules/@github/copilot-sdk-linux-x64").join(FILE)
}

struct Schema(Value);

impl Schema {
    fn read(path: &Path) -> Self {
        let text = std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        Self(serde_json::from_str(&text).expect("JSON"))
    }

    fn resolved<'a>(&'a self, schema: &'a Value) -> &'a Value {
        match schema["$ref"].as_str() {
            Some(name) => self.resolved(&self.0["definitions"][name.rsplit('/').next().expect("a name")]),
            None => schema,
        }
    }

    /// The schemas of all events, by kind.
    fn events(&self) -> Vec<(&str, &Value)> {
        let event = self.resolved(&self.0);
        let all = event["anyOf"].as_array().expect("one schema for each kind").iter().map(|one| self.resolved(one));
        all.map(|one| (one["properties"]["type"]["const"].as_str().expect("a kind"), one)).collect()
    }

    /// The smallest value that has everything required.
    fn example(&self, schema: &Value) -> Value {
        let schema = self.resolved(schema);
        if let Some(only) = schema.get("const") {
            return only.clone();
        }
        if let Some(choices) = schema["enum"].as_array() {
            return choices[0].clone();
        }
        if let Some(choices) = schema["anyOf"].as_array().or(schema["oneOf"].as_array()) {
            return self.example(&choices[0]);
        }
        match schema["type"].as_str().or(schema["type"][0].as_str()) {
            Some("object") => {
                let names = schema["required"].as_array().map(Vec::as_slice).unwrap_or_default();
                let field = |name: &Value| {
                    let name = name.as_str().expect("a name");
                    (name.to_owned(), self.example(&schema["properties"][name]))
                };
                Value::Object(names.iter().map(field).collect::<Map<_, _>>())
            }
            Some("array") => json!([]),
            Some("boolean") => json!(true),
            Some("number" | "integer") => json!(1),
            Some("null") => Value::Null,
            _ => json!("text"),
        }
    }
}

/// What the reader makes of one event: nothing, an unknown event, or something else.
fn made_of(event: &Value) -> Option<EventUse> {
    let (mut reader, mut events) = (CopilotReader::new(), Vec::new());
    assert!(reader.read(&event.to_string(), &mut events), "{event}");
    events.first().map(|event| match event {
        AgentEvent::Unknown { .. } => EventUse::Kept,
        _ => EventUse::Shown,
    })
}

#[test]
fn every_kind_in_the_installed_schemas_is_classified_and_used_so() {
    for path in [schema_of_cli(), schema_of_runtime()] {
        let schema = Schema::read(&path);
        let events = schema.events();
        assert!(events.len() > 100, "{} has {} kinds", path.display(), events.len());
        let unclassified: Vec<&str> =
            events.iter().map(|(kind, _)| *kind).filter(|kind| known_event_use(kind).is_none()).collect();
        assert!(unclassified.is_empty(), "add these kinds to the table of event kinds: {unclassified:?}");
        for (kind, event) in events {
            let example = schema.example(event);
            let (made, use_of_kind) = (made_of(&example), known_event_use(kind).expect("classified"));
            match use_of_kind {
                EventUse::Kept => assert_eq!(made, Some(EventUse::Kept), "{example}"),
                EventUse::Ignored => assert_eq!(made, None, "{example}"),
                // Some are shown only together with others, or only in a session that can answer.
                EventUse::Shown => assert_ne!(made, Some(EventUse::Kept), "{example}"),
            }
        }
    }
}

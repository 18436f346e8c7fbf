//! The kinds of events, in the program's own schema file and in its traffic.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::{Assumption, Rig, Seen, expect};
use crate::agent::copilot::translation::{is_of_ignored_family, known_event_use};
use crate::agent::program::platform;

pub(super) const ASSUMPTIONS: &[Assumption] = &[
    Assumption {
        id: "vocabulary.schema",
        text: "Every kind of event in the program's own schema file is classified as shown, ignored or kept.",
        why: "A new kind is kept unread in the log until somebody decides what it means.",
        capabilities: &[],
        check: |rig| Box::pin(schema(rig)),
    },
    Assumption {
        id: "vocabulary.traffic",
        text: "Every kind of event that the program sent during these checks is classified.",
        why: "The schema file may lag behind what the program sends.",
        capabilities: &[],
        check: |rig| Box::pin(std::future::ready(traffic(rig))),
    },
];

const FILE: &str = "schemas/session-events.schema.json";

/// Where the schema may be: above the program (`copilot-runtime`), or in the cache where the CLI unpacks itself.
fn places(program: &Path, version: &str, environment: &BTreeMap<String, String>) -> Vec<PathBuf> {
    let resolved = std::fs::canonicalize(program).unwrap_or_else(|_| program.to_owned());
    let mut places: Vec<PathBuf> = resolved.ancestors().skip(1).take(4).map(|folder| folder.join(FILE)).collect();
    let folder = |name: &str| environment.get(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let caches = [
        folder("COPILOT_CACHE_HOME"),
        folder("XDG_CACHE_HOME").map(|cache| cache.join("copilot")),
        folder("HOME").map(|home| home.join(".cache/copilot")),
        folder("HOME").map(|home| home.join("Library/Caches/copilot")),
        folder("LOCALAPPDATA").map(|data| data.join("copilot")),
    ];
    let unpacked = |cache: PathBuf| cache.join("pkg").join(platform()).join(version).join(FILE);
    places.extend(caches.into_iter().flatten().map(unpacked));
    places
}

/// The kinds in a schema: the constants of the property `type` of each kind of event.
fn kinds_in(schema: &Value) -> Vec<String> {
    let kinds = resolved(schema, schema)["anyOf"].as_array().into_iter().flatten();
    let kind = |event| resolved(schema, event)["properties"]["type"]["const"].as_str().map(str::to_owned);
    kinds.filter_map(kind).collect()
}

fn resolved<'a>(schema: &'a Value, part: &'a Value) -> &'a Value {
    match part["$ref"].as_str() {
        Some(name) => &schema["definitions"][name.rsplit('/').next().unwrap_or_default()],
        None => part,
    }
}

async fn schema(rig: &Rig) -> Seen {
    let places = places(&rig.program.path, &rig.server.version, &rig.settings.environment);
    let Some(file) = places.iter().find(|place| place.is_file()) else {
        return Err(format!("cannot find the schema file; looked for {}", joined(&places)));
    };
    let text =
        tokio::fs::read_to_string(file).await.map_err(|error| format!("cannot read {}: {error}", file.display()))?;
    let schema: Value =
        serde_json::from_str(&text).map_err(|error| format!("cannot read {}: {error}", file.display()))?;
    let kinds = kinds_in(&schema);
    expect(!kinds.is_empty(), || format!("{} has no kinds of events in the known form", file.display()))?;
    judged(kinds.iter().map(String::as_str), &format!("in {}", file.display()))
}

fn joined(places: &[PathBuf]) -> String {
    places.iter().map(|place| place.display().to_string()).collect::<Vec<_>>().join(", ")
}

fn judged<'a>(kinds: impl Iterator<Item = &'a str> + Clone, wherever: &str) -> Seen {
    let number = kinds.clone().count();
    let unknown: Vec<&str> = kinds.filter(|kind| known_event_use(kind).is_none()).collect();
    expect(unknown.is_empty(), || {
        format!("{} of {number} kinds {wherever} are not classified: {}", unknown.len(), unknown.join(", "))
    })?;
    Ok(format!("all {number} kinds {wherever} are classified"))
}

fn traffic(rig: &Rig) -> Seen {
    let kinds = rig.kinds.lock().clone();
    expect(!kinds.is_empty(), || "no events were sent".to_owned())?;
    // The program also sends kinds that its schema does not have; whole families of them are ignored.
    judged(kinds.iter().map(String::as_str).filter(|kind| !is_of_ignored_family(kind)), "of the events sent")
}

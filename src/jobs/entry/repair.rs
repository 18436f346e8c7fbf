//! An entry with a wrong shape, repaired so far that the rest of it can be checked.
//!
//! Each wrong part is replaced by the least that can be read in its place. What the check says of a replacement is about
//! the replacement, so it is left out.

use serde_json::{Map, Value, json};

use super::Problem;

/// A part of an entry that has the wrong shape, as a JSON pointer.
pub(super) enum WrongPart {
    /// A key that is not known.
    Key(String),
    /// A value, or the place of a missing one.
    Value(String),
}

/// The repaired entry, and where it says nothing of what is written.
pub(super) struct Repaired {
    /// The entry.
    pub json: Value,
    replaced: Vec<Vec<String>>,
}

impl Repaired {
    /// Repairs an entry.
    pub fn new(mut json: Value, wrong: &[WrongPart]) -> Self {
        let mut replaced = Vec::new();
        for part in wrong {
            match part {
                WrongPart::Key(pointer) => remove(&mut json, pointer),
                WrongPart::Value(pointer) => {
                    let place = replaceable(&names(pointer));
                    // A part of what is replaced already may be gone.
                    if !replaced.iter().any(|done: &Vec<String>| place.starts_with(done)) {
                        put(&mut json, &place, replacement(&place));
                        replaced.push(place);
                    }
                }
            }
        }
        Self { json, replaced }
    }

    /// The places of the replacements, as JSON pointers.
    pub fn replaced(&self) -> impl Iterator<Item = String> {
        self.replaced.iter().map(|names| {
            let written = names.iter().map(|name| format!("/{}", name.replace('~', "~0").replace('/', "~1")));
            written.collect()
        })
    }

    /// Whether all that others refer to can be read: without the tasks, for example, every work would be wrong.
    pub fn is_worth_a_check(&self) -> bool {
        let referred_to = |place: &Vec<String>| {
            place.len() == 1 && matches!(place[0].as_str(), "models" | "promptVariables" | "tasks" | "jobs")
        };
        !self.replaced.iter().any(|place| place.is_empty() || referred_to(place))
    }

    /// Whether a problem that the check found is about what is written. `paths` are those of the replacements.
    pub fn is_about_the_text(&self, problem: &Problem, paths: &[String]) -> bool {
        let is_below = |path: &String| {
            problem.path.strip_prefix(path).is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
        };
        // Some things follow from others.
        let is_derived = if problem.path.ends_with(".requireUserInput") {
            self.hides_user_input(&problem.path)
        } else {
            // That the first model is the one that drives.
            problem.message.contains("entry.models.driving") && self.replaced.iter().any(|place| place[0] == "models")
        };
        !is_derived && !paths.iter().any(is_below)
    }

    fn hides_user_input(&self, path: &str) -> bool {
        let is_of_job = path.starts_with("entry.jobs");
        self.replaced.iter().any(|place| match place.first().map(String::as_str) {
            Some("tasks") => is_of_job || place.get(2).is_none_or(|field| field == "prompt"),
            Some("jobs") => is_of_job,
            Some("promptVariables") => true,
            _ => false,
        })
    }
}

fn names(pointer: &str) -> Vec<String> {
    pointer.split('/').skip(1).map(|name| name.replace("~1", "/").replace("~0", "~")).collect()
}

/// The smallest part around a place that has a replacement.
fn replaceable(place: &[String]) -> Vec<String> {
    let length = match place.first().map(String::as_str) {
        Some("grid") if place.get(2).is_some_and(|name| name == "jobs") => 4,
        Some("jobs") if place.get(2).is_some_and(|name| name == "work") => length_to_work(place),
        Some("models" | "promptVariables" | "grid") => 2,
        Some("tasks" | "jobs") => 3,
        _ => 1,
    };
    place.iter().take(length).cloned().collect()
}

/// How much of a place leads to the work that it is in.
fn length_to_work(place: &[String]) -> usize {
    let mut length = 3;
    loop {
        let below = place[length..].iter().map(String::as_str).collect::<Vec<_>>();
        length += match below.as_slice() {
            ["works", _, ..] | ["preCondition" | "postCondition", "1", ..] => 2,
            ["body" | "condition" | "trueWork" | "falseWork" | "onReject", ..] => 1,
            _ => return length,
        };
    }
}

/// What can be read in a place; `None` where nothing need be.
fn replacement(place: &[String]) -> Option<Value> {
    let task = || json!({ "model": { "category": "driving" }, "prompt": ["?"], "requireUserInput": false });
    let work = || json!({ "kind": "Gate", "title": "?" });
    let place: Vec<_> = place.iter().map(String::as_str).collect();
    match place.as_slice() {
        ["models"] => Some(json!({ "driving": "?" })),
        ["promptVariables" | "tasks" | "jobs"] => Some(json!({})),
        ["drivingSessionRetries"] => Some(json!([{ "modelId": "?", "retries": 0 }])),
        ["grid"] => Some(json!([])),
        ["models", _] => Some("?".into()),
        ["promptVariables", _] => Some(json!(["?"])),
        ["grid", _] => Some(json!({ "keyword": "?", "jobs": [] })),
        ["grid", ..] => Some(Value::Null),
        ["tasks", _] => Some(task()),
        ["tasks", _, field] => task().get(*field).cloned(),
        ["jobs", _] => Some(json!({ "work": work() })),
        ["jobs", _, "work", ..] => Some(work()),
        _ => None,
    }
}

fn remove(json: &mut Value, pointer: &str) {
    put(json, &names(pointer), None);
}

/// Puts a value into a place whose parent is there, or removes what is in it.
fn put(json: &mut Value, place: &[String], value: Option<Value>) {
    let Some((last, parents)) = place.split_last() else { return };
    let parent = parents.iter().try_fold(json, |parent, name| match parent {
        Value::Object(fields) => fields.get_mut(name),
        Value::Array(items) => items.get_mut(name.parse::<usize>().ok()?),
        _ => None,
    });
    match (parent, value) {
        (Some(Value::Object(fields)), Some(value)) => drop(fields.insert(last.clone(), value)),
        (Some(Value::Object(fields)), None) => drop(Map::remove(fields, last)),
        (Some(Value::Array(items)), Some(value)) => {
            if let Some(item) = last.parse::<usize>().ok().and_then(|position| items.get_mut(position)) {
                *item = value;
            }
        }
        _ => {}
    }
}

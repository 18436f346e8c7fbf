//! An entry from JSON text: its syntax, its shape and its meaning, each problem with its place.

use jsonschema::ValidationError;
use jsonschema::error::ValidationErrorKind;
use serde_json::Value;

use super::duplicate::duplicate_keys;
use super::problem::{Problem, named, quoted};
use super::repair::{Repaired, WrongPart};
use super::schema::entry_schema;
use super::{CheckedEntry, check};
use crate::model::kind_of;

const ROOT: &str = "entry";
/// How many problems of the shape are reported, so that a list of nothing but mistakes stays readable.
const MOST_PROBLEMS: usize = 100;
/// Objects whose keys are names that people choose.
const NAMED: [&str; 5] = ["models", "promptVariables", "tasks", "jobs", "mcpServers"];

/// Reads an entry and checks it. The problems are all that there are: those of the shape, then those of the meaning of
/// whatever has the right shape.
pub fn read_entry(text: &str) -> Result<CheckedEntry, Vec<Problem>> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut json: Value = serde_json::from_str(text).map_err(|error| vec![syntax_problem(&error)])?;
    let mut problems: Vec<_> = duplicate_keys(text)
        .into_iter()
        .map(|pointer| Problem::error(path_of(&json, &pointer), "Is defined more than once."))
        .collect();
    let (of_shape, wrong) = shape_problems(&json);
    problems.extend(of_shape);
    make_integers(&mut json);
    if problems.is_empty() {
        // The schema is as strict as the types; this is for what only the types know.
        let unreadable = |error| vec![Problem::error(ROOT, format!("Cannot be read: {error}."))];
        return check(serde_json::from_value(json).map_err(unreadable)?);
    }
    problems.extend(problems_of_the_rest(json, &wrong));
    Err(problems)
}

/// What the check finds in an entry with the wrong shape. Nothing if the entry is too wrong to be read at all.
fn problems_of_the_rest(json: Value, wrong: &[WrongPart]) -> Vec<Problem> {
    let repaired = Repaired::new(json, wrong);
    if !repaired.is_worth_a_check() {
        return Vec::new();
    }
    let Ok(entry) = serde_json::from_value(repaired.json.clone()) else { return Vec::new() };
    let found = check(entry).map_or_else(|problems| problems, |entry| entry.warnings().to_vec());
    let paths: Vec<_> = repaired.replaced().map(|pointer| path_of(&repaired.json, &pointer)).collect();
    found.into_iter().filter(|problem| repaired.is_about_the_text(problem, &paths)).collect()
}

fn syntax_problem(error: &serde_json::Error) -> Problem {
    let text = error.to_string();
    let place = format!(" at line {} column {}", error.line(), error.column());
    let what = text.strip_suffix(&place).unwrap_or(&text);
    let place = format!("line {}, column {}", error.line(), error.column());
    let message = if what == "recursion limit exceeded" {
        format!("Nested too deeply at {place}: JSON can have 127 levels.")
    } else {
        format!("Invalid JSON at {place}: {what}.")
    };
    Problem::error(ROOT, message)
}

/// JSON has one kind of number, so `3.0` is an integer too.
fn make_integers(value: &mut Value) {
    match value {
        Value::Number(number) => {
            if let Some(float) = number.as_f64().filter(|_| number.is_f64())
                && float.fract() == 0.0
                && float.abs() < 9e15
            {
                #[expect(clippy::cast_possible_truncation, reason = "it has no fraction and is small enough")]
                let integer = float as i64;
                *value = integer.into();
            }
        }
        Value::Array(items) => items.iter_mut().for_each(make_integers),
        Value::Object(fields) => fields.values_mut().for_each(make_integers),
        Value::Null | Value::Bool(_) | Value::String(_) => {}
    }
}

/// What is wrong with the shape, and where.
fn shape_problems(json: &Value) -> (Vec<Problem>, Vec<WrongPart>) {
    let errors = entry_schema().validator.iter_errors(json);
    errors.flat_map(|error| explained(json, &error)).take(MOST_PROBLEMS).unzip()
}

/// What an error of the schema means. Empty for what the check explains better: texts, lists and numbers with too little
/// in them.
fn explained(json: &Value, error: &ValidationError<'_>) -> Vec<(Problem, WrongPart)> {
    let pointer = error.instance_path().as_str();
    let below = |name: &str| format!("{pointer}/{}", name.replace('~', "~0").replace('/', "~1"));
    let value = error.instance();
    let message = match error.kind() {
        ValidationErrorKind::AdditionalProperties { unexpected } => {
            let unknown = unexpected.iter().map(|name| {
                let key = below(name);
                (Problem::error(path_of(json, &key), unknown_key(name, error)), WrongPart::Key(key))
            });
            return unknown.collect();
        }
        ValidationErrorKind::Required { property } => {
            let missing = below(property.as_str().unwrap_or_default());
            return vec![(Problem::error(path_of(json, &missing), "Should exist."), WrongPart::Value(missing))];
        }
        ValidationErrorKind::Type { .. } => format!("Should be {} but is {}.", expected_type(error), kind_of(value)),
        ValidationErrorKind::Enum { options } => {
            let options: Vec<_> = options.as_array().into_iter().flatten().map(ToString::to_string).collect();
            format!("Should be one of {} but is {value}.", options.join(", "))
        }
        ValidationErrorKind::FalseSchema => "Should not be there: a condition has 2 elements.".to_owned(),
        ValidationErrorKind::MinItems { limit: 2 } => {
            "Should have 2 elements: the expected outcome and a work.".to_owned()
        }
        ValidationErrorKind::MinProperties { .. } | ValidationErrorKind::MaxProperties { .. } => {
            "Should have either category or id.".to_owned()
        }
        ValidationErrorKind::Minimum { limit } if value.as_f64().is_some_and(|number| number < 0.0) => {
            format!("Should be at least {limit} but is {value}.")
        }
        ValidationErrorKind::Maximum { limit } => format!("Should be at most {limit} but is {value}."),
        ValidationErrorKind::MinItems { .. }
        | ValidationErrorKind::MinLength { .. }
        | ValidationErrorKind::Minimum { .. }
        | ValidationErrorKind::ExclusiveMinimum { .. }
        | ValidationErrorKind::Pattern { .. } => return Vec::new(),
        _ => format!("Is invalid: {error}."),
    };
    vec![(Problem::error(path_of(json, pointer), message), WrongPart::Value(pointer.to_owned()))]
}

fn expected_type(error: &ValidationError<'_>) -> String {
    let with_article = |name: &str| match name {
        "array" | "object" | "integer" => format!("an {name}"),
        "null" => name.to_owned(),
        _ => format!("a {name}"),
    };
    match entry_schema().json.pointer(error.schema_path().as_str()) {
        Some(Value::String(name)) => with_article(name),
        Some(Value::Array(names)) => {
            let names: Vec<_> = names.iter().filter_map(Value::as_str).map(with_article).collect();
            names.join(" or ")
        }
        _ => "something else".to_owned(),
    }
}

fn unknown_key(name: &str, error: &ValidationError<'_>) -> String {
    let schema = error.schema_path().as_str();
    let object = schema.rsplit_once('/').and_then(|(object, _)| entry_schema().json.pointer(object));
    let known = object.and_then(|object| object["properties"].as_object());
    let nearest = known
        .into_iter()
        .flat_map(|known| known.keys())
        .map(|candidate| (strsim::jaro_winkler(candidate, name), candidate))
        .filter(|(likeness, _)| *likeness > 0.7)
        .max_by(|(one, _), (other, _)| one.total_cmp(other));
    match nearest {
        Some((_, nearest)) => format!("Unknown key. Did you mean {}?", quoted(nearest)),
        None => "Unknown key.".to_owned(),
    }
}

/// The path of a JSON pointer, such as `entry.tasks["a"].prompt[0]`.
fn path_of(json: &Value, pointer: &str) -> String {
    let mut path = ROOT.to_owned();
    let mut value = Some(json);
    let mut parent = String::new();
    for (depth, written) in pointer.split('/').skip(1).enumerate() {
        let name = written.replace("~1", "/").replace("~0", "~");
        let is_position = value.is_some_and(Value::is_array);
        // Only the top has such objects, except for a task's servers.
        let is_named = NAMED.contains(&parent.as_str()) && (depth == 1 || parent == "mcpServers");
        let is_driving = parent == "models" && name == "driving";
        if is_position {
            path = format!("{path}[{name}]");
        } else if is_named && !is_driving {
            path = named(&path, &name);
        } else {
            path = format!("{path}.{name}");
        }
        value = match value {
            Some(Value::Array(items)) => name.parse::<usize>().ok().and_then(|position| items.get(position)),
            Some(Value::Object(fields)) => fields.get(&name),
            _ => None,
        };
        parent = name;
    }
    path
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::jobs::entry::sample::{entry_json, json_with};

    fn problems(text: &str) -> Vec<String> {
        read_entry(text).expect_err("problems").iter().map(ToString::to_string).collect()
    }

    #[test]
    fn what_is_written_is_read() {
        let entry = read_entry(&entry_json().to_string()).expect("an entry");
        assert_eq!(entry.models()["driving"], "small");
        let again = read_entry(&format!("\u{feff}{}", serde_json::to_string_pretty(entry.entry()).expect("JSON")));
        assert_eq!(again, Ok(entry));
    }

    #[test]
    fn syntax_errors_have_a_line_and_a_column() {
        assert_eq!(
            problems("{\n  \"models\": {,}"),
            ["entry: Invalid JSON at line 2, column 14: key must be a string."]
        );
        assert_eq!(problems(""), ["entry: Invalid JSON at line 1, column 0: EOF while parsing a value."]);
    }

    #[test]
    fn ten_thousand_nested_works_are_refused_with_a_clear_error() {
        let deep = format!("{}{}", "{\"kind\":\"Seq\",\"works\":[".repeat(10_000), "]}".repeat(10_000));
        let text = json_with("/jobs/job/work", json!("HERE")).to_string().replace("\"HERE\"", &deep);
        let problems = problems(&text);
        assert_eq!(problems.len(), 1);
        assert!(problems[0].starts_with("entry: Nested too deeply at line 1, column "), "{problems:?}");
    }

    #[test]
    fn as_deep_as_json_goes_is_read_and_checked() {
        let levels = 60;
        let deep = format!(
            "{}{{\"kind\":\"Ref\",\"taskId\":\"a\"}}{}",
            "{\"kind\":\"Par\",\"works\":[".repeat(levels),
            "]}".repeat(levels)
        );
        let text = json_with("/jobs/job/work", json!("HERE")).to_string().replace("\"HERE\"", &deep);
        assert!(read_entry(&text).is_ok());
    }

    #[test]
    fn every_problem_of_the_shape_has_its_path() {
        for (pointer, value, expected) in [
            ("/tasks/a/promt", json!(["x"]), r#"entry.tasks["a"].promt: Unknown key. Did you mean "prompt"?"#),
            ("/zzz", json!(1), "entry.zzz: Unknown key."),
            ("/tasks/c", json!({ "requireUserInput": false }), r#"entry.tasks["c"].prompt: Should exist."#),
            ("/models", json!({}), "entry.models.driving: Should exist."),
            ("/models/driving", json!(1), "entry.models.driving: Should be a string but is a number."),
            ("/models/big", json!(null), r#"entry.models["big"]: Should be a string but is null."#),
            ("/tasks/a/prompt", json!("x"), r#"entry.tasks["a"].prompt: Should be an array but is a string."#),
            ("/tasks/a/prompt/0", json!(1), r#"entry.tasks["a"].prompt[0]: Should be a string but is a number."#),
            ("/tasks/7", json!([]), r#"entry.tasks["7"]: Should be an object but is an array."#),
            ("/tasks/a~1b", json!([]), r#"entry.tasks["a~1b"]: Should be an object but is an array."#),
            ("/tasks/a/model", json!({}), r#"entry.tasks["a"].model: Should have either category or id."#),
            (
                "/tasks/a/model",
                json!({ "category": "c", "id": "i" }),
                r#"entry.tasks["a"].model: Should have either category or id."#,
            ),
            (
                "/tasks/a/onInterrupted",
                json!("stop"),
                r#"entry.tasks["a"].onInterrupted: Should be one of "continue", "ask", "fail" but is "stop"."#,
            ),
            (
                "/tasks/a/mcpServers",
                json!({ "s": 1 }),
                r#"entry.tasks["a"].mcpServers["s"]: Should be an object or null but is a number."#,
            ),
            (
                "/drivingSessionRetries/0/retries",
                json!(-1),
                "entry.drivingSessionRetries[0].retries: Should be at least 0 but is -1.",
            ),
            (
                "/drivingSessionRetries/0/retries",
                json!(5_000_000_000_u64),
                "entry.drivingSessionRetries[0].retries: Should be at most 4294967295 but is 5000000000.",
            ),
            (
                "/drivingSessionRetries/0/retries",
                json!(1.5),
                "entry.drivingSessionRetries[0].retries: Should be an integer but is a number.",
            ),
            ("/grid/0/jobs/0", json!("x"), "entry.grid[0].jobs[0]: Should be an object or null but is a string."),
            (
                "/jobs/job/work",
                json!({ "kind": "Ref", "taskid": "a", "taskId": "a" }),
                r#"entry.jobs["job"].work.taskid: Unknown key. Did you mean "taskId"?"#,
            ),
            ("/jobs/job/work", json!({ "kind": "Seq" }), r#"entry.jobs["job"].work.works: Should exist."#),
            ("/jobs/job/work", json!({}), r#"entry.jobs["job"].work.kind: Should exist."#),
            (
                "/jobs/job/work/kind",
                json!("Task"),
                r#"entry.jobs["job"].work.kind: Should be one of "Ref", "Seq", "Par", "Loop", "Alt", "Gate" but is "Task"."#,
            ),
            (
                "/jobs/job/work",
                json!({ "kind": "Loop", "body": { "kind": "Seq", "works": [{ "kind": "Ref" }] } }),
                r#"entry.jobs["job"].work.body.works[0].taskId: Should exist."#,
            ),
            (
                "/jobs/job/work",
                json!({ "kind": "Loop", "body": { "kind": "Ref", "taskId": "a" }, "preCondition": [true] }),
                r#"entry.jobs["job"].work.preCondition: Should have 2 elements: the expected outcome and a work."#,
            ),
        ] {
            assert_eq!(problems(&json_with(pointer, value).to_string()), [expected], "{pointer}");
        }
        assert_eq!(problems("[]"), ["entry: Should be an object but is an array."]);
    }

    #[test]
    fn all_problems_of_the_shape_come_at_once() {
        let mut json = json_with("/tasks/a/promt", json!([]));
        json["tasks"]["b"]["prompt"] = json!("x");
        json["jobs"]["job"]["work"] = json!({ "kind": "Seq", "works": [{ "kind": "Ref" }, { "kind": "?" }] });
        assert_eq!(problems(&json.to_string()).len(), 4);
        json["more"] = json!(1);
        assert_eq!(problems(&json.to_string()).len(), 5);
    }

    #[test]
    fn what_has_the_right_shape_is_checked_beside_what_has_not() {
        let mut json = json_with("/tasks/a/promt", json!([]));
        json["tasks"]["a"]["prompt"] = json!(["$nobody"]);
        json["tasks"]["b"]["criteria"] = json!({ "toolExecuted": ["none"], "failureAction": 3 });
        json["tasks"]["b"]["timeout"] = json!("soon");
        json["tasks"]["c"] = json!(7);
        json["drivingSessionRetries"] = json!([{ "modelId": 1, "retries": 3 }]);
        let right = json!({ "kind": "Ref", "taskId": "nobody" });
        json["jobs"]["job"]["work"] =
            json!({ "kind": "Seq", "works": [{ "kind": "?" }, right, { "kind": "Ref", "taskId": "c" }] });
        json["grid"] = json!([{ "keyword": "k", "jobs": [3, { "name": "x", "jobName": "nobody" }] }]);
        let mut found = problems(&json.to_string());
        found.sort();
        let expected = [
            "entry.drivingSessionRetries[0].modelId: Should be a string but is a number.",
            "entry.grid[0].jobs[0]: Should be an object or null but is a number.",
            r#"entry.grid[0].jobs[1].jobName: "nobody" is not a valid job name."#,
            r#"entry.jobs["job"].work.works[0].kind: Should be one of "Ref", "Seq", "Par", "Loop", "Alt", "Gate" but is "?"."#,
            r#"entry.jobs["job"].work.works[1].taskId: "nobody" is not a valid task name."#,
            r#"entry.tasks["a"].prompt: Cannot find prompt variable: $nobody."#,
            r#"entry.tasks["a"].promt: Unknown key. Did you mean "prompt"?"#,
            r#"entry.tasks["b"].criteria.failureAction: Should be an object but is a number."#,
            r#"entry.tasks["b"].timeout: "soon" is not a duration such as 90s, 10m or 1h 30m."#,
            r#"entry.tasks["c"]: Should be an object but is a number."#,
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn what_follows_from_a_wrong_shape_is_no_problem_of_its_own() {
        for (pointer, value) in [
            ("/tasks/a/prompt", json!(7)),
            ("/tasks/a", json!(null)),
            ("/tasks", json!([])),
            ("/jobs", json!(1)),
            ("/jobs/job", json!([])),
            ("/jobs/job/work/kind", json!(1)),
            ("/promptVariables", json!([])),
            ("/models", json!("small")),
            ("/models/driving", json!(null)),
            ("/drivingSessionRetries", json!({})),
            ("/grid", json!({})),
            ("/grid/0/keyword", json!(1)),
        ] {
            let mut json = json_with(pointer, value);
            // A job needs input if its tasks do, and a task if its prompt does.
            if let Some(task) = json.pointer_mut("/tasks/a").filter(|task| task.is_object()) {
                task["requireUserInput"] = json!(true);
                if task["prompt"].is_array() {
                    task["prompt"] = json!(["$user-input"]);
                }
            }
            if let Some(job) = json.pointer_mut("/jobs/job").filter(|job| job.is_object()) {
                job["requireUserInput"] = json!(true);
            }
            let found = problems(&json.to_string());
            assert_eq!(found.len(), 1, "{pointer}: {found:?}");
        }
    }

    #[test]
    fn what_the_check_explains_is_not_a_problem_of_the_shape() {
        for (pointer, value) in [
            ("/tasks/a/prompt", json!([])),
            ("/drivingSessionRetries", json!([])),
            ("/tasks/a/timeout", json!("soon")),
            ("/tasks/a/runtime", json!("")),
            ("/tasks/a/budget", json!({ "costUsd": 0 })),
            ("/jobs/job/work", json!({ "kind": "Par", "works": [{ "kind": "Ref", "taskId": "a" }], "maxParallel": 0 })),
        ] {
            assert_eq!(problems(&json_with(pointer, value).to_string()).len(), 1, "{pointer}");
        }
    }

    #[test]
    fn what_may_be_left_out_is_empty() {
        let task = json!({ "model": { "category": "driving" }, "prompt": ["x"] });
        let retries = json!([{ "modelId": "small", "retries": 1 }]);
        let least =
            json!({ "models": { "driving": "small" }, "drivingSessionRetries": retries, "tasks": { "a": task } });
        let entry = read_entry(&least.to_string()).expect("an entry");
        assert!(!entry.tasks()["a"].require_user_input && entry.entry().jobs.is_empty());
        // In the order in which the portal finds them.
        assert_eq!(
            problems(r#"{ "models": {}, "tasks": {} }"#),
            ["entry.models.driving: Should exist.", "entry.drivingSessionRetries: Should contain at least one item."]
        );
    }

    #[test]
    fn a_number_without_a_fraction_is_an_integer() {
        let text = entry_json().to_string().replace("\"retries\":3", "\"retries\":3.0");
        assert_eq!(read_entry(&text).expect("an entry").entry().driving_session_retries[0].retries, 3);
    }

    #[test]
    fn a_key_that_is_there_twice_is_refused() {
        let text = entry_json().to_string().replace("\"b\":{", "\"a\":{");
        assert_eq!(problems(&text), [r#"entry.tasks["a"]: Is defined more than once."#]);
    }

    #[test]
    fn ten_thousand_works_are_read() {
        let works = vec![json!({ "kind": "Ref", "taskId": "a" }); 10_000];
        let text = json_with("/jobs/job/work", json!({ "kind": "Seq", "works": works })).to_string();
        assert!(read_entry(&text).is_ok());
    }
}

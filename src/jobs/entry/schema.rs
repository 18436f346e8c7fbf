//! The JSON Schema of an entry: for editors, and for the shape of what is read.

use std::sync::LazyLock;

use jsonschema::Validator;
use serde_json::Value;

/// The text of the schema, draft 2020-12.
pub const SCHEMA: &str = include_str!("jobs.schema.json");

/// The schema and what validates against it.
pub(super) struct EntrySchema {
    pub(super) json: Value,
    pub(super) validator: Validator,
}

#[expect(clippy::expect_used, reason = "the schema is part of the program, and a test builds this")]
static ENTRY_SCHEMA: LazyLock<EntrySchema> = LazyLock::new(|| {
    let json: Value = serde_json::from_str(SCHEMA).expect("the schema is JSON");
    let validator = jsonschema::validator_for(&json).expect("the schema is valid");
    EntrySchema { json, validator }
});

/// The schema, built when it is first used.
pub(super) fn entry_schema() -> &'static EntrySchema {
    &ENTRY_SCHEMA
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use serde_json::{Map, json};

    use super::*;
    use crate::jobs::entry::sample::{entry_json, gate, par, reference, seq};
    use crate::jobs::entry::{
        Availability, Command, Criteria, DrivingRetry, Entry, FailureAction, GateWork, GridJob, GridRow, Job,
        ModelChoice, OnInterrupted, Task, TaskPermissions, Work,
    };
    use crate::model::{PermissionMode, PermissionRule, RuleDecision, SessionBudget};

    fn problems(entry: &Value) -> Vec<String> {
        let errors = entry_schema().validator.iter_errors(entry);
        errors.map(|error| format!("{}: {error}", error.instance_path())).collect()
    }

    fn full_task() -> Task {
        let text = || Some("x".to_owned());
        let prompt = || vec!["job_boolean_true".to_owned()];
        let rule =
            PermissionRule { prefix: text(), call: text(), ..PermissionRule::for_tool("shell", RuleDecision::Ask) };
        Task {
            model: Some(ModelChoice::Category("driving".to_owned())),
            prompt: prompt(),
            require_user_input: false,
            availability: Some(Availability { condition: Some(prompt()) }),
            criteria: Some(Criteria {
                tool_executed: Some(vec!["bash".to_owned()]),
                condition: Some(prompt()),
                run_condition_in_same_session: Some(false),
                failure_action: FailureAction { retry_times: 1, additional_prompt: Some(prompt()) },
                command: Some(Command {
                    run: vec!["x".to_owned()],
                    expect_exit: Some(-1),
                    timeout: Some("1m".to_owned()),
                }),
            }),
            permissions: Some(TaskPermissions { mode: Some(PermissionMode::AllowAll), rules: vec![rule] }),
            runtime: text(),
            effort: text(),
            timeout: Some("1h 30m".to_owned()),
            budget: Some(SessionBudget {
                premium_requests: Some(1.0),
                credits: Some(0.5),
                tokens: Some(1),
                cost_usd: Some(2.0),
                refuse: true,
                stop_turns: true,
            }),
            mcp_servers: Map::from_iter([
                ("s".to_owned(), json!({ "command": "x" })),
                ("none".to_owned(), Value::Null),
            ]),
            on_interrupted: Some(OnInterrupted::Ask),
        }
    }

    fn full_work() -> Work {
        let boxed = || Box::new(reference("a"));
        let Work::Gate(asks) = gate("Go?") else { unreachable!("a gate") };
        let full_gate = GateWork {
            prompt: Some(vec!["x".to_owned()]),
            on_reject: Some(boxed()),
            redo_from: Some(0),
            work_id_in_job: 1,
            ..asks
        };
        let model_override = Some(ModelChoice::Id("m".to_owned()));
        seq([
            Work::Ref { work_id_in_job: 1, task_id: "a".to_owned(), model_override },
            par([reference("a")]),
            Work::Par { works: vec![reference("a")], max_parallel: Some(2) },
            Work::Loop {
                pre_condition: Some((true, boxed())),
                post_condition: Some((false, boxed())),
                body: boxed(),
                max_passes: Some(3),
            },
            Work::Alt { condition: boxed(), true_work: Some(boxed()), false_work: Some(boxed()) },
            Work::Gate(full_gate),
        ])
    }

    /// An entry in which nothing is left out. A new field of the definition does not compile here without a value.
    fn full_entry() -> Entry {
        Entry {
            schema: Some("jobs.schema.json".to_owned()),
            models: BTreeMap::from([("driving".to_owned(), "default".to_owned())]),
            driving_session_retries: vec![DrivingRetry { model_id: "default".to_owned(), retries: 1 }],
            prompt_variables: BTreeMap::from([("x".to_owned(), vec!["y".to_owned()])]),
            tasks: BTreeMap::from([("a".to_owned(), full_task())]),
            jobs: BTreeMap::from([("j".to_owned(), Job { require_user_input: Some(false), work: full_work() })]),
            grid: vec![GridRow {
                keyword: "k".to_owned(),
                jobs: vec![None, Some(GridJob { name: "n".to_owned(), job_name: "j".to_owned() })],
            }],
        }
    }

    #[test]
    fn the_schema_knows_every_field() {
        let entry = serde_json::to_value(full_entry()).expect("JSON");
        assert_eq!(problems(&entry), Vec::<String>::new());
        assert_eq!(problems(&entry_json()), Vec::<String>::new());
    }

    /// Removes every key of an entry in turn, and looks whether the schema and the types agree on whether it is needed.
    #[test]
    fn the_schema_and_the_types_need_the_same_fields() {
        let entry = serde_json::to_value(full_entry()).expect("JSON");
        let mut pointers = Vec::new();
        collect_keys(&entry, "", &mut pointers);
        assert!(pointers.len() > 80, "{pointers:?}");
        for pointer in pointers {
            let mut changed = entry.clone();
            let (parent, name) = pointer.rsplit_once('/').expect("a pointer");
            changed.pointer_mut(parent).and_then(Value::as_object_mut).expect("an object").remove(name);
            let is_typed = serde_json::from_value::<Entry>(changed.clone()).is_ok();
            // The check says what is wrong with a model, so the types take any.
            let is_model = pointer.ends_with("/driving");
            assert_eq!(problems(&changed).is_empty(), is_typed && !is_model, "{pointer}");
        }
    }

    fn collect_keys(value: &Value, at: &str, pointers: &mut Vec<String>) {
        match value {
            Value::Object(fields) if !at.contains("/mcpServers/") => {
                for (name, value) in fields {
                    let below = format!("{at}/{name}");
                    collect_keys(value, &below, pointers);
                    pointers.push(below);
                }
            }
            Value::Array(items) => {
                for (position, item) in items.iter().enumerate() {
                    collect_keys(item, &format!("{at}/{position}"), pointers);
                }
            }
            _ => {}
        }
    }

    #[test]
    fn everything_in_the_schema_is_explained() {
        let definitions = &entry_schema().json["$defs"];
        for name in
            ["task", "criteria", "permissions", "budget", "job", "work", "ref", "seq", "par", "loop", "alt", "gate"]
        {
            for field in ["title", "description"] {
                assert!(definitions[name][field].is_string(), "{name}.{field}");
            }
        }
    }
}

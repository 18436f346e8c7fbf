use serde_json::{Value, json};

use super::super::sample::{entry_json, entry_with, json_with};
use super::*;

fn problems_of(entry: Entry) -> Vec<String> {
    match check(entry) {
        Ok(checked) => checked.warnings().iter().map(ToString::to_string).collect(),
        Err(problems) => problems.iter().map(ToString::to_string).collect(),
    }
}

fn problems_with(pointer: &str, value: Value) -> Vec<String> {
    problems_of(entry_with(pointer, value))
}

/// Each case puts a value in one place of the sample and names the only problem.
fn assert_problems<const N: usize>(cases: [(&str, Value, &str); N]) {
    for (pointer, value, expected) in cases {
        assert_eq!(problems_with(pointer, value), [expected], "{pointer}");
    }
}

#[test]
fn the_sample_has_no_problems() {
    assert_eq!(problems_of(serde_json::from_value(entry_json()).expect("an entry")), Vec::<String>::new());
}

#[test]
fn models_and_retries() {
    let mut entry = entry_with("/models", json!({}));
    entry.tasks.clear();
    entry.jobs.clear();
    entry.grid.clear();
    assert_eq!(problems_of(entry), ["entry.models.driving: Should exist."]);
    assert_problems([
        ("/models/other", json!(" "), r#"entry.models["other"]: Should not be empty."#),
        ("/drivingSessionRetries", json!([]), "entry.drivingSessionRetries: Should contain at least one item."),
        (
            "/drivingSessionRetries/0/modelId",
            json!("large"),
            "entry.drivingSessionRetries: The first modelId should equal to entry.models.driving.",
        ),
    ]);
}

#[test]
fn the_grid_names_jobs() {
    assert_problems([(
        "/grid/0/jobs/1/jobName",
        json!("x"),
        r#"entry.grid[0].jobs[1].jobName: "x" is not a valid job name."#,
    )]);
}

#[test]
fn tasks() {
    let criteria = |name: &str, value: Value| {
        let mut criteria = json!({ "failureAction": { "retryTimes": 0 } });
        criteria[name] = value;
        criteria
    };
    assert_problems([
        (
            "/tasks/a/model",
            json!({ "category": "x" }),
            r#"entry.tasks["a"].model.category: "x" is not a valid model key."#,
        ),
        ("/tasks/a/model", json!({ "id": "" }), r#"entry.tasks["a"].model.id: Should not be empty."#),
        ("/tasks/a/prompt", json!([]), r#"entry.tasks["a"].prompt: Prompt is empty."#),
        ("/tasks/a/prompt", json!(["$x"]), r#"entry.tasks["a"].prompt: Cannot find prompt variable: $x."#),
        (
            "/tasks/a/requireUserInput",
            json!(true),
            r#"entry.tasks["a"].requireUserInput: Prompt should use $user-input when requireUserInput is true."#,
        ),
        (
            "/tasks/a/prompt",
            json!(["Do $user-input."]),
            r#"entry.tasks["a"].requireUserInput: Prompt should not use $user-input when requireUserInput is false."#,
        ),
        (
            "/tasks/a/availability",
            json!({ "condition": ["Is it so?"] }),
            r#"entry.tasks["a"].availability.condition: Boolean tool (job_boolean_true or job_boolean_false) must be mentioned."#,
        ),
        (
            "/tasks/a/criteria",
            criteria("toolExecuted", json!(["job_boolean_true", "x"])),
            r#"entry.tasks["a"].criteria.toolExecuted[1]: "x" is not an available tool."#,
        ),
        (
            "/tasks/a/criteria",
            criteria("condition", json!([])),
            r#"entry.tasks["a"].criteria.condition: Prompt is empty."#,
        ),
        (
            "/tasks/a/criteria",
            criteria("condition", json!(["Is it so?"])),
            r#"entry.tasks["a"].criteria.condition: Boolean tool (job_boolean_true or job_boolean_false) must be mentioned."#,
        ),
        (
            "/tasks/a/criteria",
            criteria("failureAction", json!({ "retryTimes": 1, "additionalPrompt": ["$x"] })),
            r#"entry.tasks["a"].criteria.failureAction.additionalPrompt: Cannot find prompt variable: $x."#,
        ),
    ]);
}

#[test]
fn the_category_reviewers_is_for_overrides_only() {
    let mut entry = json_with("/models/reviewers", json!("small"));
    let reference = json!({ "kind": "Ref", "taskId": "a", "modelOverride": { "category": "reviewers" } });
    entry["jobs"]["job"]["work"] = reference;
    assert_eq!(problems_of(serde_json::from_value(entry.clone()).expect("an entry")), Vec::<String>::new());
    entry["tasks"]["a"]["model"] = json!({ "category": "reviewers" });
    let expected = r#"entry.tasks["a"].model.category: "reviewers" is not a valid model key."#;
    assert_eq!(problems_of(serde_json::from_value(entry).expect("an entry")), [expected]);
}

#[test]
fn extensions_of_tasks() {
    let command = |command: Value| json!({ "failureAction": { "retryTimes": 0 }, "command": command });
    let rule = |rule: Value| json!({ "rules": [{ "tool": "shell", "decision": "allow" }, rule] });
    assert_problems([
        (
            "/tasks/a/criteria",
            command(json!({ "run": [] })),
            r#"entry.tasks["a"].criteria.command.run: should have at least one element."#,
        ),
        (
            "/tasks/a/criteria",
            command(json!({ "run": ["", "x"] })),
            r#"entry.tasks["a"].criteria.command.run[0]: Should be the name of a program."#,
        ),
        (
            "/tasks/a/criteria",
            command(json!({ "run": ["x", "\u{0}"] })),
            r#"entry.tasks["a"].criteria.command.run[1]: Should not contain a null character."#,
        ),
        (
            "/tasks/a/criteria",
            command(json!({ "run": ["x"], "timeout": "soon" })),
            r#"entry.tasks["a"].criteria.command.timeout: "soon" is not a duration such as 90s, 10m or 1h 30m."#,
        ),
        ("/tasks/a/timeout", json!("0s"), r#"entry.tasks["a"].timeout: Should be longer than 0."#),
        (
            "/tasks/a/timeout",
            json!("-1m"),
            r#"entry.tasks["a"].timeout: "-1m" is not a duration such as 90s, 10m or 1h 30m."#,
        ),
        ("/tasks/a/runtime", json!(" "), r#"entry.tasks["a"].runtime: Should not be empty."#),
        ("/tasks/a/effort", json!(""), r#"entry.tasks["a"].effort: Should not be empty."#),
        (
            "/tasks/a/permissions",
            rule(json!({ "tool": "", "decision": "deny" })),
            r#"entry.tasks["a"].permissions.rules[1].tool: Should not be empty."#,
        ),
        (
            "/tasks/a/permissions",
            rule(json!({ "tool": "shell", "decision": "allow", "prefix": "git; rm" })),
            r#"entry.tasks["a"].permissions.rules[1].prefix: "git; rm" is not the beginning of a simple command, so it never applies."#,
        ),
        (
            "/tasks/a/budget",
            json!({ "costUsd": -1.0 }),
            r#"entry.tasks["a"].budget: Should be valid: invalid limit of -1 money: it must be above 0."#,
        ),
        (
            "/tasks/a/mcpServers",
            json!({ "s": { "args": [] } }),
            r#"entry.tasks["a"].mcpServers["s"]: Should be an MCP server: command is missing; it is the program to start."#,
        ),
    ]);
}

#[test]
fn works() {
    let reference = json!({ "kind": "Ref", "taskId": "a" });
    let wrong = json!({ "kind": "Ref", "taskId": "x" });
    let message = |below: &str| format!(r#"entry.jobs["job"].work{below}.taskId: "x" is not a valid task name."#);
    for (work, below) in [
        (wrong.clone(), ""),
        (json!({ "kind": "Seq", "works": [reference, wrong] }), ".works[1]"),
        (json!({ "kind": "Par", "works": [reference, wrong] }), ".works[1]"),
        (json!({ "kind": "Loop", "preCondition": [true, wrong], "body": reference }), ".preCondition[1]"),
        (json!({ "kind": "Loop", "postCondition": [true, wrong], "body": reference }), ".postCondition[1]"),
        (json!({ "kind": "Loop", "body": wrong }), ".body"),
        (json!({ "kind": "Alt", "condition": wrong }), ".condition"),
        (json!({ "kind": "Alt", "condition": reference, "trueWork": wrong }), ".trueWork"),
        (json!({ "kind": "Alt", "condition": reference, "falseWork": wrong }), ".falseWork"),
        (json!({ "kind": "Gate", "title": "t", "onReject": wrong }), ".onReject"),
        (json!({ "kind": "Seq", "works": [{ "kind": "Seq", "works": [wrong] }] }), ".works[0].works[0]"),
    ] {
        assert_eq!(problems_with("/jobs/job/work", work), [message(below)], "{below}");
    }
}

#[test]
fn references_and_numbers_of_works() {
    let reference = json!({ "kind": "Ref", "taskId": "a" });
    assert_problems([
        (
            "/jobs/job/work/modelOverride",
            json!({ "category": "x" }),
            r#"entry.jobs["job"].work.modelOverride.category: "x" is not a valid model key."#,
        ),
        (
            "/jobs/job/work/modelOverride",
            json!({ "id": "" }),
            r#"entry.jobs["job"].work.modelOverride.id: Should not be empty."#,
        ),
        (
            "/tasks/a",
            json!({ "prompt": ["Do."], "requireUserInput": false }),
            r#"entry.jobs["job"].work.modelOverride: must be defined because task "a" has no specified model."#,
        ),
        (
            "/jobs/job/work",
            json!({ "kind": "Par", "works": [reference], "maxParallel": 0 }),
            r#"entry.jobs["job"].work.maxParallel: Should be at least 1."#,
        ),
        (
            "/jobs/job/work",
            json!({ "kind": "Loop", "body": reference, "maxPasses": 0 }),
            r#"entry.jobs["job"].work.maxPasses: Should be at least 1."#,
        ),
        (
            "/jobs/job/requireUserInput",
            json!(true),
            r#"entry.jobs["job"].requireUserInput: Should be false but is true."#,
        ),
    ]);
}

#[test]
fn an_empty_seq_or_par_is_wrong_unless_it_vanishes() {
    let reference = || json!({ "kind": "Ref", "taskId": "a" });
    let seq = |works: Vec<Value>| json!({ "kind": "Seq", "works": works });
    let par = |works: Vec<Value>| json!({ "kind": "Par", "works": works });
    for (work, below) in [
        (seq(vec![]), Some("")),
        (par(vec![]), Some("")),
        (seq(vec![seq(vec![])]), Some("")),
        (seq(vec![reference(), seq(vec![])]), None),
        (par(vec![reference(), par(vec![])]), None),
        (seq(vec![reference(), par(vec![])]), Some(".works[1]")),
        (par(vec![reference(), seq(vec![])]), Some(".works[1]")),
        (par(vec![reference(), json!({ "kind": "Par", "works": [], "maxParallel": 1 })]), Some(".works[1]")),
        (json!({ "kind": "Loop", "body": seq(vec![]) }), Some(".body")),
    ] {
        let expected: Vec<_> = below
            .iter()
            .map(|below| format!(r#"entry.jobs["job"].work{below}.works: should have at least one element."#))
            .collect();
        assert_eq!(problems_with("/jobs/job/work", work.clone()), expected, "{work}");
    }
}

#[test]
fn gates() {
    let gate = |field: &str, value: Value| {
        let mut gate = json!({ "kind": "Gate", "title": "Go?", "onReject": { "kind": "Ref", "taskId": "a" } });
        gate[field] = value;
        gate
    };
    let in_seq = |work: Value| json!({ "kind": "Seq", "works": [{ "kind": "Ref", "taskId": "a" }, work] });
    assert_problems([
        ("/jobs/job/work", gate("title", json!(" ")), r#"entry.jobs["job"].work.title: Should not be empty."#),
        ("/jobs/job/work", gate("title", json!("a\nb")), r#"entry.jobs["job"].work.title: Should be one line."#),
        ("/jobs/job/work", gate("prompt", json!([])), r#"entry.jobs["job"].work.prompt: Prompt is empty."#),
        (
            "/jobs/job/work",
            gate("prompt", json!(["$gate-note $x"])),
            r#"entry.jobs["job"].work.prompt: Cannot find prompt variable: $x."#,
        ),
        (
            "/jobs/job/work",
            gate("redoFrom", json!(0)),
            r#"entry.jobs["job"].work.redoFrom: Should be absent because the gate is not directly in a Seq."#,
        ),
        (
            "/jobs/job/work",
            in_seq(gate("redoFrom", json!(1))),
            r#"entry.jobs["job"].work.works[1].redoFrom: Should be the position of an earlier work in the same Seq (below 1) but is 1."#,
        ),
        (
            "/jobs/job/work",
            in_seq(json!({ "kind": "Gate", "title": "Go?", "redoFrom": 0 })),
            r#"entry.jobs["job"].work.works[1].redoFrom: Should be absent because the gate has no onReject."#,
        ),
    ]);
    assert_eq!(problems_with("/jobs/job/work", in_seq(gate("redoFrom", json!(0)))), Vec::<String>::new());
}

#[test]
fn names_and_variables() {
    let task = entry_json()["tasks"]["a"].clone();
    assert_problems([
        ("/tasks/", task, r#"entry.tasks[""]: The name should not be empty."#),
        (
            "/promptVariables/user-input",
            json!(["x"]),
            r#"entry.promptVariables["user-input"]: Has no effect because $user-input is a runtime variable."#,
        ),
        (
            "/promptVariables/a1",
            json!(["x"]),
            r#"entry.promptVariables["a1"]: Cannot be used in a prompt: names are letters in parts joined by single hyphens."#,
        ),
    ]);
}

#[test]
fn all_problems_come_at_once_and_in_order() {
    let mut entry = json_with("/models", json!({ "planning": "m" }));
    entry["drivingSessionRetries"] = json!([]);
    entry["grid"][0]["jobs"][0] = json!({ "name": "n", "jobName": "x" });
    entry["tasks"]["b"]["prompt"] = json!([]);
    entry["jobs"]["job"]["work"] = json!({ "kind": "Seq", "works": [] });
    entry["jobs"]["job"]["requireUserInput"] = json!(true);
    let paths: Vec<_> = check(serde_json::from_value(entry).expect("an entry"))
        .expect_err("problems")
        .into_iter()
        .map(|problem| problem.path)
        .collect();
    let expected = [
        "entry.models.driving",
        "entry.drivingSessionRetries",
        "entry.grid[0].jobs[0].jobName",
        r#"entry.tasks["a"].model.category"#,
        r#"entry.tasks["b"].model.category"#,
        r#"entry.tasks["b"].prompt"#,
        r#"entry.tasks["c"].model.category"#,
        r#"entry.jobs["job"].work.works"#,
        r#"entry.jobs["job"].requireUserInput"#,
    ];
    assert_eq!(paths, expected);
}

#[test]
fn a_checked_entry_is_complete() {
    let mut entry = json_with("/promptVariables/name", json!(["x", "y"]));
    entry["tasks"]["a"] = json!({
        "model": { "category": "driving" }, "prompt": ["$name", "$user-input"], "requireUserInput": true,
        "availability": { "condition": ["job_boolean_true", "?"] },
        "criteria": {
            "condition": ["$name", "job_boolean_false"],
            "failureAction": { "retryTimes": 1, "additionalPrompt": ["$name", "z"] },
        },
    });
    entry["jobs"]["job"]["work"] = json!({ "kind": "Loop",
        "postCondition": [false, { "kind": "Ref", "taskId": "a" }],
        "body": { "kind": "Seq", "works": [
            { "kind": "Ref", "taskId": "b" },
            { "kind": "Seq", "works": [{ "kind": "Gate", "title": "Go?", "prompt": ["$name", "$gate-note"] }] },
        ] },
    });
    let checked = check(serde_json::from_value(entry).expect("an entry")).expect("valid");
    let task = &checked.tasks()["a"];
    assert_eq!(task.prompt, ["x\ny\n$user-input"]);
    let availability = task.availability.as_ref().and_then(|availability| availability.condition.clone());
    assert_eq!(availability.expect("a condition"), ["job_boolean_true\n?"]);
    let criteria = task.criteria.clone().expect("criteria");
    assert_eq!(criteria.condition.expect("a condition"), ["x\ny\njob_boolean_false"]);
    assert_eq!(criteria.failure_action.additional_prompt.expect("a prompt"), ["x\ny\nz"]);
    let job = serde_json::to_value(checked.job("job").expect("the job")).expect("JSON");
    let expected = json!({ "requireUserInput": true, "work": { "kind": "Loop",
        "postCondition": [false, { "kind": "Ref", "workIdInJob": 0, "taskId": "a" }],
        "body": { "kind": "Seq", "works": [
            { "kind": "Ref", "workIdInJob": 1, "taskId": "b" },
            { "kind": "Gate", "workIdInJob": 2, "title": "Go?", "prompt": ["x\ny\n$gate-note"] },
        ] },
    } });
    assert_eq!(job, expected);
}

#[test]
fn works_nested_without_end_are_refused() {
    let mut entry = entry_with("/models/other", json!("m"));
    let mut work = super::super::sample::reference("a");
    for _ in 0..500 {
        work = super::super::sample::par([super::super::sample::seq([work])]);
    }
    entry.jobs.get_mut("job").expect("the job").work = work;
    let problems = problems_of(entry);
    assert!(problems[0].ends_with(": Works are nested more than 100 deep."), "{problems:?}");
}

#[test]
fn models_that_no_runtime_offers() {
    let mut entry = json_with("/models/big", json!("large"));
    entry["drivingSessionRetries"] = json!([{ "modelId": "small", "retries": 1 }, { "modelId": "old", "retries": 1 }]);
    entry["tasks"]["a"]["model"] = json!({ "id": "gone" });
    entry["tasks"]["b"]["model"] = json!({ "id": "default" });
    entry["jobs"]["job"]["work"] =
        json!({ "kind": "Seq", "works": [{ "kind": "Ref", "taskId": "a", "modelOverride": { "id": "mine" } }] });
    let checked = check(serde_json::from_value(entry).expect("an entry")).expect("valid");
    let model = |id: &str, multiplier| AvailableModel { id: id.to_owned(), name: id.to_uppercase(), multiplier };
    let problems = check_models(&checked, &[model("small", Some(0.5)), model("free", None)]);
    let texts: Vec<_> = problems.iter().map(|problem| (problem.is_error(), problem.to_string())).collect();
    let expected = [
        (
            true,
            "entry.models[\"big\"] refers to model \"large\" which is not a valid model.\n\
             Available models:\n  SMALL (small, 0.5x)\n  FREE (free)",
        ),
        (true, "entry.drivingSessionRetries[1].modelId refers to model \"old\" which is not a valid model."),
        (false, "entry.tasks[\"a\"].model.id refers to model \"gone\" which is not a valid model."),
        (
            false,
            "entry.jobs[\"job\"].work.works[0].modelOverride.id refers to model \"mine\" which is not a valid model.",
        ),
    ];
    assert_eq!(texts, expected.map(|(is_error, text)| (is_error, text.to_owned())));
    assert_eq!(check_models(&checked, &[]), Vec::new(), "nothing is known");
}

#[test]
fn ten_thousand_works_are_checked_like_ten() {
    let reference = json!({ "kind": "Ref", "taskId": "a" });
    let groups: Vec<_> = (0..100)
        .map(|at| json!({ "kind": if at % 2 == 0 { "Seq" } else { "Par" }, "works": vec![reference.clone(); 100] }))
        .collect();
    let entry = entry_with("/jobs/job/work", json!({ "kind": "Seq", "works": groups }));
    let checked = check(entry).expect("valid");
    let plan = checked.plan("job").expect("a plan");
    assert_eq!(plan.works().map(|work| work.work_id()).collect::<Vec<_>>(), (0..10_000).collect::<Vec<_>>());
    assert_eq!(plan.tasks.len(), 1);
}

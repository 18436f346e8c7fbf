//! The conformance checks: both real programs pass all of them, and each broken assumption is found.

use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use flightdeck::agent::copilot::{Copilot, CopilotSettings};
use flightdeck::agent::{Capability, ConformanceReport, ConformanceResults, Runtime as _};
use serde_json::{Value, json};

use crate::support::{Program, Server, agents, bare};

/// Long enough for a loaded machine. A broken agent that stays silent costs it several times.
const PATIENCE: Duration = Duration::from_secs(30);
const PATIENCE_WITH_BREAK: Duration = Duration::from_secs(25);
/// Few enough that somebody who reads a failure finds its cause.
const MOST_IN_ROUND: usize = 6;
const ROUNDS: usize = 9;
const EVENTS: &str = "schemas/session-events.schema.json";

/// Each break of `tests/agents/breaking_copilot.mjs`, and the checks that must fail: these and no others.
const BREAKS: [(&str, &[&str]); 46] = [
    ("hook-first", &["ordering.message-before-hook", "lifecycle.one-model-call"]),
    ("late-deltas", &["ordering.deltas-before-message"]),
    ("late-reasoning-deltas", &["ordering.reasoning-deltas-first"]),
    ("shuffled-batch", &["ordering.batch-in-order"]),
    ("early-idle", &["ordering.idle-last"]),
    ("no-usage", &["ordering.usage-per-call"]),
    ("varying-order", &["ordering.same-in-five-runs"]),
    (
        "denial-ignored",
        &["deny.declared-tool", "deny.reason-observable", "deny.waits-for-the-hook", "lifecycle.destroy-ends-the-loop"],
    ),
    ("denial-ignored-for-built-ins", &["deny.built-in"]),
    ("one-hook-per-batch", &["deny.once-per-tool", "hold.batch-results"]),
    ("reason-swallowed", &["deny.reason-observable"]),
    (
        "silence-denies",
        &[
            "deny.no-output-is-no-denial",
            "hold.permission-kind",
            "hold.waits",
            "hold.native-result",
            "hold.batch-results",
            "hold.survives-kill",
            "hold.resume-runs-nothing",
        ],
    ),
    ("impatient-hook", &["deny.waits-for-the-hook"]),
    ("no-session-id", &["deny.session-id"]),
    ("flattened-arguments", &["deny.arguments-intact"]),
    ("repaired-arguments", &["deny.broken-arguments"]),
    ("destroy-once-only", &["lifecycle.destroy-twice"]),
    (
        "destroy-does-nothing",
        &[
            "lifecycle.destroy-ends-the-loop",
            "lifecycle.silent-after-destroy",
            "lifecycle.one-model-call",
            "lifecycle.destroy-within-a-batch",
            "lifecycle.destroy-in-mid-stream",
            "lifecycle.send-after-destroy",
        ],
    ),
    (
        "last-words",
        &["lifecycle.silent-after-destroy", "lifecycle.destroy-within-a-batch", "lifecycle.destroy-in-mid-stream"],
    ),
    (
        "second-model-call",
        &[
            "lifecycle.destroy-ends-the-loop",
            "lifecycle.silent-after-destroy",
            "lifecycle.one-model-call",
            "lifecycle.destroy-within-a-batch",
            "lifecycle.destroy-in-mid-stream",
        ],
    ),
    ("batch-goes-on", &["lifecycle.destroy-within-a-batch"]),
    ("error-kills", &["lifecycle.destroy-after-an-error"]),
    ("stream-goes-on", &["lifecycle.destroy-in-mid-stream"]),
    ("send-is-swallowed", &["lifecycle.send-after-destroy"]),
    ("delete-does-nothing", &["lifecycle.nothing-on-disk"]),
    ("one-tool-more", &["registration.one-tool"]),
    ("at-most-32-tools", &["registration.many-tools"]),
    ("parameters-required", &["registration.no-parameters"]),
    ("shallow-schema", &["registration.schema-preserved"]),
    ("last-duplicate-wins", &["registration.duplicates"]),
    ("empty-names-accepted", &["registration.empty-name"]),
    ("no-allow-list", &["registration.available-tools"]),
    ("no-deny-list", &["registration.excluded-tools"]),
    ("no-override", &["registration.override"]),
    ("own-system-message", &["registration.system-message"]),
    ("another-permission-kind", &["hold.permission-kind"]),
    ("impatient-tool", &["hold.waits"]),
    ("result-rewritten", &["hold.native-result", "hold.survives-kill"]),
    ("results-mixed-up", &["hold.batch-results"]),
    ("user-initiated", &["hold.agent-initiated"]),
    ("pending-work-lost", &["hold.survives-kill"]),
    ("resume-goes-on", &["hold.survives-kill", "hold.resume-runs-nothing"]),
    ("output-stays-open", &["client.killed-fails-at-once"]),
    ("lock-left-behind", &["client.next-one-works"]),
    ("new-kind", &["vocabulary.traffic"]),
    ("new-kind-in-schema", &["vocabulary.schema"]),
];

async fn report_of(program: PathBuf, home: &Path, patience: Duration) -> ConformanceReport {
    let path = std::env::var("PATH").expect("a PATH");
    let cache = agents().join("cache");
    let environment: BTreeMap<String, String> = [
        ("PATH", path.as_str()),
        ("HOME", home.to_str().expect("UTF-8")),
        ("COPILOT_CACHE_HOME", cache.to_str().expect("UTF-8")),
        ("COPILOT_AUTO_UPDATE", "false"),
        ("DBUS_SESSION_BUS_ADDRESS", ""),
    ]
    .map(|(name, value)| (name.to_owned(), value.to_owned()))
    .into();
    let copilot = Copilot::new(CopilotSettings { program: Some(program), environment, ..CopilotSettings::default() });
    let report = copilot.conformance(patience).expect("it has checks").await.expect("it starts");
    copilot.shut_down().await;
    report
}

/// A program that runs the real copilot-runtime behind the proxy with some breaks.
fn broken_program(folder: &Path, name: &str) -> PathBuf {
    let binaries = folder.join("prebuilds");
    std::fs::create_dir_all(&binaries).and_then(|()| std::fs::create_dir(folder.join("schemas"))).expect("made");
    let schema = agents().join("node_modules/@github/copilot-sdk-linux-x64").join(EVENTS);
    let mut schema: Value = serde_json::from_slice(&std::fs::read(schema).expect("there")).expect("JSON");
    if name.contains("new-kind-in-schema") {
        let event = schema["$ref"].as_str().map_or("", |name| name.rsplit('/').next().expect("a name")).to_owned();
        let kinds = if event.is_empty() { &mut schema["anyOf"] } else { &mut schema["definitions"][event]["anyOf"] };
        kinds
            .as_array_mut()
            .expect("kinds")
            .push(json!({ "properties": { "type": { "const": "session.telepathy" } } }));
    }
    std::fs::write(folder.join(EVENTS), schema.to_string()).expect("written");
    let proxy = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/agents/breaking_copilot.mjs");
    let program = binaries.join("copilot-runtime");
    let script =
        format!("#!/bin/sh\nexec node '{}' {name} '{}' \"$@\"\n", proxy.display(), Program::Runtime.path().display());
    std::fs::write(&program, script).expect("written");
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).expect("allowed");
    program
}

/// The breaks, so that those tried together make different checks fail: each failure has exactly one cause, and the tests
/// need only this many runs of all checks.
fn rounds() -> Vec<Vec<(&'static str, &'static [&'static str])>> {
    let mut rounds: Vec<Vec<(&str, &[&str])>> = Vec::new();
    for entry in BREAKS {
        let fits = |round: &Vec<(&str, &[&str])>| {
            round.len() < MOST_IN_ROUND
                && !round.iter().any(|(_, checks)| checks.iter().any(|one| entry.1.contains(one)))
        };
        match rounds.iter_mut().find(|round| fits(round)) {
            Some(round) => round.push(entry),
            None => rounds.push(vec![entry]),
        }
    }
    rounds
}

async fn check_round(number: usize) {
    let rounds = rounds();
    assert_eq!(rounds.len(), ROUNDS, "there is a test for each round");
    let names: Vec<&str> = rounds[number].iter().map(|(name, _)| *name).collect();
    let names = names.join(",");
    let folder = tempfile::tempdir().expect("a folder");
    let report = report_of(broken_program(folder.path(), &names), folder.path(), PATIENCE_WITH_BREAK).await;
    let failed: BTreeSet<&str> = report.failures().map(|check| check.id.as_str()).collect();
    let seen: Vec<String> = report.failures().map(|check| format!("{}: {}", check.id, check.seen)).collect();
    let expected = rounds[number].iter().flat_map(|(_, checks)| checks.iter().copied()).collect();
    assert_eq!(failed, expected, "{names} {seen:#?}");
    assert!(report.failures().all(|check| check.seen.len() > 20), "{names} {seen:?}");
}

macro_rules! rounds {
    ($($test:ident: $number:literal),+) => {
        mod broken_assumptions_are_found {
            $(
                #[tokio::test]
                async fn $test() {
                    super::check_round($number).await;
                }
            )+
        }
    };
}

rounds!(round_1: 0, round_2: 1, round_3: 2, round_4: 3, round_5: 4, round_6: 5, round_7: 6, round_8: 7, round_9: 8);

#[tokio::test]
async fn both_programs_pass_every_check() {
    for program in Program::BOTH {
        let folder = tempfile::tempdir().expect("a folder");
        let report = report_of(program.path(), folder.path(), PATIENCE).await;
        let failed: Vec<_> = report.failures().map(|check| format!("{}: {}", check.id, check.seen)).collect();
        assert!(failed.is_empty(), "{program:?} {} {failed:#?}", report.version);
        assert!(!report.version.is_empty() && report.switched_off().is_empty());
        for check in &report.checks {
            let has_figures = check.seen.chars().any(|letter| letter.is_ascii_digit()) || check.seen.contains('"');
            assert!(has_figures, "{}: {}", check.id, check.seen);
        }
    }
}

#[tokio::test]
async fn every_check_has_a_break_and_every_break_is_tried() {
    let folder = tempfile::tempdir().expect("a folder");
    let report = report_of(Program::Runtime.path(), folder.path(), PATIENCE).await;
    let checks: BTreeSet<&str> = report.checks.iter().map(|check| check.id.as_str()).collect();
    let broken: BTreeSet<&str> = BREAKS.iter().flat_map(|(_, expected)| expected.iter().copied()).collect();
    assert_eq!(broken, checks, "left: checks with a break, right: all checks");
    let proxy = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/agents/breaking_copilot.mjs");
    let listed = std::process::Command::new("node").arg(proxy).arg("--list").output().expect("it runs").stdout;
    let listed = String::from_utf8(listed).expect("text");
    let tried: BTreeSet<&str> = BREAKS.iter().map(|(name, _)| *name).collect();
    assert_eq!(listed.lines().collect::<BTreeSet<_>>(), tried);
}

/// What `doctor` says about the checks.
async fn line_of_doctor(server: &Server) -> Value {
    let doctor = server.http().get("/api/doctor?canary=false").await.json();
    let checks = doctor["checks"].as_array().expect("checks").clone();
    checks.into_iter().find(|check| check["name"] == "copilot: conformance").expect("a line")
}

#[tokio::test]
async fn the_command_stores_its_result_and_everybody_shows_it() {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::create_dir(folder.path().join("work")).expect("a folder to work in");
    let program = broken_program(folder.path(), "own-system-message");
    let builder = bare(Program::Runtime, folder.path()).variable("COPILOT_CLI_PATH", program.to_str().expect("UTF-8"));
    let server = builder.start_in(folder).await;
    let ended = server.run(&["conformance", "--history"]).await;
    assert!(ended.success && ended.stdout.starts_with("No results yet"), "{}", ended.stdout);
    assert_eq!(server.http().get("/api/conformance").await.json(), json!({ "reports": [], "history": [] }));
    let line = line_of_doctor(&server).await;
    assert_eq!(line["verdict"], "info", "{line}");
    assert!(
        line["hint"].as_str().is_some_and(|hint| hint.contains("flightdeck conformance --runtime copilot")),
        "{line}"
    );

    let ended = server.run(&["conformance", "--runtime", "demo"]).await;
    assert!(!ended.success && ended.stderr.contains("runtimes with conformance checks: copilot"), "{}", ended.stderr);
    let ended = server.run(&["conformance"]).await;
    assert!(!ended.success, "{}", ended.stdout);
    let first = ended.stdout.lines().find(|line| line.starts_with("FAIL") || line.starts_with("ok")).expect("a check");
    assert_eq!(first, "FAIL  registration.system-message", "failures come first");
    assert!(ended.stdout.contains("`hold` and `destroy` is off"), "{}", ended.stdout);

    let ended = server.run(&["conformance", "--history"]).await;
    assert!(ended.success && ended.stdout.contains("registration.system-message"), "{}", ended.stdout);
    let found = server.http().get("/api/conformance").await.json();
    let report: ConformanceReport = serde_json::from_value(found["reports"][0].clone()).expect("a report");
    assert_eq!(found["history"][0]["failed"], json!(["registration.system-message"]), "{found}");
    assert_eq!(found["history"][0]["version"], json!(report.version));
    let line = line_of_doctor(&server).await;
    assert_eq!(line["verdict"], "warning", "{line}");
    let results = ConformanceResults::in_folder(&server.data());
    for capability in [Capability::Hold, Capability::Destroy] {
        let refused = results.allows("copilot", &report.version, capability).expect_err("it failed");
        assert!(refused.contains("registration.system-message"), "{refused}");
        assert_eq!(results.allows("copilot", "0.0.1", capability), Ok(()));
    }
}

#[tokio::test]
async fn a_program_that_cannot_be_started_is_an_error_that_says_why() {
    let folder = tempfile::tempdir().expect("a folder");
    let program = folder.path().join("copilot");
    std::fs::write(&program, "#!/bin/sh\necho 'no such machine' >&2\nexit 7\n").expect("written");
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).expect("allowed");
    let builder = bare(Program::Runtime, folder.path()).variable("COPILOT_CLI_PATH", program.to_str().expect("UTF-8"));
    let ended = builder.run(folder.path(), &["conformance"]).await;
    assert!(!ended.success && ended.stderr.contains("no such machine"), "{}", ended.stderr);
    let ended = builder.run(folder.path(), &["conformance", "--history"]).await;
    assert!(ended.stdout.starts_with("No results yet"), "{}", ended.stdout);
}

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
const PATIENCE_WITH_BREAK: Duration = Duration::from_secs(8);
const EVENTS: &str = "schemas/session-events.schema.json";

/// Each break of `tests/agents/breaking_copilot.mjs`, and the checks that must fail: these and no others.
macro_rules! breaks {
    ($($name:ident => [$($check:literal),+ $(,)?],)+) => {
        const BREAKS: &[(&str, &[&str])] = &[$((stringify!($name), &[$($check),+])),+];

        mod broken {
            $(
                #[tokio::test]
                async fn $name() {
                    super::check_break(stringify!($name), &[$($check),+]).await;
                }
            )+
        }
    };
}

breaks! {
    hook_first => ["ordering.message-before-hook", "lifecycle.one-model-call"],
    late_deltas => ["ordering.deltas-before-message"],
    late_reasoning_deltas => ["ordering.reasoning-deltas-first"],
    shuffled_batch => ["ordering.batch-in-order"],
    early_idle => ["ordering.idle-last"],
    no_usage => ["ordering.usage-per-call"],
    varying_order => ["ordering.same-in-five-runs"],
    denial_ignored => [
        "deny.declared-tool",
        "deny.reason-observable",
        "deny.waits-for-the-hook",
        "lifecycle.destroy-ends-the-loop",
    ],
    denial_ignored_for_built_ins => ["deny.built-in"],
    one_hook_per_batch => ["deny.once-per-tool", "hold.batch-results"],
    reason_swallowed => ["deny.reason-observable"],
    silence_denies => [
        "deny.no-output-is-no-denial",
        "hold.permission-kind",
        "hold.waits",
        "hold.native-result",
        "hold.batch-results",
        "hold.survives-kill",
        "hold.resume-runs-nothing",
    ],
    impatient_hook => ["deny.waits-for-the-hook"],
    no_session_id => ["deny.session-id"],
    flattened_arguments => ["deny.arguments-intact"],
    repaired_arguments => ["deny.broken-arguments"],
    destroy_does_nothing => [
        "lifecycle.destroy-ends-the-loop",
        "lifecycle.silent-after-destroy",
        "lifecycle.one-model-call",
        "lifecycle.destroy-within-a-batch",
        "lifecycle.destroy-in-mid-stream",
        "lifecycle.send-after-destroy",
    ],
    last_words => [
        "lifecycle.silent-after-destroy",
        "lifecycle.destroy-within-a-batch",
        "lifecycle.destroy-in-mid-stream",
    ],
    second_model_call => [
        "lifecycle.destroy-ends-the-loop",
        "lifecycle.silent-after-destroy",
        "lifecycle.one-model-call",
        "lifecycle.destroy-within-a-batch",
        "lifecycle.destroy-in-mid-stream",
    ],
    destroy_once_only => ["lifecycle.destroy-twice"],
    batch_goes_on => ["lifecycle.destroy-within-a-batch"],
    error_kills => ["lifecycle.destroy-after-an-error"],
    stream_goes_on => ["lifecycle.destroy-in-mid-stream"],
    send_is_swallowed => ["lifecycle.send-after-destroy"],
    delete_does_nothing => ["lifecycle.nothing-on-disk"],
    one_tool_more => ["registration.one-tool"],
    at_most_32_tools => ["registration.many-tools"],
    parameters_required => ["registration.no-parameters"],
    shallow_schema => ["registration.schema-preserved"],
    last_duplicate_wins => ["registration.duplicates"],
    empty_names_accepted => ["registration.empty-name"],
    no_allow_list => ["registration.available-tools"],
    no_deny_list => ["registration.excluded-tools"],
    no_override => ["registration.override"],
    own_system_message => ["registration.system-message"],
    another_permission_kind => ["hold.permission-kind"],
    impatient_tool => ["hold.waits"],
    result_rewritten => ["hold.native-result", "hold.survives-kill"],
    results_mixed_up => ["hold.batch-results"],
    user_initiated => ["hold.agent-initiated"],
    pending_work_lost => ["hold.survives-kill"],
    resume_goes_on => ["hold.survives-kill", "hold.resume-runs-nothing"],
    output_stays_open => ["client.killed-fails-at-once"],
    lock_left_behind => ["client.next-one-works"],
    new_kind => ["vocabulary.traffic"],
    new_kind_in_schema => ["vocabulary.schema"],
}

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

/// A program that runs the real copilot-runtime behind the proxy with one break.
fn broken_program(folder: &Path, name: &str) -> PathBuf {
    let binaries = folder.join("prebuilds");
    std::fs::create_dir_all(&binaries).and_then(|()| std::fs::create_dir(folder.join("schemas"))).expect("made");
    let schema = agents().join("node_modules/@github/copilot-sdk-linux-x64").join(EVENTS);
    let mut schema: Value = serde_json::from_slice(&std::fs::read(schema).expect("there")).expect("JSON");
    if name == "new-kind-in-schema" {
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

async fn check_break(name: &str, expected: &[&str]) {
    let name = &name.replace('_', "-");
    let folder = tempfile::tempdir().expect("a folder");
    let report = report_of(broken_program(folder.path(), name), folder.path(), PATIENCE_WITH_BREAK).await;
    let failed: BTreeSet<&str> = report.failures().map(|check| check.id.as_str()).collect();
    let seen: Vec<String> = report.failures().map(|check| format!("{}: {}", check.id, check.seen)).collect();
    assert_eq!(failed, expected.iter().copied().collect(), "{name} {seen:#?}");
    assert!(report.failures().all(|check| check.seen.len() > 20), "{name} {seen:?}");
}

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
            assert!(has_figures || check.seen.contains(" one "), "{}: {}", check.id, check.seen);
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
    let listed = String::from_utf8(listed).expect("text").replace('-', "_");
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

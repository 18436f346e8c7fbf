//! The conformance checks: both real programs pass all of them, and each broken assumption is found.

use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use flightdeck::agent::copilot::{Copilot, CopilotSettings};
use flightdeck::agent::{Capability, ConformanceReport, Runtime as _};
use serde_json::{Value, json};

use crate::support::{Program, agents};

/// Long enough for a loaded machine; a broken agent that stays silent costs a few of them.
const PATIENCE: Duration = Duration::from_secs(10);
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
        &[
            "deny.declared-tool",
            "deny.reason-observable",
            "deny.waits-for-the-hook",
            "lifecycle.destroy-ends-the-loop",
        ],
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
        &[
            "lifecycle.silent-after-destroy",
            "lifecycle.destroy-within-a-batch",
            "lifecycle.destroy-in-mid-stream",
        ],
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
    ("destroy-once-only", &["lifecycle.destroy-twice"]),
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
    ("pending-work-lost", &["hold.survives-kill", "hold.resume-runs-nothing"]),
    ("resume-goes-on", &["hold.survives-kill", "hold.resume-runs-nothing"]),
    ("output-stays-open", &["client.killed-fails-at-once"]),
    ("lock-left-behind", &["client.next-one-works"]),
    ("new-kind", &["vocabulary.traffic"]),
    ("new-kind-in-schema", &["vocabulary.schema"]),
];

async fn report_of(program: PathBuf, home: &Path) -> ConformanceReport {
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
    let report = copilot.conformance(PATIENCE).expect("it has checks").await.expect("it starts");
    copilot.shut_down().await;
    report
}

/// A program that runs the real copilot-runtime behind the proxy with one break.
fn broken(folder: &Path, name: &str) -> PathBuf {
    let binaries = folder.join("prebuilds");
    std::fs::create_dir_all(&binaries).and_then(|()| std::fs::create_dir(folder.join("schemas"))).expect("made");
    let schema = agents().join("node_modules/@github/copilot-sdk-linux-x64").join(EVENTS);
    let mut schema: Value = serde_json::from_slice(&std::fs::read(schema).expect("there")).expect("JSON");
    if name == "new-kind-in-schema" {
        let event = schema["$ref"].as_str().map_or("", |name| name.rsplit('/').next().expect("a name")).to_owned();
        let kinds = if event.is_empty() { &mut schema["anyOf"] } else { &mut schema["definitions"][event]["anyOf"] };
        kinds.as_array_mut().expect("kinds").push(json!({ "properties": { "type": { "const": "session.telepathy" } } }));
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

/// Runs the checks against every break of an area: of those whose first check is in it.
async fn check_area(area: &str) {
    let prefix = format!("{area}.");
    for (name, expected) in BREAKS.iter().filter(|(_, expected)| expected[0].starts_with(&prefix)) {
        let folder = tempfile::tempdir().expect("a folder");
        let report = report_of(broken(folder.path(), name), folder.path()).await;
        let failed: BTreeSet<&str> = report.failures().map(|check| check.id.as_str()).collect();
        let seen: Vec<String> = report.failures().map(|check| format!("{}: {}", check.id, check.seen)).collect();
        assert_eq!(failed, expected.iter().copied().collect(), "{name} {seen:#?}");
        assert!(report.failures().all(|check| check.seen.len() > 20), "{name} {seen:?}");
    }
}

#[tokio::test]
async fn both_programs_pass_every_check() {
    for program in Program::BOTH {
        let folder = tempfile::tempdir().expect("a folder");
        let report = report_of(program.path(), folder.path()).await;
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
    // A program that cannot be proxied ends every check quickly; its report still names them all.
    let report = report_of(Program::Runtime.path(), folder.path()).await;
    let checks: BTreeSet<&str> = report.checks.iter().map(|check| check.id.as_str()).collect();
    let broken: BTreeSet<&str> = BREAKS.iter().flat_map(|(_, expected)| expected.iter().copied()).collect();
    assert_eq!(broken, checks, "left: checks with a break, right: all checks");
    let proxy = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/agents/breaking_copilot.mjs");
    let listed = std::process::Command::new("node").arg(proxy).arg("--list").output().expect("it runs").stdout;
    let listed = String::from_utf8(listed).expect("text");
    let tried: BTreeSet<&str> = BREAKS.iter().map(|(name, _)| *name).collect();
    assert_eq!(listed.lines().collect::<BTreeSet<_>>(), tried);
}

#[tokio::test]
async fn broken_ordering_is_found() {
    check_area("ordering").await;
}

#[tokio::test]
async fn broken_denials_are_found() {
    check_area("deny").await;
}

#[tokio::test]
async fn broken_lifecycles_are_found() {
    check_area("lifecycle").await;
}

#[tokio::test]
async fn broken_registration_is_found() {
    check_area("registration").await;
}

#[tokio::test]
async fn broken_holding_is_found() {
    check_area("hold").await;
}

#[tokio::test]
async fn broken_clients_and_vocabulary_are_found() {
    check_area("client").await;
    check_area("vocabulary").await;
}

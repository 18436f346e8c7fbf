//! Programs that do not keep to the rules: a clear error with its class, and the session goes on.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use serde_json::{Value, json};

use super::support::{errors, notices};
use crate::support::{Server, ServerBuilder, TestSession, children_of, described, until_childless, until_gone};

const RUNTIMES: [&str; 2] = ["copilot-headless", "claude"];

/// A server whose headless agents are both the same program, which does what its prompt says.
async fn start(more: &str) -> Server {
    start_as("", more).await
}

/// As [`start`], with an argument for the program.
async fn start_as(argument: &str, more: &str) -> Server {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::create_dir(folder.path().join("work")).expect("a folder to work in");
    let program = program_with(folder.path(), argument);
    builder(program.to_str().expect("UTF-8"), folder.path()).config(more).start_in(folder).await
}

fn program(folder: &Path) -> std::path::PathBuf {
    program_with(folder, "")
}

fn program_with(folder: &Path, argument: &str) -> std::path::PathBuf {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/agents/fake_headless.mjs");
    let program = folder.join("agent");
    std::fs::write(&program, format!("#!/bin/sh\nexec node {script} {argument} \"$@\"\n")).expect("written");
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).expect("set");
    program
}

fn builder(program: &str, folder: &Path) -> ServerBuilder {
    Server::builder()
        .variable("COPILOT_CLI_PATH", program)
        .variable("CLAUDE_CLI_PATH", program)
        .variable("COPILOT_HOME", folder.join("home").to_str().expect("UTF-8"))
        .variable("CLAUDE_CONFIG_DIR", folder.join("home").to_str().expect("UTF-8"))
        .variable("COPILOT_PROVIDER_BASE_URL", "http://127.0.0.1:1/v1")
        .variable("COPILOT_MODEL", "m")
}

async fn session(server: &Server, runtime: &str) -> TestSession {
    let body = json!({ "runtime": runtime, "workingDirectory": server.work() });
    TestSession::start_with(server.http(), body).await
}

/// Asks, and sees that the session goes on after it.
async fn ask(session: &TestSession, prompt: &str) -> Value {
    let outcome = session.ask(prompt).await;
    assert_eq!(session.ask("plain").await["text"], "plain", "after {prompt}: {:?}", session.log().await);
    outcome
}

#[tokio::test]
async fn failures_have_a_class_and_the_session_goes_on() {
    let server = start("[recovery]\nfirst_delay = \"1ms\"").await;
    for runtime in RUNTIMES {
        for (prompt, class, word) in [
            ("truncated", "stream-broken", "without reporting a result"),
            ("bad-model", "model-unavailable", "model nope is invalid"),
            ("panics", "crash", "panic: index out of range"),
            ("no-model", "model-unavailable", "Available models: "),
            ("killed", "process-gone", "signal 9"),
            ("open", "stream-broken", "never finished"),
        ] {
            let session = session(&server, runtime).await;
            assert_eq!(ask(&session, prompt).await["verdict"], "failed", "{prompt}");
            let errors = errors(&session).await;
            assert_eq!((errors.len(), &errors[0]["errorClass"]), (1, &json!(class)), "{runtime} {prompt} {errors:?}");
            assert!(errors[0].to_string().contains(word), "{errors:?}");
        }
    }
}

#[tokio::test]
async fn a_program_that_exits_the_same_way_each_time_is_started_twice_and_fails_with_its_own_words() {
    let mut server = start("[recovery]\nfirst_delay = \"1ms\"\nturn_attempts = 9").await;
    for runtime in RUNTIMES {
        let session = session(&server, runtime).await;
        assert_eq!(ask(&session, "dies").await["verdict"], "failed");
        let told = errors(&session).await;
        assert_eq!((told.len(), &told[0]["errorClass"]), (1, &json!("configuration")), "{told:?}");
        let words = told[0]["sessionError"].as_str().expect("words");
        assert!(words.contains("each time") && words.contains("something broke before the first line"), "{words}");
        assert_eq!(notices(&session, "retrying").await.len(), 1, "the second start was the last");
        // Later prompts are attempts of their own.
        assert_eq!(ask(&session, "dies").await["verdict"], "failed");
        assert_eq!(errors(&session).await.len(), 2);
        // What the program says it needs is not tried twice.
        let other = self::session(&server, runtime).await;
        assert_eq!(ask(&other, "offline").await["verdict"], "failed");
        let told = errors(&other).await;
        assert!(told[0].to_string().contains("Set COPILOT_PROVIDER_BASE_URL"), "{told:?}");
        assert!(notices(&other, "retrying").await.is_empty());
    }
    assert!(server.stop().await);
    let logged = server.stderr().await;
    let line = logged.lines().find(|line| line.contains("each time")).expect("logged");
    for field in ["session=", "agent_session=", "code=\"configuration\""] {
        assert!(line.contains(field), "{field}: {line}");
    }
}

#[tokio::test]
async fn a_program_that_cannot_be_executed_fails_at_once() {
    let server = start("").await;
    std::fs::write(server.folder().join("agent"), "#!/no/such/shell\n").expect("written");
    for runtime in RUNTIMES {
        let session = session(&server, runtime).await;
        assert_eq!(session.ask("plain").await["verdict"], "failed");
        let told = errors(&session).await;
        assert_eq!((told.len(), &told[0]["errorClass"]), (1, &json!("configuration")), "{told:?}");
        assert!(told[0].to_string().contains("No such file or directory"), "{told:?}");
        assert!(notices(&session, "retrying").await.is_empty());
    }
}

#[tokio::test]
async fn a_program_that_takes_no_session_id_is_resumed_by_the_one_it_reports() {
    for runtime in RUNTIMES {
        let server = start_as("--old", "").await;
        let session = session(&server, runtime).await;
        assert_eq!(session.ask("turns").await["text"], "turns: 1");
        assert_eq!(session.ask("turns").await["text"], "turns: 2", "{:?}", session.log().await);
        let words = session.ask("flags").await["text"].as_str().expect("text").to_owned();
        assert!(words.contains("--resume=") && !words.contains("--session-id"), "{words}");
        let server = server.kill_and_restart().await;
        let session = session.seen_by(server.http());
        assert_eq!(session.ask("turns").await["text"], "turns: 4", "{:?}", session.log().await);
        assert!(!session.get("/log").await.text().contains("--session-id"), "nothing is missing that matters");
    }
}

#[tokio::test]
async fn a_session_that_the_program_named_is_resumed_wherever_its_record_is() {
    for runtime in RUNTIMES {
        let server = start_as("--old --elsewhere", "").await;
        let session = session(&server, runtime).await;
        assert_eq!(session.ask("turns").await["text"], "turns: 1");
        assert_eq!(session.ask("turns").await["text"], "turns: 2");
    }
}

#[tokio::test]
async fn a_record_that_disappears_during_a_turn_is_missed_before_the_next() {
    for runtime in RUNTIMES {
        let server = start_as("--old", "").await;
        let session = session(&server, runtime).await;
        assert_eq!(session.ask("turns").await["text"], "turns: 1");
        assert_eq!(session.ask("forgets").await["text"], "forgotten");
        assert_eq!(session.ask("turns").await["text"], "turns: 1");
        assert_eq!(notices(&session, "fresh-session").await.len(), 1, "{:?}", session.log().await);
    }
}

#[tokio::test]
async fn garbage_disorder_and_long_lines_break_no_turn() {
    let server = start("").await;
    for runtime in RUNTIMES {
        let session = session(&server, runtime).await;
        assert_eq!(ask(&session, "garbage").await["text"], "after garbage");
        let outcome = ask(&session, "disorder").await;
        assert_eq!(outcome["verdict"], "succeeded", "{outcome}");
        assert_eq!(outcome["text"], "first the end\n\nand the end again", "{outcome}");
        assert_eq!(ask(&session, "long").await["text"], "after the long line");
        let limits = notices(&session, "limit").await;
        assert!(limits.len() == 1 && limits[0].contains("the limit is 33554432"), "{limits:?}");
    }
}

#[tokio::test]
async fn a_hundred_megabytes_of_pieces_end_in_one_message_and_the_server_stays_small() {
    let server = start("").await;
    for runtime in RUNTIMES {
        let session = session(&server, runtime).await;
        let outcome = ask(&session, "flood 100000").await;
        assert_eq!((&outcome["verdict"], &outcome["text"]), (&json!("succeeded"), &json!("after the flood")));
    }
    let status = std::fs::read_to_string(format!("/proc/{}/status", server.process_id())).expect("Linux");
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).expect("a peak");
    let kilobytes: u64 = peak.trim().trim_end_matches(" kB").parse().expect("a number");
    assert!(kilobytes < 900 * 1024, "{kilobytes} kB: what is said in one message is held once or twice, not more");
}

#[tokio::test]
async fn a_process_that_never_ends_is_ended() {
    let server = start("[sessions]\ninterrupt_grace = \"20s\"\n").await;
    // Both at once, because a stubborn one takes its whole grace.
    let checks = RUNTIMES.map(async |runtime| {
        let session = session(&server, runtime).await;
        assert_eq!(ask(&session, "stays").await["text"], "done, and still here");
        let left: u32 = ask(&session, "leaves").await["text"].as_str().expect("text").parse().expect("a number");
        // What a turn leaves in its group ends with it; a process that is killed may take a moment to go.
        until_gone(left).await;
        session.prompt("stubborn").await;
        session.events_after(0).await.until(|event| event.data.contains("stubborn\"}")).await;
        assert_eq!(session.post("/interrupt", json!({})).await.status, 202);
        assert_eq!(session.ask("plain").await["text"], "plain");
        assert!(errors(&session).await.is_empty(), "whoever interrupts knows");
    });
    futures_util::future::join_all(checks).await;
    until_childless(server.process_id()).await;
}

#[tokio::test]
async fn prompts_of_a_megabyte_and_of_ten_go_over_standard_input() {
    let server = start("[limits]\nprompt_bytes = 20000000\n").await;
    for runtime in RUNTIMES {
        let session = session(&server, runtime).await;
        for megabytes in [1, 10] {
            let prompt = format!("{}\ncount", "x".repeat(megabytes * 1024 * 1024));
            assert_eq!(ask(&session, &prompt).await["text"], prompt.len().to_string());
        }
        // A program that ends without reading them is no trouble either.
        let prompt = format!("{}\ndies", "x".repeat(1024 * 1024));
        assert_eq!(ask(&session, &prompt).await["verdict"], "failed");
    }
}

#[tokio::test]
async fn flags_that_the_program_does_not_know_are_left_out_with_one_notice() {
    let server = start("").await;
    let session = session(&server, "copilot-headless").await;
    let words = ask(&session, "flags").await["text"].as_str().expect("text").to_owned();
    assert!(words.starts_with("--output-format=json -s --session-id=") && !words.contains("--no-ask-user"), "{words}");
    assert!(!words.contains("flags"), "the prompt is no argument: {words}");
    let warnings = notices(&session, "warning").await;
    assert_eq!(warnings.len(), 1, "{warnings:?}");
    assert!(warnings[0].starts_with("Copilot 9.9.9 does not support --no-ask-user, --no-color"), "{warnings:?}");
}

#[tokio::test]
async fn a_program_that_is_not_there_is_named_and_may_come_back() {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::create_dir(folder.path().join("work")).expect("a folder to work in");
    let path = folder.path().join("agent");
    let server = builder(path.to_str().expect("UTF-8"), folder.path()).start_in(folder).await;
    for runtime in RUNTIMES {
        let session = session(&server, runtime).await;
        assert_eq!(session.ask("plain").await["verdict"], "failed");
        let errors = errors(&session).await;
        assert_eq!((errors.len(), &errors[0]["errorClass"]), (1, &json!("configuration")), "{errors:?}");
        assert!(errors[0]["sessionError"].as_str().expect("words").contains("CLI_PATH"), "{errors:?}");
        program(server.folder());
        assert_eq!(session.ask("plain").await["text"], "plain");
        std::fs::remove_file(&path).expect("removed");
        assert_eq!(session.ask("plain").await["verdict"], "failed", "gone in the middle of a session");
    }
}

#[tokio::test]
async fn turns_stand_in_line_for_processes_and_a_process_is_gone_with_its_turn() {
    let server = start("[limits]\nagent_processes = 1").await;
    let (first, second) = (session(&server, "copilot-headless").await, session(&server, "claude").await);
    first.prompt("stubborn").await;
    first.events_after(0).await.until(|event| event.data.contains("stubborn\"}")).await;
    second.prompt("plain").await;
    let mut of_second = second.events_after(0).await;
    let told = of_second.until(|event| event.json()["state"] == "starting").await;
    let detail = told.last().expect("one").json()["detail"].as_str().expect("why").to_owned();
    assert!(detail.contains("one of 1 agent processes") && detail.contains("position 1"), "{detail}");
    assert_eq!(children_of(server.process_id()).len(), 1);
    first.post("/interrupt", json!({})).await;
    of_second.until_callback("onIdle").await;
    let left = children_of(server.process_id());
    assert!(left.is_empty(), "{:?}", described(&left));
    assert_eq!(first.ask("plain").await["text"], "plain");
}

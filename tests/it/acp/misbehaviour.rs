//! Agents that are wrong, rude or gone: the session says what is wrong, and nothing else is touched.

use serde_json::json;

use super::fake::{Fake, errors, notices};
use crate::support::{Server, TestSession, a_moment, message_text};

#[tokio::test]
async fn answers_that_come_late_twice_under_wrong_ids_or_between_rubbish_still_count_once() {
    for characters in [
        &["late:initialize", "late:session/new", "late:session/prompt"][..],
        &["twice"],
        &["wrong"],
        &["rubbish"],
        &["twice", "wrong", "rubbish", "string-ids"],
    ] {
        let fake = Fake::start(characters).await;
        let session = fake.session().await;
        for number in 0..3 {
            let outcome = session.ask(&format!("@@echo {number}")).await;
            assert_eq!(outcome["text"], format!("ECHO[{number}]"), "{characters:?}");
            assert_eq!(outcome["verdict"], "succeeded");
        }
        assert_eq!(errors(&session).await, Vec::<String>::new(), "{characters:?}");
    }
}

#[tokio::test]
async fn unknown_updates_and_methods_are_answered_and_another_sessions_news_are_not_shown() {
    let fake = Fake::start(&[]).await;
    let session = fake.session().await;
    let outcome = session.ask("@@strange").await;
    assert_eq!(outcome["text"], "-32601 -32601 cancelled", "{outcome}");
    assert!(!session.get("/log").await.text().contains("not for you"));
}

#[tokio::test]
async fn a_flood_arrives_whole_and_others_are_served_meanwhile() {
    let fake = Fake::start(&[]).await;
    let (flooded, other) = (fake.session().await, fake.session().await);
    flooded.prompt("@@many 100000").await;
    assert_eq!(other.ask("@@echo here").await["text"], "ECHO[here]");
    let events = flooded.events_after(0).await.until_callback("onIdle").await;
    let expected = (0..100_000).map(|number| format!("t{number} ")).collect::<Vec<_>>().concat();
    assert_eq!(message_text(&events).len(), expected.len());
    assert_eq!(message_text(&events), expected);
}

#[tokio::test]
async fn a_line_of_fifty_megabytes_is_left_out_with_a_notice_and_the_turn_goes_on() {
    let fake = Fake::start(&[]).await;
    let session = fake.session().await;
    let outcome = session.ask("@@line 50").await;
    assert_eq!((&outcome["verdict"], &outcome["text"]), (&json!("succeeded"), &json!("after")));
    let told = notices(&session, "limit").await;
    assert!(told.len() == 1 && told[0].contains("Skipped"), "{told:?}");
}

#[tokio::test]
async fn a_flood_of_complaints_stops_nothing() {
    let fake = Fake::start(&["stderr"]).await;
    let session = fake.session().await;
    assert_eq!(session.ask("@@echo on").await["text"], "ECHO[on]");
    assert_eq!(session.ask("@@echo and on").await["text"], "ECHO[and on]");
}

#[tokio::test]
async fn half_a_line_and_then_nothing_is_no_sign_of_life_and_is_ended_where_configured() {
    let fake = Fake::start_with(&[], "[recovery]\nsilence_notice = \"4s\"\nend_hung = true").await;
    let session = fake.session().await;
    session.ask("@@echo one").await;
    // It answers a look, because its other half goes on: so it is stopped altogether.
    session.prompt("@@half").await;
    let has_heard =
        || fake.records().iter().any(|file| std::fs::read_to_string(file).is_ok_and(|text| text.contains("@@half")));
    while !has_heard() {
        a_moment().await;
    }
    let program = crate::support::children_of(fake.server.process_id());
    for process in &program {
        crate::support::send_signal("STOP", *process);
    }
    let mut stream = session.events_after(0).await;
    let events = stream.until(|event| event.callback() == "sessionError").await;
    assert!(events.iter().any(|event| event.json()["kind"] == "hung"), "{events:?}");
    stream.until_callback("onIdle").await;
    assert_eq!(session.ask("@@history").await["text"], "turns: 3");
}

#[tokio::test]
async fn an_agent_that_dies_in_a_turn_says_its_last_words_and_comes_back() {
    let fake = Fake::start(&[]).await;
    let session = fake.session().await;
    let outcome = session.ask("@@die").await;
    assert_eq!(outcome["verdict"], "failed");
    let words = errors(&session).await.join(" ");
    assert!(words.contains("it hurts") && words.contains('3'), "{words}");
    assert_eq!(session.ask("@@history").await["text"], "turns: 2");
    assert_eq!(notices(&session, "incomplete").await.len(), 1);
}

#[tokio::test]
async fn an_agent_that_dies_once_at_any_step_is_started_again() {
    for step in ["initialize", "session/new"] {
        let fake = Fake::start(&[&format!("dies-once:{step}")]).await;
        let session = fake.session().await;
        assert_eq!(session.ask("@@echo on").await["text"], "ECHO[on]", "{step}");
    }
    for step in ["authenticate", "session/set_model", "session/set_mode"] {
        let fake = Fake::start_with(&[&format!("dies-once:{step}")], "auth_method = \"by-hand\"").await;
        let session = fake.session_with(json!({ "model": "large", "options": { "mode": "do" } })).await;
        assert_eq!(session.ask("@@echo on").await["text"], "ECHO[on]", "{step}");
    }
    for step in ["session/list", "session/load", "session/prompt"] {
        let fake = Fake::start(&[]).await;
        let session = fake.session().await;
        session.ask("@@echo one").await;
        let fake = fake.restart_as(&[&format!("dies-once:{step}")]).await;
        let session = session.seen_by(fake.server.http());
        let first = session.ask("@@echo two").await;
        assert_eq!(first["verdict"] == "failed", step == "session/prompt", "{step}: {first}");
        assert_eq!(session.ask("@@echo on").await["text"], "ECHO[on]", "{step}");
    }
}

#[tokio::test]
async fn an_agent_that_always_dies_is_started_twice_and_given_up_with_its_last_words() {
    for step in ["initialize", "session/new"] {
        let fake = Fake::start(&[&format!("dies:{step}")]).await;
        let session = fake.session().await;
        session.prompt("hello").await;
        let events = session.events_after(0).await.until(|event| event.json()["state"] == "failed").await;
        let last = events.last().expect("one").json()["detail"].as_str().expect("why").to_owned();
        assert!(last.contains(&format!("died at {step}")) && last.contains("twice in a row"), "{last}");
        assert!(!events.iter().any(|event| event.json()["state"] == "recovering"), "{events:?}");
        let calls = std::fs::read_to_string(fake.file("calls")).expect("calls");
        assert_eq!(calls.lines().filter(|call| *call == "initialize").count(), 2, "{calls}");
    }
}

#[tokio::test]
async fn a_program_that_can_never_start_is_started_once_and_fails_with_its_own_words() {
    for (script, word) in [
        ("echo Offline mode requires a local model provider >&2", "Offline mode requires a local model provider"),
        ("echo \"error: unknown option '--acp'\" >&2", "unknown option '--acp'"),
    ] {
        let folder = tempfile::tempdir().expect("a folder");
        let starts = folder.path().join("starts");
        let script = format!("echo x >> {}; {script}; exit 1", starts.display());
        let config = format!("[acp.other]\ncommand = \"/bin/sh\"\nargs = [\"-c\", {script:?}]");
        let server = Server::builder().config(&config).start().await;
        let session = TestSession::start_with(server.http(), json!({ "runtime": "acp:other" })).await;
        assert_eq!(session.ask("hello").await["verdict"], "failed");
        let said = errors(&session).await.join(" ");
        assert!(said.contains(word), "{said}");
        assert_eq!(session.state().await, "failed");
        // Once for the new session, once for its prompt.
        assert!(std::fs::read_to_string(&starts).expect("started").lines().count() <= 2);
    }
}

#[tokio::test]
async fn a_program_that_cannot_be_executed_fails_at_once() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = tempfile::tempdir().expect("a folder");
    let program = folder.path().join("agent");
    for (text, mode, word) in [("#!/bin/sh\n", 0o644, "not found"), ("#!/no/such/shell\n", 0o755, "failed to execute")]
    {
        std::fs::write(&program, text).expect("written");
        std::fs::set_permissions(&program, std::fs::Permissions::from_mode(mode)).expect("set");
        let server = Server::builder().config(&format!("[acp.other]\ncommand = {program:?}")).start().await;
        let session = TestSession::start_with(server.http(), json!({ "runtime": "acp:other" })).await;
        assert_eq!(session.ask("hello").await["verdict"], "failed");
        let said = errors(&session).await.join(" ");
        assert!(said.contains(word), "{said}");
        assert_eq!(session.state().await, "failed");
    }
}

/// What a session says of an agent that cannot be used, and that others go on.
async fn check(fake: &Fake, words: &[&str]) {
    let session = fake.session().await;
    assert_eq!(session.ask("hello").await["verdict"], "failed", "{words:?}");
    let said = errors(&session).await.join(" ");
    for word in words {
        assert!(said.contains(word), "{word:?}: {said}");
    }
    assert_eq!(fake.server.session().await.ask("hello").await["verdict"], "succeeded", "the others go on");
}

#[tokio::test]
async fn another_version_a_refusal_and_a_session_without_id_are_named() {
    check(&Fake::start(&["version:2"]).await, &["fake", "version 2", "version 1"]).await;
    check(&Fake::start(&["refuses:initialize:-32603:not today"]).await, &["not today", "does not speak ACP"]).await;
    check(&Fake::start(&["refuses:session/new:-32603:no room"]).await, &["no room", "-32603"]).await;
    check(&Fake::start(&["bad-id"]).await, &["without an id"]).await;
}

#[tokio::test]
async fn a_program_that_is_no_agent_is_named_with_what_it_said() {
    // One that says nothing is given up soon; the others get the time that they need.
    for (script, hello_within, words) in [
        (
            "echo Welcome to something else; cat > /dev/null",
            "4s",
            &["Welcome to something else", "hello_within", "did not respond"][..],
        ),
        ("echo usage: other >&2; exit 2", "20s", &["usage: other", "exited at startup"]),
        ("cat", "20s", &["does not speak ACP"]),
        ("cat > /dev/null", "1s", &["did not respond within 1s"]),
    ] {
        let config = format!(
            "[acp.other]\ncommand = \"/bin/sh\"\nargs = [\"-c\", {script:?}]\nhello_within = {hello_within:?}\n[recovery]\nattempts = 0"
        );
        let server = Server::builder().config(&config).start().await;
        let session = TestSession::start_with(server.http(), json!({ "runtime": "acp:other" })).await;
        assert_eq!(session.ask("hello").await["verdict"], "failed", "{script}");
        let said = errors(&session).await.join(" ");
        for word in words {
            assert!(said.contains(word), "{word:?}: {said}");
        }
        let doctor = server.run(&["doctor"]).await;
        assert!(!doctor.success && doctor.stdout.contains("acp:other: protocol"), "{}", doctor.stdout);
    }
}

#[tokio::test]
async fn a_program_that_is_not_there_costs_nothing_and_says_what_to_do() {
    let config = "[acp.gone]\ncommand = \"no-such-agent\"\n[acp.wrong]\ncommand = \"/no/such/agent\"";
    let server = Server::builder().config(config).start().await;
    let runtimes = server.http().get("/api/runtimes").await.json();
    let names: Vec<&str> = runtimes["runtimes"]
        .as_array()
        .expect("runtimes")
        .iter()
        .filter_map(|runtime| runtime["name"].as_str())
        .collect();
    assert_eq!(names, ["copilot", "copilot-acp", "copilot-headless", "claude", "acp:gone", "acp:wrong", "demo"]);
    for (position, word) in [(4, "no-such-agent"), (5, "/no/such/agent")] {
        let runtime = &runtimes["runtimes"][position];
        let hint = runtime["hint"].as_str().expect("a hint");
        assert!(runtime["ready"] == false && hint.contains(word) && hint.contains("[acp."), "{runtime}");
    }
    assert_eq!(runtimes["runtimes"][6]["default"], true);
    let session = TestSession::start_with(server.http(), json!({ "runtime": "acp:gone" })).await;
    assert_eq!(session.ask("x").await["verdict"], "failed");
    let agents = server.run(&["agents"]).await;
    assert!(agents.stdout.contains("acp:gone") && agents.stdout.contains("no-such-agent"), "{}", agents.stdout);
}

#[tokio::test]
async fn an_agent_without_a_command_is_refused_at_the_start_and_secrets_are_not_shown() {
    let folder = tempfile::tempdir().expect("a folder");
    let bad = Server::builder().config("[acp.x]\nargs = [\"--acp\"]").run(folder.path(), &["config"]).await;
    assert!(!bad.success && bad.stderr.contains("command is missing"), "{}", bad.stderr);
    let unknown =
        Server::builder().config("[acp.x]\ncommand = \"x\"\nlogin = \"y\"").run(folder.path(), &["config"]).await;
    assert!(!unknown.success && unknown.stderr.contains("login"), "{}", unknown.stderr);
    let good = Server::builder()
        .config("[acp.x]\ncommand = \"x\"\nenv = { SOME_API_KEY = \"sk-notToBeSeen\" }")
        .run(folder.path(), &["config"])
        .await;
    assert!(good.success && good.stdout.contains("acp.x") && !good.stdout.contains("notToBeSeen"), "{}", good.stdout);
}

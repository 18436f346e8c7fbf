//! The program's tools never outlive it, nobody else is ever ended, and what it uses is known.

use std::path::Path;
use std::process::Stdio;

use serde_json::json;
use tokio::process::{Child, Command};

use crate::support::{CopilotServer, Program, Server, a_moment, agent_figure, is_alive, send_signal};

/// The children that a server has written down.
fn notes(data: &Path) -> Vec<serde_json::Value> {
    std::fs::read_dir(data.join("processes"))
        .expect("a folder")
        .map(|entry| std::fs::read(entry.expect("readable").path()).expect("readable"))
        .map(|text| serde_json::from_slice(&text).expect("JSON"))
        .collect()
}

#[tokio::test]
async fn after_a_kill_of_the_server_its_tools_are_ended_at_the_next_start() {
    for program in Program::BOTH {
        let copilot = CopilotServer::start(program).await;
        let session = copilot.session("allow-all").await;
        let tool = copilot.run_tool(&session).await;
        let notes_before = notes(&copilot.server.data());
        let program_id = copilot.program();
        assert_eq!(notes_before[0]["child"]["pid"], program_id, "{notes_before:?}");
        let CopilotServer { mut server, model } = copilot;
        // It hears that its standard input is closed a moment before it dies; standing still, it cannot use that moment
        // to end the tool itself.
        send_signal("STOP", program_id);
        server.kill().await;
        assert!(is_alive(tool), "{program:?}: it is in a process group of its own");
        let doctor = server.run(&["doctor", "--no-canary"]).await;
        let orphans = doctor.stdout.lines().find(|line| line.contains("orphaned processes")).expect("a line");
        assert!(
            orphans.trim_start().starts_with("warning") && orphans.contains(&format!("({tool})")),
            "{}",
            doctor.stdout
        );
        let mut server = server.start_again().await;
        assert!(!is_alive(tool), "{program:?}: it was ended before anything was served");
        assert!(notes(&server.data()).is_empty());
        let answer = session.seen_by(server.http()).ask("@@plain").await;
        assert_eq!(answer["verdict"], "succeeded", "{program:?} {answer}");
        assert!(server.stop().await);
        assert!(notes(&server.data()).is_empty(), "a clean end leaves none");
        let log = server.stderr().await;
        let said = log.lines().filter(|line| line.contains("killed a process left over from an earlier run"));
        assert!(said.clone().any(|line| line.contains(&format!("pid={tool} "))), "{program:?}: {log}");
        drop(model);
    }
}

#[tokio::test]
async fn after_a_kill_of_the_program_its_tools_are_ended_before_it_is_started_again() {
    for program in Program::BOTH {
        let copilot = CopilotServer::start(program).await;
        let session = copilot.session("allow-all").await;
        let tool = copilot.run_tool(&session).await;
        let killed = copilot.program();
        let mut stream = session.events_after(0).await;
        send_signal("KILL", killed);
        let events = stream.until_callback("onIdle").await;
        assert!(events.iter().any(|event| event.json()["kind"] == "interrupted"), "{program:?}");
        // What it remembers of a prompt it was killed in is its own affair: it writes that down when it likes.
        let answer = session.ask("@@plain").await;
        assert_eq!(answer["verdict"], "succeeded", "{program:?} {answer}");
        assert!(!is_alive(tool), "{program:?}");
        assert_ne!(copilot.program(), killed);
        assert_eq!(notes(&copilot.server.data()).len(), 1, "of the new one");
    }
}

/// A process of the test's own, with that mark in its environment.
async fn sleeper(mark: Option<&str>) -> Child {
    let mut command = Command::new("sleep");
    command.arg("1000").stdin(Stdio::null()).kill_on_drop(true);
    if let Some(mark) = mark {
        command.env("AGENT_HOST_MARK", mark);
    }
    let child = command.spawn().expect("started");
    // Until the program has replaced the copy of this process, its environment is that of this process.
    let environment = format!("/proc/{}/environ", child.id().expect("running"));
    let is_there = |text: Vec<u8>| mark.is_none_or(|mark| String::from_utf8_lossy(&text).contains(mark));
    while !std::fs::read(&environment).is_ok_and(is_there) {
        a_moment().await;
    }
    child
}

fn started(pid: u32) -> String {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).expect("running");
    stat.rsplit_once(')').expect("a name").1.split_whitespace().nth(19).expect("a start").to_owned()
}

#[tokio::test]
async fn at_the_start_only_processes_that_carry_a_noted_mark_are_ended() {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::create_dir(folder.path().join("work")).expect("a folder to work in");
    let marks: Vec<String> = (0..5).map(|_| uuid::Uuid::new_v4().simple().to_string()).collect();
    let boot = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").expect("Linux");
    let note = |mark: &str, child: u32, child_started: &str| {
        let owner = json!({ "pid": std::process::id(), "started": "1" });
        let child = json!({ "pid": child, "started": child_started });
        let text = json!({ "marker": mark, "program": "/p", "boot": boot.trim(), "owner": owner, "child": child });
        let notes = folder.path().join("data/processes");
        std::fs::create_dir_all(&notes).expect("a folder");
        std::fs::write(notes.join(format!("{mark}.json")), text.to_string()).expect("written");
    };
    let orphan = sleeper(Some(&marks[0])).await;
    let orphan_id = orphan.id().expect("running");
    note(&marks[0], orphan_id, &started(orphan_id));
    // Its number was noted, and it is somebody else.
    let mut without_mark = sleeper(None).await;
    let id = without_mark.id().expect("running");
    note(&marks[1], id, &started(id));
    let mut began_later = sleeper(Some(&marks[2])).await;
    note(&marks[2], began_later.id().expect("running"), "1");
    // Another server's.
    let mut another_mark = sleeper(Some(&marks[3])).await;
    // The server itself was started by a tool of an agent of its last run.
    note(&marks[4], 1, "1");
    let server = Server::builder().variable("AGENT_HOST_MARK", &marks[4]).start_in(folder).await;
    assert!(!is_alive(orphan_id), "it was ended before anything was served");
    for innocent in [&mut without_mark, &mut began_later, &mut another_mark] {
        assert!(matches!(innocent.try_wait(), Ok(None)), "{innocent:?}");
    }
    assert!(notes(&server.data()).is_empty());
    assert_eq!(server.session().await.ask("hello").await["verdict"], "succeeded");
}

#[tokio::test]
async fn memory_and_processor_time_of_the_program_are_in_the_figures() {
    let copilot = CopilotServer::start(Program::Runtime).await;
    let http = copilot.server.http();
    let before = http.get("/metrics").await.text().to_owned();
    assert!(!before.contains("flightdeck_agent_process_resident_bytes{"), "nothing runs yet: {before}");
    let session = copilot.session("allow-all").await;
    session.ask("@@plain").await;
    let pid = copilot.program();
    let idle = http.get("/metrics").await.text().to_owned();
    assert!(agent_figure(&idle, "resident_bytes", pid).expect("known") > 10_000_000.0, "{idle}");
    assert!(agent_figure(&idle, "cpu_seconds_total", pid).expect("known") > 0.0, "{idle}");
    assert_eq!(
        (agent_figure(&idle, "children", pid), agent_figure(&idle, "sessions", pid)),
        (Some(0.0), Some(1.0)),
        "{idle}"
    );
    assert!(idle.ends_with("# EOF\n"), "{idle}");

    copilot.session("ask").await.ask("@@plain").await;
    copilot.run_tool(&session).await;
    let busy = http.get("/metrics").await.text().to_owned();
    assert_eq!(agent_figure(&busy, "sessions", pid), Some(2.0), "{busy}");
    assert!(agent_figure(&busy, "children", pid).expect("known") >= 1.0, "the tool: {busy}");
    assert!(agent_figure(&busy, "cpu_seconds_total", pid) >= agent_figure(&idle, "cpu_seconds_total", pid));

    send_signal("KILL", pid);
    session.events_after(0).await.until(|event| event.json()["kind"] == "interrupted").await;
    session.ask("@@plain").await;
    let after = http.get("/metrics").await.text().to_owned();
    assert_eq!(agent_figure(&after, "resident_bytes", pid), None, "it is gone: {after}");
    assert!(agent_figure(&after, "resident_bytes", copilot.program()).is_some(), "{after}");
    let mut copilot = copilot;
    assert!(copilot.server.stop().await);
}

#[tokio::test]
async fn an_agent_gets_neither_our_settings_nor_our_token() {
    for program in Program::BOTH {
        let copilot =
            CopilotServer::start_as(program, |builder| builder.variable("FLIGHTDECK_LOG_FILTER", "info")).await;
        let session = copilot.session("allow-all").await;
        session.ask("@@bash env").await;
        let log = session.log().await;
        let output = log.iter().find(|(_, response)| response["callback"] == "onEndToolExecution").expect("an end");
        let output = output.1["result"]["content"].as_str().expect("text");
        assert!(output.contains("COPILOT_HOME=") && output.contains("AGENT_HOST_MARK="), "{program:?}: {output}");
        assert!(!output.to_ascii_uppercase().contains("FLIGHTDECK_"), "{program:?}: {output}");
        assert!(!output.contains(&copilot.server.token()), "{program:?}");
        let environment = std::fs::read(format!("/proc/{}/environ", copilot.program())).expect("ours");
        let environment = String::from_utf8_lossy(&environment);
        assert!(!environment.to_ascii_uppercase().contains("FLIGHTDECK_"), "{program:?}: {environment}");
        assert!(!environment.contains(&copilot.server.token()), "{program:?}");
    }
}

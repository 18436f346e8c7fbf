//! `flightdeck jobs`, with the real binary and jobs on the demo agent.

mod check;
mod following;
mod gates;
mod listing;
mod running;
#[cfg(unix)]
mod terminal;

use serde_json::{Value, json};

use crate::support::{Ended, Running, Server};

/// A job of one task on the demo agent, which does what the first word of its prompt says.
fn task(prompt: &str, more: &Value) -> Value {
    let mut task = json!({
        "model": { "category": "driving" }, "runtime": "demo",
        "prompt": [prompt], "requireUserInput": prompt.contains("$user-input"),
    });
    task.as_object_mut().expect("fields").extend(more.as_object().cloned().unwrap_or_default());
    task
}

fn command(run: &[&str]) -> Value {
    json!({ "criteria": { "command": { "run": run }, "failureAction": { "retryTimes": 0 } } })
}

fn of(task: &str) -> Value {
    json!({ "kind": "Ref", "taskId": task })
}

fn seq(works: &[Value]) -> Value {
    json!({ "kind": "Seq", "works": works })
}

fn gate(title: &str) -> Value {
    json!({ "kind": "Gate", "title": title, "prompt": ["Look at **this**."] })
}

/// The jobs of these tests.
fn entry() -> Value {
    json!({
        "models": { "driving": "default" },
        "drivingSessionRetries": [{ "modelId": "default", "retries": 1 }],
        "promptVariables": {},
        "tasks": {
            "greet": task("help", &json!({})),
            "say": task("hello $user-input", &json!({})),
            "broken": task("help", &command(&["false"])),
            "fixable": task("help", &command(&["test", "-e", "fixed"])),
            "slow": task("many 1000000 200 10", &json!({})),
            "asking": task("permission", &json!({ "permissions": { "mode": "ask" } })),
        },
        "jobs": {
            "hello": { "work": of("greet") },
            "say": { "work": of("say") },
            "fail": { "work": seq(&[of("greet"), of("broken")]) },
            "fix": { "work": seq(&[of("greet"), of("fixable")]) },
            "slow": { "work": of("slow") },
            "ask": { "work": of("asking") },
            "gated": { "work": seq(&[of("greet"), gate("Go on?"), of("greet")]) },
            "two": { "work": { "kind": "Par", "works": [gate("Left?"), gate("Right?")] } },
        },
        "grid": [{ "keyword": "all", "jobs": [{ "name": "Hello", "jobName": "hello" }, null] }],
    })
}

/// A server whose configuration names these jobs.
async fn server() -> Server {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::create_dir(folder.path().join("work")).expect("a folder to work in");
    std::fs::write(folder.path().join("jobs.json"), entry().to_string()).expect("written");
    Server::builder().config("[jobs]\nentry = \"jobs.json\"\n").start_in(folder).await
}

/// Runs `flightdeck jobs …` in the server's work folder.
async fn jobs(server: &Server, arguments: &[&str]) -> Ended {
    server.run(&with_folder(arguments)).await
}

/// The arguments; commands that start or list something get the work folder.
fn with_folder<'a>(arguments: &[&'a str]) -> Vec<&'a str> {
    let takes_folder = ["list", "run", "check", "trust"].contains(arguments.first().unwrap_or(&"list"));
    let folder: &[&str] = if takes_folder { &["-C", "work"] } else { &[] };
    let (command, rest) = arguments.split_at(arguments.len().min(1));
    let command = if command.is_empty() { &["list"] } else { command };
    ["jobs"].iter().chain(command).chain(folder).chain(rest).copied().collect()
}

/// The JSON that a command printed.
fn json_of(ended: &Ended) -> Value {
    serde_json::from_str(&ended.stdout).unwrap_or_else(|error| panic!("{error}: {:?} {}", ended.stdout, ended.stderr))
}

fn check_failed(ended: &Ended, code: i32, words: &[&str]) {
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(code), ""), "{}", ended.stderr);
    for word in words {
        assert!(ended.stderr.contains(word), "{word}: {}", ended.stderr);
    }
}

/// `flightdeck jobs …` beside the test, in the server's work folder.
fn running(server: &Server, arguments: &[&str]) -> Running {
    Running::start(server, &with_folder(arguments))
}

/// Waits until the job waits for a decision, by following it.
async fn until_waiting(server: &Server, job: &str) -> Value {
    let mut events = server.http().events(&format!("/api/jobs/{job}/events")).await;
    events.until_callback("waitingOpened").await;
    server.http().get(&format!("/api/jobs/{job}")).await.json()
}

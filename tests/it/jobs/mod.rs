//! Tasks and jobs, with the real binary: portal routes, gates, trust, restarts, and jobs on the real Copilot.

mod bad_entries;
mod bad_requests;
mod commit_points;
mod copilot;
mod default_entry;
mod folders;
mod gates;
mod installing;
mod interruptions;
mod killed_agents;
mod live;
mod notifications;
mod portal;
mod retries;
mod stopping;
mod trust;

use std::path::Path;

use serde_json::{Map, Value, json};

use crate::support::{EventStream, Http, Reply, Server, ServerBuilder};

/// The configuration of a server whose own entry is `jobs.json` in its folder.
const CONFIG: &str = "[jobs]\nentry = \"jobs.json\"\n";
/// A turn that does not end by itself while a test runs.
const ENDLESS: &str = "many 1000000 20 10";

/// A task of the demo agent.
fn demo(prompt: &str) -> Value {
    json!({ "model": { "category": "driving" }, "prompt": [prompt], "requireUserInput": false, "runtime": "demo" })
}

/// A task with something more.
fn with(mut task: Value, field: &str, value: Value) -> Value {
    task[field] = value;
    task
}

/// A task that must pass a command, and is asked again that many times.
fn checked(task: Value, command: &str, retries: u32) -> Value {
    let criteria = json!({
        "command": { "run": ["sh", "-c", command] },
        "failureAction": { "retryTimes": retries },
    });
    with(task, "criteria", criteria)
}

fn reference(task: &str) -> Value {
    json!({ "kind": "Ref", "taskId": task })
}

fn seq(works: &[Value]) -> Value {
    json!({ "kind": "Seq", "works": works })
}

fn par(works: &[Value]) -> Value {
    json!({ "kind": "Par", "works": works })
}

fn gate(title: &str) -> Value {
    json!({ "kind": "Gate", "title": title })
}

/// An entry with these tasks, and with a job for each of these works.
fn entry(model: &str, tasks: Value, works: Value) -> Value {
    let Value::Object(works) = works else { panic!("works by name: {works}") };
    let jobs: Map<String, Value> = works.into_iter().map(|(name, work)| (name, json!({ "work": work }))).collect();
    let mut entry = json!({
        "models": { "driving": model },
        "drivingSessionRetries": [{ "modelId": model, "retries": 2 }],
        "promptVariables": {},
        "jobs": jobs,
        "grid": [],
    });
    entry["tasks"] = tasks;
    entry
}

fn builder() -> ServerBuilder {
    Server::builder().config(CONFIG)
}

fn write_entry(server: &Server, entry: &Value) {
    std::fs::write(server.folder().join("jobs.json"), entry.to_string()).expect("written");
}

/// A server with an entry of the demo agent.
async fn server(tasks: Value, works: Value) -> Server {
    let server = builder().start().await;
    write_entry(&server, &entry("demo", tasks, works));
    server
}

/// A job and a client that may use it.
struct TestJob {
    http: Http,
    id: String,
}

impl TestJob {
    /// Starts a job in the server's own folder.
    async fn start(server: &Server, name: &str) -> Self {
        Self::start_with(server, json!({ "jobName": name })).await
    }

    async fn start_with(server: &Server, mut body: Value) -> Self {
        if body.get("workingDirectory").is_none() {
            body["workingDirectory"] = json!(server.work());
        }
        let reply = server.http().post_json("/api/jobs", &body).await;
        assert_eq!(reply.status, 201, "{}", reply.text());
        Self::known(server, reply.json()["jobId"].as_str().expect("an id"))
    }

    fn known(server: &Server, id: &str) -> Self {
        Self { http: server.http(), id: id.to_owned() }
    }

    /// The same job after a restart.
    fn seen_by(&self, server: &Server) -> Self {
        Self::known(server, &self.id)
    }

    fn path(&self, rest: &str) -> String {
        format!("/api/jobs/{}{rest}", self.id)
    }

    async fn post(&self, rest: &str) -> Reply {
        self.http.post(&self.path(rest), "").await
    }

    async fn details(&self) -> Value {
        let reply = self.http.get(&self.path("")).await;
        assert_eq!(reply.status, 200, "{}", reply.text());
        reply.json()
    }

    /// All records, oldest first.
    async fn log(&self) -> Vec<Value> {
        let (mut records, mut after) = (Vec::new(), 0);
        loop {
            let page = self.http.get(&self.path(&format!("/log?after={after}"))).await.json();
            for event in page["events"].as_array().expect("events") {
                assert!(event["seq"].as_u64() > Some(after), "{event}");
                after = event["seq"].as_u64().expect("a number");
                records.push(event["event"].clone());
            }
            if page["next"].is_null() {
                return records;
            }
        }
    }

    async fn events(&self) -> EventStream {
        self.http.events(&self.path("/events")).await
    }

    /// Waits for a record, from the beginning of the log on.
    async fn until(&self, mut wanted: impl FnMut(&Value) -> bool) -> Value {
        let found = self.events().await.until(|event| wanted(&event.json())).await;
        found.last().expect("one").json()
    }

    async fn until_callback(&self, name: &str) -> Value {
        self.until(|record| record["callback"] == name).await
    }

    /// Waits until the agent of the first session says something: its turn has begun.
    async fn until_it_talks(&self) {
        let session = self.until_callback("taskSessionStarted").await["sessionId"].as_str().expect("an id").to_owned();
        let events = format!("/api/copilot/session/{session}/events");
        self.http.events(&events).await.until_callback("onMessage").await;
    }

    /// Waits for the end, and gives the job's details.
    async fn end(&self) -> Value {
        self.events().await.until(|event| event.event.as_deref() == Some("closed")).await;
        self.details().await
    }

    async fn end_as(&self, status: &str) -> Value {
        let details = self.end().await;
        assert_eq!(details["status"], status, "{details:#}");
        details
    }

    /// Waits until something waits for a person that did not wait before.
    async fn waits(&self) -> Value {
        let mut events = self.events().await;
        loop {
            events.until_callback("waitingOpened").await;
            if let Some(waiting) = self.details().await["waiting"].get(0) {
                return waiting.clone();
            }
        }
    }

    async fn answer(&self, verb: &str, waiting: &Value, note: Option<&str>) -> Reply {
        let mut body = json!({ "waitingId": waiting["waitingId"], "digest": waiting["digest"] });
        if let Some(note) = note {
            body["note"] = json!(note);
        }
        self.http.post_json(&self.path(&format!("/{verb}")), &body).await
    }

    async fn approve(&self, waiting: &Value) {
        let reply = self.answer("approve", waiting, None).await;
        assert_eq!((reply.status.as_u16(), reply.text()), (200, "{}"));
    }

    /// The decisions about its tasks, in order.
    async fn decisions(&self) -> Vec<String> {
        let text = |record: &Value| record["reason"].as_str().map(str::to_owned);
        of_kind(&self.log().await, "taskDecision").iter().filter_map(text).collect()
    }
}

/// The records of a kind.
fn of_kind(log: &[Value], callback: &str) -> Vec<Value> {
    log.iter().filter(|record| record["callback"] == callback).cloned().collect()
}

/// How often each work was started, by its number.
fn starts(log: &[Value]) -> std::collections::BTreeMap<u64, usize> {
    let mut starts = std::collections::BTreeMap::new();
    for record in of_kind(log, "workStarted") {
        *starts.entry(record["workId"].as_u64().expect("a number")).or_default() += 1;
    }
    starts
}

/// The texts of all prompts that were sent.
fn prompts(log: &[Value]) -> Vec<String> {
    let text = |record: &Value| record["text"].as_str().expect("text").to_owned();
    of_kind(log, "taskPromptSent").iter().map(text).collect()
}

/// A route of the portal.
async fn portal(http: &Http, path: &str, body: &str) -> Value {
    let reply = http.post(&format!("/api/copilot/{path}"), body.to_owned()).await;
    assert_eq!(reply.status, 200, "{path}: {}", reply.text());
    reply.json()
}

/// Starts a job as the portal's clients do.
async fn portal_start(server: &Server, name: &str, folder: &Path) -> String {
    let reply = portal(&server.http(), &format!("job/start/{name}"), &folder.display().to_string()).await;
    reply["jobId"].as_str().unwrap_or_else(|| panic!("{reply}")).to_owned()
}

fn git(folder: &Path, arguments: &[&str]) {
    let ended = std::process::Command::new("git")
        .arg("-C")
        .arg(folder)
        .args(["-c", "user.name=Test", "-c", "user.email=test@example.com"])
        .args(arguments)
        .output()
        .expect("git runs");
    assert!(ended.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&ended.stderr));
}

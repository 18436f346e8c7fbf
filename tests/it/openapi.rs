//! The OpenAPI document: it describes every route, and real replies are what it says.

use std::collections::BTreeSet;

use flightdeck::http::{Need, route_needs};
use flightdeck::model::Scope;
use hyper::Method;
use serde_json::{Value, json};

use crate::support::{Http, Reply, Server};

/// The document and a client whose replies are compared with it.
struct Api {
    document: Value,
    http: Http,
}

impl Api {
    async fn of(server: &Server) -> Self {
        let http = server.http();
        let reply = http.get("/api/openapi.json").await;
        assert_eq!((reply.status.as_u16(), reply.header("content-type")), (200, "application/json"));
        Self { document: reply.json(), http }
    }

    fn operation(&self, method: &Method, path: &str) -> &Value {
        let operation = &self.document["paths"][path][method.as_str().to_ascii_lowercase()];
        assert!(operation.is_object(), "{method} {path} is not described");
        operation
    }

    /// A value is what a schema says, and an object has no field that the schema does not mention.
    fn check_value(&self, schema: &Value, value: &Value, what: &str) {
        let mut whole = json!({ "allOf": [schema], "components": self.document["components"] });
        if value.is_object() {
            whole["unevaluatedProperties"] = json!(false);
        }
        let validator = jsonschema::draft202012::new(&whole).unwrap_or_else(|error| panic!("{what}: {error}"));
        let problems: Vec<String> =
            validator.iter_errors(value).map(|error| format!("{error} at {}", error.instance_path())).collect();
        assert!(problems.is_empty(), "{what}: {problems:#?}\n{value:#}");
    }

    /// A reply is one that the operation describes: its status, its media type and its body.
    fn check(&self, method: &Method, template: &str, reply: &Reply) {
        let status = reply.status.as_str();
        let described = &self.operation(method, template)["responses"][status];
        let what = format!("{method} {template} {status}");
        assert!(described.is_object(), "{what} is not described: {}", reply.text());
        let Some(contents) = described["content"].as_object() else {
            assert!(reply.body.is_empty(), "{what} has a body: {}", reply.text());
            return;
        };
        let media_type = reply.header("content-type").split(';').next().unwrap_or_default().trim().to_owned();
        let content = contents.get(&media_type).or_else(|| contents.get("*/*"));
        let content = content.unwrap_or_else(|| panic!("{what} is {media_type}, which is not described"));
        if media_type.ends_with("json") {
            self.check_value(&content["schema"], &reply.json(), &what);
        }
    }

    async fn send(&self, method: Method, template: &str, path: &str, body: impl Into<bytes::Bytes>) -> Reply {
        let reply = self.http.send(method.clone(), path, body).await;
        self.check(&method, template, &reply);
        reply
    }

    /// A GET that must succeed.
    async fn get(&self, template: &str, path: &str) -> Value {
        let reply = self.send(Method::GET, template, path, "").await;
        assert!(reply.status.is_success(), "{path}: {}", reply.text());
        if reply.header("content-type").contains("json") { reply.json() } else { Value::Null }
    }

    /// A POST of JSON with any outcome that is described.
    async fn post(&self, template: &str, path: &str, body: Value) -> Reply {
        let reply = self.http.post_json(path, &body).await;
        self.check(&Method::POST, template, &reply);
        reply
    }

    /// A POST of the portal, which takes text.
    async fn portal(&self, template: &str, path: &str, text: &str) -> Value {
        self.send(Method::POST, template, path, text.to_owned()).await.json()
    }
}

#[tokio::test]
async fn the_document_describes_exactly_the_routes_that_there_are() {
    let server = Server::start().await;
    let api = Api::of(&server).await;
    assert_eq!(api.document["openapi"], "3.1.0");
    let mut described = BTreeSet::new();
    for (path, methods) in api.document["paths"].as_object().expect("paths") {
        for (method, operation) in methods.as_object().expect("methods") {
            let scope = operation["x-scope"].as_str().map(str::to_owned);
            described.insert((method.to_ascii_uppercase(), path.clone(), scope));
        }
    }
    let scope = |need| match need {
        Need::Nothing => None,
        Need::Admin => Some(Scope::Admin.as_str().to_owned()),
        Need::Scope(scope) => Some(scope.as_str().to_owned()),
    };
    let routes: BTreeSet<_> =
        route_needs().map(|(method, path, need)| (method.to_owned(), path.replace("{*", "{"), scope(need))).collect();
    assert_eq!(described, routes, "left: the document, right: src/http/route_needs.rs");
}

/// Calls `visit` for every object in a value.
fn visit(value: &Value, seen: &mut impl FnMut(&serde_json::Map<String, Value>)) {
    match value {
        Value::Object(entries) => {
            seen(entries);
            entries.values().for_each(|entry| visit(entry, seen));
        }
        Value::Array(items) => items.iter().for_each(|item| visit(item, seen)),
        _ => {}
    }
}

#[test]
fn every_reference_leads_somewhere_and_every_id_is_unique() {
    let document = flightdeck::http::openapi();
    let mut ids = Vec::new();
    visit(&document, &mut |object| {
        if let Some(reference) = object.get("$ref").and_then(Value::as_str) {
            let target = reference.strip_prefix('#').and_then(|pointer| document.pointer(pointer));
            assert!(target.is_some(), "{reference}");
        }
        ids.extend(object.get("operationId").and_then(Value::as_str).map(str::to_owned));
    });
    let unique: BTreeSet<&String> = ids.iter().collect();
    assert_eq!(ids.len(), unique.len());
    assert!(ids.len() > 100, "{}", ids.len());
}

#[test]
fn every_described_error_is_documented() {
    let documentation = crate::support::source::project_file("docs/api.md");
    let document = flightdeck::http::openapi();
    visit(&document, &mut |object| {
        for name in object.get("x-errors").and_then(Value::as_array).into_iter().flatten() {
            let name = name.as_str().expect("a name");
            assert!(documentation.contains(&format!("`{name}`")), "{name}");
        }
    });
}

#[tokio::test]
async fn replies_about_sessions_are_as_described() {
    let server = Server::start().await;
    let api = Api::of(&server).await;
    let session = "/api/copilot/session/{id}";
    let body = json!({
        "runtime": "demo", "title": "Described", "workingDirectory": server.work(),
        "permissionMode": { "mode": "ask", "rules": [{ "tool": "read", "decision": "allow" }] },
        "budget": { "tokens": 1_000_000 },
    });
    let created = api.post("/api/copilot/session", "/api/copilot/session", body).await.json();
    let path = format!("/api/copilot/session/{}", created["sessionId"].as_str().expect("an id"));
    let at = |rest: &str| format!("{path}{rest}");
    let below = |rest: &str| format!("{session}{rest}");
    for prompt in ["help", "reason", "markdown", "tool 1000000", "edit", "usage 10 20 1 0.5 2", "error no", "colours"] {
        let outcome = api.post(&below("/prompt"), &at("/prompt"), json!({ "text": prompt, "wait": true })).await;
        assert_eq!(outcome.status, 200, "{prompt}");
    }
    let failed =
        api.post(&below("/ask-again"), &at("/ask-again"), json!({ "promptId": "prompt-7", "wait": false })).await;
    assert_eq!(failed.status, 200);
    let log = api.get(&below("/log"), &at("/log")).await;
    let events = log["events"].as_array().expect("events");
    let blob = events.iter().find_map(|event| event["response"]["result"]["contentBlob"].as_str()).expect("a blob");
    let message = events.iter().find(|event| event["response"]["callback"] == "onEndMessage").expect("a message");
    api.get(&below("/blob/{hash}"), &at(&format!("/blob/{blob}"))).await;
    api.get(&below("/block/{file}"), &at(&format!("/block/{}.html?all=1", message["seq"]))).await;
    for format in ["md", "md.zip", "json"] {
        api.get(&below("/export"), &at(&format!("/export?format={format}"))).await;
    }
    api.get(session, &path).await;
    api.get(&below("/changes"), &at("/changes")).await;
    api.get("/api/copilot/session", "/api/copilot/session?limit=1&state=ready").await;
    api.get("/api/copilot/search", "/api/copilot/search?q=demo&kind=message,prompt&limit=3").await;
    // What is not there or not allowed.
    for rest in ["/block/0.html", "/changes/file?path=none", "/log?after=999999", "/log?after=x", "/export?format=doc"]
    {
        let template = below(&rest.split('?').next().unwrap_or_default().replace("0.html", "{file}"));
        let reply = api.send(Method::GET, &template, &at(rest), "").await;
        assert!(reply.status.is_client_error(), "{rest}");
    }
    assert_eq!(api.send(Method::GET, session, "/api/copilot/session/session-99", "").await.status, 404);
    assert_eq!(api.post("/api/copilot/session", "/api/copilot/session", json!({ "budget": 1 })).await.status, 400);
    assert_eq!(api.post(&below("/reopen"), &at("/reopen"), json!({})).await.status, 409);
    assert_eq!(api.post(&below("/retry"), &at("/retry"), json!({})).await.status, 202);
    assert_eq!(api.post(&below("/interrupt"), &at("/interrupt"), json!({})).await.status, 202);
    let changed = api.http.patch_json(&path, &json!({ "title": "Other", "permissionMode": "deny" })).await;
    api.check(&Method::PATCH, session, &changed);
    let deleted = api.http.delete(&path).await;
    api.check(&Method::DELETE, session, &deleted);
}

#[tokio::test]
async fn replies_about_requests_are_as_described() {
    let server = Server::start().await;
    let api = Api::of(&server).await;
    let body = json!({ "runtime": "demo", "permissionMode": "ask", "workingDirectory": server.work() });
    let session = crate::support::TestSession::start_with(server.http(), body).await;
    let request = session.prompt_and_get_request("permission").await;
    api.get("/api/copilot/session/{id}", &session.path("")).await;
    let template = "/api/copilot/session/{id}/permission/{request}";
    let path = session.path(&format!("/permission/{request}"));
    let answer = json!({ "decision": "allow-always", "scope": "folder" });
    assert_eq!(api.post(template, &path, answer.clone()).await.status, 200);
    assert_eq!(api.post(template, &path, answer).await.status, 409);
    let rules = api.get("/api/folder-rules", "/api/folder-rules").await;
    let rule = format!("/api/folder-rules/{}", rules["rules"][0]["id"]);
    assert_eq!(api.send(Method::DELETE, "/api/folder-rules/{id}", &rule, "").await.status, 204);
    assert_eq!(api.send(Method::DELETE, "/api/folder-rules/{id}", &rule, "").await.status, 404);
    let request = session.prompt_and_get_request("question").await;
    let path = session.path(&format!("/answer/{request}"));
    let answered = api.post("/api/copilot/session/{id}/answer/{request}", &path, json!({ "answer": "blue" })).await;
    assert_eq!(answered.status, 200, "{}", answered.text());
}

#[tokio::test]
async fn events_of_streams_are_as_described() {
    let server = Server::start().await;
    let api = Api::of(&server).await;
    let session = server.session().await;
    session.ask("tool 10").await;
    session.ask("reason").await;
    session.post("/stop", json!({})).await;
    let schema = |path: &str| {
        let replies = &api.operation(&Method::GET, path)["responses"];
        replies["200"]["content"]["text/event-stream"]["x-event-data"].clone()
    };
    let responses = schema("/api/copilot/session/{id}/events");
    let mut stream = session.events_after(0).await;
    let mut count = 0;
    while let Some(event) = stream.next().await {
        if event.event.as_deref() == Some("closed") {
            break;
        }
        api.check_value(&responses, &event.json(), "an event of a session");
        count += 1;
    }
    assert!(count > 10, "{count}");
    let other = server.session().await;
    let mut inbox = server.http().events("/api/events").await;
    let seen = inbox.until(|event| event.json()["sessionId"] == json!(other.id)).await;
    for event in seen.iter().filter(|event| event.event.is_none()) {
        api.check_value(&schema("/api/events"), &event.json(), "an entry of the inbox");
    }
}

#[tokio::test]
async fn replies_of_the_portal_are_as_described() {
    let server = Server::start().await;
    let api = Api::of(&server).await;
    for path in
        ["/api/test", "/api/config", "/api/token", "/api/copilot/models", "/api/copilot/task", "/api/copilot/job"]
    {
        api.get(path, path).await;
    }
    let start = "/api/copilot/session/start/{model}";
    let started = api.portal(start, "/api/copilot/session/start/demo", "").await;
    let id = started["sessionId"].as_str().expect("an id").to_owned();
    let refused = api.portal(start, "/api/copilot/session/start/no/such", "").await;
    assert_eq!(refused, json!({ "error": "ModelIdNotFound" }));
    let path = |rest: &str| format!("/api/copilot/session/{id}{rest}");
    api.portal("/api/copilot/session/{id}/query", &path("/query"), "tool 10").await;
    for _ in 0..4 {
        api.portal("/api/copilot/session/{id}/live", &path("/live"), "").await;
    }
    api.portal("/api/copilot/session/{id}/live/{token}", &path("/live/reader"), "").await;
    let task = api
        .portal(
            "/api/copilot/task/start/{task}/session/{id}",
            &format!("/api/copilot/task/start/no-such/session/{id}"),
            "",
        )
        .await;
    assert!(task["taskError"].is_string(), "{task}");
    api.portal("/api/copilot/session/{id}/stop", &path("/stop"), "").await;
    api.portal("/api/copilot/session/stop/{id}", &format!("/api/copilot/session/stop/{id}"), "").await;
    for (template, path) in [
        ("/api/copilot/job/running", "/api/copilot/job/running"),
        ("/api/copilot/job/{id}/status", "/api/copilot/job/job-1/status"),
        ("/api/copilot/job/{id}/live", "/api/copilot/job/job-1/live"),
        ("/api/copilot/job/{id}/stop", "/api/copilot/job/job-1/stop"),
        ("/api/copilot/job/start/{job}", "/api/copilot/job/start/no-such"),
        ("/api/copilot/task/{id}/stop", "/api/copilot/task/task-1/stop"),
        ("/api/copilot/test/installJobsEntry", "/api/copilot/test/installJobsEntry"),
    ] {
        api.portal(template, path, "").await;
    }
}

#[tokio::test]
async fn replies_about_the_server_are_as_described() {
    let server = Server::start().await;
    let api = Api::of(&server).await;
    server.session().await.ask("usage 10 20 1 0.5 2").await;
    for path in [
        "/api/health",
        "/api/runtimes",
        "/api/models",
        "/api/agent-sessions",
        "/api/conformance",
        "/api/settings",
        "/api/captures",
        "/api/notifications",
        "/api/tokens",
        "/api/folders",
        "/api/jobs",
        "/api/jobs/entry",
        "/api/jobs/schema.json",
        "/api/openapi.json",
        "/api/docs",
        "/metrics",
        "/login",
        "/v1/models",
    ] {
        api.get(path, path).await;
    }
    api.get("/api/doctor", "/api/doctor?canary=false").await;
    api.get("/api/captures", "/api/captures?by=token").await;
    for by in ["day", "model", "runtime", "session"] {
        let usage = api.get("/api/usage", &format!("/api/usage?by={by}")).await;
        assert_eq!(usage["rows"].as_array().map(Vec::len), Some(1), "{by}");
    }
    let anybody = server.stranger().get("/api/health").await;
    api.check(&Method::GET, "/api/health", &anybody);
    let token = api.post("/api/tokens", "/api/tokens", json!({ "scopes": ["view"], "name": "one" })).await.json();
    let path = format!("/api/tokens/{}", token["id"].as_str().expect("an id"));
    assert_eq!(api.send(Method::DELETE, "/api/tokens/{id}", &path, "").await.status, 200);
    assert_eq!(api.send(Method::DELETE, "/api/tokens/{id}", &path, "").await.status, 409);
    assert_eq!(api.send(Method::DELETE, "/api/tokens/{id}", "/api/tokens/x", "").await.status, 404);
    for (path, body, status) in [
        ("/api/login-code", json!({}), 200),
        ("/api/ticket", json!({ "path": "/api/usage" }), 200),
        ("/api/ticket", json!({ "path": "elsewhere" }), 400),
        ("/api/tokens", json!({ "scopes": [] }), 400),
        ("/api/tokens", json!({ "scope": [] }), 400),
        ("/api/notifications/test", json!({ "target": "none" }), 404),
        ("/api/jobs/trust", json!({ "path": "/none", "hash": "0" }), 409),
        ("/v1/chat/completions", json!({ "model": 5 }), 400),
        ("/v1/responses", json!({}), 400),
        ("/v1/messages", json!({}), 400),
        ("/v1/messages/count_tokens", json!({ "model": "m", "messages": [{ "role": "user", "content": "hi" }] }), 200),
    ] {
        let reply = api.post(path, path, body.clone()).await;
        assert_eq!(reply.status.as_u16(), status, "{path} {body}: {}", reply.text());
    }
    let changed = api.http.patch_json("/api/settings", &json!({ "changes": {}, "dryRun": true })).await;
    api.check(&Method::PATCH, "/api/settings", &changed);
    let late = api.http.patch_json("/api/settings", &json!({ "changes": {}, "revision": "another" })).await;
    assert_eq!(late.status, 409, "{}", late.text());
    api.check(&Method::PATCH, "/api/settings", &late);
    let missing = api.send(Method::GET, "/v1/models/{id}", "/v1/models/none", "").await;
    assert_eq!(missing.status, 404);
    let unknown = api.send(Method::GET, "/api/runtimes/{name}/login", "/api/runtimes/none/login", "").await;
    assert_eq!(unknown.status, 404);
}

#[tokio::test]
async fn replies_about_jobs_are_as_described() {
    let server = Server::builder().config("[jobs]\nentry = \"jobs.json\"\n").start().await;
    let task = json!({ "prompt": ["hello"], "requireUserInput": false, "runtime": "demo", "model": { "category": "driving" } });
    let gate = json!({ "kind": "Gate", "title": "Go on?", "prompt": ["**Look** at it."] });
    let work = json!({ "kind": "Seq", "works": [{ "kind": "Ref", "taskId": "greet" }, gate] });
    let entry = json!({
        "models": { "driving": "demo" }, "drivingSessionRetries": [{ "modelId": "demo", "retries": 1 }], "promptVariables": {},
        "tasks": { "greet": task }, "jobs": { "deliver": { "work": work } },
        "grid": [{ "keyword": "k", "jobs": [{ "name": "deliver", "jobName": "deliver" }, null] }],
    });
    std::fs::write(server.folder().join("jobs.json"), entry.to_string()).expect("written");
    let api = Api::of(&server).await;
    api.get("/api/jobs/entry", "/api/jobs/entry").await;
    api.get("/api/copilot/job", "/api/copilot/job").await;
    api.get("/api/copilot/task", "/api/copilot/task").await;
    let start =
        |dry_run: bool, name: &str| json!({ "jobName": name, "workingDirectory": server.work(), "dryRun": dry_run });
    assert_eq!(api.post("/api/jobs", "/api/jobs", start(true, "deliver")).await.status, 200);
    assert_eq!(api.post("/api/jobs", "/api/jobs", start(false, "none")).await.status, 404);
    let started = api.post("/api/jobs", "/api/jobs", start(false, "deliver")).await;
    assert_eq!(started.status, 201, "{}", started.text());
    let id = started.json()["jobId"].as_str().expect("an id").to_owned();
    let at = |rest: &str| format!("/api/jobs/{id}{rest}");
    let mut stream = server.http().events(&at("/events")).await;
    let replies = &api.operation(&Method::GET, "/api/jobs/{id}/events")["responses"];
    let schema = replies["200"]["content"]["text/event-stream"]["x-event-data"].clone();
    for event in stream.until(|event| event.callback() == "waitingOpened").await {
        api.check_value(&schema, &event.json(), "an event of a job");
    }
    let details = api.get("/api/jobs/{id}", &at("")).await;
    let waiting = &details["waiting"][0];
    api.get("/api/jobs", "/api/jobs?status=Running").await;
    api.get("/api/jobs/{id}/log", &at("/log")).await;
    let gate = waiting["waitingId"].as_str().expect("an id");
    api.get("/api/jobs/{id}/gate/{file}", &at(&format!("/gate/{gate}.html"))).await;
    let portal = |rest: &str| format!("/api/copilot/job/{id}{rest}");
    api.get("/api/copilot/job/{id}/status", &portal("/status")).await;
    api.get("/api/copilot/job/running", "/api/copilot/job/running").await;
    api.get("/api/copilot/job/{id}/live", &portal("/live")).await;
    api.get("/api/copilot/job/{id}/live/{token}", &portal("/live/reader")).await;
    let task = details["works"][0]["attempts"][0]["taskId"].as_str().expect("an id").to_owned();
    api.get("/api/copilot/task/{id}/live", &format!("/api/copilot/task/{task}/live")).await;
    api.get("/api/copilot/task/{id}/live/{token}", &format!("/api/copilot/task/{task}/live/reader")).await;
    let stale = json!({ "waitingId": waiting["waitingId"], "digest": "0" });
    assert_eq!(api.post("/api/jobs/{id}/approve", &at("/approve"), stale).await.status, 409);
    let answer = json!({ "waitingId": waiting["waitingId"], "digest": waiting["digest"], "note": "no" });
    assert_eq!(api.post("/api/jobs/{id}/reject", &at("/reject"), answer).await.status, 200);
    for event in stream.until(|event| event.event.as_deref() == Some("closed")).await {
        if event.event.is_none() {
            api.check_value(&schema, &event.json(), "an event of a job");
        }
    }
    api.get("/api/jobs/{id}", &at("")).await;
    assert_eq!(api.post("/api/jobs/{id}/stop", &at("/stop"), json!({})).await.status, 200);
    assert_eq!(api.post("/api/jobs/{id}/retry", &at("/retry"), json!({})).await.status, 200);
}

#[tokio::test]
async fn the_page_of_the_api_is_for_those_who_are_logged_in() {
    let server = Server::start().await;
    let stranger = server.stranger().header("sec-fetch-mode", "navigate").header("sec-fetch-dest", "document");
    let login = stranger.get("/api/docs").await;
    assert_eq!((login.status.as_u16(), login.text().contains("name=\"token\"")), (401, true), "{}", login.text());
    assert_eq!(server.stranger().get("/api/openapi.json").await.error(401), "Unauthorized");
    let page = server.http().get("/api/docs").await;
    assert!(page.text().contains("src=\"/version/"), "it loads its modules whatever its own path is");
}

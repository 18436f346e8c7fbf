//! Logging in through the API, with a GitHub of the test's own.

use serde_json::{Value, json};

use crate::support::{FakeGitHub, Http, Person, Program, Server, TestSession, bare, programs_of, until_gone};

async fn server(config: &str) -> Server {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::create_dir(folder.path().join("work")).expect("a folder to work in");
    let builder = bare(Program::Cli, folder.path()).config(config);
    builder.start_in(folder).await
}

async fn begin(http: &Http, github: &FakeGitHub) -> Value {
    let reply =
        http.post_json("/api/runtimes/copilot/login", &json!({ "host": github.url(), "plainText": true })).await;
    assert_eq!(reply.status, 202, "{}", reply.text());
    reply.json()
}

async fn until_over(http: &Http) -> Value {
    loop {
        let progress = http.get("/api/runtimes/copilot/login").await.json();
        if progress["state"] != "waiting" && progress["state"] != "starting" {
            return progress;
        }
    }
}

#[tokio::test]
async fn a_code_is_shown_waited_for_and_the_session_that_needed_it_goes_on() {
    let github = FakeGitHub::start().await;
    let server = server("").await;
    let http = server.http();
    let none = http.get("/api/runtimes/copilot/login").await.json();
    assert_eq!(none, json!({ "state": "none" }));

    let session = TestSession::start_with(http.clone(), json!({ "runtime": "copilot" })).await;
    session.prompt("hello").await;
    let mut stream = session.events_after(0).await;
    stream.until(|event| event.json()["state"] == "needs-login").await;
    let details = session.get("").await.json();
    assert_eq!(
        (&details["state"], &details["queuedPrompts"][0]["text"]),
        (&json!("needs-login"), &json!("hello")),
        "the prompt is kept"
    );
    assert!(details["stateDetail"].as_str().expect("a hint").contains("copilot login"), "{details}");

    let waiting = begin(&http, &github).await;
    let address = format!("{}/login/device", github.url());
    assert_eq!(waiting, json!({ "state": "waiting", "address": address, "code": FakeGitHub::CODE }));
    assert_eq!(begin(&http, &github).await, waiting, "there is one login at a time");
    github.person(Person::Agrees);
    let done = until_over(&http).await;
    assert_eq!(done["state"], "succeeded", "{done}");
    assert!(done["message"].as_str().expect("who").contains("octo"), "{done}");

    let runtimes = http.get("/api/runtimes").await.json();
    let login = &runtimes["runtimes"][0]["login"];
    assert_eq!(*login, json!({ "state": "logged-in", "who": "octo", "canLogIn": true }), "{runtimes}");
    // Nobody did anything to the session, and its prompt was sent.
    stream.until_callback("onIdle").await;
    assert_eq!(session.get("").await.json()["queuedPrompts"], json!([]));

    // A program that runs does not see another login, so nobody stays with it: not even an open session.
    let before = programs_of(&server);
    begin(&http, &github).await;
    assert_eq!(until_over(&http).await["state"], "succeeded");
    for program in before {
        until_gone(program).await;
    }
    session.prompt("hello again").await;
    stream.until_callback("onIdle").await;
    assert_eq!(programs_of(&server).len(), 1);
}

#[tokio::test]
async fn a_login_that_came_too_late_and_one_that_was_cancelled_say_so_and_can_be_tried_again() {
    let github = FakeGitHub::start().await;
    let server = server("").await;
    let http = server.http();
    github.person(Person::IsTooLate);
    begin(&http, &github).await;
    let late = until_over(&http).await;
    assert_eq!(late["state"], "failed", "{late}");
    assert!(late["message"].as_str().expect("why").contains("expired"), "{late}");
    github.person(Person::Thinks);
    assert_eq!(begin(&http, &github).await["state"], "waiting");
    assert_eq!(http.delete("/api/runtimes/copilot/login").await.status, 204);
    let cancelled = http.get("/api/runtimes/copilot/login").await.json();
    assert_eq!(cancelled, json!({ "state": "failed", "message": "The login was cancelled." }));
}

#[tokio::test]
async fn a_runtime_without_logins_and_one_that_is_not_there_are_named() {
    let server = server("").await;
    let http = server.http();
    assert_eq!(http.post_json("/api/runtimes/demo/login", &json!({})).await.error(409), "LoginNotSupported");
    assert_eq!(http.post_json("/api/runtimes/nope/login", &json!({})).await.error(404), "RuntimeNotFound");
    assert_eq!(http.post_json("/api/runtimes/copilot/login", &json!({ "hots": "x" })).await.error(400), "InvalidJson");
}

#[tokio::test]
async fn the_server_alone_says_that_it_cannot_log_in() {
    let folder = tempfile::tempdir().expect("a folder");
    let server = bare(Program::Runtime, folder.path()).start().await;
    let failed = server.http().post_json("/api/runtimes/copilot/login", &json!({})).await.json();
    assert_eq!(failed["state"], "failed");
    assert!(failed["message"].as_str().expect("why").contains("agents install copilot"), "{failed}");
    let runtimes = server.http().get("/api/runtimes").await.json();
    assert_eq!(runtimes["runtimes"][0]["login"]["canLogIn"], false);
}

#[tokio::test]
async fn without_a_login_the_catalogue_is_asked_with_a_token_and_the_answer_is_kept() {
    let github = FakeGitHub::start().await;
    let folder = tempfile::tempdir().expect("a folder");
    let config = format!("[agents.copilot]\ncatalogue = \"{}/models\"", github.url());
    // A token that the program cannot check without a network, so that it takes nobody to be logged in.
    let server = bare(Program::Runtime, folder.path())
        .variable("GITHUB_TOKEN", "theLast")
        .variable("GH_TOKEN", "notAToken")
        .config(&config)
        .start()
        .await;
    let http = server.http();
    for _ in 0..2 {
        let models = http.get("/api/models").await.json();
        let of_copilot: Vec<&Value> =
            models["models"].as_array().expect("models").iter().filter(|model| model["runtime"] == "copilot").collect();
        // Sessions would not start now, so its models are not in the list of all agents; what is missing is said beside them.
        assert!(of_copilot.iter().any(|model| model["id"] == "catalogue-model"), "{models}");
        assert!(of_copilot.iter().all(|model| model["listed"] == false), "{models}");
        assert_eq!(models["notes"][0]["runtime"], "copilot", "{models}");
    }
    let session =
        http.post_json("/api/copilot/session", &json!({ "runtime": "copilot", "model": "catalogue-model" })).await;
    assert_eq!(session.status, 201, "{}", session.text());
    let unknown = http.post_json("/api/copilot/session", &json!({ "runtime": "copilot", "model": "nope" })).await;
    assert_eq!(unknown.error(400), "ModelIdNotFound");
    assert_eq!(github.asked_for_models(), ["Bearer notAToken"], "asked once");
}

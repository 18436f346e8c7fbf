//! The entry of a folder: shown, trusted by its hash, and untrusted again once it changes.

use serde_json::{Value, json};

use super::{TestJob, demo, entry, portal, reference};
use crate::support::Server;

fn write(server: &Server, entry: &Value) {
    let folder = server.work().join(".flightdeck");
    std::fs::create_dir_all(&folder).expect("made");
    std::fs::write(folder.join("jobs.json"), entry.to_string()).expect("written");
}

fn of_folder(prompt: &str) -> Value {
    entry("demo", json!({ "mine": demo(prompt) }), json!({ "own": reference("mine") }))
}

async fn describe(server: &Server) -> Value {
    let reply = server.http().get(&format!("/api/jobs/entry?workingDirectory={}", server.work().display())).await;
    assert_eq!(reply.status, 200, "{}", reply.text());
    reply.json()
}

async fn trust(server: &Server, described: &Value) -> crate::support::Reply {
    let body = json!({ "path": described["path"], "hash": described["hash"] });
    server.http().post_json("/api/jobs/trust", &body).await
}

#[tokio::test]
async fn the_jobs_of_a_folder_count_only_once_somebody_trusts_them() {
    let server = Server::start().await;
    write(&server, &of_folder("hello"));
    let start = json!({ "jobName": "own", "workingDirectory": server.work() });
    let refused = server.http().post_json("/api/jobs", &start).await;
    assert_eq!(refused.error(403), "EntryNotTrusted");
    assert!(refused.text().contains("jobs.json"), "{}", refused.text());
    let reply = portal(&server.http(), "job/start/own", &server.work().display().to_string()).await;
    assert!(reply["jobError"].as_str().expect("text").contains("not trusted"), "{reply}");
    let described = describe(&server).await;
    assert_eq!(
        (&described["source"], &described["trusted"], &described["inForce"]),
        (&json!("folder"), &json!(false), &json!(false))
    );
    assert_eq!(described["entry"]["tasks"]["mine"]["prompt"], json!(["hello"]), "a person can look at it");
    assert_eq!(
        (&described["fallback"]["source"], &described["fallback"]["inForce"]),
        (&json!("default"), &json!(true))
    );
    let listed =
        server.http().get(&format!("/api/copilot/job?workingDirectory={}", server.work().display())).await.json();
    assert!(listed["jobs"]["own"].is_null(), "the default one is in force: {listed}");

    assert_eq!(trust(&server, &described).await.json(), json!({}));
    let trusted = describe(&server).await;
    assert_eq!(
        (&trusted["trusted"], &trusted["inForce"], &trusted["fallback"]),
        (&json!(true), &json!(true), &Value::Null)
    );
    let job = TestJob::start(&server, "own").await;
    job.end_as("Succeeded").await;
    let server = server.restart().await;
    TestJob::start(&server, "own").await.end_as("Succeeded").await;

    write(&server, &of_folder("reason"));
    assert_eq!(server.http().post_json("/api/jobs", &start).await.error(403), "EntryNotTrusted", "a change asks again");
    assert_eq!(trust(&server, &described).await.error(409), "EntryChanged", "what was looked at is no longer there");
    assert_eq!(trust(&server, &describe(&server).await).await.status, 200);
    TestJob::start(&server, "own").await.end_as("Succeeded").await;
    write(&server, &of_folder("hello"));
    assert_eq!(
        server.http().post_json("/api/jobs", &start).await.error(403),
        "EntryNotTrusted",
        "a way back is a change"
    );
}

#[tokio::test]
async fn what_has_errors_cannot_be_trusted_and_says_all_of_them() {
    let server = Server::start().await;
    let mut broken = of_folder("$nothing");
    broken["jobs"]["own"]["work"]["taskId"] = json!("nobody");
    write(&server, &broken);
    let described = describe(&server).await;
    let messages = described["problems"].to_string();
    assert!(messages.contains("$nothing") && messages.contains("nobody"), "{messages}");
    assert_eq!(described["entry"], Value::Null);
    assert_eq!(trust(&server, &described).await.error(400), "InvalidEntry");
    let missing = json!({ "path": server.work().join("none.json"), "hash": "" });
    assert_eq!(server.http().post_json("/api/jobs/trust", &missing).await.error(400), "InvalidEntry");
    // The jobs of the default entry are there all the same.
    let listed = server.http().get(&format!("/api/copilot/job?workingDirectory={}", server.work().display())).await;
    assert_eq!(listed.status, 200);
}

#[tokio::test]
async fn a_link_out_of_the_folder_is_not_followed() {
    let server = Server::start().await;
    let outside = server.folder().join("outside.json");
    std::fs::write(&outside, of_folder("hello").to_string()).expect("written");
    std::fs::create_dir(server.work().join(".flightdeck")).expect("made");
    std::os::unix::fs::symlink(&outside, server.work().join(".flightdeck/jobs.json")).expect("linked");
    let described = describe(&server).await;
    assert_eq!(described["trusted"], false, "{described}");
    assert_ne!(trust(&server, &described).await.status, 200);
}

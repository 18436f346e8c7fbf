//! Notifications about jobs: at a gate and at the end, and nothing of the turns in between.

use serde_json::{Value, json};

use super::{CONFIG, TestJob, checked, demo, entry, gate, reference, seq, write_entry};
use crate::support::{Receiver, Server};

#[tokio::test]
async fn a_job_notifies_at_its_gate_and_at_its_end() {
    let mut receiver = Receiver::start().await;
    let config = format!("{CONFIG}[notifications.targets.hook]\nurl = \"{}\"\n", receiver.url);
    let server = Server::builder().config(&config).start().await;
    let tasks = json!({ "greet": demo("hello"), "fail": checked(demo("hello"), "false", 0) });
    let works =
        json!({ "gated": seq(&[reference("greet"), gate("Go on?"), reference("greet")]), "bad": reference("fail") });
    write_entry(&server, &entry("demo", tasks, works));
    let job = TestJob::start(&server, "gated").await;
    let waiting = job.waits().await;
    let needs_you = receiver.request().await;
    let item = &needs_you.body["items"][0];
    assert_eq!((&item["event"], &item["kind"], &item["id"]), (&json!("needs-you"), &json!("job"), &json!(job.id)));
    assert_eq!((&item["reason"], &item["title"]), (&json!("gate"), &json!("gated")));
    assert!(needs_you.body["link"].as_str().expect("a link").ends_with(&format!("jobName=gated&jobId={}", job.id)));
    job.answer("approve", &waiting, None).await;
    job.end_as("Succeeded").await;
    let finished = receiver.request().await;
    assert_eq!((&finished.body["event"], &finished.body["items"][0]["kind"]), (&json!("finished"), &json!("job")));
    assert!(finished.body["items"][0]["durationMs"].is_u64(), "{}", finished.body);
    let job = TestJob::start(&server, "bad").await;
    job.end_as("Failed").await;
    let failed = receiver.request().await;
    assert_eq!((&failed.body["event"], &failed.body["items"][0]["id"]), (&json!("failed"), &json!(job.id)));
    let kinds: Vec<Value> =
        receiver.left().into_iter().map(|request| request.body["items"][0]["kind"].clone()).collect();
    assert_eq!(kinds, Vec::<Value>::new(), "the turns of a job are its own business");
}

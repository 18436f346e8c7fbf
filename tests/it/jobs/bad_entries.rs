//! Entries that are large, wrong, or changed under a job that runs.

use serde_json::{Value, json};

use super::{ENDLESS, TestJob, checked, demo, entry, of_kind, par, reference, seq, server, starts, with, write_entry};

async fn refused(entry: &Value) -> String {
    let server = super::builder().start().await;
    write_entry(&server, entry);
    let body = json!({ "jobName": "job", "workingDirectory": server.work() });
    let reply = server.http().post_json("/api/jobs", &body).await;
    assert_eq!(reply.error(400), "InvalidEntry");
    assert_eq!(server.http().get("/api/copilot/job").await.error(500), "InvalidEntry", "as the portal reports it");
    reply.json()["message"].as_str().expect("text").to_owned()
}

#[tokio::test]
async fn a_job_of_ten_thousand_works_is_shown_previewed_started_and_stopped() {
    let many: Vec<Value> = (0..10_000).map(|_| reference("greet")).collect();
    let endless = with(par(&many), "maxParallel", json!(3));
    let works = json!({ "job": seq(&many), "parallel": endless });
    let server = server(json!({ "greet": demo("hello") }), works).await;
    let listed = server.http().get("/api/copilot/job").await.json();
    assert_eq!(listed["chart"]["job"]["nodes"].as_array().map(Vec::len), Some(10_000));
    let body = json!({ "jobName": "job", "workingDirectory": server.work(), "dryRun": true });
    let preview = server.http().post_json("/api/jobs", &body).await;
    assert_eq!(preview.json()["works"].as_array().map(Vec::len), Some(10_000));
    for name in ["job", "parallel"] {
        let job = TestJob::start(&server, name).await;
        job.until(|record| record["callback"] == "workStopped" && record["workId"] == 5).await;
        assert_eq!(job.post("/stop").await.json(), json!({ "status": "Canceled" }));
        let details = job.end_as("Canceled").await;
        assert!(details["works"].as_array().expect("works").len() < 10_000, "{name}");
    }
    let server = server.kill_and_restart().await;
    assert_eq!(server.http().get("/api/jobs").await.json()["jobs"].as_array().map(Vec::len), Some(2));
}

#[tokio::test]
async fn deep_nesting_is_refused_and_not_a_crash() {
    let text = entry("demo", json!({ "greet": demo("hello") }), json!({ "job": 0 })).to_string();
    let open = r#"{"kind":"Par","works":[{"kind":"Seq","works":["#.repeat(5_000);
    let work = format!("{open}{}{}", reference("greet"), "]}".repeat(10_000));
    let server = super::builder().start().await;
    let text = text.replace("\"work\":0", &format!("\"work\":{work}"));
    std::fs::write(server.folder().join("jobs.json"), text).expect("written");
    let body = json!({ "jobName": "job", "workingDirectory": server.work() });
    assert_eq!(server.http().post_json("/api/jobs", &body).await.error(400), "InvalidEntry");
    assert_eq!(server.http().get("/api/health").await.status, 200);
}

#[tokio::test]
async fn variables_in_a_circle_are_named() {
    let mut circle = entry("demo", json!({ "greet": demo("$one") }), json!({ "job": reference("greet") }));
    circle["promptVariables"] = json!({ "one": ["see $two"], "two": ["see $three"], "three": ["see $one"] });
    let message = refused(&circle).await;
    for name in ["$one", "$two", "$three"] {
        assert!(message.contains(name), "{message}");
    }
    // A variable that doubles itself fifty times is no way to fill the memory.
    let mut bomb = entry("demo", json!({ "greet": demo("$a") }), json!({ "job": reference("greet") }));
    let names: Vec<String> = ('a'..='z').chain('A'..='Z').map(String::from).collect();
    for pair in names.windows(2) {
        bomb["promptVariables"][&pair[0]] = json!([format!("${} ${}", pair[1], pair[1])]);
    }
    bomb["promptVariables"]["Z"] = json!(["boom"]);
    let message = refused(&bomb).await;
    assert!(message.len() < 10_000, "{} bytes", message.len());
}

#[tokio::test]
async fn the_first_problem_is_said_with_its_path() {
    let works = json!({ "job": seq(&[reference("greet"), reference("nobody")]) });
    let message = refused(&entry("demo", json!({ "greet": demo("hello") }), works)).await;
    assert!(
        message.contains("entry.jobs[\"job\"].work.works[1].taskId: \"nobody\" is not a valid task name."),
        "{message}"
    );
    let unknown = with(demo("hello"), "promt", json!(["x"]));
    let message = refused(&entry("demo", json!({ "greet": unknown }), json!({ "job": reference("greet") }))).await;
    assert!(message.contains("promt"), "{message}");
    let condition = json!({ "condition": ["Is it good?"], "failureAction": { "retryTimes": 0 } });
    let unasked = with(demo("hello"), "criteria", condition);
    let message = refused(&entry("demo", json!({ "greet": unasked }), json!({ "job": reference("greet") }))).await;
    assert!(message.contains("must be mentioned"), "{message}");
}

#[tokio::test]
async fn a_job_keeps_the_entry_it_started_with_also_over_a_restart() {
    let greet = checked(demo("hello"), "test -e go", 0);
    let endless = with(demo(ENDLESS), "onInterrupted", json!("continue"));
    let works = json!({ "job": seq(&[reference("long"), reference("greet")]) });
    let server = server(json!({ "greet": greet, "long": endless }), works).await;
    std::fs::write(server.work().join("go"), "").expect("written");
    let job = TestJob::start(&server, "job").await;
    job.until_it_talks().await;
    let other = entry("demo", json!({ "other": demo("reason") }), json!({ "another": reference("other") }));
    write_entry(&server, &other);
    let offered = server.http().get("/api/copilot/task").await.json();
    assert_eq!(offered["tasks"][0]["name"], "other", "the file is read again");
    let server = server.kill_and_restart().await;
    std::fs::remove_file(server.folder().join("jobs.json")).expect("removed");
    let job = job.seen_by(&server);
    job.end_as("Succeeded").await;
    let log = job.log().await;
    assert_eq!(starts(&log).into_iter().collect::<Vec<_>>(), [(0, 1), (1, 1)]);
    assert_eq!(of_kind(&log, "taskCommandEnded").len(), 1, "its check too");
}

#[tokio::test]
async fn a_loop_that_does_not_end_fails_the_job() {
    let endless = json!({ "kind": "Loop", "postCondition": [true, reference("greet")], "body": reference("greet"), "maxPasses": 3 });
    let server = server(json!({ "greet": demo("hello") }), json!({ "job": endless })).await;
    let job = TestJob::start(&server, "job").await;
    let details = job.end_as("Failed").await;
    assert!(details["error"].as_str().expect("an error").contains("3 passes"), "{details:#}");
    let log = job.log().await;
    assert_eq!(starts(&log).into_iter().collect::<Vec<_>>(), [(0, 3), (1, 3)]);
    assert_eq!(of_kind(&log, "jobError").len(), 1);
}

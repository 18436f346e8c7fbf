//! Addresses and secrets of targets are shown nowhere, and mistakes in them are errors.

use serde_json::json;

use super::until_state;
use crate::support::{Reaction, Receiver, Server};

const SECRETS: [&str; 3] = ["s3cret-path", "s3cret-token", "s3cret-key"];

fn config(url: &str) -> String {
    format!(
        "[notifications.targets.phone]\ntype = \"ntfy\"\nurl = \"{url}/s3cret-path\"\ntoken = \"s3cret-token\"\n\
         [notifications.targets.hook]\nurl = \"{url}/s3cret-path?key=s3cret-key\"\nsecret = \"s3cret-key\"\n"
    )
}

#[tokio::test]
async fn secrets_are_in_no_log_and_no_answer() {
    let mut receiver = Receiver::start().await;
    receiver.usually(Reaction::Answers(503));
    let server = Server::builder().flags(&["--test"]).config(&config(&receiver.url));
    let mut server = server.variable("FLIGHTDECK_LOG_FILTER", "trace").start().await;
    let session = server.session().await;
    tokio::join!(server.until_logged("a notification was given up", 2), session.ask("hello"));
    until_state(&server.http(), "given-up").await;
    receiver.request().await;
    receiver.next(&[Reaction::Answers(301)]);
    let test = server.http().post_json("/api/notifications/test", &json!({ "target": "hook" })).await;
    let listed = server.http().get("/api/notifications").await;
    let config = server.run(&["config"]).await;
    let as_json = server.run(&["config", "--json"]).await;
    let one = server.run(&["config", "get", "notifications.targets.hook.url"]).await;
    assert_eq!(one.stdout.trim(), "[redacted]", "{}", one.stderr);
    assert!(server.stop().await);
    let log = server.stderr().await;
    for (text, place) in [
        (test.text(), "the answer of a test"),
        (listed.text(), "the list"),
        (&config.stdout, "config"),
        (&as_json.stdout, "config --json"),
        (&one.stdout, "config get"),
        (&log, "the log"),
    ] {
        for secret in SECRETS {
            assert!(!text.contains(secret), "{secret} is in {place}:\n{text}");
        }
    }
}

#[tokio::test]
async fn a_mistake_in_a_target_is_refused_without_repeating_its_address() {
    let folder = tempfile::tempdir().expect("a folder");
    for (text, part) in [
        ("url = \"s3cret-path\"", "must be an address"),
        ("url = \"http://h/s3cret-path\"\ntitle = \"{{titel}}\"", "{{titel}}"),
        ("url = \"http://h/s3cret-path\"\nevents = [\"sometimes\"]", "sometimes"),
        ("type = \"gotify\"\nurl = \"http://h/s3cret-path\"", "token_variable"),
        ("url = \"http://h/s3cret-path\"\nsecret_variable = \"NOT_SET_HERE\"", "NOT_SET_HERE"),
    ] {
        let builder = Server::builder().config(&format!("[notifications.targets.hook]\n{text}\n"));
        let ended = builder.run(folder.path(), &["--port", "0"]).await;
        assert!(!ended.success, "{text}");
        assert!(ended.stderr.contains(part) && ended.stderr.contains("notifications.targets.hook"), "{}", ended.stderr);
        assert!(!ended.stderr.contains("s3cret-path"), "{}", ended.stderr);
    }
    let quiet = Server::builder().config("[notifications]\nquiet_from = \"25:00\"\n");
    let ended = quiet.run(folder.path(), &["config"]).await;
    assert!(!ended.success && ended.stderr.contains("25:00"), "{}", ended.stderr);
}

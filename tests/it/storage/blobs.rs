//! Large outputs are kept beside the log.

use serde_json::Value;

use crate::support::{Server, TestSession};

/// The result of the session's one tool call.
async fn tool_result(session: &TestSession) -> Value {
    let log = session.log().await;
    let ends: Vec<&Value> = log
        .iter()
        .map(|(_, response)| response)
        .filter(|response| response["callback"] == "onEndToolExecution")
        .collect();
    assert_eq!(ends.len(), 1);
    ends[0]["result"].clone()
}

#[tokio::test]
async fn a_large_output_becomes_a_blob_of_its_session_alone_and_outlives_the_server() {
    let server = Server::start().await;
    let (session, other) = (server.session().await, server.session().await);
    session.ask("tool 400000").await;
    other.ask("hello").await;

    let result = tool_result(&session).await;
    let preview = result["content"].as_str().expect("text").to_owned();
    assert!(!preview.is_empty() && preview.len() < 100_000, "{}", preview.len());
    let hash = result["contentBlob"].as_str().expect("a hash").to_owned();
    let blob = session.get(&format!("/blob/{hash}")).await;
    assert_eq!(blob.status, 200);
    let whole: String = "a line of demo output that goes on and on\n".chars().cycle().take(400_000).collect();
    assert!(blob.text() == whole && whole.starts_with(&preview), "all of it, from beginning to end");
    assert_eq!(blob.header("content-type"), "text/plain; charset=utf-8");

    assert_eq!(other.get(&format!("/blob/{hash}")).await.error(404), "BlobNotFound");
    let nobody = format!("/api/copilot/session/session-99/blob/{hash}");
    assert_eq!(server.http().get(&nobody).await.error(404), "SessionNotFound");
    assert_eq!(server.stranger().get(&session.path(&format!("/blob/{hash}"))).await.error(401), "Unauthorized");

    let content = blob.body.clone();
    let server = server.kill_and_restart().await;
    let (session, other) = (session.seen_by(server.http()), other.seen_by(server.http()));
    assert!(session.get(&format!("/blob/{hash}")).await.body == content, "it is there after a kill");
    assert_eq!(other.get(&format!("/blob/{hash}")).await.error(404), "BlobNotFound");
    assert_eq!(tool_result(&session).await, result);
}

#[tokio::test]
async fn a_blob_that_was_removed_is_not_found_and_the_answer_does_not_say_where_it_was() {
    let server = Server::start().await;
    let session = server.session().await;
    session.ask("tool 400000").await;
    let hash = tool_result(&session).await["contentBlob"].as_str().expect("a hash").to_owned();
    std::fs::remove_file(server.data().join("blobs").join(&hash[..2]).join(&hash)).expect("removed");
    let reply = session.get(&format!("/blob/{hash}")).await;
    assert_eq!(reply.error(404), "BlobNotFound");
    assert!(!reply.text().contains("blobs"), "{}", reply.text());
}

#[tokio::test]
async fn an_output_up_to_the_limit_stays_in_the_log() {
    let server = Server::start().await;
    let session = server.session().await;
    session.ask("tool 262144").await;
    let result = tool_result(&session).await;
    assert_eq!(result["content"].as_str().map(str::len), Some(262_144));
    assert_eq!(result["contentBlob"], Value::Null);
    assert!(!server.data().join("blobs").exists());
}

#[tokio::test]
async fn two_sessions_with_the_same_output_share_a_file_and_keep_it_until_the_last_one_goes() {
    let server = Server::start().await;
    let (one, two) = (server.session().await, server.session().await);
    one.ask("tool 400000").await;
    two.ask("tool 400000").await;
    let hash = tool_result(&one).await["contentBlob"].as_str().expect("a hash").to_owned();
    assert_eq!(tool_result(&two).await["contentBlob"], hash.as_str());
    assert_eq!(server.http().send(hyper::Method::DELETE, &one.path(""), "").await.status, 204);
    assert_eq!(two.get(&format!("/blob/{hash}")).await.body.len(), 400_000);
    let shelves = std::fs::read_dir(server.data().join("blobs")).expect("a folder");
    let files: usize =
        shelves.map(|shelf| std::fs::read_dir(shelf.expect("one").path()).expect("a folder").count()).sum();
    assert_eq!(files, 1);
}

#[tokio::test]
async fn an_output_beyond_what_is_kept_at_all_is_cut_and_the_log_says_so() {
    let server = Server::builder().config("[limits]\nblob_bytes = 300000").start().await;
    let session = server.session().await;
    session.ask("tool 400000").await;
    let hash = tool_result(&session).await["contentBlob"].as_str().expect("a hash").to_owned();
    assert_eq!(session.get(&format!("/blob/{hash}")).await.body.len(), 300_000);
    let log = session.log().await;
    let notice = log.iter().find(|(_, response)| response["kind"] == "limit").expect("a notice");
    let message = notice.1["message"].as_str().expect("text");
    assert!(message.contains("400000") && message.contains("limits.blob_bytes"), "{message}");
}

#[tokio::test]
async fn a_blob_whose_file_is_gone_or_changed_is_not_served_and_no_path_is_told() {
    let server = Server::start().await;
    let session = server.session().await;
    session.ask("tool 400000").await;
    let hash = tool_result(&session).await["contentBlob"].as_str().expect("a hash").to_owned();
    let file = server.data().join("blobs").join(&hash[..2]).join(&hash);
    let mut content = std::fs::read(&file).expect("there");
    content[1000] ^= 1;
    std::fs::write(&file, &content).expect("written");
    let changed = session.get(&format!("/blob/{hash}")).await;
    assert_eq!(changed.error(500), "BlobDamaged");
    std::fs::remove_file(&file).expect("removed");
    let gone = session.get(&format!("/blob/{hash}")).await;
    assert_eq!(gone.error(404), "BlobNotFound");
    let data = server.data();
    for reply in [changed, gone] {
        assert!(!reply.text().contains(data.to_str().expect("UTF-8")), "{}", reply.text());
    }
    let end =
        session.log().await.into_iter().find(|(_, event)| event["callback"] == "onEndToolExecution").expect("one");
    let shown = session.get(&format!("/block/{}.html", end.0)).await;
    assert_eq!(shown.status, 200, "the beginning is shown");
}

//! A session as a document.

use flightdeck::model::hex;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use crate::support::{Server, TestSession, WrittenLog, write_log};

const IMAGE: &[u8] = b"\x89PNG not really";

/// A session with a prompt, a tool call that made an image, and a hostile answer.
async fn written() -> (Server, TestSession, String) {
    let server = Server::start().await;
    let session = server.session().await;
    let hash = hex(&Sha256::digest(IMAGE));
    let images = json!([{ "blob": hash, "mime": "image/png" }]);
    let result = json!({ "content": "```\n</details>\n", "images": images });
    let events = [
        json!({ "callback": "onUserPrompt", "promptId": "prompt-1", "text": "Draw\nit", "queued": false }),
        json!({ "callback": "onStartToolExecution", "toolCallId": "t", "toolName": "draw", "toolArguments": "{}" }),
        json!({ "callback": "onEndToolExecution", "toolCallId": "t", "result": result }),
        json!({ "callback": "onEndMessage", "messageId": "m", "completeContent": "```\nnot closed" }),
        json!({ "callback": "onUserPrompt", "promptId": "prompt-2", "text": "Thanks", "queued": false }),
        json!({ "callback": "onSomethingNew", "value": 1 }),
    ];
    let log = WrittenLog {
        events: events.map(|event| event.to_string()).to_vec(),
        blobs: vec![(IMAGE.to_vec(), "image/png".to_owned())],
    };
    let (server, _) = write_log(server, &session, log).await;
    let session = session.seen_by(server.http());
    (server, session, hash)
}

#[tokio::test]
async fn markdown_is_readable_and_nothing_breaks_out_of_it() {
    let (_server, session, hash) = written().await;
    let reply = session.get("/export?format=md").await;
    assert_eq!(reply.header("content-type"), "text/markdown; charset=utf-8");
    assert_eq!(reply.header("content-disposition"), format!("attachment; filename=\"{}.md\"", session.id));
    let text = reply.text();
    assert!(
        text.starts_with(&format!("# {}\n\n- **Session:** {}\n- **Agent:** demo\n", session.id, session.id)),
        "{text}"
    );
    assert!(text.contains("## Prompt 1 · ") && text.contains("> Draw\n> it\n"), "{text}");
    assert!(text.contains("<summary>Tool: <code>draw</code></summary>"), "{text}");
    assert!(text.contains("````text\n```\n</details>\n````\n"), "fenced with more backticks: {text}");
    assert!(text.contains(&format!("![Image](images/{hash}.png)")), "{text}");
    assert!(text.contains("```\nnot closed\n```\n\n## Prompt 2"), "the fence is closed: {text}");
    assert!(text.contains("onSomethingNew"), "what is unknown is kept: {text}");
    assert_eq!(session.get("/export").await.text().lines().next(), text.lines().next(), "Markdown is the default");
}

#[tokio::test]
async fn json_has_everything() {
    let (_server, session, hash) = written().await;
    let document = session.get("/export?format=json").await.json();
    assert_eq!(document["format"], "flightdeck-session/1");
    assert_eq!(document["session"]["sessionId"], json!(session.id));
    let events: Vec<(u64, Value)> = document["events"]
        .as_array()
        .expect("events")
        .iter()
        .map(|event| (event["seq"].as_u64().expect("a number"), event["response"].clone()))
        .collect();
    assert_eq!(events, session.log().await);
    let blob = &document["blobs"][&hash];
    assert_eq!(blob["mime"], "image/png");
    let data =
        base64::Engine::decode(&base64::engine::general_purpose::STANDARD, blob["base64"].as_str().expect("text"));
    assert_eq!(data.expect("base64"), IMAGE);
}

#[tokio::test]
async fn an_archive_has_the_document_and_its_files() {
    let (_server, session, hash) = written().await;
    let reply = session.get("/export?format=md.zip").await;
    assert_eq!(reply.header("content-type"), "application/zip");
    // Read by another program's rules: the directory at the end leads to every file.
    let bytes = &reply.body;
    let number = |at: usize, width: usize| {
        bytes[at..at + width].iter().rev().fold(0_usize, |sum, byte| sum << 8 | usize::from(*byte))
    };
    let end = bytes.len() - 22;
    assert_eq!(&bytes[end..end + 4], b"PK\x05\x06");
    let (count, mut at) = (number(end + 10, 2), number(end + 16, 4));
    let mut files = Vec::new();
    for _ in 0..count {
        assert_eq!(&bytes[at..at + 4], b"PK\x01\x02");
        let (checksum, size, name) = (number(at + 16, 4), number(at + 24, 4), number(at + 28, 2));
        let header = number(at + 42, 4);
        let start = header + 30 + number(header + 26, 2) + number(header + 28, 2);
        let content = &bytes[start..start + size];
        assert_eq!(crc32fast::hash(content) as usize, checksum);
        files.push((String::from_utf8_lossy(&bytes[at + 46..at + 46 + name]).into_owned(), content.to_vec()));
        at += 46 + name;
    }
    assert_eq!(at, end);
    assert_eq!(files[0].0, format!("{}.md", session.id));
    let markdown = String::from_utf8(files[0].1.clone()).expect("text");
    assert!(markdown.contains(&format!("(images/{hash}.png)")), "{markdown}");
    assert_eq!(files[1], (format!("images/{hash}.png"), IMAGE.to_vec()));
    assert_eq!(files.len(), 2);
}

#[tokio::test]
async fn a_long_output_is_a_file_of_the_archive() {
    let server = Server::start().await;
    let session = server.session().await;
    session.ask("tool 400000").await;
    let markdown = session.get("/export?format=md").await;
    assert!(markdown.text().contains("This is only the beginning. [All of it](outputs/"), "{}", markdown.text());
    let archive = session.get("/export?format=md.zip").await;
    assert!(archive.body.len() > 400_000);
}

#[tokio::test]
async fn what_cannot_be_exported_is_a_clear_error() {
    let server = Server::start().await;
    let session = server.session().await;
    assert_eq!(session.get("/export?format=pdf").await.error(400), "InvalidQuery");
    assert_eq!(session.get("/export?colour=red").await.error(400), "InvalidQuery");
    assert_eq!(session.get("/export?format=json").await.json()["events"], json!([]), "an empty session");
    assert_eq!(server.http().delete(&session.path("")).await.status, 204);
    for format in ["md", "md.zip", "json"] {
        assert_eq!(session.get(&format!("/export?format={format}")).await.error(404), "SessionNotFound");
    }
    assert_eq!(server.stranger().get(&session.path("/export")).await.error(401), "Unauthorized");
}

#[tokio::test]
async fn a_long_session_is_exported_in_full() {
    let server = Server::start().await;
    let session = server.session().await;
    let message = |number: usize| {
        json!({ "callback": "onEndMessage", "messageId": "m", "completeContent": format!("message {number} {}", "x".repeat(500)) }).to_string()
    };
    let events = (0..5_000).map(message).collect();
    let (server, seqs) = write_log(server, &session, WrittenLog { events, ..WrittenLog::default() }).await;
    let session = session.seen_by(server.http());
    let document = session.get("/export?format=json").await.json();
    let exported: Vec<u64> =
        document["events"].as_array().expect("events").iter().filter_map(|event| event["seq"].as_u64()).collect();
    assert_eq!(exported, seqs);
    let text = session.get("/export?format=md").await;
    for number in [0, 2_500, 4_999] {
        assert!(text.text().contains(&format!("message {number} ")), "{number}");
    }
}

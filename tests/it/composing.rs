//! What helps to write a prompt: attachments that stay, files to mention, the agent's commands, templates.

use base64::prelude::{BASE64_STANDARD, Engine as _};
use hyper::Method;
use serde_json::{Value, json};

use crate::support::{Reply, Server, TestSession, eventually};

async fn in_folder(server: &Server, folder: &std::path::Path) -> TestSession {
    TestSession::start_with(server.http(), json!({ "runtime": "demo", "workingDirectory": folder })).await
}

#[tokio::test]
async fn attachments_are_in_the_log_and_their_content_stays_readable() {
    let server = Server::start().await;
    let session = server.session().await;
    let attachments = json!([
        { "name": "a <b>.png", "mime": "image/png", "data": BASE64_STANDARD.encode([1, 2, 3]) },
        { "name": "page.html", "mime": "text/html", "data": BASE64_STANDARD.encode("<script>alert(1)</script>") },
    ]);
    let body = json!({ "text": "hello", "attachments": attachments, "wait": true });
    assert_eq!(session.post("/prompt", body).await.json()["verdict"], "succeeded");
    let server = server.kill_and_restart().await;
    let session = session.seen_by(server.http());
    let log = session.log().await;
    let prompt = &log.iter().find(|(_, event)| event["callback"] == "onUserPrompt").expect("one").1;
    let listed = prompt["attachments"].as_array().expect("a list");
    let facts: Vec<_> = listed.iter().map(|file| (&file["name"], &file["mime"], &file["size"])).collect();
    assert_eq!(facts[0], (&json!("a <b>.png"), &json!("image/png"), &json!(3)));
    assert_eq!(facts[1], (&json!("page.html"), &json!("text/html"), &json!(25)));
    let blob = async |file: &Value| session.get(&format!("/blob/{}", file["hash"].as_str().expect("a hash"))).await;
    assert_eq!(blob(&listed[0]).await.body.as_ref(), [1, 2, 3]);
    let page = blob(&listed[1]).await;
    assert!(page.header("content-security-policy").contains("sandbox"), "it is not a page of this server");
    let document = session.get("/export?format=md").await;
    assert!(document.text().contains("- Attached: [a "), "{}", document.text());
}

#[tokio::test]
async fn an_attachment_that_is_too_large_to_keep_is_still_sent_and_listed() {
    let server = Server::builder().config("[limits]\nblob_bytes = 2").start().await;
    let session = server.session().await;
    let attachments = json!([{ "name": "a", "mime": "", "data": BASE64_STANDARD.encode("abc") }]);
    let body = json!({ "text": "hello", "attachments": attachments, "wait": true });
    assert_eq!(session.post("/prompt", body).await.json()["verdict"], "succeeded");
    let log = session.log().await;
    let prompt = &log.iter().find(|(_, event)| event["callback"] == "onUserPrompt").expect("one").1;
    assert_eq!(prompt["attachments"], json!([{ "name": "a", "mime": "", "size": 3 }]));
}

#[tokio::test]
async fn files_of_the_folder_are_found_by_a_part_of_their_path() {
    let server = Server::start().await;
    let folder = server.work().join("many");
    std::fs::create_dir_all(folder.join("src")).expect("made");
    for number in 0..10_000 {
        std::fs::write(folder.join(format!("src/file-{number}.txt")), "").expect("written");
    }
    std::fs::write(folder.join("src/my notes <b>.md"), "").expect("written");
    let session = in_folder(&server, &folder).await;
    let find = async |query: &str| session.get(&format!("/files?{query}")).await;
    assert_eq!(find("q=file-9999").await.json(), json!({ "files": ["src/file-9999.txt"], "truncated": false }));
    assert_eq!(find("q=mynotes").await.json()["files"], json!(["src/my notes <b>.md"]));
    assert_eq!(find("q=../").await.json()["files"], json!([]));
    assert_eq!(find("").await.json()["files"].as_array().map(Vec::len), Some(20));
    assert_eq!(find("limit=5000").await.json()["files"].as_array().map(Vec::len), Some(100));
    assert_eq!(find("query=x").await.error(400), "InvalidQuery");
    assert_eq!(find(&format!("q={}", "x".repeat(300))).await.error(400), "InvalidQuery");
    let gone = server.work().join("gone");
    std::fs::create_dir(&gone).expect("made");
    let session = in_folder(&server, &gone).await;
    std::fs::remove_dir(&gone).expect("removed");
    let reply = session.get("/files").await.json();
    assert!(reply["message"].as_str().is_some_and(|message| message.contains("gone")), "{reply}");
    let nowhere = server.session().await.get("/files").await.json();
    assert_eq!(nowhere["message"], "This session has no working directory.");
    assert_eq!(server.http().get("/api/copilot/session/session-99/files").await.error(404), "SessionNotFound");
}

#[tokio::test]
async fn the_commands_of_the_agent_are_in_the_details() {
    let server = Server::start().await;
    let session = server.session().await;
    let commands = eventually("the commands", async || {
        let details = session.get("").await.json();
        details["commands"].as_array().filter(|commands| !commands.is_empty()).cloned()
    })
    .await;
    assert!(commands.contains(&json!({ "name": "hello", "description": "Says hello" })), "{commands:?}");
    assert_eq!(session.ask("/hello").await["verdict"], "succeeded");
    assert_eq!(session.log().await[0].1["text"], "/hello");
}

async fn put(server: &Server, name: &str, body: &Value) -> Reply {
    let http = server.http().header("content-type", "application/json");
    http.send(Method::PUT, &format!("/api/prompts/{name}"), body.to_string()).await
}

#[tokio::test]
async fn templates_are_saved_listed_and_removed_and_a_name_is_never_a_path() {
    let server = Server::start().await;
    let list = async || server.http().get("/api/prompts").await.json();
    assert_eq!(list().await["prompts"], json!([]));
    let text = "Review {{input}}";
    let saved = put(&server, "review", &json!({ "text": text, "description": "Reviews" })).await;
    let template = json!({ "name": "review", "description": "Reviews", "text": text, "takesInput": true });
    assert_eq!((saved.status.as_u16(), saved.json()), (200, template.clone()));
    assert_eq!(list().await["prompts"], json!([template]));
    let folder = list().await["folder"].as_str().expect("a path").to_owned();
    let file = std::path::Path::new(&folder).join("review.md");
    assert!(std::fs::read_to_string(&file).expect("there").contains(text));
    for name in ["..%2Fx", "a%2Fb", ".x", "a%20b", "a.md", "%00"] {
        assert_eq!(put(&server, name, &json!({ "text": "x" })).await.error(400), "InvalidName", "{name}");
        assert_eq!(server.http().delete(&format!("/api/prompts/{name}")).await.error(400), "InvalidName", "{name}");
    }
    assert_eq!(put(&server, "x", &json!({ "text": " " })).await.error(400), "InvalidTemplate");
    assert_eq!(put(&server, "x", &json!({ "text": "a", "more": 1 })).await.error(400), "InvalidJson");
    assert_eq!(server.http().delete("/api/prompts/review").await.status, 204);
    assert_eq!(server.http().delete("/api/prompts/review").await.error(404), "TemplateNotFound");
    assert!(!file.exists());
}

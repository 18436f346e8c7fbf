//! What is found, where and in which order.

use serde_json::json;

use super::{ask, matched, message, places, search};
use crate::support::{Server, TestSession, WrittenLog, write_log};

fn tool(name: &str, arguments: &str, output: &str) -> [String; 2] {
    [
        json!({ "callback": "onStartToolExecution", "toolCallId": "t1", "toolName": name, "toolArguments": arguments }),
        json!({ "callback": "onEndToolExecution", "toolCallId": "t1", "result": { "content": output } }),
    ]
    .map(|event| event.to_string())
}

#[tokio::test]
async fn everything_that_was_written_is_found_with_its_place_and_what_matched() {
    let server = Server::start().await;
    let body = json!({ "runtime": "demo", "workingDirectory": server.work() });
    let session = TestSession::start_with(server.http(), body).await;
    let [start, end] = tool("grep", "{\"pattern\":\"zebra_crossing\"}", "src/lib.rs: zébra");
    let prompt =
        json!({ "callback": "onUserPrompt", "promptId": "prompt-1", "text": "Where is the zebra?", "queued": false });
    let reasoning = json!({ "callback": "onEndReasoning", "reasoningId": "r1", "completeContent": "A Zebra, hm." });
    let events = vec![prompt.to_string(), reasoning.to_string(), start, end, message("No lion here.")];
    let (server, seqs) = write_log(server, &session, WrittenLog { events, ..WrittenLog::default() }).await;
    let found = search(&server.http(), &[("q", "zebra")]).await;
    assert_eq!(places(&found), seqs[..4].iter().map(|seq| (session.id.clone(), *seq)).collect::<Vec<_>>());
    let hit = |kind: &str, seq: u64| {
        let hits = found["hits"].as_array().expect("hits");
        hits.iter().find(|hit| hit["kind"] == kind && hit["seq"] == seq).unwrap_or_else(|| panic!("{kind}: {found}"))
    };
    assert_eq!(matched(hit("prompt", seqs[0])), ["zebra"]);
    assert_eq!(hit("prompt", seqs[0])["blockId"], "prompt-1");
    assert_eq!(matched(hit("reasoning", seqs[1])), ["Zebra"]);
    assert_eq!(matched(hit("tool", seqs[2])), ["zebra"], "a part of an identifier");
    assert_eq!(matched(hit("tool", seqs[3])), ["zébra"], "diacritics do not matter");
    assert_eq!(hit("tool", seqs[3])["blockId"], "t1");
    assert_eq!(hit("tool", seqs[3])["workingDirectory"], json!(server.work()));
    let only = async |kind: &str| places(&search(&server.http(), &[("q", "zebra"), ("kind", kind)]).await).len();
    assert_eq!((only("tool").await, only("prompt,reasoning").await, only("message").await), (2, 2, 0));
    assert_eq!(places(&search(&server.http(), &[("q", "grep zebra_cross*")]).await), [(session.id, seqs[2])]);
}

#[tokio::test]
async fn what_a_session_says_is_found_while_it_goes_on() {
    let server = Server::start().await;
    let session = server.session().await;
    session.ask("a rare pangolin").await;
    let found = search(&server.http(), &[("q", "pangolin")]).await;
    assert!(!places(&found).is_empty(), "{found}");
    session.ask("an even rarer quokka").await;
    let found = search(&server.http(), &[("q", "quo"), ("typing", "true")]).await;
    assert!(!places(&found).is_empty(), "the word is not complete: {found}");
    assert_eq!(places(&search(&server.http(), &[("q", "quo")]).await), []);
}

#[tokio::test]
async fn a_search_is_limited_by_session_folder_runtime_and_date() {
    let server = Server::start().await;
    let below = server.work().join("below");
    std::fs::create_dir_all(&below).expect("made");
    let beside = server.work().with_extension("beside");
    std::fs::create_dir_all(&beside).expect("made");
    let mut sessions = Vec::new();
    for folder in [server.work(), below.clone(), beside] {
        let body = json!({ "runtime": "demo", "workingDirectory": folder });
        let session = TestSession::start_with(server.http(), body).await;
        session.ask("an axolotl").await;
        sessions.push(session.id);
    }
    let http = server.http();
    let folder = server.work().to_string_lossy().into_owned();
    let found = async |name: &str, value: &str| {
        let found = search(&http, &[("q", "axolotl"), (name, value)]).await;
        let mut ids: Vec<String> = places(&found).into_iter().map(|(id, _)| id).collect();
        ids.dedup();
        ids
    };
    assert_eq!(found("session", &sessions[2]).await, sessions[2..]);
    assert_eq!(found("folder", &folder).await, sessions[..2], "and below, and not beside");
    assert_eq!(found("runtime", "demo").await, sessions);
    assert_eq!(found("runtime", "copilot").await, Vec::<String>::new());
    assert_eq!(found("from", "2020-01-01").await, sessions);
    assert_eq!(found("to", "2020-01-01").await, Vec::<String>::new());
    assert_eq!(found("from", "2999-01-01T00:00:00Z").await, Vec::<String>::new());
    for (name, value) in
        [("session", "session-x"), ("folder", "relative"), ("kind", "sound"), ("from", "soon"), ("after", "x")]
    {
        let reply = ask(&http, &[("q", "axolotl"), (name, value)]).await;
        assert!(reply.status.is_client_error(), "{name}: {}", reply.text());
    }
    assert_eq!(ask(&http, &[("q", "axolotl"), ("colour", "red")]).await.error(400), "InvalidQuery");
}

#[tokio::test]
async fn sessions_are_found_by_title_and_folder() {
    let server = Server::start().await;
    let session = server.session().await;
    session.ask("hello").await;
    let path = session.path("");
    server.http().patch_json(&path, &json!({ "title": "Migrate the Ledger" })).await;
    let found = search(&server.http(), &[("q", "ledg migrate")]).await;
    assert_eq!(found["sessions"][0]["sessionId"], json!(session.id));
    assert_eq!(found["sessions"][0]["title"], "Migrate the Ledger");
    assert_eq!(found["hits"], json!([]));
    assert_eq!(search(&server.http(), &[("q", "ledger -migrate")]).await["sessions"], json!([]));
}

#[tokio::test]
async fn pages_fit_together_and_the_best_comes_first() {
    let server = Server::start().await;
    let session = server.session().await;
    let mut events: Vec<String> =
        (0..25).map(|number| message(&format!("okapi {number} {}", "word ".repeat(40)))).collect();
    events.push(message("okapi okapi okapi"));
    let (server, seqs) = write_log(server, &session, WrittenLog { events, ..WrittenLog::default() }).await;
    let http = server.http();
    let first = search(&http, &[("q", "okapi"), ("limit", "10")]).await;
    assert_eq!(first["hits"][0]["seq"], json!(seqs[25]));
    let mut seen = places(&first);
    let mut next = first["next"].as_str().map(str::to_owned);
    // What is said meanwhile does not move the pages.
    session.seen_by(server.http()).ask("okapi okapi").await;
    while let Some(after) = next {
        let page = search(&http, &[("q", "okapi"), ("limit", "10"), ("after", &after)]).await;
        assert_eq!(page["sessions"], json!([]), "only on the first page");
        seen.extend(places(&page));
        next = page["next"].as_str().map(str::to_owned);
    }
    seen.sort();
    assert_eq!(seen, seqs.iter().map(|seq| (session.id.clone(), *seq)).collect::<Vec<_>>());
}

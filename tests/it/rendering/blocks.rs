//! `block/{seq}.html`: every kind of block, and what is none.

use flightdeck::model::{Callback, Response, ToolResult};

use super::{check, html, html_of_last, numbers, text};
use crate::support::{Server, WrittenLog, write_log};

fn json(callback: Callback) -> String {
    Response::from(callback).to_json()
}

fn tool_start(id: &str, name: &str, arguments: &str) -> String {
    json(Callback::StartToolExecution {
        tool_call_id: id.to_owned(),
        parent_tool_call_id: None,
        tool_name: name.to_owned(),
        tool_arguments: arguments.to_owned(),
    })
}

fn tool_end(id: &str, content: &str) -> String {
    let result = Some(ToolResult { content: content.to_owned(), ..ToolResult::default() });
    json(Callback::EndToolExecution { tool_call_id: id.to_owned(), result, error: None })
}

#[tokio::test]
async fn messages_reasoning_and_prompts_are_markdown() {
    let server = Server::start().await;
    let session = server.session().await;
    session.ask("markdown").await;
    let message = html_of_last(&session, "onEndMessage").await;
    check(
        &message,
        &[
            "<h1>Demo of Markdown</h1>",
            "<input type=\"checkbox\" class=\"task-list-item-checkbox\" checked=\"\" disabled=\"\">",
            "<th align=\"right\">number</th>",
            "<div class=\"code-block\" data-language=\"rust\">",
            "<span class=\"hl-keyword\">fn</span>",
            "<a href=\"https://example.com/\" target=\"_blank\" rel=\"noopener noreferrer nofollow\">link</a>",
        ],
        &["style=", "<html", "<body"],
    );
    session.ask("reason **hard**\nplease").await;
    check(&html_of_last(&session, "onEndReasoning").await, &["<p>This is a demo"], &[]);
    check(&html_of_last(&session, "onUserPrompt").await, &["<strong>hard</strong><br>\nplease"], &[]);
}

#[tokio::test]
async fn a_fragment_may_be_kept_and_can_do_nothing_by_itself() {
    let server = Server::start().await;
    let session = server.session().await;
    session.ask("hello").await;
    let seq = numbers(&session, "onEndMessage").await[0];
    let reply = session.get(&format!("/block/{seq}.html")).await;
    assert_eq!(reply.header("content-type"), "text/html; charset=utf-8");
    assert_eq!(reply.header("x-content-type-options"), "nosniff");
    let cache = reply.header("cache-control");
    assert!(cache.contains("private") && cache.contains("immutable"), "{cache}");
    let policy = reply.header("content-security-policy");
    assert!(policy.contains("default-src 'none'") && policy.contains("sandbox"), "{policy}");
    let again = session.get(&format!("/block/{seq}.html")).await;
    assert_eq!(again.body, reply.body);
    let server = server.kill_and_restart().await;
    let session = session.seen_by(server.http());
    assert_eq!(session.get(&format!("/block/{seq}.html")).await.body, reply.body, "it is there after a kill");
}

#[tokio::test]
async fn tool_calls_show_what_was_asked_and_what_came_of_it() {
    let server = Server::start().await;
    let session = server.session().await;
    session.ask("edit").await;
    check(
        &html_of_last(&session, "onEndToolExecution").await,
        &[
            "<section class=\"tool-part tool-output\"><div class=\"diff\"><div class=\"diff-file\">src/greeting.rs</div>",
            "<tr class=\"diff-line diff-removed\"><td class=\"diff-number\">2</td><td class=\"diff-number\"></td>",
            "<tr class=\"diff-line diff-added\"><td class=\"diff-number\"></td><td class=\"diff-number\">2</td>",
        ],
        &[],
    );
    session.ask("tool").await;
    check(
        &html_of_last(&session, "onEndToolExecution").await,
        &[
            "<section class=\"tool-part tool-arguments\"><p class=\"tool-description\">A demo: nothing is run</p>",
            "<section class=\"tool-part tool-output\"><pre class=\"terminal\">Cargo.toml\nREADME.md\nsrc\n</pre>",
        ],
        &["show-all"],
    );
    let request = session.prompt_and_get_request("permission").await;
    check(
        &html_of_last(&session, "onPermissionRequested").await,
        &["data-language=\"bash\"", "a demo: nothing is run"],
        &[],
    );
    let deny = serde_json::json!({ "decision": "deny", "feedback": "not <now>" });
    let mut stream = session.events_after(0).await;
    assert_eq!(session.post(&format!("/permission/{request}"), deny).await.status, 200);
    stream.until(|event| event.data.contains("You denied it")).await;
    stream.until_callback("onIdle").await;
    check(
        &html_of_last(&session, "onEndToolExecution").await,
        &["<section class=\"tool-part tool-error\"><pre class=\"terminal\">not &lt;now&gt;</pre></section>"],
        &["tool-output"],
    );
}

#[tokio::test]
async fn a_long_output_is_cut_and_all_of_it_is_one_question_away() {
    let server = Server::start().await;
    let session = server.session().await;
    session.ask("tool 1000000").await;
    let seq = numbers(&session, "onEndToolExecution").await[0];
    let beginning = html(&session, seq, "").await;
    check(
        &beginning,
        &["<button type=\"button\" class=\"show-all\" data-lines=\"23810\">Show all 23,810 lines</button>"],
        &[],
    );
    assert_eq!(beginning.matches("a line of demo output").count(), 400);
    assert_eq!(html(&session, seq, "?all=0").await, beginning);
    let all = html(&session, seq, "?all=1").await;
    assert_eq!(all.matches("a line of demo output").count(), 23_810);
    check(&all, &[], &["show-all"]);
}

#[tokio::test]
async fn what_even_all_does_not_show_can_be_opened_and_what_is_lost_is_shown_as_far_as_it_goes() {
    let server = Server::start().await;
    let session = server.session().await;
    session.ask("tool 5000000").await;
    let seq = numbers(&session, "onEndToolExecution").await[0];
    let all = html(&session, seq, "?all=1").await;
    check(&all, &["The rest is too large to show", "119048 lines", "class=\"whole-output\""], &["show-all"]);
    let address = all.split("href=\"").nth(1).and_then(|rest| rest.split('"').next()).expect("a link");
    assert_eq!(session.http.get(address).await.body.len(), 5_000_000);

    std::fs::remove_dir_all(server.data().join("blobs")).expect("removed");
    let left = html(&session, seq, "").await;
    assert!(left.matches("a line of demo output").count() > 300, "{left}");
}

#[tokio::test]
async fn what_is_no_finished_block_is_not_found() {
    let server = Server::start().await;
    let (session, other) = (server.session().await, server.session().await);
    session.ask("tool").await;
    let log = session.log().await;
    for (seq, response) in &log {
        let shown = matches!(
            text(&response["callback"]).as_str(),
            "onEndMessage" | "onEndReasoning" | "onEndToolExecution" | "onUserPrompt"
        );
        let reply = session.get(&format!("/block/{seq}.html")).await;
        if shown {
            assert_eq!(reply.status, 200, "{response}");
            assert_eq!(other.get(&format!("/block/{seq}.html")).await.error(404), "BlockNotFound");
        } else {
            assert_eq!(reply.error(404), "BlockNotFound", "{response}");
        }
    }
    let end = numbers(&session, "onEndMessage").await[0];
    for file in [
        format!("{end}"),
        format!("{end}.htm"),
        format!("{end}.html.html"),
        format!("+{end}.html"),
        format!("-{end}.html"),
        format!("%20{end}.html"),
        "0.html".to_owned(),
        "999999999.html".to_owned(),
        "18446744073709551615.html".to_owned(),
        "18446744073709551616.html".to_owned(),
        "1099511627775.html".to_owned(),
        ".html".to_owned(),
        "x.html".to_owned(),
        "..%2F1.html".to_owned(),
    ] {
        assert_eq!(session.get(&format!("/block/{file}")).await.error(404), "BlockNotFound", "{file}");
    }
    for query in ["?all=2", "?all=", "?all=yes", "?some=1", "?all=1&all=1"] {
        assert_eq!(session.get(&format!("/block/{end}.html{query}")).await.error(400), "InvalidQuery", "{query}");
    }
    let nobody = server.http().get("/api/copilot/session/session-99/block/1.html").await;
    assert_eq!(nobody.error(404), "SessionNotFound");
    let wrong = session.http.post(&session.path(&format!("/block/{end}.html")), "").await;
    assert_eq!(wrong.error(405), "MethodNotAllowed");
}

#[tokio::test]
async fn the_start_of_a_tool_call_is_found_however_far_back_and_the_right_one() {
    let server = Server::start().await;
    let session = server.session().await;
    let mut events = vec![tool_start("call", "far_away", "{\"first\": 1}"), tool_start("c\"al\\l", "quoted", "")];
    events.extend((0..25_000).map(|number| {
        let id = format!("other{number}");
        if number % 2 == 0 { tool_start(&id, "other", "{}") } else { tool_end(&id, "") }
    }));
    events.extend([
        tool_end("call", "one"),
        // Ids may come again in a later turn.
        tool_start("call", "near", "{\"second\": 2}"),
        tool_end("call", "two"),
        tool_end("c\"al\\l", "three"),
        tool_end("never-started", "four"),
    ]);
    let (server, seqs) = write_log(server, &session, WrittenLog { events, ..WrittenLog::default() }).await;
    let session = session.seen_by(server.http());
    let ends = &seqs[seqs.len() - 5..];
    check(&html(&session, ends[0], "").await, &["first", ">one</pre>"], &["second"]);
    check(&html(&session, ends[2], "").await, &["second", ">two</pre>"], &["first"]);
    check(&html(&session, ends[3], "").await, &[">three</pre>"], &["tool-arguments"]);
    check(&html(&session, ends[4], "").await, &[">four</pre>"], &["tool-arguments"]);
}

#[tokio::test]
async fn images_of_a_tool_are_shown_from_the_sessions_own_blobs() {
    let server = Server::start().await;
    let session = server.session().await;
    let picture = vec![0x89, b'P', b'N', b'G'];
    let hash = "0f4636c78f65d3639ece5a064b5ae753e3408614a14fb18ab4d7540d2c248543";
    let events = vec![
        tool_start("call", "view", "{\"path\":\"/a/picture.png\"}"),
        format!(
            "{{\"callback\":\"onEndToolExecution\",\"toolCallId\":\"call\",\"result\":{{\"content\":\"Viewed\",\"images\":[\
             {{\"blob\":\"{hash}\",\"mime\":\"image/png\"}},{{\"blob\":\"{hash}\",\"mime\":\"text/html\"}},\
             {{\"blob\":\"../../x\",\"mime\":\"image/png\"}},{{\"blob\":\"\\\"><script>\",\"mime\":\"image/png\"}}]}}}}"
        ),
    ];
    let blobs = vec![(picture.clone(), "image/png".to_owned())];
    let (server, seqs) = write_log(server, &session, WrittenLog { events, blobs }).await;
    let session = session.seen_by(server.http());
    let shown = html(&session, seqs[1], "").await;
    let address = session.path(&format!("/blob/{hash}"));
    check(
        &shown,
        &[&format!("<img class=\"agent-image\" src=\"{address}\" alt=\"Image 1 of view\" loading=\"lazy\">")],
        &[],
    );
    assert_eq!(shown.matches("<img").count(), 1, "{shown}");
    let blob = session.http.get(&address).await;
    assert_eq!((blob.body.as_ref(), blob.header("content-type")), (picture.as_slice(), "image/png"));
}

#[tokio::test]
async fn many_blocks_come_in_one_response_and_one_that_is_none_keeps_no_other_back() {
    let server = Server::start().await;
    let session = server.session().await;
    session.ask("blocks 8").await;
    let ends = [numbers(&session, "onEndMessage").await, numbers(&session, "onEndToolExecution").await].concat();
    let start = numbers(&session, "onAgentStart").await[0];
    let wanted = [ends.as_slice(), &[start, 9_999]].concat();
    let list = wanted.iter().map(u64::to_string).collect::<Vec<_>>().join(",");
    let reply = session.get(&format!("/blocks?seqs={list}")).await.json();
    let blocks = reply["blocks"].as_array().expect("blocks");
    assert_eq!(blocks.len(), wanted.len(), "{reply}");
    for (block, seq) in blocks.iter().zip(&wanted) {
        assert_eq!(block["seq"], *seq);
        if ends.contains(seq) {
            assert_eq!(text(&block["html"]), html(&session, *seq, "").await, "as one by one");
        } else {
            assert!(block["html"].is_null(), "{block}");
        }
    }
    for wrong in ["", "?seqs=", "?seqs=1;2", "?seqs=x", "?seqs=1&all=1"] {
        assert_eq!(session.get(&format!("/blocks{wrong}")).await.error(400), "InvalidQuery", "{wrong}");
    }
}

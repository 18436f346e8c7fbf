//! Agents that write markup, endless texts and nonsense: the pages get something harmless, and soon.

use flightdeck::model::{Callback, PromptId, Response, ToolError, ToolResult};

use super::html;
use crate::support::{Server, TestSession, WrittenLog, write_log};

const EVIL: &str = "</pre></td></div><script>alert(1)</script><img src=x onerror=alert(1)><svg/onload=alert(1)>\
                    <a href='javascript:alert(1)'>x</a>\"onmouseover=\"alert(1)\u{202e}\0\u{1b}]0;title";

fn json(callback: Callback) -> String {
    Response::from(callback).to_json()
}

fn end_message(content: String) -> String {
    json(Callback::EndMessage { message_id: "m".to_owned(), complete_content: content, incomplete: false })
}

async fn written(events: Vec<String>) -> (Server, TestSession, Vec<u64>) {
    let server = Server::start().await;
    let session = server.session().await;
    let (server, seqs) = write_log(server, &session, WrittenLog { events, ..WrittenLog::default() }).await;
    let session = session.seen_by(server.http());
    (server, session, seqs)
}

/// No tag but those of ours, and no attribute that acts: every `<` that is there begins something on the list.
fn check_harmless(html: &str) {
    const TAGS: &str = "a blockquote br button code del div em h1 h2 h3 h4 h5 h6 hr input li ol p pre section span strong \
                        sup table tbody td th thead tr ul img";
    for tag in html.split('<').skip(1) {
        let name: String = tag.trim_start_matches('/').chars().take_while(char::is_ascii_alphanumeric).collect();
        assert!(TAGS.split_whitespace().any(|known| known == name), "<{tag} is in {html}");
        let inside = tag.split('>').next().expect("one");
        // Values are quoted and hold no quotation mark, so what is outside of them are names of attributes.
        let names: String = inside.split('"').step_by(2).collect();
        assert!(!names.contains(" on") && !names.contains("style"), "<{inside}> is in {html}");
        assert!(!inside.contains("\"javascript:"), "<{inside}> is in {html}");
    }
}

#[tokio::test]
async fn scripts_in_every_field_stay_text() {
    let evil_json = serde_json::to_string(EVIL).expect("JSON");
    let diff = format!("--- a/{EVIL}\n+++ b/{EVIL}\n@@ -1 +1 @@ {EVIL}\n-{EVIL}\n+{EVIL}{EVIL}\n");
    let mut events = vec![
        end_message(EVIL.to_owned()),
        end_message(format!(
            "# {EVIL}\n\n```{EVIL}\n{EVIL}\n```\n\n[{EVIL}]({EVIL})\n\n| {EVIL} |\n|---|\n| {EVIL} |\n"
        )),
        json(Callback::EndReasoning {
            reasoning_id: EVIL.to_owned(),
            complete_content: EVIL.to_owned(),
            incomplete: true,
        }),
        json(Callback::UserPrompt {
            prompt_id: PromptId::from_number(1),
            text: EVIL.to_owned(),
            queued: false,
            attachments: Vec::new(),
        }),
        json(Callback::generated_prompt(EVIL.to_owned())),
        format!(
            "{{\"callback\":\"onQuestionAsked\",\"requestId\":\"1\",\"question\":{evil_json},\"detail\":{evil_json}}}"
        ),
    ];
    for (kind, detail) in [("shell", EVIL), ("write", diff.as_str()), (EVIL, EVIL)] {
        events.push(json(Callback::PermissionRequested {
            request_id: EVIL.into(),
            kind: kind.to_owned(),
            title: EVIL.to_owned(),
            detail: detail.to_owned(),
            options: vec![EVIL.to_owned()],
            tool_call_id: None,
            covers: vec![EVIL.to_owned()],
            prefix: Some(EVIL.to_owned()),
        }));
    }
    let arguments = [
        evil_json.clone(),
        EVIL.to_owned(),
        format!("{{{evil_json}:{evil_json}}}"),
        format!("{{\"command\":{evil_json},\"description\":{evil_json},\"x\":{evil_json}}}"),
        format!("{{\"path\":{evil_json},\"old_str\":{evil_json},\"new_str\":\"\"}}"),
        format!("{{\"path\":{evil_json},\"file_text\":{evil_json}}}"),
        format!("*** Begin Patch\n*** Add File: {EVIL}\n+{EVIL}\n"),
    ];
    let mut shown: Vec<usize> = (0..events.len()).collect();
    for name in [EVIL, "bash", "edit", "create", "view", "task", "apply_patch"] {
        for (arguments, detailed) in arguments.iter().zip([None, Some(EVIL), Some(diff.as_str())].iter().cycle()) {
            events.push(json(Callback::StartToolExecution {
                tool_call_id: EVIL.to_owned(),
                parent_tool_call_id: None,
                tool_name: name.to_owned(),
                tool_arguments: arguments.clone(),
            }));
            let result = ToolResult {
                content: EVIL.to_owned(),
                detailed_content: detailed.map(str::to_owned),
                ..ToolResult::default()
            };
            let error = ToolError { message: EVIL.to_owned(), code: Some(EVIL.to_owned()) };
            shown.push(events.len());
            events.push(json(Callback::EndToolExecution {
                tool_call_id: EVIL.to_owned(),
                result: Some(result),
                error: Some(error),
            }));
        }
    }
    let (_server, session, seqs) = written(events).await;
    for position in shown {
        for query in ["", "?all=1"] {
            let html = html(&session, seqs[position], query).await;
            check_harmless(&html);
            let shown: String =
                html.split('<').map(|part| part.split_once('>').map_or(part, |(_, text)| text)).collect();
            assert!(shown.contains("&lt;script&gt;alert(1)"), "it is shown, as text: {html}");
            assert!(!html.contains(['\0', '\u{1b}', '\u{202e}']), "{html}");
        }
    }
}

#[tokio::test]
async fn endless_and_malformed_texts_have_an_answer() {
    let many = |piece: &str, bytes: usize| piece.repeat(bytes / piece.len());
    let texts = [
        "a".repeat(1_000_000),
        many("word ", 1_000_000),
        many("*a* [b](c) `d`\n\n", 1_000_000),
        ">".repeat(10_000),
        "[".repeat(10_000),
        "![".repeat(10_000),
        many("> ", 20_000) + "a",
        many("- ", 20_000) + "a",
        many("[a](", 200_000),
        many("*_", 200_000),
        many("`", 200_000),
        many("<", 200_000),
        many("|a", 20_000) + "\n" + &many("|-", 20_000) + "\n" + &many("|b", 20_000),
        many("[^a]", 100_000) + "\n\n[^a]: b",
        many("http://a.b/", 200_000),
        "```rust\n".to_owned() + &many("fn a() { \"", 200_000),
        "```js\n".to_owned() + &many("((((", 400) + "\n",
        many("\0", 10_000),
        many("\u{202e}\u{2066}", 10_000),
        many("\u{1f468}\u{200d}", 100_000),
        String::new(),
    ];
    let events = texts.iter().map(|text| end_message(text.clone())).collect();
    let (_server, session, seqs) = written(events).await;
    for (seq, text) in seqs.iter().zip(&texts) {
        let beginning: String = text.chars().take(20).collect();
        let html = html(&session, *seq, "").await;
        check_harmless(&html);
        assert!(html.len() < 6_000_000, "{beginning:?} became {} bytes", html.len());
        assert!(html.matches("<blockquote>").count() < 100, "{beginning:?}");
    }
    let plain = html(&session, seqs[0], "").await;
    assert!(plain.contains("1,000,000 characters are too many to format"), "{}", &plain[..300]);
    assert!(plain.contains("class=\"show-all\"") && plain.len() < 100_000, "{}", plain.len());
    assert!(html(&session, seqs[0], "?all=1").await.len() > 1_000_000);
}

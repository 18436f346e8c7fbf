use serde_json::{Value, json};

use super::*;

fn event(json: &Value) -> Response {
    Response::from_json(&json.to_string()).expect("one of ours")
}

fn summary_of(log: &[Value]) -> Summary {
    let mut summary = Summary::default();
    for json in log {
        summary.apply(&event(json));
    }
    summary
}

fn text_of(log: &[Value]) -> String {
    summary_of(log).text().expect("a summary")
}

fn prompt(number: u32, text: &str) -> Value {
    json!({ "callback": "onUserPrompt", "promptId": format!("prompt-{number}"), "text": text, "queued": false })
}

fn idle() -> Value {
    json!({ "callback": "onIdle" })
}

fn message(id: &str, text: &str) -> Value {
    json!({ "callback": "onEndMessage", "messageId": id, "completeContent": text })
}

/// A call and its end.
fn call(id: &str, name: &str, arguments: &Value, error: Option<&str>) -> [Value; 2] {
    let mut end = json!({ "callback": "onEndToolExecution", "toolCallId": id });
    if let Some(code) = error {
        end["error"] = json!({ "message": "no", "code": code });
    }
    let arguments = arguments.to_string();
    [json!({ "callback": "onStartToolExecution", "toolCallId": id, "toolName": name, "toolArguments": arguments }), end]
}

fn asked(id: u32, title: &str) -> Value {
    json!({ "callback": "onPermissionRequested", "requestId": format!("request-{id}"), "kind": "shell", "title": title,
            "detail": "", "options": [] })
}

fn decided(id: u32, decision: &str) -> Value {
    let by = if decision == "agent-gone" { "agent" } else { "page" };
    json!({ "callback": "onPermissionAnswered", "requestId": format!("request-{id}"), "decision": decision, "by": by })
}

fn interrupted() -> Value {
    json!({ "callback": "onNotice", "kind": "interrupted", "message": "The turn was interrupted." })
}

#[test]
fn it_says_what_was_asked_done_decided_and_left_open() {
    let mut log = vec![prompt(1, "Fix the parser\nand test it"), message("a", "I will.")];
    log.extend(call("1", "bash", &json!({ "command": "cargo test" }), None));
    log.extend(call("2", "edit", &json!({ "path": "src/parser.rs", "old_str": "a", "new_str": "b" }), None));
    log.extend(call("3", "edit", &json!({ "path": "src/failed.rs", "old_str": "a", "new_str": "b" }), Some("failure")));
    log.extend(call("4", "view", &json!({ "path": "README.md" }), None));
    log.extend([asked(1, "Copilot wants to run rm"), decided(1, "deny")]);
    log.extend(call("5", "bash", &json!({ "command": "rm x" }), Some("denied")));
    log.extend([message("b", "The parser is fixed."), idle(), prompt(2, "continue"), message("c", "On it.")]);
    log.extend(call("6", "bash", &json!({ "command": "cargo bench" }), Some("interrupted")));
    log.extend([asked(2, "Copilot wants to push"), decided(2, "agent-gone"), interrupted(), idle()]);
    let expected =
        "[Summary of an earlier conversation that could not be restored. It was made from the log and is not a \
request.]
The task as first stated:
Fix the parser
and test it

The latest requests after it:
- continue

Files changed:
- src/parser.rs

Commands run:
- cargo test
- cargo bench (interrupted)

Decisions of the user:
- denied: Copilot wants to run rm

The last answer:
On it.

The last request: It was interrupted before it was finished.

Still open:
- a command was interrupted: cargo bench
- not decided: Copilot wants to push
[End of the summary. Results of this work may be in the folder: check before you do any of it again. The next request \
follows.]";
    assert_eq!(text_of(&log), expected);
    assert_eq!(text_of(&log), text_of(&log), "deterministic");
}

#[test]
fn the_end_of_the_last_turn_counts_and_not_that_of_earlier_ones() {
    let failed = json!({ "sessionError": "429 too many", "errorClass": "rate-limit" });
    let state = |log: &[Value]| {
        let text = text_of(log);
        text.lines().find_map(|line| line.strip_prefix("The last request: ")).expect("a state").to_owned()
    };
    let answered = [prompt(1, "a"), interrupted(), idle(), prompt(2, "b"), message("m", "yes"), idle()];
    assert_eq!(state(&answered), "It was answered.");
    assert_eq!(state(&[prompt(1, "a"), failed.clone(), idle()]), "It failed: 429 too many");
    assert_eq!(state(&[prompt(1, "a"), failed, idle(), prompt(2, "b"), idle()]), "It was answered.");
    assert_eq!(state(&[prompt(1, "a")]), "It was interrupted before it was finished.", "it has no end");
    assert!(!text_of(&answered).contains("Still open"));
}

#[test]
fn only_what_people_asked_for_is_a_request() {
    let first = text_of(&[prompt(1, "Fix the parser"), idle()]);
    let again = format!("{first}\n\ncontinue");
    let system = "<system>\nBe brief.\n</system>\n\nFix the lexer";
    let generated = json!({ "callback": "onGeneratedUserPrompt", "prompt": "go on by yourself" });
    let log = [prompt(1, "Fix the parser"), idle(), generated, prompt(2, &again), prompt(3, system), idle()];
    let text = text_of(&log);
    assert!(text.contains("stated:\nFix the parser\n") && text.contains("\n- continue\n- Fix the lexer\n"), "{text}");
    assert_eq!(text.matches(BEGIN).count(), 1, "{text}");
    assert!(!text.contains("Be brief") && !text.contains("by yourself"), "{text}");
    let of_task = json!({
        "callback": "onGeneratedUserPrompt", "prompt": "Build it", "promptId": "prompt-1", "queued": false,
    });
    assert!(text_of(&[of_task, idle()]).contains("stated:\nBuild it\n"), "a task's prompt is one");
}

#[test]
fn a_prompt_that_waits_is_left_out_because_the_agent_gets_it() {
    let mut summary = Summary::without([PromptId::from_number(2)]);
    for json in [prompt(1, "first"), idle(), prompt(2, "second")] {
        summary.apply(&event(&json));
    }
    let text = summary.text().expect("a summary");
    assert!(text.contains("first") && !text.contains("second") && text.contains("It was answered."), "{text}");
    let mut nothing = Summary::without([PromptId::from_number(1)]);
    nothing.apply(&event(&prompt(1, "first")));
    assert_eq!(nothing.text(), None);
}

#[test]
fn it_is_short_whatever_the_log_is() {
    let words = "wörd ".repeat(2_000);
    let mut log = vec![prompt(1, &words)];
    for number in 0..500_u32 {
        let id = number.to_string();
        log.push(prompt(number + 2, &format!("request {number} {words}")));
        log.extend(call(&id, "bash", &json!({ "command": format!("run {number} {words}") }), None));
        log.extend(call(&id, "create", &json!({ "path": format!("/file-{number}"), "file_text": words }), None));
        log.extend([asked(number, &format!("may {number} {words}")), decided(number, "allow-once")]);
        log.extend([asked(number, &format!("may {number} {words}")), decided(number, "agent-gone")]);
        log.push(message(&id, &words));
    }
    let notice = json!({ "callback": "onNotice", "kind": "plan", "message": words });
    log.extend([notice, json!({ "sessionError": words })]);
    let summary = summary_of(&log);
    let text = summary.text().expect("a summary");
    assert!(text.chars().count() <= LONGEST, "{}", text.chars().count());
    assert!(text.ends_with(END) && text.contains("request 499") && text.contains("/file-499"), "{text}");
    assert!(text.contains("earlier left out"), "{text}");
    assert!(summary.requests.kept.len() <= MOST_LINES && summary.files.kept.len() <= MOST_LINES);
}

#[test]
fn what_is_cut_fits_and_says_so() {
    assert_eq!(cut("  one\n two ", 7), "one two");
    for most in 2..12 {
        let line = cut("one twothree four", most);
        assert!(line.chars().count() <= most && line.ends_with('…'), "{most} {line}");
    }
    assert_eq!(cut_lines("a\nbc", 3), "a\nb …");
    assert_eq!(cut_lines("a\nb", 3), "a\nb");
}

#[test]
fn a_title_made_of_a_summary_or_a_system_prompt_is_none() {
    let summary = text_of(&[prompt(1, "Fix the parser"), idle()]);
    for end in [10, 20, BEGIN.len(), 60, 100, 300] {
        assert!(is_title_of_preamble(&format!("{}…", &summary[..end])), "{end}");
    }
    assert!(is_title_of_preamble("<system> Be brief. </system> Fix"));
    assert!(is_title_of_preamble("[Summary of an  earlier\nconversation..."));
    for title in ["Fix the parser", "[Summary] of sales", "", "…", "system", "[Sum"] {
        assert!(!is_title_of_preamble(title), "{title}");
    }
}

#[test]
fn a_queued_prompt_counts_as_it_was_last_changed_and_not_once_it_was_cancelled() {
    let queued = |number: u32, text: &str| json!({ "callback": "onUserPrompt", "promptId": format!("prompt-{number}"), "text": text, "queued": true });
    let changed = json!({ "callback": "onPromptChanged", "promptId": "prompt-2", "text": "what was meant" });
    let cancelled = json!({ "callback": "onPromptCancelled", "promptId": "prompt-3" });
    let log =
        [prompt(1, "begin"), queued(2, "what was typed"), queued(3, "what was dropped"), changed, cancelled, idle()];
    let text = text_of(&log);
    assert!(text.contains("what was meant"), "{text}");
    assert!(!text.contains("what was typed") && !text.contains("what was dropped"), "{text}");
}

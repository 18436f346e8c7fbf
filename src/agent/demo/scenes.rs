//! What each script plays.

use std::time::Duration;

use serde_json::json;
use tokio::time::Instant;

use super::player::{Played, Stage};
use super::script::{Many, Script};
use crate::agent::failure::Failure;
use crate::agent::{AgentEvent, BlockEnd, BlockStart, QuestionAnswer, RequestAnswer};
use crate::model::{BlockKey, BlockKind, ErrorClass, RequestBody, ToolError, ToolResult, Usage};

const HELLO: &str =
    "Hello from the demo agent. I am scripted: no AI and no account are involved. Send `help` to see what I can show.";

const HELP: &str = "I am the demo agent: scripted, no AI. The first word of a prompt chooses what I do:\n\n\
- `hello`: a short message\n\
- `help`: this list\n\
- `reason`: reasoning before the answer\n\
- `markdown`: headings, a list, a table, code\n\
- `tool [BYTES]`: a tool call with output\n\
- `edit`: a file edit with a diff (no file is touched)\n\
- `colours`: a tool call whose output has colours\n\
- `blocks N`: N short blocks of every kind\n\
- `permission`: a request that you allow or deny\n\
- `question`: a question for you\n\
- `error TEXT`: a failed turn\n\
- `crash`: the agent crashes in the middle of a message\n\
- `usage INPUT [OUTPUT] [PREMIUM] [COST] [CREDITS]`: usage figures for a turn (nothing is used)\n\
- `many N [RATE] [SIZE]`: N deltas of SIZE bytes, RATE per second (0 is full speed)\n\n\
Anything else gets a short answer.";

const MARKDOWN: &str = "# Demo of Markdown\n\nThe demo agent writes *emphasis*, **strong text** and `code`.\n\n\
1. first\n2. second\n   - nested\n\n- [x] a task that is done\n- [ ] a task that is not\n\n\
| column | number |\n|---|---:|\n| one | 1 |\n| two | 22 |\n\n\
```rust\nfn main() {\n    println!(\"a demo\");\n}\n```\n\n> A quotation, and a [link](https://example.com/).\n";

const REASONING: &str =
    "This is a demo, so there is no real reasoning. A real agent would weigh its options here, step by step.";

const EDITED_FILE: &str = "src/greeting.rs";
const EDIT_DIFF: &str = "--- a/src/greeting.rs\n+++ b/src/greeting.rs\n@@ -1,3 +1,3 @@\n fn greeting() -> &'static str {\n-    \"Hello\"\n+    \"Hello from the demo\"\n }\n";

const COLOURED_OUTPUT: &str = "running 3 tests (a demo)\ntest greeting \u{1b}[32mok\u{1b}[0m\n\
test farewell \u{1b}[1;31mFAILED\u{1b}[0m\ntest \u{1b}[4mmanners\u{1b}[0m \u{1b}[33mignored\u{1b}[0m\n\n\
\u{1b}[38;5;208mexpected\u{1b}[0m \"bye\", \u{1b}[48;5;24mfound\u{1b}[0m \"hello\"\n<exited with exit code 101>\n";

const PERMITTED_COMMAND: &str = "echo 'a demo: nothing is run'";

/// Plays a complete turn. A crash does not report the turn's end, as in a real crash.
pub(super) async fn play(mut stage: Stage, script: Script) -> Played {
    stage.open().await?;
    match script {
        Script::Hello => stage.message(HELLO).await?,
        Script::Help => stage.message(HELP).await?,
        Script::Markdown => stage.message(MARKDOWN).await?,
        Script::Reason => reason(&stage).await?,
        Script::Tool(size) => tool(&stage, size).await?,
        Script::Edit => edit(&stage).await?,
        Script::Colours => colours(&stage).await?,
        Script::Blocks(count) => blocks(&stage, count).await?,
        Script::Permission => permission(&mut stage).await?,
        Script::Question => question(&mut stage).await?,
        Script::Many(many) => deltas(&stage, many).await?,
        Script::Usage(usage) => {
            stage.message("The demo agent reported usage figures; nothing was used.").await?;
            stage.emit(AgentEvent::UsageReported(usage)).await?;
        }
        Script::Misused(expected) => {
            stage.message(&format!("The demo agent did not understand that. It expects {expected}.")).await?;
        }
        Script::Echo(prompt) => stage.message(&echo(&prompt)).await?,
        Script::Error(text) => {
            let text = if text.is_empty() { "this turn was asked to fail".to_owned() } else { text };
            let failure = Failure::with_message(ErrorClass::Unknown, &format!("demo error: {text}"));
            stage.emit(AgentEvent::TurnFailed { failure }).await?;
        }
        Script::Crash => return crash(&stage).await,
    }
    stage.close().await
}

/// The part of a script after the user's answer; after a restart, only this part runs.
pub(super) async fn after_answer(stage: &mut Stage, body: &RequestBody, answer: RequestAnswer) -> Played {
    match (body, answer) {
        (RequestBody::Permission { tool_call_id, .. }, RequestAnswer::Permission { decision, feedback }) => {
            let id = tool_call_id.clone().unwrap_or_else(|| stage.id("tool"));
            let (result, error) = if decision.allows() {
                (Some(tool_result("a demo: nothing was run\n".to_owned(), None)), None)
            } else {
                let message = feedback.unwrap_or_else(|| "denied by the user".to_owned());
                (None, Some(ToolError { message, code: Some("denied".to_owned()) }))
            };
            stage.emit(AgentEvent::BlockEnded(BlockEnd::Tool { id, result, error })).await?;
            let said = if decision.allows() { "You allowed it" } else { "You denied it" };
            stage.message(&format!("{said}. This was the demo agent; no command was run.")).await
        }
        (_, RequestAnswer::Question(QuestionAnswer::Text(answer))) => {
            stage.message(&format!("The demo agent received your answer: {answer}")).await
        }
        _ => stage.message("The demo agent got no answer and continues without one.").await,
    }
}

fn echo(prompt: &str) -> String {
    let quoted: String = prompt.chars().take(200).collect();
    let dots = if quoted.len() < prompt.len() { " …" } else { "" };
    format!("The demo agent (no AI) read your prompt: {quoted}{dots}\n\nSend `help` to see what it can show.")
}

async fn reason(stage: &Stage) -> Played {
    let id = stage.id("reasoning");
    stage.emit(AgentEvent::BlockStarted(BlockStart::Reasoning { id: id.clone(), parent: None })).await?;
    stage.stream(BlockKey::new(BlockKind::Reasoning, &id), REASONING).await?;
    stage.emit(AgentEvent::BlockEnded(BlockEnd::Reasoning { id, content: REASONING.to_owned() })).await?;
    stage.message("The demo agent has finished reasoning. The answer is 42.").await?;
    stage.emit(AgentEvent::UsageReported(Usage { num_turns: Some(1), ..Usage::default() })).await
}

async fn start_tool(
    stage: &Stage,
    name: &str,
    arguments: &serde_json::Value,
) -> Result<String, super::player::SessionClosed> {
    let id = stage.id("tool");
    stage
        .emit(AgentEvent::BlockStarted(BlockStart::Tool {
            id: id.clone(),
            parent: None,
            name: name.to_owned(),
            arguments: format!("{arguments:#}"),
        }))
        .await?;
    Ok(id)
}

fn tool_result(content: String, detailed_content: Option<String>) -> ToolResult {
    ToolResult { content, detailed_content, ..ToolResult::default() }
}

async fn tool(stage: &Stage, size: usize) -> Played {
    let id = start_tool(stage, "shell", &json!({ "command": "ls", "description": "A demo: nothing is run" })).await?;
    let output = if size == 0 {
        "Cargo.toml\nREADME.md\nsrc\n".to_owned()
    } else {
        "a line of demo output that goes on and on\n".chars().cycle().take(size).collect()
    };
    if size == 0 {
        stage.stream(BlockKey::new(BlockKind::Tool, &id), &output).await?;
    }
    let result = Some(tool_result(output, None));
    stage.emit(AgentEvent::BlockEnded(BlockEnd::Tool { id, result, error: None })).await?;
    stage.message("The demo agent showed a tool call; nothing was run.").await?;
    stage.emit(AgentEvent::UsageReported(Usage { num_turns: Some(2), ..Usage::default() })).await
}

async fn edit(stage: &Stage) -> Played {
    let arguments = json!({
        "path": EDITED_FILE,
        "old_str": "    \"Hello\"",
        "new_str": "    \"Hello from the demo\"",
    });
    let id = start_tool(stage, "edit", &arguments).await?;
    stage.pause().await;
    let result = tool_result(format!("A demo: {EDITED_FILE} was not touched."), Some(EDIT_DIFF.to_owned()));
    stage.emit(AgentEvent::BlockEnded(BlockEnd::Tool { id, result: Some(result), error: None })).await?;
    stage.message("The demo agent showed a file edit; no file was touched.").await
}

async fn colours(stage: &Stage) -> Played {
    let arguments = json!({ "command": "cargo test", "description": "A demo: nothing is run" });
    let id = start_tool(stage, "shell", &arguments).await?;
    stage.stream(BlockKey::new(BlockKind::Tool, &id), COLOURED_OUTPUT).await?;
    let result = Some(tool_result(COLOURED_OUTPUT.to_owned(), None));
    stage.emit(AgentEvent::BlockEnded(BlockEnd::Tool { id, result, error: None })).await?;
    stage.message("The demo agent showed output with colours; nothing was run.").await
}

async fn blocks(stage: &Stage, count: usize) -> Played {
    for index in 0..count {
        let id = stage.id(&format!("block-{index}"));
        // Only tools need a start event, which names them; the session adds the others.
        let end = match index % 4 {
            0 => {
                BlockEnd::Reasoning { id, content: format!("Thought {index} of the demo, without any real reasoning.") }
            }
            3 => {
                BlockEnd::Message { id, content: format!("Message **{index}** of the demo, with some `inline code`.") }
            }
            _ => {
                let arguments = format!("{:#}", json!({ "command": format!("echo {index}") }));
                let name = "shell".to_owned();
                let start = BlockStart::Tool { id: id.clone(), parent: None, name, arguments };
                stage.emit(AgentEvent::BlockStarted(start)).await?;
                BlockEnd::Tool { id, result: Some(tool_result(format!("{index}\n"), None)), error: None }
            }
        };
        stage.emit(AgentEvent::BlockEnded(end)).await?;
    }
    stage.message("Those were all the demo's blocks.").await
}

async fn permission(stage: &mut Stage) -> Played {
    let id = start_tool(stage, "shell", &json!({ "command": PERMITTED_COMMAND })).await?;
    let body = RequestBody::Permission {
        kind: "shell".to_owned(),
        tool: "shell".to_owned(),
        title: "The demo agent wants to run a command".to_owned(),
        detail: PERMITTED_COMMAND.to_owned(),
        options: ["allow-once", "allow-always", "deny"].map(str::to_owned).to_vec(),
        tool_call_id: Some(id),
        call: PERMITTED_COMMAND.to_owned(),
        reads: None,
        writes: None,
    };
    let answer = stage.ask(body.clone()).await?;
    after_answer(stage, &body, answer).await
}

async fn question(stage: &mut Stage) -> Played {
    let body = RequestBody::question(
        "The demo agent asks: which colour do you like?",
        Some(vec!["red".to_owned(), "green".to_owned(), "blue".to_owned()]),
    );
    let answer = stage.ask(body.clone()).await?;
    after_answer(stage, &body, answer).await
}

async fn crash(stage: &Stage) -> Played {
    let id = stage.id("message");
    stage.emit(AgentEvent::BlockStarted(BlockStart::Message { id: id.clone(), parent: None })).await?;
    stage.stream(BlockKey::new(BlockKind::Message, &id), "The demo agent is about to").await?;
    stage.emit(AgentEvent::Gone { reason: "the demo agent crashed, as requested".to_owned() }).await
}

async fn deltas(stage: &Stage, many: Many) -> Played {
    let id = stage.id("message");
    stage.emit(AgentEvent::BlockStarted(BlockStart::Message { id: id.clone(), parent: None })).await?;
    let key = BlockKey::new(BlockKind::Message, &id);
    let began = Instant::now();
    let mut content = String::with_capacity(many.count * many.size);
    for index in 0..many.count {
        if many.rate > 0 {
            let due = Duration::from_secs(index as u64) / many.rate;
            stage.until(began + due).await;
        }
        let delta = many.delta(index);
        content.push_str(&delta);
        stage.emit(AgentEvent::BlockDelta { key: key.clone(), delta }).await?;
    }
    stage.emit(AgentEvent::BlockEnded(BlockEnd::Message { id, content })).await
}

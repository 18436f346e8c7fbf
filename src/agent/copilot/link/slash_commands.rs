//! The program's own commands, such as `/compact` and `/review`: listed for people, and run when a prompt begins with one.

use github_copilot_sdk::Client;
use serde_json::{Value, json};

use super::plain;
use crate::model::SlashCommand;

/// The built-in commands that are offered. Skills always are. Others decide what Flightdeck decides here (permissions,
/// folders, models, titles), publish the conversation, or need the program's own terminal; new ones are looked at first.
const OFFERED: [&str; 16] = [
    "blame",
    "chronicle",
    "compact",
    "context",
    "env",
    "fleet",
    "init",
    "list-dirs",
    "mcp",
    "memory",
    "plan",
    "research",
    "review",
    "security-review",
    "skills",
    "usage",
];

/// What a prompt that may be a command comes to.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Effect {
    /// It is no command: the agent gets it as it is.
    NoCommand,
    /// The agent gets this instead, in this mode if there is one.
    Prompt { text: String, mode: Option<String> },
    /// The command's output. The agent gets nothing.
    Says(String),
    /// The command failed, or Flightdeck does not pass it on.
    Failed(String),
}

/// The name and the rest of a prompt that begins like a command.
pub(in crate::agent::copilot) fn typed(prompt: &str) -> Option<(&str, &str)> {
    let rest = prompt.strip_prefix('/')?;
    let (name, input) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
    // A path has another slash.
    let is_name = !name.is_empty() && name.chars().all(|letter| letter.is_alphanumeric() || "-_:.".contains(letter));
    is_name.then(|| (name, input.trim()))
}

/// The commands of a session, as people are offered them.
pub(super) async fn list(client: &Client, session: &str) -> Result<Vec<SlashCommand>, String> {
    let listed = listed(client, session).await?;
    Ok(entries(&listed).filter(|command| is_offered(command)).filter_map(offered).collect())
}

/// Runs the command that a prompt begins with, if it begins with one.
pub(super) async fn run(client: &Client, session: &str, prompt: &str) -> Effect {
    let Some((name, input)) = typed(prompt) else { return Effect::NoCommand };
    let listed = match listed(client, session).await {
        Ok(listed) => listed,
        Err(error) => {
            tracing::debug!(%error, "copilot cannot list its commands");
            return Effect::NoCommand;
        }
    };
    let Some(command) = entries(&listed).find(|command| is_named(command, name)) else { return Effect::NoCommand };
    if !is_offered(command) {
        return Effect::Failed(refusal(command["name"].as_str().unwrap_or(name)));
    }
    let params = json!({ "sessionId": session, "name": name, "input": input });
    match client.call("session.commands.invoke", Some(params)).await {
        Ok(result) => effect(name, &result),
        Err(error) => {
            let reason = plain(&error.to_string());
            let reason = reason.rsplit_once("failed with message: ").map_or(reason.as_str(), |(_, reason)| reason);
            Effect::Failed(format!("/{name} failed: {reason}"))
        }
    }
}

async fn listed(client: &Client, session: &str) -> Result<Value, String> {
    let params = json!({ "sessionId": session });
    client.call("session.commands.list", Some(params)).await.map_err(|error| plain(&error.to_string()))
}

fn entries(listed: &Value) -> impl Iterator<Item = &Value> {
    listed["commands"].as_array().into_iter().flatten()
}

fn is_named(command: &Value, name: &str) -> bool {
    let aliases = command["aliases"].as_array().into_iter().flatten();
    aliases.chain([&command["name"]]).any(|known| known.as_str().is_some_and(|known| known.eq_ignore_ascii_case(name)))
}

fn is_offered(command: &Value) -> bool {
    command["kind"] != "builtin" || command["name"].as_str().is_some_and(|name| OFFERED.contains(&name))
}

fn offered(command: &Value) -> Option<SlashCommand> {
    let text = |value: &Value| value.as_str().map(str::to_owned);
    let hint = text(&command["input"]["hint"]).filter(|hint| !hint.is_empty()).or_else(|| {
        let choices = command["input"]["choices"].as_array()?;
        Some(choices.iter().filter_map(|choice| choice["name"].as_str()).collect::<Vec<_>>().join("|"))
    });
    Some(SlashCommand { name: text(&command["name"])?, description: text(&command["description"]), hint })
}

/// Why a command of the program is not passed on, and what to use instead.
fn refusal(name: &str) -> String {
    let instead = match name {
        "allow-all" | "permissions" | "reset-allowed-tools" | "sandbox" => {
            "Flightdeck decides what the agent may do. Change the permission mode of this session instead."
        }
        "add-dir" | "cwd" => "A session stays in its folder. Start a session in the other folder.",
        "autopilot" | "model" => "Choose it beside the prompt.",
        "rename" => "Rename the session in Flightdeck.",
        _ => "Use it in Copilot's own terminal.",
    };
    format!("/{name} is not available here. {instead}")
}

fn effect(name: &str, result: &Value) -> Effect {
    let text = |value: &Value| value.as_str().filter(|text| !text.trim().is_empty()).map(str::to_owned);
    let done = || format!("/{name}: done.");
    match result["kind"].as_str() {
        Some("agent-prompt") => match text(&result["prompt"]) {
            Some(prompt) => Effect::Prompt { text: prompt, mode: text(&result["mode"]) },
            None => Effect::Failed(format!("/{name} failed: it gave the agent nothing to do")),
        },
        Some("text") => Effect::Says(said(&result["text"], result["markdown"] == true).unwrap_or_else(done)),
        Some("completed") => Effect::Says(text(&result["message"]).unwrap_or_else(done)),
        Some("add-timeline-entry") => Effect::Says(text(&result["entry"]["text"]).unwrap_or_else(done)),
        Some("select-subcommand") => Effect::Says(choices(result)),
        _ => Effect::Failed(format!("/{name} needs Copilot's own terminal.")),
    }
}

/// Output of a command as Markdown. Plain text keeps its lines.
fn said(text: &Value, is_markdown: bool) -> Option<String> {
    let text = text.as_str()?.trim_end();
    match (text.is_empty(), is_markdown || !text.contains('\n')) {
        (true, _) => None,
        (false, true) => Some(text.to_owned()),
        (false, false) => Some(format!("```text\n{}\n```", text.replace("```", "'''"))),
    }
}

fn choices(result: &Value) -> String {
    let command = result["command"].as_str().unwrap_or_default();
    let line = |option: &Value| {
        let name = option["name"].as_str()?;
        Some(format!("- `/{command} {name}` – {}", option["description"].as_str().unwrap_or_default()))
    };
    let lines: Vec<String> = result["options"].as_array().into_iter().flatten().filter_map(line).collect();
    format!("Choose one:\n\n{}", lines.join("\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prompt_is_a_command_when_it_begins_with_a_name() {
        assert_eq!(typed("/compact"), Some(("compact", "")));
        assert_eq!(typed("/review  the tests\nand docs "), Some(("review", "the tests\nand docs")));
        for other in ["compact", "/", "/ x", "/usr/bin/env", "//x", "/*", " /compact"] {
            assert_eq!(typed(other), None, "{other}");
        }
    }

    #[test]
    fn what_widens_permissions_is_neither_offered_nor_passed_on() {
        let command = |name: &str, kind: &str| json!({ "name": name, "kind": kind, "description": "d" });
        for name in ["allow-all", "permissions", "add-dir", "cwd", "share", "remote", "every", "brand-new"] {
            assert!(!is_offered(&command(name, "builtin")), "{name}");
            assert!(refusal(name).starts_with(&format!("/{name} is not available here. ")));
        }
        assert!(is_offered(&command("compact", "builtin")) && is_offered(&command("anything", "skill")));
        assert!(is_named(&json!({ "name": "allow-all", "aliases": ["yolo"] }), "YOLO"), "an alias is the same command");
    }

    #[test]
    fn the_hint_is_the_programs_or_its_choices() {
        let hint = |input: Value| offered(&json!({ "name": "x", "input": input })).expect("a command").hint;
        assert_eq!(hint(json!({ "hint": "topic" })).as_deref(), Some("topic"));
        assert_eq!(
            hint(json!({ "hint": "", "choices": [{ "name": "on" }, { "name": "off" }] })).as_deref(),
            Some("on|off")
        );
        assert_eq!(hint(Value::Null), None);
    }

    #[test]
    fn each_kind_of_result_has_an_effect() {
        let says = |text: &str| Effect::Says(text.to_owned());
        for (result, expected) in [
            (json!({ "kind": "text", "text": "one line" }), says("one line")),
            (json!({ "kind": "text", "text": "a\n  b\n" }), says("```text\na\n  b\n```")),
            (json!({ "kind": "text", "text": "# A\nb", "markdown": true }), says("# A\nb")),
            (json!({ "kind": "text", "text": "" }), says("/x: done.")),
            (json!({ "kind": "completed", "message": "Compacted." }), says("Compacted.")),
            (json!({ "kind": "completed" }), says("/x: done.")),
            (json!({ "kind": "add-timeline-entry", "entry": { "type": "info", "text": "Hi" } }), says("Hi")),
            (
                json!({ "kind": "select-subcommand", "command": "x", "options": [{ "name": "a", "description": "b" }] }),
                says("Choose one:\n\n- `/x a` – b"),
            ),
            (
                json!({ "kind": "agent-prompt", "prompt": "p", "mode": "plan" }),
                Effect::Prompt { text: "p".to_owned(), mode: Some("plan".to_owned()) },
            ),
            (json!({ "kind": "show-dialog" }), Effect::Failed("/x needs Copilot's own terminal.".to_owned())),
        ] {
            assert_eq!(effect("x", &result), expected, "{result}");
        }
    }
}

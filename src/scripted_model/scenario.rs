//! The scenarios, and which one a request chooses.

use std::time::Duration;

use serde_json::{Value, json};

/// A part of an answer.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Item {
    /// Pieces of text, with a pause after each.
    Text(Vec<String>, Duration),
    Reasoning(Vec<String>),
    Tool {
        name: String,
        /// JSON, unless the scenario breaks it on purpose.
        arguments: String,
    },
    /// An HTTP status instead of an answer.
    Error(u16),
    /// The connection breaks off here.
    Break,
    /// The answer ends for this reason, in the words of chat completions.
    Finish(String),
    /// What the answer is billed, in billionths of a credit, as GitHub's own models report it.
    Billed(u64),
}

/// A message as scenarios see it.
struct Message {
    role: String,
    text: String,
}

/// What a text in a message of the user means.
pub(super) struct Cue {
    pub text: String,
    pub scenario: String,
}

/// The answer to a request; `number` is the number of requests so far.
pub(super) fn plan(request: &Value, number: usize, cues: &[Cue]) -> Vec<Item> {
    let messages = messages(request);
    let mut chosen = ("plain".to_owned(), String::new(), 0);
    for (position, message) in messages.iter().enumerate().filter(|(_, message)| message.role == "user") {
        let cue = cues.iter().rev().find(|cue| message.text.contains(&cue.text)).map(|cue| cue.scenario.as_str());
        if let Some((name, argument)) = mark(cue.unwrap_or(&message.text)) {
            chosen = (name, argument, position + 1);
        }
    }
    let (name, argument, from) = chosen;
    let since = &messages[from..];
    let answered = since.iter().enumerate().filter(|(position, message)| {
        message.role == "assistant" && (*position == 0 || since[position - 1].role != "assistant")
    });
    let step = answered.count();
    let last_tool = messages.iter().rev().find(|message| message.role == "tool").map_or("", |message| &message.text);
    let has_claudes_tools = offers(request, "Bash");
    match (name.as_str(), step) {
        // The same actions with the tools that this agent has.
        ("bash", 0) if has_claudes_tools => {
            vec![tool("Bash", &json!({ "command": argument, "description": "Run it" }))]
        }
        ("create", 0) if has_claudes_tools => {
            vec![tool("Write", &json!({ "file_path": argument, "content": "created by the scripted model\n" }))]
        }
        _ => play(&name, &argument, step, last_tool, &messages, number),
    }
}

/// Whether a request offers a tool of that name, in any of the APIs.
fn offers(request: &Value, name: &str) -> bool {
    let tools = request["tools"].as_array().map(Vec::as_slice).unwrap_or_default();
    tools.iter().any(|tool| tool["name"] == name || tool["function"]["name"] == name)
}

/// The last `@@name argument` of a text.
fn mark(text: &str) -> Option<(String, String)> {
    let (_, rest) = text.rsplit_once("@@")?;
    let line = rest.lines().next().unwrap_or_default();
    let (name, argument) = line.split_once(' ').unwrap_or((line, ""));
    let name: String = name.chars().take_while(|letter| letter.is_ascii_alphanumeric() || *letter == '_').collect();
    (!name.is_empty()).then(|| (name, argument.trim().to_owned()))
}

fn messages(request: &Value) -> Vec<Message> {
    let list = request["messages"].as_array().or_else(|| request["input"].as_array());
    let entries = list.map(Vec::as_slice).unwrap_or_default();
    entries
        .iter()
        .map(|entry| match entry["type"].as_str() {
            Some("function_call") => Message { role: "assistant".to_owned(), text: String::new() },
            _ if holds_result(&entry["content"]) => {
                Message { role: "tool".to_owned(), text: text_of(&entry["content"]) }
            }
            Some("function_call_output") => Message { role: "tool".to_owned(), text: text_of(&entry["output"]) },
            _ => Message {
                role: entry["role"].as_str().unwrap_or_default().to_owned(),
                text: text_of(&entry["content"]),
            },
        })
        .collect()
}

fn text_of(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(parts) => parts
            .iter()
            .filter_map(|part| match part["text"].as_str() {
                Some(text) => Some(text.to_owned()),
                None => (part["type"] == "tool_result").then(|| text_of(&part["content"])),
            })
            .collect::<Vec<_>>()
            .join("\n"),
        _ => String::new(),
    }
}

/// In Anthropic's messages, tool results have the role `user`.
fn holds_result(content: &Value) -> bool {
    content.as_array().is_some_and(|parts| parts.iter().any(|part| part["type"] == "tool_result"))
}

fn pieces(text: &str) -> Vec<String> {
    let letters: Vec<char> = text.chars().collect();
    letters.chunks(6).map(|piece| piece.iter().collect()).collect()
}

fn say(text: &str) -> Item {
    Item::Text(pieces(text), Duration::ZERO)
}

fn tool(name: &str, arguments: &Value) -> Item {
    Item::Tool { name: name.to_owned(), arguments: arguments.to_string() }
}

/// The tools of a JSON list: `name` with `arguments`, or with the text `broken` instead of them.
fn tools(list: &str) -> Vec<Item> {
    let list: Vec<Value> = serde_json::from_str(list).unwrap_or_default();
    list.iter()
        .map(|entry| {
            let name = entry["name"].as_str().unwrap_or_default();
            match entry["broken"].as_str() {
                Some(text) => Item::Tool { name: name.to_owned(), arguments: text.to_owned() },
                None => tool(name, &entry["arguments"]),
            }
        })
        .collect()
}

fn play(name: &str, argument: &str, step: usize, last_tool: &str, messages: &[Message], number: usize) -> Vec<Item> {
    let after_tool = || {
        let seen: String = last_tool.chars().take(120).collect();
        vec![say(&format!("Final answer after tools. Last tool result was: {seen}"))]
    };
    let count = |default: usize| argument.parse().unwrap_or(default);
    match name {
        "plain" => vec![say("Hello from the scripted model. This is a plain streamed reply.")],
        "echo" => vec![say(&format!("ECHO[{argument}]"))],
        "history" => {
            let turns = messages.iter().filter(|message| message.role == "user").count();
            vec![say(&format!("user turns: {turns}"))]
        }
        "reason" => vec![Item::Reasoning(pieces("Let me think about this step by step.")), say("Reasoned answer: 42.")],
        "bash" if step == 0 => {
            vec![say("I will run a command."), tool("bash", &json!({ "command": argument, "description": "Run it" }))]
        }
        "create" if step == 0 => vec![
            say("Creating a file."),
            tool("create", &json!({ "path": argument, "file_text": "created by the scripted model\n" })),
        ],
        "ask" if step == 0 => vec![tool(
            "ask_user",
            &json!({ "question": "Which colour?", "choices": ["red", "blue"], "allow_freeform": true }),
        )],
        // Any tool: its name, then its arguments as JSON.
        "tool" if step == 0 => {
            let (name, arguments) = argument.split_once(' ').unwrap_or((argument, "{}"));
            vec![tool(name, &serde_json::from_str(arguments).unwrap_or_default())]
        }
        // Several tools in one message, as a JSON list.
        "tools" if step == 0 => tools(argument),
        // The tools of one answer after the other, as a JSON list of lists, and then an answer in words.
        "steps" => {
            let steps: Vec<Value> = serde_json::from_str(argument).unwrap_or_default();
            steps.get(step).map_or_else(after_tool, |step| tools(&step.to_string()))
        }
        // The same tools whenever the model is asked, for ever.
        "again" => tools(argument),
        // A tool that many times, one call in each answer. A history that is written out in a message counts too.
        "loop" => {
            let (rounds, rest) = argument.split_once(' ').unwrap_or((argument, "look"));
            let (name, arguments) = rest.split_once(' ').unwrap_or((rest, "{}"));
            let users = messages.iter().filter(|message| message.role == "user");
            let written: usize = users.map(|message| message.text.matches("<tool_result ").count()).sum();
            if step + written < rounds.parse().unwrap_or(1) {
                vec![tool(name, &serde_json::from_str(arguments).unwrap_or_default())]
            } else {
                after_tool()
            }
        }
        // An answer that ends for a reason, such as `length`.
        "finish" => vec![say("As far as it goes"), Item::Finish(argument.to_owned())],
        // These words.
        "say" => vec![say(argument)],
        // Runs the commands again whenever the user says something; ` ;; ` separates commands that run at once.
        "insist" if messages.last().is_some_and(|message| message.role == "user") => argument
            .split(" ;; ")
            .map(|command| tool("bash", &json!({ "command": command, "description": "Run it" })))
            .collect(),
        // Another command each time the user says something: the first of these for the first message, and so on.
        "sequence" if messages.last().is_some_and(|message| message.role == "user") => {
            let said = messages.iter().filter(|message| message.role == "user").count();
            let command = argument.split(" ;; ").nth(said - 1).unwrap_or_default();
            vec![tool("bash", &json!({ "command": command, "description": "Run it" }))]
        }
        "bash" | "create" | "ask" | "insist" | "sequence" | "tool" | "tools" => after_tool(),
        // How many pieces, and the pause after each in milliseconds.
        "slow" => {
            let mut figures = argument.split_whitespace().map(|figure| figure.parse().unwrap_or(0));
            let (pieces, pause) = (figures.next().unwrap_or(100), figures.next().unwrap_or(50));
            let ticks = (0..pieces).map(|tick| format!("tick{tick} ")).collect();
            vec![Item::Text(ticks, Duration::from_millis(pause))]
        }
        "many" => vec![Item::Text((0..count(1_000)).map(|token| format!("tok{token} ")).collect(), Duration::ZERO)],
        "error" => vec![Item::Error(argument.parse().unwrap_or(500))],
        // Fails until the user says that a session has crashed, as tasks do in the next session.
        "crash"
            if !messages.iter().any(|message| message.role == "user" && message.text.contains("session crashed")) =>
        {
            vec![Item::Error(argument.parse().unwrap_or(400))]
        }
        "crash" => vec![say("Done after the crash.")],
        // Breaks off every other time, so that a retry succeeds.
        "midfail" if number % 2 == 1 => {
            vec![Item::Text(vec!["partial ".to_owned(), "output ".to_owned()], Duration::from_millis(20)), Item::Break]
        }
        "midfail" => vec![say("Recovered after a broken stream.")],
        other => vec![say(&format!("unknown scenario {other}"))],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(arguments: &str) -> Value {
        serde_json::from_str(arguments).expect("JSON")
    }

    #[test]
    fn several_tools_are_one_answer_and_broken_arguments_stay_as_they_are() {
        let list = r#"[{"name":"a","arguments":{"x":1}},{"name":"b","broken":"{\"x\":"}]"#;
        let request = json!({ "messages": [{ "role": "user", "content": format!("@@tools {list}\nmore") }] });
        let called =
            |name: &str, arguments: &str| Item::Tool { name: name.to_owned(), arguments: arguments.to_owned() };
        assert_eq!(plan(&request, 1, &[]), [called("a", r#"{"x":1}"#), called("b", r#"{"x":"#)]);
    }

    #[test]
    fn a_cue_stands_for_a_mark_and_steps_follow_each_other() {
        let step = |name: &str| json!([{ "name": name, "arguments": {} }]);
        let cue = |text: &str, scenario: String| Cue { text: text.to_owned(), scenario };
        let cues =
            [cue("Build", format!("@@steps {}", json!([step("a"), step("b")]))), cue("again", "@@say no".to_owned())];
        let mut request = json!({ "messages": [{ "role": "user", "content": "Build it." }] });
        for expected in ["a", "b"] {
            assert!(matches!(&plan(&request, 1, &cues)[..], [Item::Tool { name, .. }] if name == expected));
            let list = request["messages"].as_array_mut().expect("a list");
            list.extend([
                json!({ "role": "assistant", "content": null }),
                json!({ "role": "tool", "content": "done" }),
            ]);
        }
        assert!(matches!(&plan(&request, 1, &cues)[..], [Item::Text(..)]));
        let last = json!({ "messages": [{ "role": "user", "content": "Build it again." }] });
        assert_eq!(plan(&last, 1, &cues), [say("no")]);
    }

    #[test]
    fn the_last_mark_of_a_user_chooses_and_answers_since_then_are_steps() {
        let request = json!({ "messages": [
            { "role": "user", "content": "@@reason" },
            { "role": "assistant", "content": "42" },
            { "role": "user", "content": [{ "type": "text", "text": "now @@bash echo hi\nmore" }] },
        ] });
        let Item::Tool { arguments, .. } = &plan(&request, 1, &[])[1] else { panic!("a tool") };
        assert_eq!(parsed(arguments)["command"], "echo hi");
        let mut later = request;
        let list = later["messages"].as_array_mut().expect("a list");
        list.push(json!({ "role": "assistant", "content": null, "tool_calls": [] }));
        list.push(json!({ "role": "tool", "content": "hi" }));
        let Item::Text(pieces, _) = &plan(&later, 2, &[])[0] else { panic!("a text") };
        assert!(pieces.concat().ends_with("hi"));
        let mut of_claude = json!({ "messages": [{ "role": "user", "content": "@@create /f" }] });
        of_claude["tools"] = json!([{ "name": "Bash" }, { "name": "Write" }]);
        let Item::Tool { name, arguments } = &plan(&of_claude, 1, &[])[0] else { panic!("a tool") };
        assert_eq!((name.as_str(), &parsed(arguments)["file_path"]), ("Write", &json!("/f")));
        let result = json!({ "type": "tool_result", "content": [{ "type": "text", "text": "ha" }] });
        let list = later["messages"].as_array_mut().expect("a list");
        list.pop();
        list.push(json!({ "role": "user", "content": [result] }));
        let Item::Text(pieces, _) = &plan(&later, 2, &[])[0] else { panic!("a text") };
        assert!(pieces.concat().ends_with("ha"), "a result in the user's name is no prompt");
    }
}

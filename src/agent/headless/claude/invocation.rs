//! The command line of one turn.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::super::flags::Arguments;
use super::super::invocation::{Invocation, Wanted, as_text, left_behind};
use super::super::permissions::{Granted, PROTECTED, granted};
use super::TITLE;
use crate::agent::option_values::OptionValues;
use crate::agent::{OptionKind, SessionOption, StartSpec};
use crate::model::{JobTool, McpServer, McpTransport};

/// The supported session options.
const OPTIONS: [&str; 8] =
    ["mcpServers", "stream", "addDirs", "maxTurns", "maxBudgetUsd", "fallbackModel", "allowedTools", "bare"];

#[derive(Debug)]
struct ClaudeOptions {
    stream: bool,
    add_dirs: Vec<String>,
    max_turns: Option<u64>,
    max_budget_usd: Option<f64>,
    fallback_model: Option<String>,
    allowed_tools: Vec<String>,
    bare: bool,
}

fn options(values: &Map<String, Value>) -> Result<ClaudeOptions, String> {
    let options = OptionValues::new(TITLE, values, &OPTIONS)?;
    Ok(ClaudeOptions {
        stream: options.switch("stream", true)?,
        add_dirs: options.list("addDirs")?,
        max_turns: options.count("maxTurns")?,
        max_budget_usd: options.amount("maxBudgetUsd")?,
        fallback_model: options.text("fallbackModel")?,
        allowed_tools: options.list("allowedTools")?,
        bare: options.switch("bare", false)?,
    })
}

/// The options of its own, as people see them.
pub fn session_options() -> Vec<SessionOption> {
    let option = SessionOption::new;
    vec![
        SessionOption::stream(),
        SessionOption::switch(
            "bare",
            false,
            "Bare mode",
            "Runs without your own settings, hooks, plugins and CLAUDE.md.",
        ),
        option("maxTurns", OptionKind::Count, "Maximum steps", "How many steps the agent may take in a turn."),
        option(
            "maxBudgetUsd",
            OptionKind::Amount,
            "Cost limit in US dollars",
            "The agent stops by itself when a turn has cost this much.",
        ),
        option("fallbackModel", OptionKind::Text, "Fallback model", "Used while the chosen model is overloaded.")
            .with_choices([("sonnet", "Claude Sonnet"), ("haiku", "Claude Haiku")]),
        option(
            "allowedTools",
            OptionKind::List,
            "Allowed tools",
            "Tools that may run without a rule, in Claude Code's notation, such as Bash(git log:*).",
        ),
        option(
            "addDirs",
            OptionKind::List,
            "Additional folders",
            "Folders outside the working directory that the agent may use.",
        ),
    ]
}

/// Unknown options, and options of the wrong type, are an error before anything is opened.
pub fn check_options(spec: &StartSpec) -> Result<(), String> {
    options(&spec.options)?;
    match spec.provider {
        Some(_) => Err(format!("{TITLE} has no option \"provider\"; available options: {}", OPTIONS.join(", "))),
        None => Ok(()),
    }
}

/// The invocation for one turn, with these MCP servers.
pub fn invocation(wanted: &Wanted<'_>, servers: &BTreeMap<String, McpServer>) -> Result<Invocation, String> {
    let options = options(&wanted.spec.options)?;
    let mut invocation = Invocation::default();
    let mut arguments = Arguments::new(wanted.flags, &["-p", "--output-format=stream-json", "--verbose"]);
    arguments.flag_if("--include-partial-messages", options.stream);
    // The program rejects an existing id for a new session and an unknown id for a resumed one.
    if let Some(session) = wanted.session {
        arguments.value(if wanted.is_known { "--resume" } else { "--session-id" }, session);
    }
    if !wanted.spec.model.is_empty() {
        arguments.value("--model", &wanted.spec.model);
    }
    if let Some(effort) = wanted.spec.effort.as_deref().filter(|effort| !effort.is_empty()) {
        arguments.value("--effort", effort);
    }
    if let Some(system) = wanted.spec.system_prompt.as_deref().filter(|text| !text.is_empty()) {
        let file = invocation.file("system-prompt", ".txt", system.as_bytes())?;
        arguments.hidden_value("--system-prompt-file", &file.display().to_string());
    }
    if let Some(most) = options.max_turns {
        arguments.hidden_value("--max-turns", &most.to_string());
    }
    if let Some(most) = options.max_budget_usd {
        arguments.value("--max-budget-usd", &most.to_string());
    }
    if let Some(model) = &options.fallback_model {
        arguments.value("--fallback-model", model);
    }
    for folder in &options.add_dirs {
        arguments.value("--add-dir", folder);
    }
    arguments.flag_if("--bare", options.bare);
    permissions(wanted, options.allowed_tools, &mut arguments, &mut invocation);
    if !servers.is_empty() {
        let servers = json!({ "mcpServers": encode(servers) }).to_string();
        let file = invocation.file("mcp", ".json", servers.as_bytes())?;
        arguments.value("--mcp-config", &file.display().to_string());
    }
    wanted.text.clone_into(&mut invocation.input);
    let mut left = Vec::new();
    for attachment in wanted.attachments {
        match as_text(attachment) {
            Some(text) => invocation.input.push_str(&text),
            None => left.push(attachment.name.clone()),
        }
    }
    invocation.notices.extend(left_behind(TITLE, &left));
    invocation.left_out.clone_from(&arguments.left_out);
    invocation.arguments = arguments.into_words();
    Ok(invocation)
}

fn permissions(
    wanted: &Wanted<'_>,
    mut allowed: Vec<String>,
    arguments: &mut Arguments<'_>,
    invocation: &mut Invocation,
) {
    let mut granted = granted(&wanted.spec.permissions, names);
    if granted.folder {
        allow_folder(&mut granted);
    }
    allowed.extend(granted.allowed);
    if wanted.spec.own_server.is_some() {
        allowed.extend(JobTool::ALL.map(|tool| format!("mcp__{}__{tool}", JobTool::SERVER)));
    }
    if granted.everything {
        arguments.flag("--dangerously-skip-permissions");
    } else if arguments.known().know("--permission-prompts") {
        arguments.value("--permission-prompts", "none");
    }
    // One argument for the whole list: as separate arguments, the list would swallow whatever follows.
    if !allowed.is_empty() {
        arguments.value("--allowedTools", &allowed.join(","));
    }
    if !granted.denied.is_empty() {
        arguments.value("--disallowedTools", &granted.denied.join(","));
    }
    if !granted.unsupported.is_empty() {
        let rules = granted.unsupported.join(", ");
        invocation.notices.push(format!(
            "{TITLE} does not support these rules in a headless turn, so the tools they name are denied: {rules}."
        ));
    }
}

/// Rules with patterns, relative to the working directory. They are more exact than the mode `acceptEdits`, which also
/// allows some commands. A rule for `Edit` covers all tools that change files.
fn allow_folder(granted: &mut Granted) {
    let is_decided = |name: &str| granted.allowed.iter().chain(&granted.denied).any(|decided| decided == name);
    let (edits, reads) = (!is_decided("Edit"), !is_decided("Read"));
    if reads {
        granted.allowed.push("Read(./**)".to_owned());
    }
    if edits {
        granted.allowed.push("Edit(./**)".to_owned());
        let anywhere = PROTECTED.iter().flat_map(|pattern| [format!("Edit({pattern})"), format!("Edit(**/{pattern})")]);
        granted.denied.extend(anywhere);
    }
}

/// The program's names for a rule's tool: a name that rules use for all agents is mapped, any other is used as is.
fn names(tool: &str) -> Vec<String> {
    let names: &[&str] = match tool {
        "shell" => &["Bash"],
        "write" => &["Edit", "Write", "NotebookEdit"],
        "read" => &["Read"],
        "url" => &["WebFetch"],
        other if other.contains(['*', ',', ' ']) => &[],
        other => &[other],
    };
    names.iter().map(|name| (*name).to_owned()).collect()
}

/// MCP servers in Claude Code's format. It offers every tool of a server.
fn encode(servers: &BTreeMap<String, McpServer>) -> Map<String, Value> {
    let one = |server: &McpServer| match &server.transport {
        McpTransport::Stdio { command, args, env, cwd: _ } => {
            json!({ "type": "stdio", "command": command, "args": args, "env": env })
        }
        McpTransport::Http(address) | McpTransport::Sse(address) => {
            json!({ "type": server.transport.as_str(), "url": address.url, "headers": address.headers })
        }
    };
    servers.iter().map(|(name, server)| (name.clone(), one(server))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent::Owner;
    use crate::agent::headless::flags::KnownFlags;
    use crate::model::{
        PermissionMode, PermissionPolicy, PermissionRule, ProviderChoice, RuleDecision, SessionOptions,
    };

    fn spec(options: &Value) -> StartSpec {
        StartSpec {
            model: "sonnet".to_owned(),
            effort: Some("high".to_owned()),
            options: options.as_object().cloned().unwrap_or_default(),
            ..StartSpec::in_folder(Owner::Canary, std::path::Path::new("/"))
        }
    }

    fn invoke(spec: &StartSpec, is_known: bool, servers: &Value) -> Invocation {
        let flags = KnownFlags::default();
        let wanted = Wanted { spec, session: Some("ID"), is_known, text: "hello", attachments: &[], flags: &flags };
        let options = json!({ "mcpServers": servers });
        let options = SessionOptions::read(options.as_object().expect("an object")).expect("valid");
        let servers = crate::model::merged_mcp_servers(&BTreeMap::new(), &options.mcp_servers);
        invocation(&wanted, &servers).expect("valid")
    }

    #[test]
    fn the_prompt_is_no_argument_and_nothing_is_allowed_by_default() {
        let first = invoke(&spec(&json!({})), false, &json!({}));
        assert_eq!(
            first.arguments.join(" "),
            "-p --output-format=stream-json --verbose --include-partial-messages --session-id=ID --model=sonnet \
             --effort=high --permission-prompts=none"
        );
        assert_eq!(first.input, "hello");
        assert!(invoke(&spec(&json!({})), true, &json!({})).arguments.contains(&"--resume=ID".to_owned()));
    }

    #[test]
    fn every_option_has_its_flag() {
        let options = json!({
            "stream": false, "addDirs": ["/a"], "maxTurns": 4, "maxBudgetUsd": 0.5, "fallbackModel": "haiku",
            "allowedTools": ["Read", "Bash(git *)"], "bare": true,
        });
        let mut spec = spec(&options);
        spec.system_prompt = Some("be brief".to_owned());
        let invocation = invoke(&spec, false, &json!({ "s": { "type": "local", "command": "c", "tools": ["*"] } }));
        let words = invocation.arguments.join(" ");
        for flag in [
            "--max-turns=4 --max-budget-usd=0.5 --fallback-model=haiku --add-dir=/a --bare",
            "--allowedTools=Read,Bash(git *)",
        ] {
            assert!(words.contains(flag), "{flag}: {words}");
        }
        assert!(!words.contains("--include-partial-messages"));
        let file = |flag: &str| {
            let path = invocation.arguments.iter().find_map(|word| word.strip_prefix(flag)).expect("a file");
            std::fs::read_to_string(path).expect("readable")
        };
        assert_eq!(file("--system-prompt-file="), "be brief");
        let servers: Value = serde_json::from_str(&file("--mcp-config=")).expect("JSON");
        assert_eq!(
            servers,
            json!({ "mcpServers": { "s": { "command": "c", "type": "stdio", "args": [], "env": {} } } })
        );
        let error = check_options(&self::spec(&json!({ "autopilot": true }))).expect_err("unknown");
        assert!(error.contains("maxTurns"), "{error}");
        let provider = Some(ProviderChoice::Configured("ollama".to_owned()));
        let error = check_options(&StartSpec { provider, ..self::spec(&json!({})) }).expect_err("unknown");
        assert!(error.contains("provider"), "{error}");
    }

    #[test]
    fn rules_are_said_in_the_programs_own_names() {
        let rule = PermissionRule::for_tool;
        let mut spec = spec(&json!({}));
        spec.permissions.mode = PermissionMode::AllowAll;
        spec.permissions.rules = vec![rule("mcp__s__t", RuleDecision::Allow), rule("write", RuleDecision::Deny)];
        let words = invoke(&spec, false, &json!({})).arguments.join(" ");
        assert!(words.contains("--dangerously-skip-permissions --allowedTools=mcp__s__t"), "{words}");
        assert!(words.contains("--disallowedTools=Edit,Write,NotebookEdit"), "{words}");
        spec.permissions =
            PermissionPolicy { mode: PermissionMode::Folder, rules: vec![rule("shell", RuleDecision::Allow)] };
        let words = invoke(&spec, false, &json!({})).arguments.join(" ");
        assert!(words.contains("--allowedTools=Bash,Read(./**),Edit(./**) --disallowedTools=Edit(.git),"), "{words}");
        assert!(words.contains("--permission-prompts=none"), "{words}");
        spec.permissions.rules = vec![rule("write", RuleDecision::Deny)];
        let words = invoke(&spec, false, &json!({})).arguments.join(" ");
        assert!(words.contains("--allowedTools=Read(./**) --disallowedTools=Edit,Write,NotebookEdit"), "{words}");
        spec.permissions.mode = PermissionMode::AllowAll;
        spec.permissions.rules.push(rule("git-*", RuleDecision::Deny));
        let words = invoke(&spec, false, &json!({})).arguments.join(" ");
        assert!(!words.contains("--dangerously-skip-permissions"), "{words}");
    }

    #[test]
    fn every_option_is_described_with_the_default_that_it_has() {
        let described = session_options();
        let others: Vec<&str> = OPTIONS.into_iter().filter(|name| !["provider", "mcpServers"].contains(name)).collect();
        let mut names: Vec<&str> = described.iter().map(|option| option.name).collect();
        names.sort_unstable();
        let mut known = others.clone();
        known.sort_unstable();
        assert_eq!(names, known);
        let defaults = options(&Map::new()).expect("nothing is fine");
        let set: Map<String, Value> =
            described.iter().filter_map(|option| Some((option.name.to_owned(), json!(option.default?)))).collect();
        assert_eq!(format!("{defaults:?}"), format!("{:?}", options(&set).expect("valid")));
    }
}

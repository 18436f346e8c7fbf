//! The command line of one turn.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::super::flags::Arguments;
use super::super::invocation::{Invocation, Wanted, as_text, content, left_behind};
use super::super::permissions::{Granted, PROTECTED, granted};
use super::TITLE;
use crate::agent::copilot::{mcp, options};
use crate::agent::option_values::OptionValues;
use crate::agent::{OptionKind, SessionOption};
use crate::model::{JobTool, McpServer};

/// The supported session options.
const OPTIONS: [&str; 9] = [
    "provider",
    "mcpServers",
    "autopilot",
    "maxAutopilotContinues",
    "stream",
    "addDirs",
    "disableBuiltinMcps",
    "reasoningSummaries",
    "noCustomInstructions",
];

/// Claude Code aliases that users of both agents enter by mistake.
const SHORT_NAMES_OF_CLAUDE: [&str; 3] = ["sonnet", "opus", "haiku"];

#[derive(Debug)]
#[expect(clippy::struct_excessive_bools, reason = "switches of a command line, independent of each other")]
struct HeadlessOptions {
    autopilot: bool,
    max_autopilot_continues: Option<u64>,
    stream: bool,
    add_dirs: Vec<String>,
    disable_builtin_mcps: bool,
    reasoning_summaries: bool,
    no_custom_instructions: bool,
}

fn read(values: &Map<String, Value>) -> Result<HeadlessOptions, String> {
    let options = OptionValues::new(TITLE, values, &OPTIONS)?;
    Ok(HeadlessOptions {
        autopilot: options.switch("autopilot", false)?,
        max_autopilot_continues: options.count("maxAutopilotContinues")?,
        stream: options.switch("stream", true)?,
        add_dirs: options.list("addDirs")?,
        disable_builtin_mcps: options.switch("disableBuiltinMcps", true)?,
        reasoning_summaries: options.switch("reasoningSummaries", false)?,
        no_custom_instructions: options.switch("noCustomInstructions", false)?,
    })
}

/// The options of its own, as people see them.
pub fn session_options() -> Vec<SessionOption> {
    let option = SessionOption::new;
    vec![
        SessionOption::switch(
            "autopilot",
            false,
            "Autopilot",
            "The agent continues by itself, turn after turn, until it says that the task is complete.",
        ),
        option(
            "maxAutopilotContinues",
            OptionKind::Count,
            "Most autopilot turns",
            "How often autopilot may continue by itself.",
        ),
        SessionOption::stream(),
        options::disable_builtin_mcps(),
        options::no_custom_instructions(),
        options::reasoning_summaries(false),
        option(
            "addDirs",
            OptionKind::List,
            "Additional folders",
            "Folders outside the working directory that the agent may use.",
        ),
    ]
}

/// Unknown options, and options of the wrong type, are an error before anything is opened.
pub fn check_options(values: &Map<String, Value>) -> Result<(), String> {
    read(values).map(drop)
}

/// The invocation for one turn on that model, with these MCP servers.
pub fn invocation(
    wanted: &Wanted<'_>,
    model: &str,
    servers: &BTreeMap<String, McpServer>,
) -> Result<Invocation, String> {
    let chosen = read(&wanted.spec.options)?;
    let mut invocation = Invocation::default();
    let mut arguments = Arguments::new(wanted.flags, &["--output-format=json", "-s"]);
    arguments.flag("--no-ask-user");
    arguments.flag("--no-color");
    arguments.flag("--plain-diff");
    // The session's id is chosen before the program starts, so that it is known after a crash.
    if let Some(session) = wanted.session {
        arguments.value(if wanted.is_known { "--resume" } else { "--session-id" }, session);
    }
    if !model.is_empty() {
        arguments.value("--model", model);
    }
    if SHORT_NAMES_OF_CLAUDE.contains(&model) {
        invocation.notices.push(format!(
            "{model:?} is a Claude Code alias; {TITLE} needs a full model name. Run `flightdeck models` for the list."
        ));
    }
    effort(wanted, &mut arguments);
    arguments.value("--stream", if chosen.stream { "on" } else { "off" });
    arguments.flag_if("--autopilot", chosen.autopilot);
    if let Some(most) = chosen.max_autopilot_continues {
        arguments.value("--max-autopilot-continues", &most.to_string());
    }
    for folder in &chosen.add_dirs {
        arguments.value("--add-dir", folder);
    }
    if chosen.disable_builtin_mcps {
        for (flag, value) in options::flags_without_builtin_servers(servers) {
            match value {
                Some(value) => arguments.value(flag, value),
                None => arguments.flag(flag),
            }
        }
    }
    arguments.flag_if("--enable-reasoning-summaries", chosen.reasoning_summaries);
    arguments.flag_if("--no-custom-instructions", chosen.no_custom_instructions);
    permissions(wanted, servers, &mut arguments, &mut invocation);
    if !servers.is_empty() {
        let file =
            invocation.file("mcp", ".json", json!({ "mcpServers": mcp::encode(servers) }).to_string().as_bytes())?;
        arguments.value("--additional-mcp-config", &format!("@{}", file.display()));
    }
    invocation.input = input(wanted);
    attachments(wanted, &mut arguments, &mut invocation)?;
    invocation.left_out.clone_from(&arguments.left_out);
    invocation.arguments = arguments.into_words();
    Ok(invocation)
}

/// The flag has had two names, and not all versions support its highest level.
fn effort(wanted: &Wanted<'_>, arguments: &mut Arguments<'_>) {
    let Some(effort) = wanted.spec.effort.as_deref().filter(|effort| !effort.is_empty()) else { return };
    let flag = if arguments.known().know("--effort") { "--effort" } else { "--reasoning-effort" };
    let is_beyond = effort == "max" && !arguments.known().takes(flag, "max");
    arguments.value(flag, if is_beyond { "xhigh" } else { effort });
}

fn permissions(
    wanted: &Wanted<'_>,
    servers: &BTreeMap<String, McpServer>,
    arguments: &mut Arguments<'_>,
    invocation: &mut Invocation,
) {
    let mut granted = granted(&wanted.spec.permissions, |tool| names(tool, servers));
    if granted.folder {
        allow_folder(&mut granted, arguments);
    }
    if wanted.spec.own_server.is_some() {
        granted.allowed.extend(JobTool::ALL.map(|tool| format!("{}({tool})", JobTool::SERVER)));
    }
    arguments.flag_if("--allow-all", granted.everything);
    for tool in &granted.allowed {
        arguments.value("--allow-tool", tool);
    }
    for tool in &granted.denied {
        arguments.value("--deny-tool", tool);
    }
    if !granted.unsupported.is_empty() {
        let rules = granted.unsupported.join(", ");
        invocation.notices.push(format!(
            "{TITLE} does not support these rules in a headless turn, so the tools they name are denied: {rules}."
        ));
    }
}

/// Reading in the working directory needs no flag. A version that cannot keep out of the temporary folder gets nothing.
fn allow_folder(granted: &mut Granted, arguments: &mut Arguments<'_>) {
    let is_decided = |names: &[String]| names.iter().any(|name| name == "write");
    arguments.flag("--disallow-temp-dir");
    if arguments.known().know("--disallow-temp-dir") && !is_decided(&granted.denied) && !is_decided(&granted.allowed) {
        granted.allowed.push("write".to_owned());
        granted.denied.extend(PROTECTED.iter().map(|pattern| format!("write({pattern})")));
    }
}

/// The names of a rule's tool on the command line: a kind of action, or a tool of an MCP server.
fn names(tool: &str, servers: &BTreeMap<String, McpServer>) -> Vec<String> {
    if matches!(tool, "shell" | "write" | "url") {
        return vec![tool.to_owned()];
    }
    let of_server = |server: &String| Some(format!("{server}({})", tool.strip_prefix(server)?.strip_prefix('-')?));
    let is_plain = !tool.contains(['*', '(', ')']);
    servers.keys().filter(|_| is_plain).find_map(of_server).into_iter().collect()
}

/// The prompt, with the system prompt before the first one: the program keeps it in the session.
fn input(wanted: &Wanted<'_>) -> String {
    let mut input = String::new();
    if let Some(system) = wanted.spec.system_prompt.as_deref().filter(|text| !wanted.is_known && !text.is_empty()) {
        input = format!("<system>\n{system}\n</system>\n\n");
    }
    input.push_str(wanted.text);
    for text in wanted.attachments.iter().filter_map(as_text) {
        input.push_str(&text);
    }
    input
}

/// Images are passed as files.
fn attachments(wanted: &Wanted<'_>, arguments: &mut Arguments<'_>, invocation: &mut Invocation) -> Result<(), String> {
    let mut left = Vec::new();
    for attachment in wanted.attachments.iter().filter(|attachment| as_text(attachment).is_none()) {
        let ending = attachment
            .mime
            .strip_prefix("image/")
            .filter(|kind| kind.bytes().all(|letter| letter.is_ascii_alphanumeric()));
        match (ending, content(attachment)) {
            (Some(ending), Some(picture)) if arguments.known().know("--attachment") => {
                let path = invocation.file("picture", &format!(".{ending}"), &picture)?;
                arguments.value("--attachment", &path.display().to_string());
            }
            _ => left.push(attachment.name.clone()),
        }
    }
    invocation.notices.extend(left_behind(TITLE, &left));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent::headless::flags::KnownFlags;
    use crate::agent::{Owner, StartSpec};
    use crate::model::{Attachment, McpTransport, PermissionMode, PermissionPolicy, PermissionRule, RuleDecision};

    fn spec(options: &Value) -> StartSpec {
        StartSpec {
            system_prompt: Some("be brief".to_owned()),
            options: options.as_object().cloned().unwrap_or_default(),
            ..StartSpec::in_folder(Owner::Canary, std::path::Path::new("/"))
        }
    }

    fn invoke(spec: &StartSpec, is_known: bool, flags: &KnownFlags) -> Invocation {
        let wanted = Wanted { spec, session: Some("ID"), is_known, text: "hello", attachments: &[], flags };
        invocation(&wanted, "m", &BTreeMap::new()).expect("fits")
    }

    #[test]
    fn the_defaults_are_those_that_programs_want_and_the_prompt_is_no_argument() {
        let flags = KnownFlags::default();
        let first = invoke(&spec(&json!({})), false, &flags);
        assert_eq!(
            first.arguments,
            [
                "--output-format=json",
                "-s",
                "--no-ask-user",
                "--no-color",
                "--plain-diff",
                "--session-id=ID",
                "--model=m",
                "--stream=on",
                "--disable-builtin-mcps"
            ]
        );
        assert_eq!(first.input, "<system>\nbe brief\n</system>\n\nhello");
        let second = invoke(&spec(&json!({})), true, &flags);
        assert!(second.arguments.contains(&"--resume=ID".to_owned()), "{second:?}");
        assert_eq!(second.input, "hello", "the system prompt is in the session");
    }

    #[test]
    fn every_option_has_its_flag_and_an_unknown_one_is_named() {
        let options = json!({
            "autopilot": true, "maxAutopilotContinues": 3, "stream": false, "addDirs": ["/a", "/b"],
            "disableBuiltinMcps": false, "reasoningSummaries": true, "noCustomInstructions": true,
        });
        let words = invoke(&spec(&options), false, &KnownFlags::default()).arguments.join(" ");
        for flag in [
            "--autopilot --max-autopilot-continues=3",
            "--stream=off",
            "--add-dir=/a --add-dir=/b",
            "--enable-reasoning-summaries",
            "--no-custom-instructions",
        ] {
            assert!(words.contains(flag), "{flag}: {words}");
        }
        assert!(!words.contains("--disable-builtin-mcps"));
        let error = check_options(json!({ "autopilott": true }).as_object().expect("a table")).expect_err("unknown");
        assert!(error.contains("autopilot,"), "{error}");
    }

    #[test]
    fn a_short_name_of_the_other_agents_models_is_passed_on_with_a_warning() {
        let (spec, flags) = (spec(&json!({})), KnownFlags::default());
        let wanted =
            Wanted { spec: &spec, session: Some("ID"), is_known: true, text: "", attachments: &[], flags: &flags };
        let invocation = invocation(&wanted, "sonnet", &BTreeMap::new()).expect("fits");
        assert!(invocation.arguments.contains(&"--model=sonnet".to_owned()));
        assert!(invocation.notices[0].contains("Claude Code"), "{:?}", invocation.notices);
    }

    #[test]
    fn flags_of_other_versions_are_left_out_and_named() {
        let flags =
            KnownFlags::read("--resume --session-id --stream --reasoning-effort <level> [possible values: low, xhigh]");
        let spec = StartSpec { effort: Some("max".to_owned()), ..spec(&json!({})) };
        let invocation = invoke(&spec, false, &flags);
        assert_eq!(
            invocation.arguments,
            ["--output-format=json", "-s", "--session-id=ID", "--reasoning-effort=xhigh", "--stream=on"]
        );
        assert_eq!(
            invocation.left_out,
            ["--no-ask-user", "--no-color", "--plain-diff", "--model", "--disable-builtin-mcps"]
        );
    }

    #[test]
    fn permissions_become_flags_and_nothing_is_allowed_by_default() {
        let transport =
            McpTransport::Stdio { command: "g".to_owned(), args: Vec::new(), env: BTreeMap::new(), cwd: None };
        let greeter = McpServer { transport, tools: None, timeout_ms: None };
        let servers = &BTreeMap::from([("greeter".to_owned(), greeter)]);
        let rule = PermissionRule::for_tool;
        let mut spec = spec(&json!({}));
        let flags = KnownFlags::default();
        let words = |spec: &StartSpec| {
            let wanted =
                Wanted { spec, session: Some("ID"), is_known: true, text: "", attachments: &[], flags: &flags };
            let invocation = invocation(&wanted, "", servers).expect("fits");
            (invocation.arguments.join(" "), invocation.notices)
        };
        let (plain, _) = words(&spec);
        assert!(!plain.contains("--allow") && plain.contains("--additional-mcp-config=@"), "{plain}");
        spec.permissions.rules = vec![
            rule("greeter-greet", RuleDecision::Allow),
            rule("shell", RuleDecision::Deny),
            rule("odd-*", RuleDecision::Deny),
        ];
        spec.permissions.mode = PermissionMode::AllowAll;
        let (ruled, notices) = words(&spec);
        assert!(ruled.contains("--allow-tool=greeter(greet) --deny-tool=shell"), "{ruled}");
        assert!(!ruled.contains("--allow-all") && notices[0].contains("odd-*"), "{ruled} {notices:?}");
        spec.permissions.rules.pop();
        assert!(words(&spec).0.contains("--allow-all"));
        spec.permissions = PermissionPolicy { mode: PermissionMode::Folder, rules: Vec::new() };
        let (folder, _) = words(&spec);
        let flags = "--disallow-temp-dir --allow-tool=write --deny-tool=write(.git) --deny-tool=write(.git/**)";
        assert!(folder.contains(flags) && !folder.contains("--allow-all"), "{folder}");
        spec.permissions.rules = vec![rule("write", RuleDecision::Deny)];
        let (strict, _) = words(&spec);
        assert!(strict.contains("--deny-tool=write") && !strict.contains("--allow"), "{strict}");
    }

    #[test]
    fn a_server_of_the_users_own_is_not_disabled_with_the_built_in_one_of_its_name() {
        let transport =
            McpTransport::Stdio { command: "g".to_owned(), args: Vec::new(), env: BTreeMap::new(), cwd: None };
        let own = McpServer { transport, tools: None, timeout_ms: None };
        let servers = BTreeMap::from([("github-mcp-server".to_owned(), own)]);
        let (spec, flags) = (spec(&json!({})), KnownFlags::default());
        let wanted =
            Wanted { spec: &spec, session: Some("ID"), is_known: true, text: "", attachments: &[], flags: &flags };
        let words = invocation(&wanted, "m", &servers).expect("fits").arguments;
        assert!(words.contains(&"--disable-mcp-server=githubiq".to_owned()), "{words:?}");
        let others = ["--disable-builtin-mcps".to_owned(), "--disable-mcp-server=github-mcp-server".to_owned()];
        assert!(!others.iter().any(|other| words.contains(other)), "{words:?}");
    }

    #[test]
    fn text_files_are_part_of_the_prompt_and_pictures_are_files_of_their_own() {
        use base64::Engine as _;
        let encode = |text: &str| base64::engine::general_purpose::STANDARD.encode(text);
        let file = |name: &str, mime: &str, data| Attachment { name: name.to_owned(), mime: mime.to_owned(), data };
        let attachments = [
            file("a.txt", "text/plain", encode("inside")),
            file("p.png", "image/png", encode("picture")),
            file("x.bin", "application/x", encode("\u{0}") + "//8="),
        ];
        let (spec, flags) = (spec(&json!({})), KnownFlags::default());
        let wanted = Wanted {
            spec: &spec,
            session: Some("ID"),
            is_known: true,
            text: "look",
            attachments: &attachments,
            flags: &flags,
        };
        let invocation = invocation(&wanted, "", &BTreeMap::new()).expect("fits");
        assert_eq!(invocation.input, "look\n\na.txt:\ninside");
        let path = invocation.arguments.iter().find_map(|word| word.strip_prefix("--attachment=")).expect("a file");
        assert_eq!(std::fs::read_to_string(path).expect("readable"), "picture");
        assert!(invocation.notices[0].contains("x.bin"), "{:?}", invocation.notices);
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
        let defaults = read(&Map::new()).expect("nothing is fine");
        let set: Map<String, Value> =
            described.iter().filter_map(|option| Some((option.name.to_owned(), json!(option.default?)))).collect();
        assert_eq!(format!("{defaults:?}"), format!("{:?}", read(&set).expect("valid")));
    }
}

//! `flightdeck jobs trust`: shows what the jobs of a folder may run, and trusts them.

use std::process::ExitCode;

use anyhow::bail;
use serde_json::{Value, json};

use super::super::arguments::CommonFlags;
use super::super::command_context::CommandContext;
use super::super::connection::{sentence, server};
use super::super::output::print;
use super::super::terminal::keyboard::{can_ask, confirm};
use super::super::terminal::style::Style;
use super::super::terminal::text::{clean, command, one_line, path, value, working_directory};
use super::arguments::TrustFlags;
use crate::client::about_folder;
use crate::jobs::entry::{Entry, Task};
use crate::model::{PermissionMode, PermissionRule, RuleDecision};

pub(super) fn trust(flags: &TrustFlags, common: &CommonFlags) -> anyhow::Result<ExitCode> {
    let context = CommandContext::new(common)?;
    let server = server(&context)?;
    let folder = working_directory(&context.resolved.start_folder, flags.folder.folder.as_ref())?;
    let described = context.wait_for(server.get(&about_folder("/api/jobs/entry", &folder))).map_err(sentence)?;
    if described["source"] != "folder" {
        bail!("there is no .flightdeck/jobs.json in {} or its repository, so there is nothing to trust", path(&folder));
    }
    let (file, hash) = (value(&described["path"]), value(&described["hash"]));
    let Ok(entry) = serde_json::from_value::<Entry>(described["entry"].clone()) else {
        bail!("{file} has errors, so it cannot be trusted; to see them, run `flightdeck jobs check`");
    };
    eprintln!("{}", shown(&file, &hash, &entry, Style::of_errors()));
    let is_trusted = described["trusted"] == true;
    if !is_trusted {
        match &flags.hash {
            Some(expected) if *expected != hash => {
                bail!("{file} does not have the hash {}; look at it again", clean(expected));
            }
            Some(_) => {}
            None if flags.yes => {}
            None if can_ask() => {
                if !confirm("Trust these jobs?")? {
                    eprintln!("Not trusted.");
                    return Ok(ExitCode::FAILURE);
                }
            }
            None => bail!("nobody can be asked here; to trust exactly this file, add `--hash {hash}`"),
        }
        let body = json!({ "path": described["path"], "hash": described["hash"] });
        context.wait_for(server.post_json("/api/jobs/trust", &body)).map_err(sentence)?;
    }
    if common.json {
        print(&json!({ "path": described["path"], "hash": described["hash"], "trusted": true }).to_string())?;
    } else if is_trusted {
        print(&format!("{file} is already trusted."))?;
    } else {
        print(&format!("Trusted {file}. If the file changes, you are asked again."))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// What trusting an entry allows.
fn shown(file: &str, hash: &str, entry: &Entry, style: Style) -> String {
    let names: Vec<String> = entry.jobs.keys().map(|name| one_line(name)).collect();
    let mut lines = vec![style.bold(file), format!("  SHA-256: {hash}"), format!("  Jobs: {}", names.join(", "))];
    for (name, task) in &entry.tasks {
        lines.push(format!("  Task {}", style.bold(&one_line(name))));
        lines.extend(allowed(task).into_iter().map(|line| format!("    {line}")));
    }
    lines.join("\n")
}

/// What a task may do and what it runs.
fn allowed(task: &Task) -> Vec<String> {
    let permissions = task.permissions.clone().unwrap_or_default();
    let mut lines = vec![format!("permissions: {}", mode(permissions.mode.unwrap_or(PermissionMode::Folder)))];
    lines.extend(permissions.rules.iter().map(|written| format!("  {}", rule(written))));
    if let Some(check) = task.criteria.as_ref().and_then(|criteria| criteria.command.as_ref()) {
        lines.push(format!("runs: {}", command(&check.run)));
    }
    for (name, server) in &task.mcp_servers {
        lines.push(format!("MCP server {}: {}", one_line(name), clean(&mcp_server(server))));
    }
    lines
}

/// What starts or where it is; values of variables are left out, because they may be secrets.
fn mcp_server(server: &Value) -> String {
    let arguments = server["args"].as_array().into_iter().flatten().filter_map(Value::as_str);
    match server["command"].as_str() {
        Some(program) => command(&std::iter::once(program).chain(arguments).map(str::to_owned).collect::<Vec<_>>()),
        None => server["url"].as_str().unwrap_or("unknown").to_owned(),
    }
}

/// A mode in words.
pub(super) fn mode(mode: PermissionMode) -> &'static str {
    match mode {
        PermissionMode::Ask => "ask a person for everything that no rule covers",
        PermissionMode::AllowAll => "allow everything that no rule covers",
        PermissionMode::Deny => "deny everything that no rule covers",
        PermissionMode::Folder => {
            "read and write files in the working directory; deny everything else that no rule covers"
        }
    }
}

/// A rule in words.
pub(super) fn rule(rule: &PermissionRule) -> String {
    let decision = match rule.decision {
        RuleDecision::Allow => "allow",
        RuleDecision::Deny => "deny",
        RuleDecision::Ask => "ask about",
    };
    let mut text = format!("{decision} {}", one_line(&rule.tool));
    if let Some(prefix) = &rule.prefix {
        text = format!("{text}: commands that begin with `{}`", one_line(prefix));
    }
    if let Some(call) = &rule.call {
        text = format!("{text}: exactly `{}`", one_line(call));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_that_trust_allows_is_shown() {
        let task: Task = serde_json::from_value(json!({
            "prompt": ["x"], "requireUserInput": false,
            "permissions": { "mode": "allow-all", "rules": [{ "tool": "shell", "decision": "deny", "prefix": "git push" }] },
            "criteria": { "command": { "run": ["sh", "-c", "make test"] }, "failureAction": { "retryTimes": 0 } },
            "mcpServers": { "search": { "command": "npx", "args": ["search"], "env": { "KEY": "secret" } } },
        }))
        .expect("a task");
        let expected = [
            "permissions: allow everything that no rule covers",
            "  deny shell: commands that begin with `git push`",
            "runs: sh -c \"make test\"",
            "MCP server search: npx search",
        ];
        assert_eq!(allowed(&task), expected);
        let plain: Task =
            serde_json::from_value(json!({ "prompt": ["x"], "requireUserInput": false })).expect("a task");
        assert!(allowed(&plain)[0].contains("deny everything else"));
    }
}

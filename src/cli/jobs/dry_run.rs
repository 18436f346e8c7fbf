//! What a job would do, as text.

use serde_json::Value;

use super::super::terminal::style::Style;
use super::super::terminal::text::{clean, command, indented, one_line, value};
use super::outline::outline;
use super::trust::{mode, rule};
use crate::jobs::entry::{Command, Work};
use crate::model::PermissionPolicy;

/// A preview of the API as text.
pub(super) fn shown(preview: &Value, style: Style) -> String {
    let mut parts = vec![
        style.bold(&format!("Job {}", one_line(&value(&preview["jobName"])))),
        format!("Folder: {}", one_line(&value(&preview["workingDirectory"]))),
    ];
    let input = value(&preview["userInput"]);
    if !input.is_empty() {
        parts.push(format!("Input:\n{}", indented(&input, 2)));
    }
    if let Ok(work) = serde_json::from_value::<Work>(preview["work"].clone()) {
        parts.push(format!("Steps:\n{}", indented(&outline(&work), 2)));
    }
    parts.extend(preview["works"].as_array().into_iter().flatten().map(|work| step(work, style)));
    for warning in preview["warnings"].as_array().into_iter().flatten() {
        parts.push(format!("{}: {}", style.yellow("warning"), value(warning)));
    }
    parts.push("Nothing was started.".to_owned());
    parts.join("\n\n")
}

fn step(work: &Value, style: Style) -> String {
    let id = work["workId"].to_string();
    if let Some(title) = work["gate"].as_str() {
        let mut lines = vec![style.bold(&format!("{id} gate: {}", one_line(title)))];
        if let Some(prompt) = work["prompt"].as_str() {
            lines.push(indented(&clean(prompt), 4));
        }
        return lines.join("\n");
    }
    let mut lines = vec![style.bold(&format!("{id} {}", one_line(&value(&work["taskName"]))))];
    let mut field = |name: &str, text: &str| lines.push(format!("  {name}: {text}"));
    field("model", &one_line(&value(&work["model"])));
    if let Some(runtime) = work["runtime"].as_str() {
        field("runtime", &one_line(runtime));
    }
    let is_separate = work["mode"] == "separate";
    field("sessions", if is_separate { "one for each prompt and each check" } else { "one for everything" });
    if let Some(timeout) = work["timeout"].as_str() {
        field("timeout", &one_line(timeout));
    }
    if let Ok(policy) = serde_json::from_value::<PermissionPolicy>(work["permissions"].clone()) {
        field("permissions", mode(policy.mode));
        lines.extend(policy.rules.iter().map(|written| format!("    {}", rule(written))));
    }
    let mut text = |name: &str, text: &Value| {
        if let Some(text) = text.as_str() {
            lines.push(format!("  {name}:\n{}", indented(&clean(text), 4)));
        }
    };
    text("available if", &work["availability"]);
    text("prompt", &work["prompt"]);
    let criteria = &work["criteria"];
    text("done if", &criteria["condition"]);
    let tools: Vec<String> = criteria["toolExecuted"].as_array().into_iter().flatten().map(value).collect();
    if !tools.is_empty() {
        lines.push(format!("  must call: {}", tools.join(", ")));
    }
    if let Ok(check) = serde_json::from_value::<Command>(criteria["command"].clone()) {
        lines.push(format!("  must exit with {}: {}", check.expected_exit(), command(&check.run)));
    }
    if let Some(retries) = criteria["retryTimes"].as_u64() {
        lines.push(format!("  retries: {retries}"));
    }
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_preview_has_prompts_models_permissions_and_commands() {
        let preview = json!({
            "jobName": "build", "workingDirectory": "/w", "userInput": "faster", "requireUserInput": true,
            "work": { "kind": "Seq", "works": [
                { "kind": "Ref", "workIdInJob": 0, "taskId": "code" }, { "kind": "Gate", "workIdInJob": 1, "title": "Go?" },
            ] },
            "works": [
                { "workId": 0, "taskName": "code", "model": "gpt", "mode": "single", "prompt": "Make it\nfaster",
                  "permissions": { "mode": "folder", "rules": [{ "tool": "shell", "decision": "allow", "prefix": "git diff" }] },
                  "criteria": { "command": { "run": ["make", "test"], "expectExit": 2 }, "retryTimes": 3 } },
                { "workId": 1, "gate": "Go?" },
            ],
            "warnings": ["No agent."],
        });
        let text = shown(&preview, Style::plain());
        for part in [
            "Job build",
            "Steps:\n  0 code\n  1 gate: Go?",
            "0 code\n  model: gpt",
            "  prompt:\n    Make it\n    faster",
            "    allow shell: commands that begin with `git diff`",
            "must exit with 2: make test\n  retries: 3",
            "warning: No agent.",
            "Nothing was started.",
        ] {
            assert!(text.contains(part), "{part}: {text}");
        }
    }
}

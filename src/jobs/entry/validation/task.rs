//! The check of a task.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::{Map, Value};

use super::super::problem::{Problem, named, quoted};
use super::super::prompt::{self, Expander, Needs};
use super::super::{Command, Criteria, ModelChoice, Prompt, Task, TaskPermissions, tool};
use crate::model::{SessionOptions, simple_command};

/// A category that only an override may name.
const ONLY_IN_OVERRIDES: &str = "reviewers";

/// Checks a task and expands its prompts.
pub(super) fn check_task(
    path: &str,
    task: &mut Task,
    models: &BTreeMap<String, String>,
    expander: &mut Expander<'_>,
    problems: &mut Vec<Problem>,
) {
    let mut check = Check { expander, problems };
    if let Some(model) = &task.model {
        let is_key = |key: &str| key != ONLY_IN_OVERRIDES && models.contains_key(key);
        check_model(&format!("{path}.model"), model, is_key, check.problems);
    }
    check.expand(&format!("{path}.prompt"), &mut task.prompt, Needs::Nothing);
    check.user_input(path, task);
    if let Some(condition) = task.availability.as_mut().and_then(|availability| availability.condition.as_mut()) {
        check.expand(&format!("{path}.availability.condition"), condition, Needs::BooleanTool);
    }
    if let Some(criteria) = &mut task.criteria {
        check.criteria(&format!("{path}.criteria"), criteria);
    }
    check.extensions(path, task);
}

/// Checks the choice of a model. `is_key` says which categories there are.
pub(super) fn check_model(path: &str, model: &ModelChoice, is_key: impl Fn(&str) -> bool, problems: &mut Vec<Problem>) {
    match model {
        ModelChoice::Category(category) if !is_key(category) => {
            let message = format!("{} is not a valid model key.", quoted(category));
            problems.push(Problem::error(format!("{path}.category"), message));
        }
        ModelChoice::Id(id) if id.trim().is_empty() => {
            problems.push(Problem::error(format!("{path}.id"), "Should not be empty."));
        }
        ModelChoice::Category(_) | ModelChoice::Id(_) => {}
    }
}

struct Check<'a, 'b> {
    expander: &'a mut Expander<'b>,
    problems: &'a mut Vec<Problem>,
}

impl Check<'_, '_> {
    fn error(&mut self, path: String, message: impl Into<String>) {
        self.problems.push(Problem::error(path, message));
    }

    fn expand(&mut self, path: &str, prompt: &mut Prompt, needs: Needs) {
        match self.expander.expand(path, prompt, needs) {
            Ok(text) => *prompt = vec![text],
            Err(found) => self.problems.extend(found),
        }
    }

    fn user_input(&mut self, path: &str, task: &Task) {
        // What could not be expanded has more than one element, or variables that nobody knows.
        let uses = task.prompt.iter().any(|line| prompt::uses_user_input(line));
        let message = match (task.require_user_input, uses) {
            (true, false) if !self.is_broken(path) => "Prompt should use $user-input when requireUserInput is true.",
            (false, true) => "Prompt should not use $user-input when requireUserInput is false.",
            _ => return,
        };
        self.error(format!("{path}.requireUserInput"), message);
    }

    /// Whether the prompt has a problem, so that what it uses is not known.
    fn is_broken(&self, path: &str) -> bool {
        let prompt = format!("{path}.prompt");
        self.problems.last().is_some_and(|problem| problem.path.starts_with(&prompt))
    }

    fn criteria(&mut self, path: &str, criteria: &mut Criteria) {
        for (position, name) in criteria.tool_executed.iter().flatten().enumerate() {
            if !tool::is_available(name) {
                let message = format!("{} is not an available tool.", quoted(name));
                self.error(format!("{path}.toolExecuted[{position}]"), message);
            }
        }
        if let Some(condition) = &mut criteria.condition {
            self.expand(&format!("{path}.condition"), condition, Needs::BooleanTool);
        }
        if let Some(additional) = &mut criteria.failure_action.additional_prompt {
            self.expand(&format!("{path}.failureAction.additionalPrompt"), additional, Needs::Nothing);
        }
        if let Some(command) = &criteria.command {
            self.command(&format!("{path}.command"), command);
        }
    }

    fn command(&mut self, path: &str, command: &Command) {
        match command.run.first() {
            None => self.error(format!("{path}.run"), "should have at least one element."),
            Some(program) if program.trim().is_empty() => {
                self.error(format!("{path}.run[0]"), "Should be the name of a program.");
            }
            Some(_) => {}
        }
        for (position, _) in command.run.iter().enumerate().filter(|(_, word)| word.contains('\0')) {
            self.error(format!("{path}.run[{position}]"), "Should not contain a null character.");
        }
        self.duration(format!("{path}.timeout"), command.timeout.as_deref());
    }

    fn duration(&mut self, path: String, text: Option<&str>) {
        match text.map(|text| (text, humantime::parse_duration(text))) {
            Some((text, Err(_))) => {
                self.error(path, format!("{} is not a duration such as 90s, 10m or 1h 30m.", quoted(text)));
            }
            Some((_, Ok(Duration::ZERO))) => self.error(path, "Should be longer than 0."),
            Some((_, Ok(_))) | None => {}
        }
    }

    fn extensions(&mut self, path: &str, task: &Task) {
        if let Some(permissions) = &task.permissions {
            self.permissions(&format!("{path}.permissions"), permissions);
        }
        for (name, text) in [("runtime", &task.runtime), ("effort", &task.effort)] {
            if text.as_ref().is_some_and(|text| text.trim().is_empty()) {
                self.error(format!("{path}.{name}"), "Should not be empty.");
            }
        }
        self.duration(format!("{path}.timeout"), task.timeout.as_deref());
        if let Some(problem) = task.budget.as_ref().and_then(crate::model::SessionBudget::problem) {
            self.error(format!("{path}.budget"), format!("Should be valid: {problem}."));
        }
        for (name, server) in &task.mcp_servers {
            self.mcp_server(&named(&format!("{path}.mcpServers"), name), name, server);
        }
    }

    fn permissions(&mut self, path: &str, permissions: &TaskPermissions) {
        for (position, rule) in permissions.rules.iter().enumerate() {
            let path = format!("{path}.rules[{position}]");
            if rule.tool.trim().is_empty() {
                self.error(format!("{path}.tool"), "Should not be empty.");
            }
            if let Some(prefix) = rule.prefix.as_ref().filter(|prefix| simple_command(prefix).is_none()) {
                let message =
                    format!("{} is not the beginning of a simple command, so it never applies.", quoted(prefix));
                self.error(format!("{path}.prefix"), message);
            }
        }
    }

    fn mcp_server(&mut self, path: &str, name: &str, server: &Value) {
        let servers = Map::from_iter([(name.to_owned(), server.clone())]);
        let options = Map::from_iter([("mcpServers".to_owned(), Value::Object(servers))]);
        if let Err(message) = SessionOptions::check(&options) {
            let message = message.strip_prefix(&format!("options.mcpServers.{name}: ")).unwrap_or(&message);
            self.error(path.to_owned(), format!("Should be an MCP server: {message}."));
        }
    }
}

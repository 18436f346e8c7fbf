//! Prompts and their variables.
//!
//! A variable is `$` and a name of letters, in parts that single hyphens join. Variables of the entry are expanded once,
//! when it is checked. Runtime variables stay until the prompt is sent; their values are never expanded again.

use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;

use super::Prompt;
use super::problem::Problem;

/// What a runtime variable without a value becomes.
pub const MISSING: &str = "<MISSING>";

const USER_INPUT: &str = "user-input";
const RUNTIME_VARIABLES: [&str; 6] =
    [USER_INPUT, "task-model", "reported-document", "reported-true-reason", "reported-false-reason", "gate-note"];
const BOOLEAN_TOOLS: [&str; 2] = ["job_boolean_true", "job_boolean_false"];

/// The longest expanded prompt, in bytes.
const LONGEST_PROMPT: usize = 256 * 1024;
/// The most bytes that all expanded prompts of an entry may have together.
const LONGEST_ENTRY: usize = 16 * 1024 * 1024;
/// How deep prompt variables may refer to each other.
const DEEPEST_VARIABLE: usize = 100;
/// How many problems of one prompt are reported.
const MOST_PROBLEMS: usize = 20;

/// The values of the runtime variables of a task.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RuntimeVariables {
    /// `$user-input`: what the person asked for.
    pub user_input: Option<String>,
    /// `$task-model`: the model of the task.
    pub task_model: Option<String>,
    /// `$reported-document`: the document that the agent named last.
    pub reported_document: Option<String>,
    /// `$reported-true-reason`: why the agent answered yes.
    pub reported_true_reason: Option<String>,
    /// `$reported-false-reason`: why the agent answered no.
    pub reported_false_reason: Option<String>,
    /// `$gate-note`: what a person wrote when rejecting.
    pub gate_note: Option<String>,
}

impl RuntimeVariables {
    fn value(&self, name: &str) -> Option<&str> {
        let value = match name {
            USER_INPUT => &self.user_input,
            "task-model" => &self.task_model,
            "reported-document" => &self.reported_document,
            "reported-true-reason" => &self.reported_true_reason,
            "reported-false-reason" => &self.reported_false_reason,
            "gate-note" => &self.gate_note,
            _ => return None,
        };
        value.as_deref().filter(|value| !value.is_empty())
    }
}

/// Whether a name, without its `$`, is one of a runtime variable.
pub fn is_runtime_variable(name: &str) -> bool {
    RUNTIME_VARIABLES.contains(&name)
}

/// The names of the variables in a text, without their `$`, in the order of the text.
pub fn variables_in(text: &str) -> impl Iterator<Item = &str> {
    pieces(text).filter_map(|piece| match piece {
        Piece::Variable(name) => Some(name),
        Piece::Text(_) => None,
    })
}

/// Whether a text asks for what the person wants.
pub fn uses_user_input(text: &str) -> bool {
    variables_in(text).any(|name| name == USER_INPUT)
}

/// Puts the values of the runtime variables into a text. Values are taken as they are, whatever they contain.
pub fn expand_dynamic(text: &str, variables: &RuntimeVariables) -> String {
    pieces(text)
        .map(|piece| match piece {
            Piece::Text(text) => text,
            Piece::Variable(name) => variables.value(name).unwrap_or(MISSING),
        })
        .collect()
}

/// As [`expand_dynamic`], but leaves variables without a value as they are, for a preview.
pub fn expand_known(text: &str, variables: &RuntimeVariables) -> String {
    let mut expanded = String::with_capacity(text.len());
    for piece in pieces(text) {
        match piece {
            Piece::Text(text) => expanded.push_str(text),
            Piece::Variable(name) => {
                let value = variables.value(name);
                expanded.push_str(if value.is_none() { "$" } else { "" });
                expanded.push_str(value.unwrap_or(name));
            }
        }
    }
    expanded
}

/// Joins the lines of a prompt and expands the variables of the entry in it. Runtime variables stay.
pub fn expand_static(
    variables: &BTreeMap<String, Prompt>,
    path: &str,
    prompt: &Prompt,
    needs: Needs,
) -> Result<String, Vec<Problem>> {
    Expander::new(variables).expand(path, prompt, needs)
}

/// What must be in a prompt beside text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Needs {
    /// Nothing.
    Nothing,
    /// One of the tools that answer yes or no.
    BooleanTool,
}

/// Expands the prompts of one entry, each variable only once.
pub(super) struct Expander<'a> {
    variables: &'a BTreeMap<String, Prompt>,
    known: HashMap<&'a str, Expansion>,
    /// How many bytes more the prompts of the entry may have.
    left: usize,
}

/// What a variable stands for, or what is wrong with it: where below the variable, and what.
type Expansion = Rc<Result<String, Vec<(String, String)>>>;

impl<'a> Expander<'a> {
    pub(super) fn new(variables: &'a BTreeMap<String, Prompt>) -> Self {
        Self { variables, known: HashMap::new(), left: LONGEST_ENTRY }
    }

    /// See [`expand_static`].
    pub(super) fn expand(&mut self, path: &str, prompt: &Prompt, needs: Needs) -> Result<String, Vec<Problem>> {
        let text = self.expanded(prompt, &mut Vec::new()).map_err(|found| {
            let problems = found.into_iter().take(MOST_PROBLEMS);
            problems.map(|(below, message)| Problem::error(format!("{path}{below}"), message)).collect::<Vec<_>>()
        })?;
        let wrong = |message: &str| Err(vec![Problem::error(path, message)]);
        if text.trim().is_empty() {
            return wrong("Prompt is empty.");
        }
        // A value that ends in `$` makes a variable of what follows it.
        if let Some(made) = variables_in(&text).find(|name| !is_runtime_variable(name)) {
            return wrong(&format!("Cannot find prompt variable: ${made}."));
        }
        if needs == Needs::BooleanTool && !BOOLEAN_TOOLS.iter().any(|tool| text.contains(tool)) {
            return wrong("Boolean tool (job_boolean_true or job_boolean_false) must be mentioned.");
        }
        match self.left.checked_sub(text.len()) {
            Some(left) => self.left = left,
            None => return wrong("Prompts are too long: more than 16 MB in all after variables are expanded."),
        }
        Ok(text)
    }

    /// `open` has the variables that are being expanded, outermost first.
    fn expanded(&mut self, prompt: &Prompt, open: &mut Vec<&'a str>) -> Result<String, Vec<(String, String)>> {
        if prompt.is_empty() {
            return Err(vec![(String::new(), "Prompt is empty.".to_owned())]);
        }
        let joined = prompt.join("\n");
        let mut text = String::with_capacity(joined.len());
        let mut problems = Vec::new();
        let mut seen: Vec<&str> = Vec::new();
        for piece in pieces(&joined) {
            match piece {
                Piece::Text(plain) => text.push_str(plain),
                Piece::Variable(name) if is_runtime_variable(name) => {
                    text.push('$');
                    text.push_str(name);
                }
                Piece::Variable(name) => match &*self.value(name, open) {
                    Ok(value) => text.push_str(value),
                    // One mention is enough.
                    Err(_) if seen.contains(&name) => {}
                    Err(found) => {
                        seen.push(name);
                        problems.extend(found.iter().cloned());
                    }
                },
            }
            if text.len() > LONGEST_PROMPT {
                problems.push((
                    String::new(),
                    "Prompt is too long: more than 256 KB after variables are expanded.".to_owned(),
                ));
            }
            if problems.len() >= MOST_PROBLEMS || text.len() > LONGEST_PROMPT {
                break;
            }
        }
        if problems.is_empty() { Ok(text) } else { Err(problems) }
    }

    fn value(&mut self, name: &str, open: &mut Vec<&'a str>) -> Expansion {
        let here = |message: String| Rc::new(Err(vec![(String::new(), message)]));
        let Some((key, prompt)) = self.variables.get_key_value(name) else {
            return here(format!("Cannot find prompt variable: ${name}."));
        };
        if let Some(known) = self.known.get(key.as_str()) {
            return Rc::clone(known);
        }
        if let Some(begin) = open.iter().position(|outer| *outer == name) {
            let cycle = open[begin..].join(" → $");
            return here(format!("Prompt variables form a cycle: ${cycle} → ${name}."));
        }
        if open.len() == DEEPEST_VARIABLE {
            return here(format!("Prompt variables are nested more than {DEEPEST_VARIABLE} deep."));
        }
        open.push(key);
        let expanded = self.expanded(prompt, open).map_err(|found| {
            let below = found.into_iter().take(MOST_PROBLEMS);
            below.map(|(path, message)| (format!("/${name}{path}"), message)).collect()
        });
        open.pop();
        let expansion = Rc::new(expanded);
        self.known.insert(key, Rc::clone(&expansion));
        expansion
    }
}

/// A part of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Piece<'a> {
    Text(&'a str),
    /// Without its `$`.
    Variable(&'a str),
}

fn pieces(text: &str) -> impl Iterator<Item = Piece<'_>> {
    let mut rest = text;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        if let Some(length) = variable_length(rest) {
            let (variable, after) = rest.split_at(length);
            rest = after;
            return Some(Piece::Variable(&variable[1..]));
        }
        let end = rest.match_indices('$').map(|(at, _)| at).find(|at| *at > 0).unwrap_or(rest.len());
        let (plain, after) = rest.split_at(end);
        rest = after;
        Some(Piece::Text(plain))
    })
}

/// The length of the variable that a text begins with, its `$` included.
fn variable_length(text: &str) -> Option<usize> {
    let mut length = 1;
    let mut rest = text.strip_prefix('$')?;
    loop {
        let letters = rest.bytes().take_while(u8::is_ascii_alphabetic).count();
        if letters == 0 {
            // The hyphen before it is not part of the name.
            return (length > 1).then(|| length - 1);
        }
        length += letters;
        match rest[letters..].strip_prefix('-') {
            Some(after) => {
                length += 1;
                rest = after;
            }
            None => return Some(length),
        }
    }
}

#[cfg(test)]
mod tests;

//! What an agent asks a person, how it is shown, and what a typed line means as an answer.

use serde_json::{Map, Value};

use super::super::terminal::style::Style;
use super::super::terminal::text::{exact, indented};
use crate::client::{PermissionAnswer, QuestionAnswer};
use crate::model::{Callback, OpenRequest, RequestBody, RequestId};

/// Longer details are shown as a whole on request.
const SHOWN_LINES: usize = 30;

/// A request that waits for an answer.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Asked {
    pub id: RequestId,
    pub body: Body,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Body {
    Permission { title: String, detail: String, covers: &'static str },
    Question { question: String, detail: Option<String>, choices: Vec<String>, fields: Vec<Field>, url: Option<String> },
}

/// A value that a form wants.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Field {
    pub name: String,
    title: String,
    kind: String,
    is_required: bool,
}

/// An answer.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Answered {
    Permission(PermissionAnswer),
    Question(QuestionAnswer),
}

/// What a typed line means.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Meaning {
    Answer(Answered),
    /// Show all of it.
    View,
    /// The value of a form's field was understood; more are wanted.
    Field,
    /// It is no answer; this says what would be one.
    Unclear(String),
}

impl Asked {
    pub fn of_event(callback: &Callback) -> Option<Self> {
        match callback {
            Callback::PermissionRequested { request_id, title, detail, covers, .. } => {
                let covers = if covers.iter().any(|word| word == "call") { "call" } else { "tool" };
                let body = Body::Permission { title: title.clone(), detail: detail.clone(), covers };
                Some(Self { id: request_id.clone(), body })
            }
            Callback::QuestionAsked { request_id, question, detail, choices, form, url } => {
                let body = question_body(question, detail.as_ref(), choices.as_ref(), form.as_ref(), url.as_ref());
                Some(Self { id: request_id.clone(), body })
            }
            _ => None,
        }
    }

    pub fn of_request(request: &OpenRequest) -> Self {
        let body = match &request.body {
            RequestBody::Permission { title, detail, call, .. } => {
                let covers = if call.is_empty() { "tool" } else { "call" };
                Body::Permission { title: title.clone(), detail: detail.clone(), covers }
            }
            RequestBody::Question { question, detail, choices, form, url } => {
                question_body(question, detail.as_ref(), choices.as_ref(), form.as_ref(), url.as_ref())
            }
        };
        Self { id: request.request_id.clone(), body }
    }

    /// The request, cut if it is long.
    pub fn shown(&self, style: Style) -> String {
        self.text(style, SHOWN_LINES)
    }

    /// All of the request.
    pub fn whole(&self, style: Style) -> String {
        self.text(style, usize::MAX)
    }

    fn text(&self, style: Style, most: usize) -> String {
        let mut text = match &self.body {
            Body::Permission { title, .. } => style.yellow(&format!("? {}", exact(title).replace('\n', " "))),
            Body::Question { question, .. } => style.yellow(&format!("? {}", exact(question))),
        };
        let (detail, extra) = match &self.body {
            Body::Permission { detail, title, .. } => {
                (Some(detail.as_str()).filter(|detail| detail != title), Vec::new())
            }
            Body::Question { detail, choices, url, .. } => {
                let choices =
                    choices.iter().enumerate().map(|(index, choice)| format!("{}. {}", index + 1, exact(choice)));
                (detail.as_deref(), url.iter().map(|url| exact(url)).chain(choices).collect())
            }
        };
        let detail = exact(detail.unwrap_or_default());
        let lines: Vec<&str> = detail.lines().collect();
        let shown = lines.len().min(most);
        for line in &lines[..shown] {
            text.push('\n');
            text.push_str(&indented(line, 4));
        }
        if shown < lines.len() {
            text.push_str(&style.dim(&format!("\n    … {} more lines; v shows all of them", lines.len() - shown)));
        }
        for line in extra {
            text.push_str("\n    ");
            text.push_str(&line);
        }
        text
    }

    /// What can be typed.
    pub fn choices(&self, values: &Map<String, Value>) -> String {
        match &self.body {
            Body::Permission { covers, .. } => {
                let always = if *covers == "call" { "exactly this" } else { "every call of this tool" };
                format!("[a]llow once  [A]lways ({always}, in this session)  [d]eny [REASON]  [v]iew: ")
            }
            Body::Question { fields, .. } if !fields.is_empty() => match next_field(fields, values) {
                Some(field) => format!("{}: ", field.label()),
                None => "Answer: ".to_owned(),
            },
            Body::Question { choices, .. } if !choices.is_empty() => {
                "Answer (a number, or your own words): ".to_owned()
            }
            Body::Question { url: Some(_), .. } => "Press Enter when you have visited the page: ".to_owned(),
            Body::Question { .. } => "Answer: ".to_owned(),
        }
    }

    /// What a line means. `values` collects the fields of a form.
    pub fn meaning(&self, line: &str, values: &mut Map<String, Value>) -> Meaning {
        let line = line.trim();
        match &self.body {
            Body::Permission { covers, .. } => permission_meaning(line, covers),
            Body::Question { fields, .. } if !fields.is_empty() => form_meaning(line, fields, values),
            Body::Question { choices, url, .. } => {
                if line == "v" {
                    return Meaning::View;
                }
                if line.is_empty() && url.is_none() {
                    return Meaning::Unclear("Type an answer.".to_owned());
                }
                let chosen = line.parse::<usize>().ok().and_then(|number| choices.get(number.checked_sub(1)?));
                let text = chosen.map_or_else(|| line.to_owned(), Clone::clone);
                Meaning::Answer(Answered::Question(QuestionAnswer::Text(text)))
            }
        }
    }

    /// The answer where nobody can be asked.
    pub fn refusal(&self) -> Answered {
        match self.body {
            Body::Permission { .. } => Answered::Permission(PermissionAnswer::Deny {
                feedback: Some("Denied: nobody is at a terminal to ask.".to_owned()),
            }),
            Body::Question { .. } => Answered::Question(QuestionAnswer::Decline),
        }
    }
}

fn permission_meaning(line: &str, covers: &'static str) -> Meaning {
    let answer = |answer| Meaning::Answer(Answered::Permission(answer));
    match line {
        "a" | "allow" => answer(PermissionAnswer::AllowOnce),
        "A" | "always" => answer(PermissionAnswer::AllowAlways { covers }),
        "d" | "deny" => answer(PermissionAnswer::Deny { feedback: None }),
        "v" | "view" => Meaning::View,
        _ => match line.split_once(' ') {
            Some(("d" | "deny", reason)) => answer(PermissionAnswer::Deny { feedback: Some(reason.trim().to_owned()) }),
            _ => Meaning::Unclear("Type a, A, d (perhaps with a reason) or v.".to_owned()),
        },
    }
}

fn form_meaning(line: &str, fields: &[Field], values: &mut Map<String, Value>) -> Meaning {
    let Some(field) = next_field(fields, values) else { return Meaning::Unclear("Nothing is missing.".to_owned()) };
    match field.value(line) {
        Err(problem) => return Meaning::Unclear(problem),
        Ok(value) => values.insert(field.name.clone(), value),
    };
    if next_field(fields, values).is_some() {
        return Meaning::Field;
    }
    let content = values.iter().filter(|(_, value)| !value.is_null());
    let content = content.map(|(name, value)| (name.clone(), value.clone())).collect();
    Meaning::Answer(Answered::Question(QuestionAnswer::Form(content)))
}

fn next_field<'a>(fields: &'a [Field], values: &Map<String, Value>) -> Option<&'a Field> {
    fields.iter().find(|field| !values.contains_key(&field.name))
}

impl Field {
    fn label(&self) -> String {
        let optional = if self.is_required { "" } else { ", optional" };
        format!("{} ({}{optional})", exact(&self.title).replace('\n', " "), exact(&self.kind))
    }

    /// A value as it is typed; null for one that is left out.
    pub fn value(&self, line: &str) -> Result<Value, String> {
        let number = || line.parse::<f64>().ok().and_then(serde_json::Number::from_f64).map(Value::Number);
        let integer = || line.parse::<i64>().ok().map(Value::from);
        match self.kind.as_str() {
            _ if line.is_empty() && !self.is_required => Ok(Value::Null),
            _ if line.is_empty() => Err(format!("{} is needed.", self.title)),
            "boolean" => match line.to_lowercase().as_str() {
                "y" | "yes" | "true" => Ok(Value::Bool(true)),
                "n" | "no" | "false" => Ok(Value::Bool(false)),
                _ => Err("Type yes or no.".to_owned()),
            },
            "integer" => integer().ok_or_else(|| "Type a whole number.".to_owned()),
            "number" => integer().or_else(number).ok_or_else(|| "Type a number.".to_owned()),
            "array" => Ok(line.split(',').map(|item| Value::from(item.trim())).collect()),
            _ => Ok(Value::from(line)),
        }
    }
}

fn question_body(
    question: &str,
    detail: Option<&String>,
    choices: Option<&Vec<String>>,
    form: Option<&Value>,
    url: Option<&String>,
) -> Body {
    Body::Question {
        question: question.to_owned(),
        detail: detail.cloned(),
        choices: choices.cloned().unwrap_or_default(),
        fields: form.map(fields).unwrap_or_default(),
        url: url.cloned(),
    }
}

fn fields(form: &Value) -> Vec<Field> {
    let is_required = |name: &str| form["required"].as_array().is_some_and(|names| names.iter().any(|one| one == name));
    let field = |(name, schema): (&String, &Value)| Field {
        name: name.clone(),
        title: schema["title"].as_str().unwrap_or(name).to_owned(),
        kind: schema["enum"].as_array().map_or_else(
            || schema["type"].as_str().unwrap_or("string").to_owned(),
            |words| words.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(" | "),
        ),
        is_required: is_required(name),
    };
    form["properties"].as_object().into_iter().flatten().map(field).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn permission(detail: &str) -> Asked {
        let body = Body::Permission { title: "Run a command".to_owned(), detail: detail.to_owned(), covers: "call" };
        Asked { id: RequestId::of_event(3), body }
    }

    #[test]
    fn a_command_is_shown_with_what_it_hides() {
        let shown = permission("rm -rf ~\u{1b}[2K\rls").shown(Style::plain());
        assert_eq!(shown, "? Run a command\n    rm -rf ~\\u{1b}[2K\\u{d}ls");
        let long = permission(&"line\n".repeat(100));
        assert!(long.shown(Style::plain()).ends_with("… 70 more lines; v shows all of them"));
        assert_eq!(long.whole(Style::plain()).lines().count(), 101);
    }

    #[test]
    fn only_clear_words_answer_a_permission() {
        let meaning = |line: &str| permission("ls").meaning(line, &mut Map::new());
        let answer = |answer| Meaning::Answer(Answered::Permission(answer));
        assert_eq!(meaning(" a "), answer(PermissionAnswer::AllowOnce));
        assert_eq!(meaning("A"), answer(PermissionAnswer::AllowAlways { covers: "call" }));
        assert_eq!(meaning("d"), answer(PermissionAnswer::Deny { feedback: None }));
        assert_eq!(meaning("d use git"), answer(PermissionAnswer::Deny { feedback: Some("use git".to_owned()) }));
        assert_eq!(meaning("v"), Meaning::View);
        for unclear in ["", "y", "yes", "allow it", "D"] {
            assert!(matches!(meaning(unclear), Meaning::Unclear(_)), "{unclear}");
        }
    }

    #[test]
    fn a_question_takes_a_number_or_words() {
        let choices = vec!["red".to_owned(), "blue".to_owned()];
        let body = question_body("Which?", None, Some(&choices), None, None);
        let asked = Asked { id: RequestId::of_event(1), body };
        let answer = |text: &str| Meaning::Answer(Answered::Question(QuestionAnswer::Text(text.to_owned())));
        for (line, text) in [("2", "blue"), ("red", "red"), ("7", "7"), ("green", "green")] {
            assert_eq!(asked.meaning(line, &mut Map::new()), answer(text));
        }
        assert!(asked.shown(Style::plain()).ends_with("\n    1. red\n    2. blue"));
    }

    #[test]
    fn a_form_is_filled_in_field_by_field() {
        let form = json!({ "type": "object", "required": ["name"], "properties": {
            "name": { "type": "string" }, "size": { "type": "integer" }, "now": { "type": "boolean" },
        }});
        let body = question_body("Fill in", None, None, Some(&form), None);
        let (asked, mut values) = (Asked { id: RequestId::of_event(1), body }, Map::new());
        assert!(matches!(asked.meaning("", &mut values), Meaning::Unclear(_)));
        assert_eq!(asked.meaning("x", &mut values), Meaning::Field);
        assert!(asked.choices(&values).contains("optional"), "{}", asked.choices(&values));
        assert!(matches!(asked.meaning("many", &mut values), Meaning::Unclear(_)));
        assert_eq!(asked.meaning("", &mut values), Meaning::Field);
        let content = json!({ "name": "x", "now": true });
        let content = content.as_object().cloned().expect("an object");
        let answer = Meaning::Answer(Answered::Question(QuestionAnswer::Form(content)));
        assert_eq!(asked.meaning("yes", &mut values), answer);
    }
}

//! Copilot's questions to the user, other than permissions, and how each kind is answered.

use serde_json::value::RawValue;
use serde_json::{Value, json};

use crate::agent::QuestionAnswer;
use crate::model::RequestBody;

/// A pending question, with what its answer needs.
#[derive(Debug)]
pub(in crate::agent::copilot) enum Question {
    /// A request of the program, answered with a response.
    UserInput {
        id: Box<RawValue>,
        choices: Vec<String>,
    },
    ExitPlan {
        id: Box<RawValue>,
        actions: Vec<String>,
    },
    AutoMode {
        id: Box<RawValue>,
    },
    /// An event of the program, answered with a call.
    Elicitation {
        request_id: String,
        form: Option<Value>,
    },
    Limits {
        request_id: String,
    },
}

/// How an answer reaches the program.
#[derive(Debug, PartialEq)]
pub(in crate::agent::copilot) enum Reply {
    /// As the result of its request.
    Result(Value),
    /// As a call of ours.
    Call(&'static str, Value),
}

/// Answers to the request to exit plan mode, for display.
const PLAN_ACTIONS: [(&str, &str); 4] = [
    ("interactive", "Approve, and ask me at each step"),
    ("autopilot", "Approve, and work autonomously"),
    ("autopilot_fleet", "Approve, and work autonomously with several agents"),
    ("exit_only", "Exit plan mode without starting"),
];
const AUTO_MODE_ANSWERS: [(&str, &str); 3] =
    [("yes", "Yes, this time"), ("yes_always", "Yes, always"), ("no", "No, wait")];
const REMOVE_LIMIT: &str = "Continue without the limit";
const KEEP_LIMIT: &str = "Stop here";

impl Question {
    /// Reads a request of the program that the user must answer.
    pub fn from_request(method: &str, id: Box<RawValue>, params: &Value) -> Option<(Self, RequestBody)> {
        match method {
            "userInput.request" => {
                let choices = texts(&params["choices"]);
                let question = params["question"].as_str().unwrap_or("Copilot has a question");
                let body = RequestBody::question(question, (!choices.is_empty()).then(|| choices.clone()));
                Some((Self::UserInput { id, choices }, body))
            }
            "exitPlanMode.request" => {
                let actions = texts(&params["actions"]);
                let recommended = params["recommendedAction"].as_str().unwrap_or_default();
                let plan = params["planContent"].as_str().filter(|plan| !plan.is_empty());
                let detail = plan.or(params["summary"].as_str()).map(str::to_owned);
                let mut known: Vec<&str> = actions.iter().map(|action| in_words(action)).collect();
                // What Copilot recommends comes first.
                known.sort_by_key(|words| *words != in_words(recommended));
                let body = RequestBody::Question {
                    question: "Copilot has a plan. Approve it? Any other answer is sent back as feedback.".to_owned(),
                    detail,
                    choices: Some(known.into_iter().map(str::to_owned).collect()),
                    form: None,
                    url: None,
                };
                Some((Self::ExitPlan { id, actions }, body))
            }
            "autoModeSwitch.request" => {
                let wait = params["retryAfterSeconds"].as_f64().map(|seconds| format!(" for {seconds} seconds"));
                let question = format!(
                    "The model's rate limit is reached{}. Let Copilot continue with a model that it chooses?",
                    wait.unwrap_or_default()
                );
                let choices = AUTO_MODE_ANSWERS.map(|(_, words)| words.to_owned()).to_vec();
                Some((Self::AutoMode { id }, RequestBody::question(question, Some(choices))))
            }
            _ => None,
        }
    }

    /// Reads an event of the program that the user must answer.
    pub fn from_event(kind: &str, data: &Value) -> Option<(Self, RequestBody)> {
        let request_id = data["requestId"].as_str()?.to_owned();
        match kind {
            "elicitation.requested" => {
                let form = Some(data["requestedSchema"].clone()).filter(Value::is_object);
                let source = data["elicitationSource"].as_str().map(|source| format!("{source} asks: "));
                let message = data["message"].as_str().unwrap_or("Copilot needs some values");
                let body = RequestBody::Question {
                    question: format!("{}{message}", source.unwrap_or_default()),
                    detail: None,
                    choices: None,
                    form: form.clone(),
                    url: data["url"].as_str().map(str::to_owned),
                };
                Some((Self::Elicitation { request_id, form }, body))
            }
            "session_limits_exhausted.requested" => {
                let figure = |name: &str| data[name].as_f64().unwrap_or_default();
                let question =
                    format!("{} of {} AI credits are used up.", figure("usedAiCredits"), figure("maxAiCredits"));
                let choices = vec![REMOVE_LIMIT.to_owned(), KEEP_LIMIT.to_owned()];
                Some((Self::Limits { request_id }, RequestBody::question(question, Some(choices))))
            }
            _ => None,
        }
    }

    /// The id of the pending request, if it is one.
    pub fn request(&self) -> Option<&RawValue> {
        match self {
            Self::UserInput { id, .. } | Self::ExitPlan { id, .. } | Self::AutoMode { id } => Some(id),
            Self::Elicitation { .. } | Self::Limits { .. } => None,
        }
    }

    /// The reply to the program.
    pub fn reply(&self, session: &str, answer: QuestionAnswer) -> Reply {
        match self {
            Self::UserInput { choices, .. } => {
                let text = answer.shown().unwrap_or_default();
                let freeform = !choices.contains(&text);
                Reply::Result(json!({ "answer": text, "wasFreeform": freeform }))
            }
            Self::ExitPlan { actions, .. } => {
                let text = answer.shown().unwrap_or_default();
                let chosen = actions.iter().find(|action| **action == text || in_words(action) == text);
                Reply::Result(match chosen {
                    Some(action) => json!({ "approved": true, "selectedAction": action }),
                    None if text.is_empty() => json!({ "approved": false }),
                    None => json!({ "approved": false, "feedback": text }),
                })
            }
            Self::AutoMode { .. } => {
                let text = answer.shown().unwrap_or_default();
                let known = AUTO_MODE_ANSWERS.iter().find(|(word, words)| *word == text || *words == text);
                Reply::Result(json!({ "response": known.map_or("no", |(word, _)| word) }))
            }
            Self::Elicitation { request_id, form } => {
                let result = match answer {
                    QuestionAnswer::Form(values) => json!({ "action": "accept", "content": values }),
                    QuestionAnswer::Text(text) => match as_form(&text, form.as_ref()) {
                        Some(values) => json!({ "action": "accept", "content": values }),
                        None => json!({ "action": "accept" }),
                    },
                    QuestionAnswer::Declined => json!({ "action": "decline" }),
                    QuestionAnswer::Nobody => json!({ "action": "cancel" }),
                };
                let params = json!({ "sessionId": session, "requestId": request_id, "result": result });
                Reply::Call("session.ui.handlePendingElicitation", params)
            }
            Self::Limits { request_id } => {
                let goes_on = answer.shown().is_some_and(|text| text == REMOVE_LIMIT);
                let action = if goes_on { "unset" } else { "cancel" };
                let params = json!({ "sessionId": session, "requestId": request_id, "response": { "action": action } });
                Reply::Call("session.ui.handlePendingSessionLimitsExhausted", params)
            }
        }
    }
}

fn in_words(action: &str) -> &str {
    PLAN_ACTIONS.iter().find(|(name, _)| *name == action).map_or(action, |(_, words)| words)
}

fn texts(value: &Value) -> Vec<String> {
    value.as_array().into_iter().flatten().filter_map(|text| text.as_str().map(str::to_owned)).collect()
}

/// A form answered with text: a JSON object, or the value of its only field.
fn as_form(text: &str, form: Option<&Value>) -> Option<Value> {
    if let Ok(object @ Value::Object(_)) = serde_json::from_str(text) {
        return Some(object);
    }
    let properties = form?["properties"].as_object()?;
    let mut names = properties.keys();
    match (names.next(), names.next()) {
        (Some(only), None) => Some(json!({ only: text })),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn raw() -> Box<RawValue> {
        RawValue::from_string("7".to_owned()).expect("a number")
    }

    fn text(answer: &str) -> QuestionAnswer {
        QuestionAnswer::Text(answer.to_owned())
    }

    #[test]
    fn a_plan_is_approved_in_words_and_anything_else_is_what_to_change() {
        let params = json!({
            "summary": "- do it", "planContent": "# Plan", "actions": ["autopilot", "interactive", "exit_only"],
            "recommendedAction": "interactive",
        });
        let (question, body) = Question::from_request("exitPlanMode.request", raw(), &params).expect("known");
        let RequestBody::Question { detail, choices, .. } = body else { panic!("a question") };
        assert_eq!(detail.as_deref(), Some("# Plan"));
        let choices = choices.expect("choices");
        assert_eq!(choices[0], "Approve, and ask me at each step", "what is recommended comes first");
        let approved = json!({ "approved": true, "selectedAction": "interactive" });
        assert_eq!(question.reply("s", text(&choices[0])), Reply::Result(approved));
        let changed = json!({ "approved": false, "feedback": "use Rust" });
        assert_eq!(question.reply("s", text("use Rust")), Reply::Result(changed));
        assert_eq!(question.reply("s", QuestionAnswer::Declined), Reply::Result(json!({ "approved": false })));
    }

    #[test]
    fn a_form_is_accepted_declined_or_cancelled() {
        let schema = json!({ "type": "object", "properties": { "name": { "type": "string" } }, "required": ["name"] });
        let data =
            json!({ "requestId": "e", "message": "Who?", "requestedSchema": schema, "elicitationSource": "mcp" });
        let (question, body) = Question::from_event("elicitation.requested", &data).expect("known");
        let RequestBody::Question { question: words, form, .. } = body else { panic!("a question") };
        assert_eq!((words.as_str(), form), ("mcp asks: Who?", Some(schema)));
        let values = json!({ "name": "x" });
        for (answer, result) in [
            (
                QuestionAnswer::Form(values.as_object().expect("one").clone()),
                json!({ "action": "accept", "content": values }),
            ),
            (text("x"), json!({ "action": "accept", "content": values })),
            (text("{\"name\":\"x\"}"), json!({ "action": "accept", "content": values })),
            (QuestionAnswer::Declined, json!({ "action": "decline" })),
            (QuestionAnswer::Nobody, json!({ "action": "cancel" })),
        ] {
            let params = json!({ "sessionId": "s", "requestId": "e", "result": result });
            assert_eq!(question.reply("s", answer), Reply::Call("session.ui.handlePendingElicitation", params));
        }
    }

    #[test]
    fn a_switch_to_the_automatic_model_is_refused_unless_somebody_agrees() {
        let (question, _) = Question::from_request("autoModeSwitch.request", raw(), &json!({})).expect("known");
        for (answer, word) in [("Yes, always", "yes_always"), ("yes", "yes"), ("hm", "no")] {
            assert_eq!(question.reply("s", text(answer)), Reply::Result(json!({ "response": word })));
        }
        assert_eq!(question.reply("s", QuestionAnswer::Nobody), Reply::Result(json!({ "response": "no" })));
    }
}

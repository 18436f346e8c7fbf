//! Answers to requests whose agent was gone when they were given.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{AnsweredBy, OpenRequest, RequestBody, RequestOutcome};

/// An answer that the agent has not received.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Decided {
    /// What was asked.
    pub request: OpenRequest,
    /// How it was answered.
    pub outcome: RequestOutcome,
    /// The answer to a question, or the feedback to a permission.
    pub text: Option<String>,
    /// Who answered.
    pub by: AnsweredBy,
}

/// Permission for one call of one tool with the same arguments, because a person allowed exactly that.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Grant {
    /// The tool.
    pub tool: String,
    /// The call, as in [`RequestBody::Permission`].
    pub call: String,
}

impl Grant {
    /// Whether it permits what is asked now.
    pub fn covers(&self, body: &RequestBody) -> bool {
        matches!(body, RequestBody::Permission { tool, call, .. } if *tool == self.tool && *call == self.call)
    }
}

/// What is needed to continue work that was cut off while it waited for a person.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Continuation {
    /// Answers that the agent has not received, oldest first.
    pub decided: Vec<Decided>,
    /// Unused permissions of the turn that continues the work.
    pub grants: Vec<Grant>,
}

impl Continuation {
    /// Whether there is nothing to continue.
    pub fn is_empty(&self) -> bool {
        self.decided.is_empty() && self.grants.is_empty()
    }

    /// What the agent may do without asking again, according to the answers.
    pub fn permitted(&self) -> Vec<Grant> {
        let allowed = self.decided.iter().filter(|decided| decided.outcome.allows());
        allowed
            .filter_map(|decided| match &decided.request.body {
                // Without its arguments, a call cannot be recognized.
                RequestBody::Permission { tool, call, .. } if !call.is_empty() => {
                    Some(Grant { tool: tool.clone(), call: call.clone() })
                }
                _ => None,
            })
            .collect()
    }

    /// The prompt that gives the answers to the agent.
    pub fn prompt(&self) -> String {
        let mut text =
            "[You were cut off while you waited for the user. The user has answered since then:\n".to_owned();
        for Decided { request, outcome, text: answer, .. } in &self.decided {
            let (asked, decision) = match &request.body {
                RequestBody::Permission { tool, detail, .. } => {
                    let decision = if outcome.allows() {
                        "Allowed, once and exactly as asked. It did not run; run it now if you still need it."
                    } else {
                        "Denied. Do not run it."
                    };
                    (format!("You asked to use {tool}:\n{detail}"), decision.to_owned())
                }
                RequestBody::Question { question, .. } => {
                    let decision = match (outcome, answer) {
                        (RequestOutcome::Answered, Some(answer)) => format!("The answer is:\n{answer}"),
                        _ => "The user did not answer it.".to_owned(),
                    };
                    (format!("You asked:\n{question}"), decision)
                }
            };
            text.extend(["\n", &asked, "\n", &decision, "\n"]);
            if let (RequestBody::Permission { .. }, Some(feedback)) = (&request.body, answer) {
                text.extend(["The user said: ", feedback, "\n"]);
            }
        }
        text.push_str("\nContinue the interrupted work. For anything that is not allowed here, ask as usual.]");
        text
    }
}

/// A value as text in which the order of an object's members does not matter.
pub fn canonical(value: &Value) -> String {
    fn sorted(value: &Value) -> Value {
        match value {
            Value::Object(members) => {
                let mut names: Vec<&String> = members.keys().collect();
                names.sort();
                names.into_iter().map(|name| (name.clone(), sorted(&members[name]))).collect()
            }
            Value::Array(items) => items.iter().map(sorted).collect(),
            other => other.clone(),
        }
    }
    sorted(value).to_string()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::model::RequestId;

    fn decided(tool: &str, call: &str, outcome: RequestOutcome, text: Option<&str>) -> Decided {
        let body = RequestBody::Permission {
            kind: "shell".to_owned(),
            tool: tool.to_owned(),
            title: "Run a command".to_owned(),
            detail: "touch a".to_owned(),
            options: Vec::new(),
            tool_call_id: None,
            call: call.to_owned(),
            reads: None,
            writes: None,
        };
        let request =
            OpenRequest { request_id: RequestId::of_event(1), agent_request_id: "q".to_owned(), asked_at: None, body };
        Decided { request, outcome, text: text.map(str::to_owned), by: AnsweredBy::Page }
    }

    #[test]
    fn only_allowed_calls_with_known_arguments_are_permitted_without_asking() {
        let continuation = Continuation {
            decided: vec![
                decided("shell", "touch a", RequestOutcome::AllowOnce, None),
                decided("shell", "rm a", RequestOutcome::Deny, None),
                decided("write", "", RequestOutcome::AllowAlways, None),
            ],
            grants: Vec::new(),
        };
        let permitted = continuation.permitted();
        assert_eq!(permitted, [Grant { tool: "shell".to_owned(), call: "touch a".to_owned() }]);
        let asked = |tool: &str, call: &str| decided(tool, call, RequestOutcome::Deny, None).request.body;
        assert!(permitted[0].covers(&asked("shell", "touch a")));
        assert!(!permitted[0].covers(&asked("shell", "touch ab")), "other arguments");
        assert!(!permitted[0].covers(&asked("write", "touch a")), "another tool");
    }

    #[test]
    fn the_prompt_says_what_was_asked_and_decided() {
        let continuation = Continuation {
            decided: vec![
                decided("shell", "touch a", RequestOutcome::AllowOnce, None),
                decided("shell", "touch b", RequestOutcome::Deny, Some("use the other file")),
            ],
            grants: Vec::new(),
        };
        let prompt = continuation.prompt();
        for part in ["You asked to use shell:\ntouch a\nAllowed, once", "Denied.", "The user said: use the other file"]
        {
            assert!(prompt.contains(part), "{part}: {prompt}");
        }
    }

    #[test]
    fn the_order_of_members_does_not_matter() {
        assert_eq!(canonical(&json!({ "b": [{ "d": 1, "c": 2 }], "a": 3 })), r#"{"a":3,"b":[{"c":2,"d":1}]}"#);
    }
}

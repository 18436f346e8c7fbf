//! Permission requests: their summary and details, and which of the agent's options matches an answer.

use serde_json::{Value, json};

use super::tool_calls;
use crate::agent::permission_title::permission_title;
use crate::agent::{QuestionAnswer, RequestAnswer};
use crate::model::{Decision, JobTool, Reading, RequestBody, Writing, canonical};

/// One of the agent's options.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Choice {
    id: String,
    kind: String,
    name: String,
}

/// The options of a pending request.
#[derive(Clone, Debug)]
pub(super) struct Choices(Vec<Choice>);

/// The request and the possible answers.
pub(super) fn request(agent: &str, params: &Value) -> (RequestBody, Choices) {
    let choices = Choices::read(&params["options"]);
    let call = &params["toolCall"];
    let title = text(&call["title"]).unwrap_or_else(|| "something".to_owned());
    let kind = tool_calls::family(call["kind"].as_str().unwrap_or_default()).to_owned();
    if !choices.offers("allow_once") && !choices.offers("allow_always") {
        // Not a permission but a choice, which only the user can make.
        let names = choices.0.iter().map(|choice| choice.name.clone()).collect();
        return (RequestBody::question(title, Some(names)), choices);
    }
    let body = RequestBody::Permission {
        title: permission_title(agent, &kind, path(call).as_deref(), &title),
        options: choices.decisions(),
        tool_call_id: text(&call["toolCallId"]),
        tool: tool(&kind, call, &title),
        detail: detail(call).unwrap_or(title),
        reads: path(call).filter(|_| kind == "read").map(|path| Box::new(Reading { path, is_inside: false })),
        writes: writes(call).map(Box::new),
        kind,
        call: exact_call(call),
    };
    (body, choices)
}

/// The name that rules use: the kind of action, except for the tools of our own MCP server. Agents name a tool of a server
/// in the title of its call.
fn tool(kind: &str, call: &Value, title: &str) -> String {
    let names = [call["rawInput"]["toolName"].as_str(), call["_meta"]["claudeCode"]["toolName"].as_str(), Some(title)];
    match names.into_iter().flatten().find_map(JobTool::named) {
        Some(tool) if kind == "other" => format!("{}-{tool}", JobTool::SERVER),
        _ => kind.to_owned(),
    }
}

/// The call without what may differ when an agent asks for the same thing again.
fn exact_call(call: &Value) -> String {
    let (input, diff) = (&call["rawInput"], tool_calls::diffs(&call["content"]));
    if input.is_null() && diff.is_none() { String::new() } else { canonical(&json!([input, diff])) }
}

/// The file or folder concerned, if the call names exactly one.
fn path(call: &Value) -> Option<String> {
    match call["locations"].as_array().map(Vec::as_slice) {
        Some([location]) => text(&location["path"]),
        _ => None,
    }
}

/// The file that the call would change, if it names exactly one, and every file whose change it shows.
fn writes(call: &Value) -> Option<Writing> {
    if call["kind"] != "edit" {
        return None;
    }
    let content = call["content"].as_array().map(Vec::as_slice).unwrap_or_default();
    let shown = content.iter().filter(|part| part["type"] == "diff");
    // A change whose path cannot be read becomes an empty one, which is inside no folder.
    let shown = shown.map(|part| text(&part["path"]).unwrap_or_default());
    Some(Writing { paths: std::iter::once(path(call)?).chain(shown).collect(), is_inside: false })
}

/// Exactly what the call would do. Field names differ by agent; the most specific comes first.
fn detail(call: &Value) -> Option<String> {
    let input = &call["rawInput"];
    let diff = tool_calls::diffs(&call["content"]);
    ["command", "diff", "url"]
        .iter()
        .find_map(|name| text(&input[name]))
        .or(diff)
        .or_else(|| (input.as_object().is_some_and(|fields| !fields.is_empty())).then(|| format!("{input:#}")))
        .or_else(|| tool_calls::text(&call["content"]))
        .or_else(|| text(&call["locations"][0]["path"]))
}

impl Choices {
    fn read(options: &Value) -> Self {
        let all = options.as_array().map(Vec::as_slice).unwrap_or_default();
        let choice = |option: &Value| {
            let id = text(&option["optionId"])?;
            let kind = text(&option["kind"]).unwrap_or_default();
            Some(Choice { name: text(&option["name"]).unwrap_or_else(|| id.clone()), id, kind })
        };
        Self(all.iter().filter_map(choice).collect())
    }

    fn offers(&self, kind: &str) -> bool {
        self.0.iter().any(|choice| choice.kind == kind)
    }

    /// The decisions that the agent has an option for. If it has none for "always", Flightdeck's rules implement it.
    fn decisions(&self) -> Vec<String> {
        let once = self.offers("allow_once").then_some(Decision::AllowOnce);
        [once, Some(Decision::AllowAlways), Some(Decision::Deny)]
            .into_iter()
            .flatten()
            .map(|decision| decision.as_str().to_owned())
            .collect()
    }

    /// The outcome for an answer. An agent without a matching option never gets more than the answer allows.
    pub fn outcome(&self, answer: &RequestAnswer) -> Value {
        let chosen = match answer {
            RequestAnswer::Permission { decision: Decision::AllowOnce, .. } => self.first(&["allow_once"]),
            RequestAnswer::Permission { decision: Decision::AllowAlways, .. } => {
                self.first(&["allow_always", "allow_once"])
            }
            RequestAnswer::Question(QuestionAnswer::Text(words)) => {
                self.0.iter().find(|choice| choice.name == *words || choice.id == *words)
            }
            RequestAnswer::Permission { decision: Decision::Deny, .. } | RequestAnswer::Question(_) => {
                self.first(&["reject_once", "reject_always"])
            }
        };
        match chosen {
            Some(choice) => json!({ "outcome": { "outcome": "selected", "optionId": choice.id } }),
            None => cancelled(),
        }
    }

    fn first(&self, kinds: &[&str]) -> Option<&Choice> {
        kinds.iter().find_map(|kind| self.0.iter().find(|choice| choice.kind == *kind))
    }
}

/// The request was cancelled.
pub(super) fn cancelled() -> Value {
    json!({ "outcome": { "outcome": "cancelled" } })
}

fn text(value: &Value) -> Option<String> {
    value.as_str().filter(|text| !text.is_empty()).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(kinds: &[&str]) -> (RequestBody, Choices) {
        let options: Vec<Value> =
            kinds.iter().map(|kind| json!({ "optionId": format!("id-{kind}"), "kind": kind, "name": kind })).collect();
        let call =
            json!({ "toolCallId": "c", "title": "Tidy up", "kind": "execute", "rawInput": { "command": "rm -rf x" } });
        request("Copilot", &json!({ "toolCall": call, "options": options }))
    }

    fn chosen(choices: &Choices, decision: Decision) -> String {
        let outcome = choices.outcome(&RequestAnswer::Permission { decision, feedback: None });
        outcome["outcome"]["optionId"].as_str().unwrap_or("cancelled").to_owned()
    }

    #[test]
    fn a_permission_shows_exactly_what_would_run() {
        let (RequestBody::Permission { kind, tool, detail, title, tool_call_id, options, .. }, _) =
            asked(&["allow_once", "allow_always", "reject_once"])
        else {
            panic!("a permission")
        };
        assert_eq!((kind.as_str(), tool.as_str(), detail.as_str()), ("shell", "shell", "rm -rf x"));
        assert_eq!((title.as_str(), tool_call_id.as_deref()), ("Copilot wants to run a command: Tidy up", Some("c")));
        assert_eq!(options, ["allow-once", "allow-always", "deny"]);
    }

    #[test]
    fn tools_of_our_own_server_have_a_name_and_no_other_action_has_it() {
        let tool_of = |call: Value| {
            let options = json!([{ "optionId": "a", "kind": "allow_once", "name": "Allow" }]);
            match request("x", &json!({ "toolCall": call, "options": options })).0 {
                RequestBody::Permission { tool, .. } => tool,
                RequestBody::Question { .. } => panic!("a permission"),
            }
        };
        let named = |kind: &str, title: &str| tool_of(json!({ "toolCallId": "c", "title": title, "kind": kind }));
        assert_eq!(named("other", "flightdeck_job_boolean_true"), "flightdeck-job_boolean_true");
        assert_eq!(named("other", "mcp__flightdeck__job_boolean_true"), "flightdeck-job_boolean_true");
        assert_eq!(named("execute", "job_boolean_true"), "shell");
        assert_eq!(named("other", "other_job_boolean_true"), "other");
    }

    #[test]
    fn files_that_would_change_are_named_only_where_the_call_does_nothing_else() {
        let writes = |call: Value| super::writes(&call).map(|writing| writing.paths);
        let edit = |path: &str| {
            json!({ "kind": "edit", "locations": [{ "path": "/w/a" }], "content": [
            { "type": "diff", "path": path, "newText": "x" },
        ] })
        };
        assert_eq!(writes(edit("/w/a")), Some(vec!["/w/a".to_owned(), "/w/a".to_owned()]));
        assert_eq!(writes(edit("/other")), Some(vec!["/w/a".to_owned(), "/other".to_owned()]), "all are checked");
        assert_eq!(writes(json!({ "kind": "edit", "locations": [] })), None);
        assert_eq!(writes(json!({ "kind": "delete", "locations": [{ "path": "/w/a" }] })), None);
    }

    #[test]
    fn a_decision_becomes_the_option_of_its_kind_and_never_more() {
        let (_, all) = asked(&["reject_always", "reject_once", "allow_always", "allow_once"]);
        for (decision, id) in [
            (Decision::AllowOnce, "id-allow_once"),
            (Decision::AllowAlways, "id-allow_always"),
            (Decision::Deny, "id-reject_once"),
        ] {
            assert_eq!(chosen(&all, decision), id);
        }
        let (_, few) = asked(&["allow_always"]);
        assert_eq!(chosen(&few, Decision::AllowOnce), "cancelled", "once is not always");
        assert_eq!(chosen(&few, Decision::Deny), "cancelled");
        let (_, once) = asked(&["allow_once", "reject_always"]);
        assert_eq!(chosen(&once, Decision::AllowAlways), "id-allow_once", "our own rule does the rest");
        assert_eq!(chosen(&once, Decision::Deny), "id-reject_always");
    }

    #[test]
    fn options_that_permit_nothing_are_a_question() {
        let (body, choices) = asked(&["red", "blue"]);
        assert_eq!(body, RequestBody::question("Tidy up", Some(vec!["red".to_owned(), "blue".to_owned()])));
        let answer = |answer| choices.outcome(&RequestAnswer::Question(answer));
        assert_eq!(answer(QuestionAnswer::Text("blue".to_owned()))["outcome"]["optionId"], "id-blue");
        assert_eq!(answer(QuestionAnswer::Nobody), cancelled());
    }
}

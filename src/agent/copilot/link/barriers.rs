//! Declared tools of a connection, and the barriers of one whose agent is only a model.
//!
//! Four barriers, none of them configurable, keep such an agent from running anything: the allow-list contains only the
//! declared tools, a built-in tool of the same name is overridden (both in `parameters.rs`), the hook before each tool
//! denies everything else, and the permission handler rejects everything else. Each of them suffices alone.

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use crate::agent::copilot::translation::Event;
use crate::agent::{DeclaredTools, ToolAccess, ToolAnswer, ToolRequest};

/// What the agent's model is told when a barrier stops a tool.
const DENIED: &str = "This tool does not run here.";

/// The tools of one connection.
pub(in crate::agent::copilot) struct Barriers {
    names: Vec<String>,
    access: ToolAccess,
    /// Hooks that are not answered before the session is destroyed.
    pub held_hooks: Vec<Box<RawValue>>,
}

/// What to do about an event or a request of the program.
#[derive(Debug, PartialEq)]
pub(in crate::agent::copilot) enum Verdict {
    /// It is not about tools.
    Unconcerned,
    /// Answer the permission request with this result; nobody is asked.
    Permission { request: String, result: Value },
    /// A declared tool waits.
    Waits { request: String, call: ToolRequest },
    /// The model asked for these tools.
    Requested(Vec<ToolRequest>),
    /// A call of the model ended for this reason.
    Stopped(String),
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Asked<'a> {
    request_id: String,
    #[serde(borrow)]
    permission_request: &'a RawValue,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Permission {
    kind: String,
    #[serde(default)]
    tool_name: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Waiting<'a> {
    request_id: String,
    tool_call_id: String,
    #[serde(default)]
    tool_name: String,
    #[serde(borrow, default)]
    arguments: Option<&'a RawValue>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Used {
    #[serde(default)]
    finish_reason: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Said<'a> {
    #[serde(borrow, default)]
    tool_requests: Vec<Wanted<'a>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Wanted<'a> {
    tool_call_id: String,
    name: String,
    #[serde(borrow, default)]
    arguments: Option<&'a RawValue>,
}

impl Barriers {
    pub fn new(declared: &DeclaredTools) -> Self {
        let names = declared.tools.iter().map(|tool| tool.name.clone()).collect();
        Self { names, access: declared.access, held_hooks: Vec::new() }
    }

    pub fn is_model_only(&self) -> bool {
        self.access.is_model_only()
    }

    fn declares(&self, name: &str) -> bool {
        self.names.iter().any(|declared| declared == name)
    }

    /// Judges an event.
    pub fn event(&self, event: &Event<'_>) -> Verdict {
        let data = event.data.unwrap_or("{}");
        match event.kind.as_ref() {
            "permission.requested" => self.permission(data),
            "external_tool.requested" => match serde_json::from_str::<Waiting<'_>>(data) {
                Ok(Waiting { request_id, tool_call_id, tool_name, arguments: given }) => {
                    let call = ToolRequest { call_id: tool_call_id, name: tool_name, arguments: arguments(given) };
                    Verdict::Waits { request: request_id, call }
                }
                Err(_) => Verdict::Unconcerned,
            },
            "assistant.message" if !event.is_sub_agents => match serde_json::from_str::<Said<'_>>(data) {
                Ok(said) if !said.tool_requests.is_empty() => Verdict::Requested(requests(&said)),
                _ => Verdict::Unconcerned,
            },
            "assistant.usage" if !event.is_sub_agents => match serde_json::from_str::<Used>(data) {
                Ok(Used { finish_reason: Some(reason) }) => Verdict::Stopped(reason),
                _ => Verdict::Unconcerned,
            },
            _ => Verdict::Unconcerned,
        }
    }

    /// The permission handler. Beside the agent's own tools, other requests go to the owner as usual.
    fn permission(&self, data: &str) -> Verdict {
        let Ok(asked) = serde_json::from_str::<Asked<'_>>(data) else { return Verdict::Unconcerned };
        let wanted = serde_json::from_str::<Permission>(asked.permission_request.get()).ok();
        let is_declared = wanted.as_ref().is_some_and(|wanted| {
            wanted.kind == "custom-tool" && wanted.tool_name.as_ref().is_some_and(|name| self.declares(name))
        });
        let result = match (self.access, is_declared) {
            (ToolAccess::Beside | ToolAccess::OnlyHeld, true) => json!({ "kind": "approve-once" }),
            (ToolAccess::Beside, false) => return Verdict::Unconcerned,
            (ToolAccess::OnlyHeld, false) | (ToolAccess::OnlyDenied, _) => {
                json!({ "kind": "reject", "feedback": DENIED })
            }
        };
        Verdict::Permission { request: asked.request_id, result }
    }

    /// The hook before a tool. Returns the answer, or `None` if the answer is held back.
    pub fn hook(&mut self, id: Box<RawValue>, params: &Value) -> Option<(Box<RawValue>, Value)> {
        // Hooks of other kinds only inform.
        if params["hookType"].as_str().is_some_and(|kind| kind != "preToolUse") {
            return Some((id, json!({})));
        }
        let tool = params["input"]["toolName"].as_str();
        match (self.access, tool.is_some_and(|name| self.declares(name))) {
            (ToolAccess::Beside, _) | (ToolAccess::OnlyHeld, true) => Some((id, json!({}))),
            (ToolAccess::OnlyHeld, false) => Some((id, denial())),
            (ToolAccess::OnlyDenied, _) => {
                self.held_hooks.push(id);
                None
            }
        }
    }
}

/// The answer of a hook that denies.
pub(in crate::agent::copilot) fn denial() -> Value {
    json!({ "output": { "permissionDecision": "deny", "permissionDecisionReason": DENIED } })
}

/// The requested tools, each call once, in order.
fn requests(said: &Said<'_>) -> Vec<ToolRequest> {
    let mut requests: Vec<ToolRequest> = Vec::new();
    for wanted in &said.tool_requests {
        if requests.iter().any(|known| known.call_id == wanted.tool_call_id) {
            continue;
        }
        requests.push(ToolRequest {
            call_id: wanted.tool_call_id.clone(),
            name: wanted.name.clone(),
            arguments: arguments(wanted.arguments),
        });
    }
    requests
}

/// The arguments as JSON text. A program passes on what the model wrote: an object, or text that is not valid JSON.
fn arguments(raw: Option<&RawValue>) -> String {
    let Some(raw) = raw else { return "{}".to_owned() };
    match serde_json::from_str::<String>(raw.get()) {
        Ok(text) if text.trim().is_empty() => "{}".to_owned(),
        Ok(text) => text,
        Err(_) => raw.get().to_owned(),
    }
}

/// The parameters of the call that gives the program a tool's result.
pub(in crate::agent::copilot) fn answer(session: &str, request: &str, answer: &ToolAnswer) -> Value {
    let images: Vec<Value> =
        answer.images.iter().map(|(mime, data)| json!({ "type": "image", "mimeType": mime, "data": data })).collect();
    let mut result = json!({
        "textResultForLlm": answer.text,
        "resultType": if answer.is_error { "failure" } else { "success" },
    });
    if answer.is_error {
        result["error"] = json!(answer.text);
    }
    if !images.is_empty() {
        result["binaryResultsForLlm"] = json!(images);
    }
    json!({ "sessionId": session, "requestId": request, "result": result })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent::DeclaredTool;

    fn barriers(access: ToolAccess) -> Barriers {
        let tool =
            |name: &str| DeclaredTool { name: name.to_owned(), description: String::new(), parameters: json!({}) };
        Barriers::new(&DeclaredTools { tools: vec![tool("mine"), tool("bash")], access })
    }

    fn asked(kind: &str, tool: &str) -> String {
        let request = json!({ "kind": kind, "toolName": tool, "fullCommandText": "rm -rf /" });
        json!({ "type": "permission.requested", "data": { "requestId": "r", "permissionRequest": request } })
            .to_string()
    }

    fn decision(access: ToolAccess, kind: &str, tool: &str) -> Option<String> {
        let text = asked(kind, tool);
        match barriers(access).event(&Event::read(&text).expect("an event")) {
            Verdict::Permission { result, .. } => result["kind"].as_str().map(str::to_owned),
            Verdict::Unconcerned => None,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn the_permission_handler_approves_only_declared_tools_and_nothing_in_destroy_mode() {
        let held = |kind, tool| decision(ToolAccess::OnlyHeld, kind, tool);
        assert_eq!(held("custom-tool", "mine").as_deref(), Some("approve-once"));
        assert_eq!(held("custom-tool", "bash").as_deref(), Some("approve-once"), "an overridden built-in");
        for (kind, tool) in [
            ("custom-tool", "other"),
            ("shell", "bash"),
            ("shell", "mine"),
            ("write", "mine"),
            ("mcp", "mine"),
            ("new", ""),
        ] {
            assert_eq!(held(kind, tool).as_deref(), Some("reject"), "{kind} {tool}");
        }
        assert_eq!(decision(ToolAccess::OnlyDenied, "custom-tool", "mine").as_deref(), Some("reject"));
        assert_eq!(decision(ToolAccess::Beside, "custom-tool", "mine").as_deref(), Some("approve-once"));
        assert_eq!(decision(ToolAccess::Beside, "shell", "bash"), None, "the owner decides");
    }

    fn hook(access: ToolAccess, params: &Value) -> Option<Value> {
        let id = RawValue::from_string("7".to_owned()).expect("JSON");
        barriers(access).hook(id, params).map(|(_, answer)| answer)
    }

    #[test]
    fn the_hook_denies_undeclared_tools_and_malformed_input() {
        let before = |tool: &str| json!({ "hookType": "preToolUse", "input": { "toolName": tool, "toolArgs": {} } });
        let denies = |answer: Option<Value>| answer.expect("answered")["output"]["permissionDecision"] == "deny";
        assert!(!denies(hook(ToolAccess::OnlyHeld, &before("mine"))));
        for bad in [
            before("view"),
            before(""),
            json!({}),
            json!({ "hookType": "preToolUse" }),
            json!({ "hookType": 7, "input": [] }),
        ] {
            assert!(denies(hook(ToolAccess::OnlyHeld, &bad)), "{bad}");
        }
        assert!(!denies(hook(ToolAccess::OnlyHeld, &json!({ "hookType": "sessionStart" }))));
        assert_eq!(hook(ToolAccess::OnlyDenied, &before("mine")), None, "held back until the session is destroyed");
    }

    #[test]
    fn the_models_calls_are_taken_in_order_each_once_with_their_arguments_as_text() {
        let text = json!({ "type": "assistant.message", "data": { "toolRequests": [
            { "toolCallId": "b", "name": "mine", "arguments": { "z": 1, "a": { "deep": [1, 2] } } },
            { "toolCallId": "a", "name": "bash", "arguments": "{broken" },
            { "toolCallId": "b", "name": "again", "arguments": {} },
            { "toolCallId": "c", "name": "mine" },
        ] } })
        .to_string();
        let Verdict::Requested(requests) = barriers(ToolAccess::OnlyHeld).event(&Event::read(&text).expect("an event"))
        else {
            panic!("requests")
        };
        let seen: Vec<(&str, &str, &str)> = requests
            .iter()
            .map(|request| (request.call_id.as_str(), request.name.as_str(), request.arguments.as_str()))
            .collect();
        assert_eq!(seen[0].0, "b");
        let given: Value = serde_json::from_str(seen[0].2).expect("JSON");
        assert_eq!(given, json!({ "z": 1, "a": { "deep": [1, 2] } }));
        assert_eq!(seen[1], ("a", "bash", "{broken"));
        assert_eq!(seen[2], ("c", "mine", "{}"));
    }
}

//! Permission requests: their summary and details.

use serde_json::{Map, Value};

use crate::agent::copilot::TITLE;
use crate::agent::permission_title::permission_title;
use crate::model::{Reading, RequestBody, Writing, canonical};

/// Translates a permission request. Fields differ by kind; the most specific comes first.
pub(in crate::agent::copilot) fn permission(request: &Value) -> RequestBody {
    let kind = text(request, "kind").unwrap_or_else(|| "unknown".to_owned());
    let detail = ["fullCommandText", "diff", "url", "fileName", "path"]
        .iter()
        .find_map(|name| text(request, name))
        .or_else(|| text(request, "toolName").map(|tool| call(&tool, &request["args"])))
        .unwrap_or_else(|| format!("{request:#}"));
    let subject = ["fileName", "path", "url", "toolName"].iter().find_map(|name| text(request, name));
    let title =
        text(request, "intention").or(subject).unwrap_or_else(|| detail.lines().next().unwrap_or_default().to_owned());
    let path = text(request, "fileName").or_else(|| text(request, "path"));
    let tool = match text(request, "toolName") {
        Some(name) if kind == "mcp" || kind == "custom-tool" => name,
        _ => kind.clone(),
    };
    RequestBody::Permission {
        title: permission_title(TITLE, &kind, path.as_deref(), &title),
        options: ["allow-once", "allow-always", "deny"].map(str::to_owned).to_vec(),
        tool_call_id: text(request, "toolCallId"),
        reads: reads(request, &kind).map(Box::new),
        writes: writes(request, &kind).map(Box::new),
        tool,
        kind,
        detail,
        call: exact_call(request),
    }
}

/// The file or folder that would be read. A request that only a person may allow, or that asks for more than reading,
/// names none.
fn reads(request: &Value, kind: &str) -> Option<Reading> {
    let path = text(request, "fileName").or_else(|| text(request, "path"))?;
    (kind == "read" && !asks_for_more(request)).then_some(Reading { path, is_inside: false })
}

/// The files that would be written, with all names that the request has for them.
fn writes(request: &Value, kind: &str) -> Option<Writing> {
    let file = text(request, "fileName")?;
    let edits = request["fileEdits"].as_array().map(Vec::as_slice).unwrap_or_default();
    let sides =
        edits.iter().flat_map(|edit| ["before", "after"].map(|side| &edit[side])).filter(|side| !side.is_null());
    // A side whose path cannot be read becomes an empty one, which is inside no folder.
    let edited = sides.map(|side| text(side, "path").unwrap_or_default());
    let paths = std::iter::once(file).chain(text(request, "resolvedPath")).chain(edited).collect();
    (kind == "write" && !asks_for_more(request)).then_some(Writing { paths, is_inside: false })
}

fn asks_for_more(request: &Value) -> bool {
    ["managedApprovalRequired", "requestSandboxBypass"].iter().any(|name| request[name] == true)
}

/// What would be done, without what may differ when the agent asks for the same thing again: ids, its intention, and
/// what it found out about the command.
fn exact_call(request: &Value) -> String {
    let names = ["kind", "fullCommandText", "shellType", "fileName", "path", "diff", "newFileContents", "url"];
    let names = names.iter().chain(&["serverName", "toolName", "args", "fact", "subject", "memory"]);
    let known: Map<String, Value> =
        names.filter_map(|name| Some(((*name).to_owned(), request.get(*name)?.clone()))).collect();
    if known.len() < 2 { String::new() } else { canonical(&Value::Object(known)) }
}

/// A tool call with its arguments.
fn call(tool: &str, arguments: &Value) -> String {
    if arguments.is_null() { tool.to_owned() } else { format!("{tool} {arguments:#}") }
}

fn text(value: &Value, name: &str) -> Option<String> {
    value[name].as_str().map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_names_all_its_files_unless_it_asks_for_more() {
        let writes = |request: serde_json::Value| match permission(&request) {
            RequestBody::Permission { writes, .. } => writes.map(|writing| writing.paths),
            RequestBody::Question { .. } => panic!("a permission"),
        };
        let edits = serde_json::json!([{ "before": { "path": "a" }, "after": { "path": "/out" } }, { "after": {} }]);
        let moved = serde_json::json!({ "kind": "write", "fileName": "a", "resolvedPath": "/w/a", "fileEdits": edits });
        let paths = ["a", "/w/a", "a", "/out", ""].map(str::to_owned).to_vec();
        assert_eq!(writes(moved), Some(paths));
        for name in ["managedApprovalRequired", "requestSandboxBypass"] {
            assert_eq!(writes(serde_json::json!({ "kind": "write", "fileName": "a", name: true })), None, "{name}");
        }
        assert_eq!(writes(serde_json::json!({ "kind": "shell", "fileName": "a" })), None);
    }

    #[test]
    fn a_permission_shows_exactly_what_would_run() {
        let RequestBody::Permission { kind, tool, detail, title, tool_call_id, .. } = permission(&serde_json::json!({
            "kind": "shell", "toolCallId": "c", "fullCommandText": "rm -rf x", "intention": "Tidy up",
        })) else {
            panic!("a permission")
        };
        assert_eq!((kind.as_str(), tool.as_str(), detail.as_str()), ("shell", "shell", "rm -rf x"));
        let mcp =
            permission(&serde_json::json!({ "kind": "mcp", "toolName": "greeter-greet", "args": { "name": "x" } }));
        let RequestBody::Permission { tool: of_server, detail: given, .. } = mcp else { panic!("a permission") };
        assert_eq!(of_server, "greeter-greet", "rules name the tool");
        assert!(given.contains("greeter-greet") && given.contains("\"name\": \"x\""), "{given}");
        assert_eq!((title.as_str(), tool_call_id.as_deref()), ("Copilot wants to run a command: Tidy up", Some("c")));
    }
}

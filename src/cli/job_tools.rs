//! `flightdeck job-tools`: an MCP server on standard input and output that offers the job tools to agents which take no
//! tools from their host. One JSON message per line. The agent's own report of a call is what counts; this server only
//! returns what was reported.

use std::io::{BufRead, Write};
use std::process::ExitCode;

use anyhow::Context as _;
use serde_json::{Value, json};

use crate::model::JobTool;

/// The version of MCP that is offered to a client that names none.
const PROTOCOL: &str = "2025-06-18";
const INVALID_REQUEST: i32 = -32600;
const METHOD_NOT_FOUND: i32 = -32601;
const INVALID_PARAMS: i32 = -32602;
const PARSE_ERROR: i32 = -32700;

pub(super) fn run() -> anyhow::Result<ExitCode> {
    serve(std::io::stdin().lock(), std::io::stdout().lock())?;
    Ok(ExitCode::SUCCESS)
}

/// Answers until the client closes its side.
fn serve(input: impl BufRead, mut output: impl Write) -> anyhow::Result<()> {
    for line in input.lines() {
        let line = line.context("cannot read from standard input")?;
        if let Some(answer) = answer(&line) {
            // The client is gone, which is how it ends this server.
            if writeln!(output, "{answer}").and_then(|()| output.flush()).is_err() {
                break;
            }
        }
    }
    Ok(())
}

/// The answer to a message; none to a notification or to an answer.
fn answer(line: &str) -> Option<Value> {
    if line.trim().is_empty() {
        return None;
    }
    let Ok(message) = serde_json::from_str::<Value>(line) else {
        return Some(failure(&Value::Null, PARSE_ERROR, "invalid JSON"));
    };
    let id = &message["id"];
    let Some(method) = message["method"].as_str() else {
        // The answer to a request, although none was sent.
        let is_answer = !message["result"].is_null() || !message["error"].is_null();
        return (!is_answer).then(|| failure(id, INVALID_REQUEST, "a message needs a method"));
    };
    if id.is_null() {
        return None;
    }
    let params = &message["params"];
    let result = match method {
        "initialize" => json!({
            "protocolVersion": params["protocolVersion"].as_str().unwrap_or(PROTOCOL),
            "capabilities": { "tools": {} },
            "serverInfo": { "name": JobTool::SERVER, "version": env!("CARGO_PKG_VERSION") },
        }),
        "ping" => json!({}),
        "tools/list" => json!({ "tools": JobTool::ALL.map(described) }),
        "tools/call" => {
            let name = params["name"].as_str().unwrap_or_default();
            if !JobTool::ALL.iter().any(|tool| tool.as_str() == name) {
                return Some(failure(id, INVALID_PARAMS, &format!("unknown tool {name:?}")));
            }
            let reported = JobTool::reported(&params["arguments"].to_string());
            json!({ "content": [{ "type": "text", "text": reported }] })
        }
        _ => return Some(failure(id, METHOD_NOT_FOUND, &format!("unknown method {method:?}"))),
    };
    Some(json!({ "jsonrpc": "2.0", "id": id, "result": result }))
}

fn described(tool: JobTool) -> Value {
    json!({
        "name": tool.as_str(),
        "description": tool.description(),
        "inputSchema": tool.parameters(),
        "annotations": { "readOnlyHint": true, "destructiveHint": false, "openWorldHint": false },
    })
}

fn failure(id: &Value, code: i32, message: &str) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "error": { "code": code, "message": message } })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answers(lines: &[Value]) -> Vec<Value> {
        let input: Vec<String> = lines.iter().map(Value::to_string).collect();
        let input = input.join("\n");
        let mut output = Vec::new();
        serve(input.as_bytes(), &mut output).expect("served");
        let text = String::from_utf8(output).expect("UTF-8");
        text.lines().map(|line| serde_json::from_str(line).expect("one message per line")).collect()
    }

    #[test]
    fn the_tools_are_listed_and_return_what_was_reported() {
        let answers = answers(&[
            json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": { "protocolVersion": "2024-11-05" } }),
            json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }),
            json!({ "jsonrpc": "2.0", "id": "a", "method": "tools/list" }),
            json!({
                "jsonrpc": "2.0", "id": 2, "method": "tools/call",
                "params": { "name": "job_boolean_true", "arguments": { "reason": "line\nline" } },
            }),
            json!({ "jsonrpc": "2.0", "id": 3, "method": "ping" }),
        ]);
        assert_eq!(answers.len(), 4, "a notification has no answer");
        assert_eq!(answers[0]["result"]["protocolVersion"], "2024-11-05");
        let names: Vec<&str> = answers[1]["result"]["tools"]
            .as_array()
            .expect("a list")
            .iter()
            .filter_map(|tool| tool["name"].as_str())
            .collect();
        assert_eq!(names, JobTool::ALL.map(JobTool::as_str));
        assert_eq!(answers[1]["id"], "a");
        assert_eq!(answers[2]["result"]["content"][0]["text"], "line\nline");
        assert_eq!(answers[3]["result"], json!({}));
    }

    #[test]
    fn what_makes_no_sense_is_an_error_and_the_server_goes_on() {
        let code = |line: &str| answer(line).map(|answer| answer["error"]["code"].clone());
        assert_eq!(code("{broken"), Some(json!(PARSE_ERROR)));
        assert_eq!(code(r#"{"id":1}"#), Some(json!(INVALID_REQUEST)));
        assert_eq!(code(r#"{"id":1,"method":"resources/list"}"#), Some(json!(METHOD_NOT_FOUND)));
        assert_eq!(code(r#"{"id":1,"method":"tools/call","params":{"name":"rm"}}"#), Some(json!(INVALID_PARAMS)));
        assert_eq!(code(r#"{"id":1,"result":{}}"#), None);
        assert_eq!(code("  "), None);
    }
}

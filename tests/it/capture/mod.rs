//! Agents as models for other programs: the real Copilot programs behind `/v1`, with a scripted model behind them.

mod answers;
mod bad_input;
mod barriers;
mod clients;
mod destroying;
mod holding;
mod quarantine;
mod retries;

use serde_json::{Value, json};

use crate::support::{CopilotServer, Http, Program, Reply};

/// A caller of the model API, with its own tools.
pub struct Caller {
    pub http: Http,
    pub messages: Vec<Value>,
    pub tools: Vec<Value>,
}

impl Caller {
    pub fn of(copilot: &CopilotServer) -> Self {
        Self { http: copilot.server.http(), messages: Vec::new(), tools: vec![tool("look"), tool("bash")] }
    }

    pub fn body(&self) -> Value {
        let mut body = json!({ "model": "scripted-model", "messages": self.messages });
        if !self.tools.is_empty() {
            body["tools"] = json!(self.tools);
        }
        body
    }

    pub fn says(&mut self, text: &str) {
        self.messages.push(json!({ "role": "user", "content": text }));
    }

    pub async fn post(&self) -> Reply {
        self.http.post_json("/v1/chat/completions", &self.body()).await
    }

    /// Sends the conversation; the answer is added to it. Gives the answer's message and how it was made.
    pub async fn send(&mut self) -> (Value, String) {
        let reply = self.post().await;
        assert_eq!(reply.status, 200, "{}", reply.text());
        let message = reply.json()["choices"][0]["message"].clone();
        self.messages.push(message.clone());
        (message, reply.header("x-flightdeck-capture").to_owned())
    }

    /// Says something and gives the answer.
    pub async fn ask(&mut self, text: &str) -> (Value, String) {
        self.says(text);
        self.send().await
    }

    /// Gives every call of the last answer its result.
    pub fn give_results(&mut self, text: &str) {
        let last = self.messages.last().expect("an answer").clone();
        for call in last["tool_calls"].as_array().expect("calls") {
            let content = format!("{text} of {}", call["function"]["arguments"]);
            self.messages.push(json!({ "role": "tool", "tool_call_id": call["id"], "content": content }));
        }
    }
}

pub fn tool(name: &str) -> Value {
    let parameters =
        json!({ "type": "object", "properties": { "at": { "type": "string" }, "command": { "type": "string" } } });
    json!({ "type": "function", "function": { "name": name, "description": "The caller's own", "parameters": parameters } })
}

pub fn names(message: &Value) -> Vec<&str> {
    let calls = message["tool_calls"].as_array().map(Vec::as_slice).unwrap_or_default();
    calls.iter().map(|call| call["function"]["name"].as_str().expect("a name")).collect()
}

/// The agent's own sessions on its disk.
pub fn sessions_on_disk(copilot: &CopilotServer) -> Vec<String> {
    let folder = copilot.server.folder().join("copilot/session-state");
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    let names = entries.map(|entry| entry.expect("readable").file_name().to_string_lossy().into_owned());
    names.filter(|name| !name.starts_with('.')).collect()
}

/// Waits until the agent has no session on its disk.
pub async fn until_nothing_is_left(copilot: &CopilotServer) {
    crate::support::eventually("no session on the agent's disk", async || {
        let left = sessions_on_disk(copilot);
        left.is_empty().then_some(())
    })
    .await;
}

/// A server that holds sessions, with that configuration.
pub async fn server(program: Program, config: &str) -> CopilotServer {
    CopilotServer::start_with(program, config).await
}

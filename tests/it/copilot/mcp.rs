//! MCP servers over the network, by both ways of reaching Copilot that know of them.

use std::process::Stdio;

use serde_json::json;
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::process::{Child, Command};

use crate::support::{CopilotServer, Program};

/// A server and its address; it ends with this.
async fn web_server() -> (Child, String) {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/agents/mcp_web_server.mjs");
    let mut server =
        Command::new("node").arg(script).stdout(Stdio::piped()).kill_on_drop(true).spawn().expect("started");
    let mut lines = BufReader::new(server.stdout.take().expect("piped")).lines();
    let address = lines.next_line().await.expect("readable").expect("it says where it is");
    (server, address)
}

#[tokio::test]
async fn servers_over_http_and_sse_are_reached_with_their_headers() {
    let (_server, address) = web_server().await;
    let copilot = CopilotServer::start(Program::Cli).await;
    let headers = json!({ "X-Key": "the-key" });
    let servers = json!({
        "new": { "type": "http", "url": format!("{address}/mcp"), "headers": headers },
        "old": { "type": "sse", "url": format!("{address}/sse"), "headers": headers },
    });
    for runtime in ["copilot", "copilot-acp"] {
        let options = json!({ "mcpServers": servers });
        let body = json!({ "runtime": runtime, "permissionMode": "allow-all", "options": options });
        let session = copilot.session_with(body).await;
        for (name, way) in [("new", "http"), ("old", "sse")] {
            let outcome = session.ask(&format!("@@tool {name}-say {{}}")).await;
            assert_eq!(outcome["verdict"], "succeeded", "{runtime} {way}: {outcome}");
            let log = session.get("/log").await.text().to_owned();
            assert!(log.contains(&format!("called over {way} with the-key")), "{runtime} {way}: {log}");
        }
    }
}

#[tokio::test]
async fn a_server_with_the_name_of_the_disabled_one_is_used_and_nothing_is_said_of_the_disabled_one() {
    let (_server, address) = web_server().await;
    let copilot = CopilotServer::start(Program::Cli).await;
    let own = json!({ "github-mcp-server": { "type": "http", "url": format!("{address}/mcp") } });
    for runtime in ["copilot", "copilot-acp", "copilot-headless"] {
        let body = json!({ "runtime": runtime, "permissionMode": "allow-all", "options": { "mcpServers": own } });
        let session = copilot.session_with(body).await;
        let outcome = session.ask("@@tool github-mcp-server-say {}").await;
        assert_eq!(outcome["verdict"], "succeeded", "{runtime}: {outcome}");
        let log = session.get("/log").await.text().to_owned();
        assert!(log.contains("called over http"), "{runtime}: {log}");

        let without = copilot.session_with(json!({ "runtime": runtime })).await;
        assert_eq!(without.ask("@@plain").await["verdict"], "succeeded", "{runtime}");
        let log = without.get("/log").await.text().to_owned();
        assert!(!log.contains("github-mcp-server"), "{runtime}: {log}");
    }
}

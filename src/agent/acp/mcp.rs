//! MCP servers for a session: passed over the protocol if the agent supports that, otherwise on its command line.

use std::collections::BTreeMap;
use std::path::Path;

use agent_client_protocol_schema::v1::{
    EnvVariable, HttpHeader, McpServer as OfferedServer, McpServerHttp, McpServerSse, McpServerStdio,
};
use serde_json::json;

use super::agent::About;
use crate::agent::copilot::mcp;
use crate::model::{McpAddress, McpServer, McpTransport};
use crate::private_file::TemporaryFile;

/// How each server is passed to the agent.
#[derive(Debug, Default)]
pub(super) struct Servers {
    /// Servers for `session/new` and `session/load`.
    pub offered: Vec<OfferedServer>,
    /// Servers that the agent does not support, for display.
    pub refused: Vec<String>,
}

/// The servers for an agent. Copilot silently ignores stdio servers, so it gets them on its command line instead.
pub(super) fn servers(all: &BTreeMap<String, McpServer>, about: &About) -> Servers {
    let mut servers = Servers::default();
    for (name, server) in all {
        match &server.transport {
            McpTransport::Http(address) if about.mcp_http => {
                let server = McpServerHttp::new(name.clone(), address.url.clone()).headers(headers(address));
                servers.offered.push(OfferedServer::Http(server));
            }
            McpTransport::Sse(address) if about.mcp_sse => {
                let server = McpServerSse::new(name.clone(), address.url.clone()).headers(headers(address));
                servers.offered.push(OfferedServer::Sse(server));
            }
            McpTransport::Stdio { .. } if about.is_copilot() => {}
            McpTransport::Stdio { command, args, env, cwd: _ } => {
                let variables = env.iter().map(|(name, value)| EnvVariable::new(name.clone(), value.clone()));
                let stdio = McpServerStdio::new(name.clone(), command.clone());
                servers.offered.push(OfferedServer::Stdio(stdio.args(args.clone()).env(variables.collect())));
            }
            transport => servers.refused.push(format!("{name} ({})", transport.as_str())),
        }
    }
    servers
}

fn headers(address: &McpAddress) -> Vec<HttpHeader> {
    address.headers.iter().map(|(name, value)| HttpHeader::new(name.clone(), value.clone())).collect()
}

/// A file with the stdio servers, for Copilot's command line.
pub(super) struct ServerFile(TemporaryFile);

impl ServerFile {
    /// `None` if there are no stdio servers.
    pub fn write(all: &BTreeMap<String, McpServer>) -> std::io::Result<Option<Self>> {
        let is_program = |server: &McpServer| matches!(server.transport, McpTransport::Stdio { .. });
        let programs = mcp::encode(all.iter().filter(|(_, server)| is_program(server)));
        if programs.is_empty() {
            return Ok(None);
        }
        let text = json!({ "mcpServers": programs }).to_string();
        Ok(Some(Self(TemporaryFile::write("mcp", ".json", text.as_bytes())?)))
    }

    pub fn path(&self) -> &Path {
        self.0.path()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::SessionOptions;

    fn all() -> BTreeMap<String, McpServer> {
        let servers = json!({ "mcpServers": {
            "files": { "type": "local", "command": "f", "args": ["-x"], "env": { "K": "v" } },
            "web": { "type": "http", "url": "http://w", "headers": { "A": "b" } },
            "old": { "type": "sse", "url": "http://o" },
        } });
        let options = SessionOptions::read(servers.as_object().expect("an object")).expect("valid");
        crate::model::merged_mcp_servers(&BTreeMap::new(), &options.mcp_servers)
    }

    #[test]
    fn each_server_goes_the_way_that_the_agent_takes() {
        let other = servers(&all(), &About { mcp_http: true, ..About::default() });
        assert_eq!(
            json!(other.offered),
            json!([
                { "name": "files", "command": "f", "args": ["-x"], "env": [{ "name": "K", "value": "v" }] },
                { "type": "http", "name": "web", "url": "http://w", "headers": [{ "name": "A", "value": "b" }] },
            ])
        );
        assert_eq!(other.refused, ["old (sse)"]);
        let copilot = About { name: "Copilot".to_owned(), mcp_http: true, mcp_sse: true, ..About::default() };
        let mut names: Vec<String> =
            servers(&all(), &copilot).offered.iter().map(|server| json!(server)["name"].to_string()).collect();
        names.sort();
        assert_eq!(names, ["\"old\"", "\"web\""]);
    }

    #[test]
    fn the_file_of_programs_is_private_and_goes_away() {
        let file = ServerFile::write(&all()).expect("written").expect("one");
        let path = file.path().to_owned();
        let text = std::fs::read_to_string(&path).expect("readable");
        assert!(text.contains("\"files\"") && !text.contains("\"web\""), "{text}");
        #[cfg(unix)]
        assert_eq!(std::os::unix::fs::MetadataExt::mode(&std::fs::metadata(&path).expect("there")) & 0o777, 0o600);
        drop(file);
        assert!(!path.exists());
        assert!(ServerFile::write(&BTreeMap::new()).expect("nothing to do").is_none());
    }
}

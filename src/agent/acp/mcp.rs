//! MCP servers for a session: by the protocol where the agent takes them, else by the way that works for it.

use std::path::Path;

use agent_client_protocol_schema::v1::{
    EnvVariable, HttpHeader, McpServer, McpServerHttp, McpServerSse, McpServerStdio,
};
use serde_json::{Map, Value, json};

use super::agent::About;
use crate::agent::private_file::PrivateFile;

/// What goes where.
#[derive(Debug, Default)]
pub(super) struct Servers {
    /// In `session/new` and `session/load`.
    pub offered: Vec<McpServer>,
    /// Servers that the agent does not take; for people.
    pub refused: Vec<String>,
}

/// The servers for an agent. Copilot drops programs silently, and gets them on its command line instead.
pub(super) fn servers(all: &Map<String, Value>, about: &About) -> Servers {
    let mut servers = Servers::default();
    for (name, server) in all {
        let url = || server["url"].as_str().unwrap_or_default().to_owned();
        match server["type"].as_str() {
            Some("http") if about.mcp_http => {
                let headers = pairs(&server["headers"]).map(|(name, value)| HttpHeader::new(name, value)).collect();
                servers.offered.push(McpServer::Http(McpServerHttp::new(name.clone(), url()).headers(headers)));
            }
            Some("sse") if about.mcp_sse => {
                let headers = pairs(&server["headers"]).map(|(name, value)| HttpHeader::new(name, value)).collect();
                servers.offered.push(McpServer::Sse(McpServerSse::new(name.clone(), url()).headers(headers)));
            }
            Some("local") if about.is_copilot() => {}
            Some("local") => {
                let command = server["command"].as_str().unwrap_or_default().to_owned();
                let arguments = server["args"].as_array().map(Vec::as_slice).unwrap_or_default();
                let arguments = arguments.iter().filter_map(|word| word.as_str().map(str::to_owned)).collect();
                let variables = pairs(&server["env"]).map(|(name, value)| EnvVariable::new(name, value)).collect();
                let stdio = McpServerStdio::new(name.clone(), command).args(arguments).env(variables);
                servers.offered.push(McpServer::Stdio(stdio));
            }
            kind => servers.refused.push(format!("{name} ({})", kind.unwrap_or("unknown"))),
        }
    }
    servers
}

fn pairs(table: &Value) -> impl Iterator<Item = (String, String)> {
    let fields = table.as_object().cloned().unwrap_or_default();
    fields.into_iter().filter_map(|(name, value)| Some((name, value.as_str()?.to_owned())))
}

/// A file with the programs among the servers, for Copilot's command line.
pub(super) struct ServerFile(PrivateFile);

impl ServerFile {
    /// `None` where there are no programs.
    pub fn write(all: &Map<String, Value>) -> std::io::Result<Option<Self>> {
        let programs: Map<String, Value> = all
            .iter()
            .filter(|(_, server)| server["type"] == "local")
            .map(|(name, server)| (name.clone(), server.clone()))
            .collect();
        if programs.is_empty() {
            return Ok(None);
        }
        let text = json!({ "mcpServers": programs }).to_string();
        Ok(Some(Self(PrivateFile::write("mcp", ".json", text.as_bytes())?)))
    }

    pub fn path(&self) -> &Path {
        self.0.path()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all() -> Map<String, Value> {
        let servers = json!({
            "files": { "type": "local", "command": "f", "args": ["-x"], "env": { "K": "v" } },
            "web": { "type": "http", "url": "http://w", "headers": { "A": "b" } },
            "old": { "type": "sse", "url": "http://o" },
        });
        servers.as_object().expect("a table").clone()
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
        assert!(ServerFile::write(&Map::new()).expect("nothing to do").is_none());
    }
}

//! Creates the runtimes from the configuration, in order of preference.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use crate::agent::acp::{Acp, AcpSettings};
use crate::agent::copilot::{ConfiguredProvider, Copilot, CopilotSettings};
use crate::agent::demo::Demo;
use crate::agent::headless::{ClaudeSettings, Headless, HeadlessSettings};
use crate::agent::{ConformanceResults, Quarantine, Runtime, Runtimes, agent_environment};
use crate::config::{self, AcpAgent, Config};
use crate::model::{McpAddress, McpServer, McpTransport, Provider};
use crate::process::Supervisor;

/// All runtimes. They store their files below `data_folder`.
pub(super) fn runtimes(
    config: &Config,
    data_folder: &Path,
    quarantine: Arc<Quarantine>,
    supervisor: Supervisor,
) -> Runtimes {
    Runtimes::new(list(config, data_folder, quarantine, supervisor))
}

/// The same as a list, in order of preference.
pub(super) fn list(
    config: &Config,
    data_folder: &Path,
    quarantine: Arc<Quarantine>,
    supervisor: Supervisor,
) -> Vec<Arc<dyn Runtime>> {
    let settings = CopilotSettings { supervisor, ..copilot_settings(config, data_folder, quarantine) };
    let acp = acp_of_copilot(config, &settings);
    let environment = agent_environment(std::env::vars(), &config.agents.environment);
    let common = AcpSettings { environment, ..acp.clone() };
    let headless = headless_settings(&acp, config, data_folder);
    let copilot = Arc::new(Copilot::new(settings));
    let mut all: Vec<Arc<dyn Runtime>> = vec![Arc::clone(&copilot) as Arc<dyn Runtime>];
    all.push(Arc::new(Acp::of_copilot(Arc::clone(&copilot), acp)));
    let (of_copilot, of_claude, claude) = headless;
    all.push(Arc::new(Headless::of_copilot(copilot, of_copilot)));
    all.push(Arc::new(Headless::of_claude(claude, of_claude)));
    for (name, agent) in &config.acp {
        all.push(Arc::new(Acp::configured(acp_settings(common.clone(), name, agent))));
    }
    all.push(Arc::new(Demo::new()));
    all
}

/// The settings of the headless runtimes, Copilot's and Claude Code's.
fn headless_settings(
    acp: &AcpSettings,
    config: &Config,
    data_folder: &Path,
) -> (HeadlessSettings, HeadlessSettings, ClaudeSettings) {
    let environment = agent_environment(std::env::vars(), &config.agents.environment);
    let of_copilot = HeadlessSettings {
        variables: acp.variables.clone(),
        environment: acp.environment.clone(),
        mcp_servers: acp.mcp_servers.clone(),
        quarantine: Arc::clone(&acp.quarantine),
        supervisor: acp.supervisor.clone(),
    };
    let of_claude =
        HeadlessSettings { variables: BTreeMap::new(), environment: environment.clone(), ..of_copilot.clone() };
    let claude = &config.agents.claude;
    let claude = ClaudeSettings {
        environment,
        program: (!claude.program.as_os_str().is_empty()).then(|| claude.program.clone()),
        data_folder: Some(data_folder.to_owned()),
        models: claude.models.clone(),
    };
    (of_copilot, of_claude, claude)
}

/// The settings that Copilot over ACP shares with Copilot.
fn acp_of_copilot(config: &Config, copilot: &CopilotSettings) -> AcpSettings {
    let home = &config.agents.copilot.home;
    let home = (!home.as_os_str().is_empty()).then(|| ("COPILOT_HOME".to_owned(), home.to_string_lossy().into_owned()));
    AcpSettings {
        name: String::new(),
        title: String::new(),
        command: String::new(),
        arguments: Vec::new(),
        variables: home.into_iter().collect(),
        environment: copilot.environment.clone(),
        login_hint: String::new(),
        auth_method: String::new(),
        models: Vec::new(),
        hello_within: copilot.hello_within,
        end_when_idle: copilot.end_when_idle,
        mcp_servers: copilot.mcp_servers.clone(),
        cache_folder: copilot.data_folder.as_ref().map(|folder| folder.join("cache")),
        quarantine: Arc::clone(&copilot.quarantine),
        supervisor: copilot.supervisor.clone(),
    }
}

fn acp_settings(common: AcpSettings, name: &str, agent: &AcpAgent) -> AcpSettings {
    AcpSettings {
        name: format!("acp:{name}"),
        title: name.to_owned(),
        command: agent.command.clone(),
        arguments: agent.args.clone(),
        variables: agent.env.clone(),
        login_hint: agent.login_hint.clone(),
        auth_method: agent.auth_method.clone(),
        models: agent.models.clone(),
        hello_within: agent.hello_within.or_zero(),
        end_when_idle: agent.end_when_idle.0,
        ..common
    }
}

fn copilot_settings(config: &Config, data_folder: &Path, quarantine: Arc<Quarantine>) -> CopilotSettings {
    let copilot = &config.agents.copilot;
    let mut environment = agent_environment(std::env::vars(), &config.agents.environment);
    let given = |path: &Path| (!path.as_os_str().is_empty()).then(|| path.to_owned());
    if let Some(home) = given(&copilot.home) {
        environment.insert("COPILOT_HOME".to_owned(), home.to_string_lossy().into_owned());
    }
    let configured = |entry: &config::Provider| ConfiguredProvider {
        provider: provider(entry, &environment),
        models: entry.models.clone(),
    };
    CopilotSettings {
        program: given(&copilot.program),
        data_folder: Some(data_folder.to_owned()),
        models: copilot.models.clone(),
        catalogue: copilot.catalogue.clone(),
        hello_within: copilot.hello_within.or_zero(),
        end_when_idle: copilot.end_when_idle.0,
        providers: config.providers.iter().map(|(name, entry)| (name.clone(), configured(entry))).collect(),
        mcp_servers: config.mcp_servers.iter().map(|(name, server)| (name.clone(), mcp_server(server))).collect(),
        quarantine,
        conformance: Some(Arc::new(ConformanceResults::in_folder(data_folder))),
        environment,
        ..CopilotSettings::default()
    }
}

/// A configured provider, with its key from the environment if the configuration says so.
fn provider(entry: &config::Provider, environment: &BTreeMap<String, String>) -> Provider {
    let variable = &entry.api_key_variable;
    if !variable.is_empty() && !environment.contains_key(variable) {
        tracing::warn!(%variable, base_url = %entry.base_url, "the environment variable with a provider's key is not set");
    }
    entry.for_agents(environment)
}

/// A configured MCP server.
fn mcp_server(entry: &config::McpServer) -> McpServer {
    let address = || McpAddress { url: entry.url.clone(), headers: entry.headers.clone() };
    let transport = match entry.transport() {
        "http" => McpTransport::Http(address()),
        "sse" => McpTransport::Sse(address()),
        // The configuration was checked when it was read, so nothing else is possible.
        _ => McpTransport::Stdio {
            command: entry.command.clone(),
            args: entry.args.clone(),
            env: entry.env.clone(),
            cwd: None,
        },
    };
    let tools = Some(entry.tools.clone()).filter(|tools| !tools.is_empty() && !tools.iter().any(|tool| tool == "*"));
    McpServer { transport, tools, timeout_ms: None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_configured_server_offers_all_tools_unless_some_are_named() {
        let entry = config::McpServer { command: "c".to_owned(), ..config::McpServer::default() };
        assert_eq!(mcp_server(&entry).transport.as_str(), "stdio");
        assert_eq!(mcp_server(&entry).tools, None);
        let some =
            config::McpServer { url: "http://x".to_owned(), tools: vec!["read".to_owned()], ..Default::default() };
        assert_eq!(mcp_server(&some).transport.as_str(), "http");
        assert_eq!(mcp_server(&some).tools, Some(vec!["read".to_owned()]));
    }
}

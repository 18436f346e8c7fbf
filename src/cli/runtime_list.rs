//! The runtimes of this program, in order of preference, as the configuration wants them.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use serde_json::{Map, Value, json};

use crate::agent::acp::{Acp, AcpSettings};
use crate::agent::copilot::{Copilot, CopilotSettings, OwnProvider};
use crate::agent::demo::Demo;
use crate::agent::headless::{ClaudeSettings, Headless, HeadlessSettings};
use crate::agent::{Quarantine, Runtime, Runtimes, agent_environment};
use crate::config::{AcpAgent, Config, McpServer, Provider, ProviderKind, WireApi};
use crate::process::Supervisor;

/// All runtimes. What they keep is below `data_folder`.
pub(super) fn runtimes(
    config: &Config,
    data_folder: &Path,
    quarantine: Arc<Quarantine>,
    supervisor: Supervisor,
) -> Runtimes {
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
    Runtimes::new(all)
}

/// What the headless runtimes share with the others: Copilot's, Claude Code's, and what only the latter has.
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

/// What Copilot over ACP shares with Copilot.
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
    let provider = |provider: &Provider| OwnProvider {
        value: provider_value(provider, &environment),
        models: provider.models.clone(),
    };
    CopilotSettings {
        program: given(&copilot.program),
        data_folder: Some(data_folder.to_owned()),
        models: copilot.models.clone(),
        catalogue: copilot.catalogue.clone(),
        hello_within: copilot.hello_within.or_zero(),
        end_when_idle: copilot.end_when_idle.0,
        providers: config.providers.iter().map(|(name, entry)| (name.clone(), provider(entry))).collect(),
        mcp_servers: config.mcp_servers.iter().map(|(name, server)| (name.clone(), mcp_value(server))).collect(),
        quarantine,
        environment,
        ..CopilotSettings::default()
    }
}

/// A provider as Copilot wants it.
fn provider_value(provider: &Provider, environment: &BTreeMap<String, String>) -> Value {
    let kind = match provider.kind {
        ProviderKind::Openai => "openai",
        ProviderKind::Azure => "azure",
        ProviderKind::Anthropic => "anthropic",
    };
    let wire_api = match provider.wire_api {
        WireApi::Completions => "completions",
        WireApi::Responses => "responses",
    };
    let mut value = json!({ "type": kind, "baseUrl": provider.base_url });
    if provider.kind != ProviderKind::Anthropic {
        value["wireApi"] = json!(wire_api);
    }
    let variable = &provider.api_key_variable;
    let key = if variable.is_empty() { Some(provider.api_key.clone()) } else { environment.get(variable).cloned() };
    match key {
        Some(key) if !key.is_empty() => value["apiKey"] = json!(key),
        None => {
            tracing::warn!(%variable, base_url = %provider.base_url, "the variable for a provider's key is not set");
        }
        Some(_) => {}
    }
    if !provider.api_version.is_empty() {
        value["azure"] = json!({ "apiVersion": provider.api_version });
    }
    if !provider.headers.is_empty() {
        value["headers"] = json!(provider.headers);
    }
    value
}

/// An MCP server as Copilot wants it.
fn mcp_value(server: &McpServer) -> Value {
    let tools = if server.tools.is_empty() { vec!["*".to_owned()] } else { server.tools.clone() };
    let fields: Map<String, Value> = match server.transport() {
        "stdio" => [
            ("type", json!("local")),
            ("command", json!(server.command)),
            ("args", json!(server.args)),
            ("env", json!(server.env)),
            ("tools", json!(tools)),
        ]
        .map(|(name, value)| (name.to_owned(), value))
        .into_iter()
        .collect(),
        transport => [
            ("type", json!(transport)),
            ("url", json!(server.url)),
            ("headers", json!(server.headers)),
            ("tools", json!(tools)),
        ]
        .map(|(name, value)| (name.to_owned(), value))
        .into_iter()
        .collect(),
    };
    Value::Object(fields)
}

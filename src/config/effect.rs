//! When a changed setting takes effect.

use schemars::JsonSchema;
use serde::Serialize;

/// When a changed setting takes effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Effect {
    /// At once; what is connected or loaded already may keep the old value until its next start.
    Now,
    /// When the server is started again.
    Restart,
}

/// Settings and groups of settings that take effect at once.
const AT_ONCE: [&str; 24] = [
    "sessions",
    "permissions",
    "portal",
    "recovery",
    "retention",
    "budget",
    "limits.prompt_bytes",
    "limits.body_bytes",
    "limits.agent_processes",
    "limits.sessions",
    "limits.readers_per_session",
    "limits.queued_prompts",
    "limits.inline_output_bytes",
    "limits.blob_bytes",
    "limits.snapshot_bytes",
    "jobs.tools_in_all_sessions",
    "agents.environment",
    "agents.copilot",
    "agents.claude",
    "providers",
    "mcp_servers",
    "acp",
    "runtimes",
    "notifications",
];

impl Effect {
    /// When a change of this setting takes effect.
    pub fn of(key: &str) -> Self {
        let is_below =
            |group: &str| key.strip_prefix(group).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'));
        if AT_ONCE.into_iter().any(is_below) { Self::Now } else { Self::Restart }
    }
}

#[cfg(test)]
mod tests {
    use super::super::layers::known_keys;
    use super::*;

    #[test]
    fn every_group_that_takes_effect_at_once_exists() {
        let keys: Vec<String> =
            known_keys().chain(["providers.x", "mcp_servers.x", "acp.x", "runtimes.x"].map(str::to_owned)).collect();
        for group in AT_ONCE {
            let is_of_group = |key: &String| key == group || key.starts_with(&format!("{group}."));
            assert!(keys.iter().any(is_of_group), "{group}");
        }
        assert_eq!(Effect::of("providers.mine.api_key"), Effect::Now);
        assert_eq!(Effect::of("notifications.targets.phone"), Effect::Now);
        assert_eq!(Effect::of("server.port"), Effect::Restart);
        assert_eq!(Effect::of("sessions_of_others"), Effect::Restart);
    }
}

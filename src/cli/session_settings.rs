//! Converts the configuration to the settings of sessions. Only the configuration has defaults.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use crate::config::{Budget, Config, Recovery, Resume, SessionLayers};
use crate::model::{BudgetLimits, McpServer, McpTransport, PermissionPolicy};
use crate::session::{BudgetSettings, FoundDefaults, RecoverySettings, SessionSettings};
use crate::store::Retention;

/// How long new tokens may read a closed session from the start.
pub(super) const CLOSED_GRACE: Duration = Duration::from_mins(1);

pub(super) fn session_settings(config: &Config, layers: &SessionLayers, closed_grace: Duration) -> SessionSettings {
    let (sessions, limits, layers) = (&config.sessions, &config.limits, layers.clone());
    SessionSettings {
        default_runtime: sessions.runtime.clone(),
        default_model: sessions.model.clone(),
        defaults: Arc::new(move |folder| {
            let (layers, problem) = layers.in_folder(folder);
            FoundDefaults { layers, problem }
        }),
        runtime_defaults: config.runtimes.iter().map(|(name, of)| (name.clone(), of.for_sessions())).collect(),
        roots: sessions.roots.clone(),
        permissions: PermissionPolicy { mode: config.permissions.default, rules: config.permissions.rules.clone() },
        allow_reads: config.permissions.allow_reads,
        unattended_timeout: config.permissions.unattended_timeout.0.unwrap_or(SessionSettings::NEVER),
        interrupt_grace: sessions.interrupt_grace.or_zero(),
        agent_processes: limits.agent_processes,
        turn_timeout: sessions.turn_timeout.0.filter(|span| !span.is_zero()),
        recovery: recovery_settings(&config.recovery),
        closed_grace,
        resume_at_start: sessions.resume == Resume::AtStart,
        prompt_bytes: limits.prompt_bytes,
        queued_prompts: limits.queued_prompts,
        open_sessions: limits.sessions,
        readers_per_session: limits.readers_per_session,
        inline_output_bytes: limits.inline_output_bytes,
        blob_bytes: limits.blob_bytes,
        snapshot_bytes: limits.snapshot_bytes,
        retention: Retention {
            max_age: config.retention.max_age.0,
            max_bytes: Some(config.retention.max_bytes).filter(|bytes| *bytes > 0),
        },
        budget: budget_settings(&config.budget),
        own_server: None,
        job_tools_in_all_sessions: config.jobs.tools_in_all_sessions,
        agent_environment: config.agents.environment.clone(),
    }
}

/// The MCP server in this program. If the program cannot find itself, agents without tools of their host have no job tools.
pub(super) fn own_server() -> Option<McpServer> {
    let program = std::env::current_exe()
        .inspect_err(|error| tracing::warn!(%error, "cannot find the own program, so there is no MCP server for jobs"))
        .ok()?;
    let transport = McpTransport::Stdio {
        command: program.to_str()?.to_owned(),
        args: vec!["job-tools".to_owned()],
        env: BTreeMap::new(),
        cwd: None,
    };
    Some(McpServer { transport, tools: None, timeout_ms: None })
}

fn recovery_settings(recovery: &Recovery) -> RecoverySettings {
    RecoverySettings {
        attempts: recovery.attempts,
        turn_attempts: recovery.turn_attempts,
        first_delay: recovery.first_delay.or_zero(),
        longest_delay: recovery.longest_delay.or_zero(),
        silence_notice: recovery.silence_notice.0.filter(|span| !span.is_zero()),
        end_hung: recovery.end_hung,
    }
}

/// In the configuration, 0 means no limit.
pub(super) fn budget_settings(budget: &Budget) -> BudgetSettings {
    let amount = |limit: f64| (limit > 0.0).then_some(limit);
    let tokens = |limit: u64| (limit > 0).then_some(limit);
    BudgetSettings {
        session: BudgetLimits {
            premium_requests: amount(budget.session_premium_requests),
            credits: amount(budget.session_credits),
            tokens: tokens(budget.session_tokens),
            cost_usd: amount(budget.session_cost_usd),
        },
        day: BudgetLimits {
            premium_requests: amount(budget.day_premium_requests),
            credits: amount(budget.day_credits),
            tokens: tokens(budget.day_tokens),
            cost_usd: amount(budget.day_cost_usd),
        },
        warn_at: budget.warn_at,
        refuse: budget.refuse,
        stop_turns: budget.stop_turns,
    }
}

impl Default for SessionSettings {
    /// The settings of a server without any configuration, for tests and for programs that embed the library.
    fn default() -> Self {
        let of_no_project = Arc::new(|_: Option<&std::path::Path>| FoundDefaults::default());
        let settings = session_settings(&Config::default(), &SessionLayers::default(), CLOSED_GRACE);
        Self { defaults: of_no_project, ..settings }
    }
}

impl Default for RecoverySettings {
    fn default() -> Self {
        recovery_settings(&Recovery::default())
    }
}

impl Default for BudgetSettings {
    fn default() -> Self {
        budget_settings(&Budget::default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_embedders_get_is_what_the_configuration_says() {
        let (settings, config) = (SessionSettings::default(), Config::default());
        assert_eq!(settings.agent_processes, config.limits.agent_processes);
        assert_eq!(settings.open_sessions, config.limits.sessions);
        assert_eq!(Some(settings.recovery.first_delay), config.recovery.first_delay.0);
        assert!((settings.budget.warn_at - config.budget.warn_at).abs() < f64::EPSILON);
    }
}

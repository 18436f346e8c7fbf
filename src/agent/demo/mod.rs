//! The demo runtime: no account, no model, no process. The first word of the prompt selects a script.
//!
//! Invariants: the same prompt produces the same events, nothing outside the process is touched, and every text says
//! that this is a demo. Its turns can continue after a restart (`durable_requests`), because a script depends only on
//! the prompt and the answers.

mod player;
mod scenes;
mod script;

use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::{
    AgentFork, BoxFuture, Capabilities, Connection, Freshness, Model, ModelList, Owner, Readiness, Runtime, StartError,
    StartSpec, SystemPromptSupport,
};
use player::Player;

/// The capacity of the event channel to the session.
const EVENTS_IN_FLIGHT: usize = 512;
const COMMANDS_IN_FLIGHT: usize = 16;

/// The runtime `demo`.
pub struct Demo {
    capabilities: Capabilities,
}

impl Demo {
    /// The runtime's name.
    pub const NAME: &'static str = "demo";

    /// The demo runtime, ready immediately.
    pub fn new() -> Self {
        Self {
            capabilities: Capabilities {
                streaming: true,
                session_resume: true,
                permissions: true,
                questions: true,
                interrupt: true,
                model_discovery: true,
                model_switch: true,
                system_prompt: SystemPromptSupport::Message,
                image_input: true,
                many_sessions_per_process: true,
                durable_requests: true,
                durable_questions: true,
                fork: true,
                demo: true,
                ..Capabilities::default()
            },
        }
    }
}

impl Default for Demo {
    fn default() -> Self {
        Self::new()
    }
}

impl Runtime for Demo {
    fn name(&self) -> &'static str {
        Self::NAME
    }

    fn title(&self) -> &'static str {
        "Demo"
    }

    fn capabilities(&self) -> &Capabilities {
        &self.capabilities
    }

    fn readiness(&self) -> BoxFuture<'_, Readiness> {
        Box::pin(async { Readiness::ready("A built-in scripted demo: no AI, no account. Send the prompt `help`.") })
    }

    fn models(&self, _: Freshness) -> BoxFuture<'_, ModelList> {
        let model = |name: &str, id: &str| Model { multiplier: 0.0, ..Model::named(name, id) };
        Box::pin(async move {
            ModelList::known(vec![
                model("Demo agent (no AI)", "demo"),
                model("Demo agent, at reading speed (no AI)", player::SLOW_MODEL),
            ])
        })
    }

    /// A script depends only on its prompt, so a copy of a session is a new id.
    fn fork(&self, _: AgentFork) -> BoxFuture<'_, Result<String, String>> {
        Box::pin(async { Ok(format!("demo-fork-{}", uuid::Uuid::new_v4())) })
    }

    fn start(&self, spec: StartSpec) -> BoxFuture<'_, Result<Connection, StartError>> {
        Box::pin(async move {
            let (command_sender, commands) = mpsc::channel(COMMANDS_IN_FLIGHT);
            let (event_sender, events) = mpsc::channel(EVENTS_IN_FLIGHT);
            let cancelled = CancellationToken::new();
            let agent_session_id = spec.agent_session_id.clone().unwrap_or_else(|| match spec.owner {
                Owner::Session(id) => format!("demo-{id}"),
                Owner::Canary | Owner::Capture | Owner::Job => format!("demo-{}", uuid::Uuid::new_v4()),
            });
            let player = Player::new(event_sender, &spec.model);
            let until = cancelled.clone();
            let task = tokio::spawn(async move {
                // It makes no difference whether it finished or was cancelled.
                let _: Option<()> = until.run_until_cancelled(player.serve(commands, spec.suspended)).await;
            });
            Ok(Connection::new(command_sender, events, Some(agent_session_id), task, cancelled))
        })
    }
}

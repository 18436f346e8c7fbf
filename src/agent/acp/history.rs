//! The sessions that an agent stores itself, and their history. Each query starts a process and stops it afterwards.

use std::path::PathBuf;
use std::sync::Arc;

use agent_client_protocol_schema::v1::LoadSessionRequest;
use serde_json::Value;

use super::agent::{Agent, CallError};
use super::open;
use super::replay::Historian;
use super::settings::{AcpSettings, Launch};
use super::wire::Incoming;
use crate::agent::{BoxFuture, OwnSession, OwnSessions, Past, StartError};

pub(super) struct History {
    pub settings: Arc<AcpSettings>,
}

impl History {
    async fn agent(&self) -> Result<Agent, String> {
        let program = super::program::find(&self.settings, None)?;
        let launch = Launch {
            program: program.path,
            arguments: program.leading_arguments,
            environment: self.settings.environment.clone().into_iter().chain(self.settings.variables.clone()).collect(),
            folder: super::anywhere(),
        };
        Agent::start(&self.settings, &launch).await.map_err(|problem| StartError::from(problem).to_string())
    }

    async fn listed(&self, agent: &mut Agent) -> Result<Vec<OwnSession>, String> {
        if !agent.about.lists {
            return Err(format!("{} does not list its sessions", self.settings.title));
        }
        let mut all: Vec<OwnSession> = Vec::new();
        let listed = open::sessions(agent, |page| {
            all.extend(page.iter().filter_map(own_session));
            false
        });
        listed.await.map_err(in_words)?;
        all.sort_by(|one, other| other.updated_at.cmp(&one.updated_at));
        Ok(all)
    }

    async fn replayed(&self, agent: &mut Agent, id: &str) -> Result<Vec<Past>, String> {
        if !agent.about.loads {
            return Err(format!("{} cannot resume sessions", self.settings.title));
        }
        let sessions = self.listed(agent).await?;
        let folder =
            sessions.into_iter().find(|session| session.id == id).and_then(|session| session.working_directory);
        let mut historian = Historian::new(agent.about.is_copilot());
        let params = LoadSessionRequest::new(id.to_owned(), folder.unwrap_or_else(super::anywhere));
        let mut receive = |incoming| {
            if let Incoming::Update { session, update } = incoming
                && session == id
            {
                historian.receive(update);
            }
        };
        agent.call("session/load", &params, &mut receive).await.map_err(in_words)?;
        Ok(historian.finish())
    }
}

fn own_session(entry: &Value) -> Option<OwnSession> {
    let text = |value: &Value| value.as_str().filter(|text| !text.is_empty()).map(str::to_owned);
    let updated_at = text(&entry["updatedAt"]).unwrap_or_default();
    Some(OwnSession {
        id: text(&entry["sessionId"])?,
        title: text(&entry["title"]),
        working_directory: text(&entry["cwd"]).map(PathBuf::from),
        // The protocol does not report when a session started.
        created_at: updated_at.clone(),
        updated_at,
    })
}

fn in_words(error: CallError) -> String {
    match error {
        CallError::Refused(error) => error.to_string(),
        CallError::Gone(words) | CallError::Silent(words) => words,
    }
}

impl OwnSessions for History {
    fn list(&self) -> BoxFuture<'_, Result<Vec<OwnSession>, String>> {
        Box::pin(async move {
            let mut agent = self.agent().await?;
            let listed = self.listed(&mut agent).await;
            agent.end().await;
            listed
        })
    }

    fn history(&self, id: String) -> BoxFuture<'_, Result<Vec<Past>, String>> {
        Box::pin(async move {
            let mut agent = self.agent().await?;
            let past = self.replayed(&mut agent, &id).await;
            agent.end().await;
            past
        })
    }

    fn forget(&self, _id: String) -> BoxFuture<'_, Result<(), String>> {
        Box::pin(async { Err("ACP cannot delete sessions".to_owned()) })
    }
}

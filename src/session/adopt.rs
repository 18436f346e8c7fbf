//! Sessions that agents store themselves: listing and importing them.

use std::sync::Arc;

use super::actor::Adoption;
use super::working_directory::{self, WorkingDirectoryError};
use super::{Session, SessionError, Sessions, clock};
use crate::agent::{OwnSession, RuntimeNotFound};
use crate::model::{PermissionPolicy, SessionBudget, SessionId, SessionOrigin, SessionProfile, SessionState};
use crate::store::{Creation, NewSessionRecord, StoreError};

/// Why a session could not be imported.
#[derive(Debug, thiserror::Error)]
pub enum AdoptError {
    /// No such runtime.
    #[error(transparent)]
    Runtime(#[from] RuntimeNotFound),
    /// The runtime's agent does not store sessions.
    #[error("the runtime {0} does not store sessions")]
    KeepsNone(String),
    /// The agent could not list its sessions.
    #[error("could not list the sessions of {runtime}: {reason}")]
    Agent {
        /// Which.
        runtime: String,
        /// Why not.
        reason: String,
    },
    /// The agent has no such session.
    #[error("{runtime} has no session {id:?}")]
    NotFound {
        /// Which runtime.
        runtime: String,
        /// What was asked for.
        id: String,
    },
    /// Its folder cannot be used.
    #[error(transparent)]
    WorkingDirectory(#[from] WorkingDirectoryError),
    /// No more sessions.
    #[error("{limit} sessions are open, which is the limit; close some, or raise limits.sessions")]
    TooMany {
        /// What is allowed.
        limit: usize,
    },
    /// Our own session refused.
    #[error(transparent)]
    Session(#[from] SessionError),
    /// The store refused.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// A session that an agent stores, and our session for it, if it was imported.
#[derive(Clone, Debug)]
pub struct Adoptable {
    /// The agent's.
    pub session: OwnSession,
    /// Ours.
    pub adopted_as: Option<SessionId>,
}

impl Sessions {
    /// The sessions that a runtime's agent stores, the latest first.
    pub async fn adoptable(&self, runtime: &str) -> Result<Vec<Adoptable>, AdoptError> {
        let agent = self.runtimes().named(runtime)?;
        let kept = agent.own_sessions().ok_or_else(|| AdoptError::KeepsNone(runtime.to_owned()))?;
        let listed = kept.list().await.map_err(|reason| AdoptError::Agent { runtime: runtime.to_owned(), reason })?;
        let mut ours = Vec::new();
        for kin in self.runtimes().iter().filter(|kin| kin.family() == agent.family()) {
            ours.extend(self.store().agent_sessions(kin.name().to_owned()).await?);
        }
        let adopted_as = |id: &str| ours.iter().find(|(agent, _)| agent == id).map(|(_, ours)| *ours);
        Ok(listed.into_iter().map(|session| Adoptable { adopted_as: adopted_as(&session.id), session }).collect())
    }

    /// Imports one of them with its history. One that was imported before is returned as it is: no two sessions drive
    /// the same session of an agent.
    pub async fn adopt(&self, runtime: &str, id: &str) -> Result<Arc<Session>, AdoptError> {
        let (sessions, runtime, id) = (self.clone(), runtime.to_owned(), id.to_owned());
        self.shared.operations.run(async move { sessions.make_ours(&runtime, &id).await }).await
    }

    async fn make_ours(&self, runtime: &str, id: &str) -> Result<Arc<Session>, AdoptError> {
        let _one_at_a_time = self.shared.adopting.lock().await;
        let adoptable = self.adoptable(runtime).await?.into_iter().find(|adoptable| adoptable.session.id == id);
        let not_found = || AdoptError::NotFound { runtime: runtime.to_owned(), id: id.to_owned() };
        let Adoptable { session: own, adopted_as } = adoptable.ok_or_else(not_found)?;
        if let Some(ours) = adopted_as {
            return Ok(self.get(ours).await?);
        }
        let agent = self.runtimes().named(runtime)?;
        let kept = agent.own_sessions().ok_or_else(|| AdoptError::KeepsNone(runtime.to_owned()))?;
        let past = kept.history(id.to_owned()).await;
        let past = past.map_err(|reason| AdoptError::Agent { runtime: runtime.to_owned(), reason })?;
        let settings = self.settings();
        let folder = own.working_directory.unwrap_or_default();
        let profile = SessionProfile {
            title: own.title,
            title_is_given: false,
            runtime: runtime.to_owned(),
            // The agent knows which model the session had.
            model: String::new(),
            effort: None,
            working_directory: working_directory::check(&folder, &settings.roots).await?,
            permissions: PermissionPolicy { mode: settings.permission_mode(runtime), rules: Vec::new() },
            system_prompt: None,
            options: settings.options(runtime, serde_json::Map::new()),
            budget: SessionBudget::default(),
        };
        let limit = settings.open_sessions;
        let created = self
            .store()
            .create_session(NewSessionRecord {
                profile,
                state: SessionState::Ready,
                origin: SessionOrigin::User,
                job: None,
                key: None,
                now: clock::now(),
                most_open: limit,
            })
            .await?;
        let (Creation::New(created) | Creation::Known(created)) = created else {
            return Err(AdoptError::TooMany { limit });
        };
        let session = self.get(created).await?;
        if let Err(error) = session.adopt(Adoption { agent_session_id: id.to_owned(), past }).await {
            // A partial import is removed.
            self.delete(session.id()).await?;
            return Err(error.into());
        }
        Ok(session)
    }
}

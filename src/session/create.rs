//! Making a session: which runtime, model and folder it gets.

use std::path::Path;

use serde_json::{Map, Value};
use sha2::{Digest, Sha256};

use super::working_directory::{self, WorkingDirectoryError};
use super::{FoundDefaults, SessionSettings, choice, clock};
use crate::agent::{ModelChoice, ModelNotFound, RuntimeNotFound, Runtimes};
use crate::model::{
    PermissionPolicy, SessionBudget, SessionDefaults, SessionJob, SessionOrigin, SessionProfile, SessionState, hex,
};
use crate::store::{Creation, CreationKey, NewSessionRecord, Store, StoreError};

/// What a caller chooses for a new session; what it leaves out comes from the configuration.
#[derive(Clone, Debug, Default)]
pub struct NewSession {
    /// Runtime's name; empty counts as left out, here and below.
    pub runtime: Option<String>,
    /// Model's id, plain or `runtime/model`.
    pub model: Option<String>,
    /// Absolute path.
    pub working_directory: String,
    /// For people.
    pub title: Option<String>,
    /// Reasoning effort.
    pub effort: Option<String>,
    /// Mode and rules.
    pub permissions: Option<PermissionPolicy>,
    /// Text put before the agent's own instructions.
    pub system_prompt: Option<String>,
    /// The runtime's own options.
    pub options: Map<String, Value>,
    /// Its own limits.
    pub budget: SessionBudget,
    /// Who creates it.
    pub origin: SessionOrigin,
    /// The caller's own key: a repetition with the same key gets the session of the first call. It is forgotten when
    /// the session is deleted.
    pub idempotency_key: Option<String>,
    /// The job and task that it works for.
    pub job: Option<SessionJob>,
}

impl NewSession {
    /// What a repetition with the same key must match: what was asked for, not what the configuration made of it.
    fn fingerprint(&self) -> String {
        let mut asked = serde_json::json!({
            "runtime": self.runtime,
            "model": self.model,
            "workingDirectory": self.working_directory,
            "title": self.title,
            "effort": self.effort,
            "permissions": self.permissions,
            "systemPrompt": self.system_prompt,
            "options": self.options,
            "budget": self.budget,
        });
        // Only then, so that the fingerprints of other sessions stay what earlier versions stored.
        if let Some(job) = &self.job {
            asked["job"] = serde_json::json!(job);
        }
        hex(&Sha256::digest(asked.to_string()))
    }
}

/// Why there is no new session.
#[derive(Debug, thiserror::Error)]
pub enum CreateError {
    /// No such runtime.
    #[error(transparent)]
    Runtime(#[from] RuntimeNotFound),
    /// No such model.
    #[error(transparent)]
    Model(#[from] ModelNotFound),
    /// The folder cannot be used.
    #[error(transparent)]
    WorkingDirectory(#[from] WorkingDirectoryError),
    /// The project's configuration cannot be read.
    #[error("{0}")]
    ProjectConfiguration(String),
    /// No more sessions.
    #[error("{limit} sessions are open, which is the limit; close some, or raise limits.sessions")]
    TooMany {
        /// What is allowed.
        limit: usize,
    },
    /// The key was used for another session.
    #[error("the Idempotency-Key was used to create a different session; use a new key for a new session")]
    KeyReused,
    /// The server is shutting down.
    #[error("the server is shutting down")]
    ShuttingDown,
    /// The store refused.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Checks the choice, in the order of the portal: model first, then the folder; then creates the session.
pub(super) async fn create(
    store: &Store,
    runtimes: &Runtimes,
    settings: &SessionSettings,
    new: NewSession,
) -> Result<Creation, CreateError> {
    let key = new.idempotency_key.clone().map(|key| CreationKey { key, fingerprint: new.fingerprint() });
    if let Some(key) = &key
        && let Some((id, fingerprint)) = store.session_by_creation_key(key.key.clone()).await?
    {
        // Before anything is checked, so that a repetition does not fail because a model has since been removed.
        return if fingerprint == key.fingerprint { Ok(Creation::Known(id)) } else { Err(CreateError::KeyReused) };
    }
    let chosen = |choice: &Option<String>| choice.clone().filter(|text| !text.is_empty());
    let folder = Some(Path::new(&new.working_directory)).filter(|folder| folder.is_absolute());
    // A problem of the project's file is reported last: model and folder come first, as in the portal.
    let FoundDefaults { layers: configured, problem } = (settings.defaults)(folder);
    let own = SessionDefaults { runtime: new.runtime, model: new.model, effort: new.effort };
    let layers: Vec<SessionDefaults> = std::iter::once(own).chain(configured).collect();
    let ModelChoice { runtime, model } = choice::choose(runtimes, &layers, settings, &new.options).await?;
    let working_directory = working_directory::check(&new.working_directory, &settings.roots).await?;
    if let Some(problem) = problem {
        return Err(CreateError::ProjectConfiguration(problem));
    }
    let mode = settings.permission_mode(runtime.name());
    let profile = SessionProfile {
        title: chosen(&new.title),
        title_is_given: chosen(&new.title).is_some(),
        runtime: runtime.name().to_owned(),
        model,
        effort: choice::effort(runtime.name(), &layers, settings),
        working_directory,
        permissions: new.permissions.unwrap_or(PermissionPolicy { mode, rules: Vec::new() }),
        system_prompt: chosen(&new.system_prompt),
        options: settings.options(runtime.name(), new.options),
        budget: new.budget,
    };
    let record = NewSessionRecord {
        profile,
        state: SessionState::Starting,
        origin: new.origin,
        job: new.job,
        key,
        now: clock::now(),
        most_open: settings.open_sessions,
    };
    Ok(store.create_session(record).await?)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::agent::demo::Demo;
    use crate::model::{JobId, TaskId};
    use crate::store::{DataFolder, StoreSettings};

    #[tokio::test]
    async fn a_session_knows_its_job_and_a_key_belongs_to_one_task() {
        let root = tempfile::tempdir().expect("a folder");
        let folder = DataFolder::lock(root.path()).expect("locked");
        let store = Store::open(&folder, StoreSettings::default()).expect("opened");
        let runtimes = Runtimes::new(vec![Arc::new(Demo::new())]);
        let settings = SessionSettings::default();
        let work = |task| SessionJob {
            job_id: JobId::from_number(1),
            job_name: "deliver".to_owned(),
            task_id: TaskId::from_number(task),
            task_name: "code".to_owned(),
            work_id: 2,
            is_driving: true,
        };
        let create = async |task| {
            let new = NewSession {
                runtime: Some(Demo::NAME.to_owned()),
                idempotency_key: Some("k".to_owned()),
                job: Some(work(task)),
                ..NewSession::default()
            };
            super::create(&store, &runtimes, &settings, new).await
        };
        let created = create(1).await.expect("created");
        let Creation::New(id) = created else { panic!("{created:?}") };
        assert_eq!(store.session(id).await.expect("read").expect("there").job, Some(work(1)));
        assert_eq!(create(1).await.expect("answered"), Creation::Known(id));
        assert!(matches!(create(2).await, Err(CreateError::KeyReused)));
        store.close().await;
    }
}

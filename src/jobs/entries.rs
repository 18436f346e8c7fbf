//! Which entry is in force: the one that ships with the program, the user's own, that of a folder, or one that was installed
//! for a test.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use parking_lot::Mutex;
use schemars::JsonSchema;
use serde::Serialize;

use super::JobError;
use super::entry::{
    AvailableModel, CheckedEntry, Entry, EntryCache, EntrySource, LoadedEntry, Problem, check_models, find_folder_entry,
};
use super::settings::JobSettings;
use crate::session::{Sessions, now};

/// The entries of a server.
pub struct Entries {
    sessions: Sessions,
    settings: JobSettings,
    cache: Arc<EntryCache>,
    installed: Mutex<Option<Arc<LoadedEntry>>>,
}

/// An entry as clients see it.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct EntryDescription {
    /// `default`, `configuration`, `folder` or `installed`.
    pub source: &'static str,
    /// Its file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<PathBuf>,
    /// The hash of its file.
    pub hash: String,
    /// A person trusts it, or it needs no trust.
    pub trusted: bool,
    /// Jobs of the folder come from it.
    pub in_force: bool,
    /// What is wrong with it.
    pub problems: Vec<Problem>,
    /// The entry, if it can be read and has no errors.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub entry: Option<Entry>,
    /// The one in force, if this one is not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fallback: Option<Box<EntryDescription>>,
}

/// Why an entry was not installed.
#[derive(Debug)]
pub enum InstallError {
    /// The path is not that of a file below the test folder.
    InvalidPath,
    /// The entry has errors; the first one.
    InvalidEntry(String),
    /// A session is open.
    Rejected,
}

impl Entries {
    pub(super) fn new(sessions: Sessions, settings: JobSettings) -> Self {
        Self { sessions, settings, cache: Arc::default(), installed: Mutex::default() }
    }

    /// Whether entries can be installed over HTTP: only for tests.
    pub fn can_install(&self) -> bool {
        self.settings.test_folder.is_some()
    }

    /// The entry that jobs in a folder come from.
    pub async fn in_force(&self, folder: Option<&Path>) -> Result<Arc<CheckedEntry>, JobError> {
        let loaded = self.find(folder).await?;
        loaded.entry.clone().ok_or_else(|| invalid(&loaded))
    }

    /// The folder's own entry, if it has one that is not in force because nobody trusts it yet.
    pub async fn untrusted(&self, folder: &Path) -> Result<Option<Arc<LoadedEntry>>, JobError> {
        if self.settings.test_folder.is_some() {
            return Ok(None);
        }
        let Some(loaded) = self.folder_entry(folder).await else { return Ok(None) };
        Ok(if self.is_trusted(&loaded).await? { None } else { Some(loaded) })
    }

    async fn find(&self, folder: Option<&Path>) -> Result<Arc<LoadedEntry>, JobError> {
        if let Some(installed) = self.installed.lock().clone() {
            return Ok(installed);
        }
        if self.settings.test_folder.is_some() {
            return Err(JobError::NoEntry);
        }
        if let Some(folder) = folder
            && let Some(loaded) = self.folder_entry(folder).await
            && loaded.entry.is_some()
            && self.is_trusted(&loaded).await?
        {
            return Ok(loaded);
        }
        Ok(self.own().await)
    }

    /// The user's own entry, or the one that ships with the program.
    async fn own(&self) -> Arc<LoadedEntry> {
        let source = match &self.settings.entry {
            Some(path) => EntrySource::Configuration(path.clone()),
            None => EntrySource::Default,
        };
        self.load(source).await
    }

    async fn folder_entry(&self, folder: &Path) -> Option<Arc<LoadedEntry>> {
        let folder = folder.to_owned();
        let path = tokio::task::spawn_blocking(move || find_folder_entry(&folder)).await.ok()??;
        Some(self.load(EntrySource::Folder(path)).await)
    }

    async fn load(&self, source: EntrySource) -> Arc<LoadedEntry> {
        let (cache, loading) = (Arc::clone(&self.cache), source.clone());
        match tokio::task::spawn_blocking(move || cache.load(&loading)).await {
            Ok(loaded) => loaded,
            // The runtime is being taken down.
            Err(_) => self.cache.load(&source),
        }
    }

    async fn is_trusted(&self, loaded: &LoadedEntry) -> Result<bool, JobError> {
        match &loaded.source {
            EntrySource::Folder(path) => {
                Ok(self.sessions.store().is_trusted_entry(path.clone(), loaded.hash.clone()).await?)
            }
            EntrySource::Default | EntrySource::Configuration(_) | EntrySource::Installed(_) => Ok(true),
        }
    }

    /// The entry of a folder, or the one in force, for clients.
    pub async fn describe(&self, folder: Option<&Path>) -> Result<EntryDescription, JobError> {
        let in_force = self.find(folder).await?;
        let of_folder = match folder {
            Some(folder) if self.settings.test_folder.is_none() => self.folder_entry(folder).await,
            _ => None,
        };
        let models = self.available_models().await;
        match of_folder {
            Some(loaded) if loaded.hash != in_force.hash || loaded.source != in_force.source => {
                let mut description = describe(&loaded, self.is_trusted(&loaded).await?, false, &models);
                description.fallback = Some(Box::new(describe(&in_force, true, true, &models)));
                Ok(description)
            }
            _ => Ok(describe(&in_force, true, true, &models)),
        }
    }

    async fn available_models(&self) -> Vec<AvailableModel> {
        let listed = self.sessions.runtimes().listed_models(&self.sessions.settings().default_runtime).await;
        let model = |model: &crate::agent::Model| AvailableModel {
            id: model.id.clone(),
            name: model.name.clone(),
            multiplier: Some(model.multiplier),
        };
        listed.iter().map(model).collect()
    }

    /// A person trusts the entry of a folder, with exactly this hash.
    pub async fn trust(&self, path: &Path, hash: &str) -> Result<(), JobError> {
        let loaded = self.load(EntrySource::Folder(path.to_owned())).await;
        if loaded.hash != hash {
            return Err(JobError::EntryChanged);
        }
        if loaded.entry.is_none() {
            return Err(invalid(&loaded));
        }
        Ok(self.sessions.store().trust_entry(path.to_owned(), hash.to_owned(), now()).await?)
    }

    /// Installs an entry for a test.
    pub async fn install(&self, path: &str) -> Result<(), InstallError> {
        let path = Path::new(path.trim());
        let is_allowed = || {
            let folder = self.settings.test_folder.as_ref()?.canonicalize().ok()?;
            let file = path.canonicalize().ok()?;
            (path.is_absolute() && file.starts_with(folder) && file.is_file()).then_some(file)
        };
        let file = is_allowed().ok_or(InstallError::InvalidPath)?;
        let loaded = self.load(EntrySource::Installed(file)).await;
        let Some(entry) = &loaded.entry else {
            return Err(InstallError::InvalidEntry(first_error(&loaded)));
        };
        let problems = check_models(entry, &self.available_models().await);
        if let Some(error) = problems.iter().find(|problem| problem.is_error()) {
            return Err(InstallError::InvalidEntry(error.to_string()));
        }
        *self.installed.lock() = Some(loaded);
        Ok(())
    }
}

fn first_error(loaded: &LoadedEntry) -> String {
    loaded.first_error().map(ToString::to_string).unwrap_or_default()
}

fn invalid(loaded: &LoadedEntry) -> JobError {
    JobError::InvalidEntry(first_error(loaded))
}

fn describe(loaded: &LoadedEntry, trusted: bool, in_force: bool, models: &[AvailableModel]) -> EntryDescription {
    let mut problems = loaded.problems.clone();
    if let (Some(entry), false) = (&loaded.entry, models.is_empty()) {
        // What is missing now may be there when the job runs.
        problems.extend(check_models(entry, models).into_iter().map(Problem::as_warning));
    }
    EntryDescription {
        source: loaded.source.as_str(),
        path: loaded.path().map(Path::to_owned),
        hash: loaded.hash.clone(),
        trusted,
        in_force,
        problems,
        entry: loaded.entry.as_ref().map(|entry| entry.entry().clone()),
        fallback: None,
    }
}

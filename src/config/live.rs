//! The configuration of a running server: what is in force, and changes of it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;

use parking_lot::{Mutex, RwLock};
use toml::Value;

use super::layers::{key_name, user_revision};
use super::secrets::with_secrets_of;
use super::{Config, ConfigError, ConfigPaths, Edit, Effect, Loaded, Place, SessionLayers, Sources, load};

/// Whoever works with the configuration of a running server.
pub trait ConfigUser: Send + Sync {
    /// Why the server could not start with a configuration; `None` if it could.
    fn problem(&self, loaded: &Loaded) -> Option<String>;

    /// Uses a new configuration, as far as that is possible without a restart.
    fn apply(&self, old: &Loaded, new: &Loaded);
}

/// The configuration of a running server.
pub struct LiveConfig {
    sources: Sources,
    loaded: RwLock<Arc<Loaded>>,
    /// What the server was started with, for what needs a restart.
    started_with: Arc<Loaded>,
    user: Box<dyn ConfigUser>,
    /// One change at a time.
    changing: Mutex<()>,
}

/// A change of the configuration that was made, or would be.
#[derive(Debug)]
pub struct ConfigChange {
    /// The configuration afterwards.
    pub loaded: Arc<Loaded>,
    /// The settings whose value in force is another one now.
    pub changed: BTreeSet<String>,
}

impl LiveConfig {
    /// The configuration that was loaded from these sources.
    pub fn new(sources: Sources, loaded: Loaded, user: Box<dyn ConfigUser>) -> Self {
        let loaded = Arc::new(loaded);
        Self {
            sources,
            started_with: Arc::clone(&loaded),
            loaded: RwLock::new(loaded),
            user,
            changing: Mutex::default(),
        }
    }

    /// A configuration that nobody changes, for programs that embed the server.
    pub fn fixed(config: Config) -> Self {
        struct Nobody;
        impl ConfigUser for Nobody {
            fn problem(&self, _: &Loaded) -> Option<String> {
                Some("this server was started without a configuration file".to_owned())
            }

            fn apply(&self, _: &Loaded, _: &Loaded) {}
        }
        let nowhere = PathBuf::new;
        let paths = ConfigPaths { user_file: nowhere(), data_folder: nowhere() };
        let sources = Sources::new(paths, nowhere(), Vec::new(), Vec::new());
        let session_layers = SessionLayers::default();
        let loaded = Loaded {
            config,
            values: BTreeMap::new(),
            user_file: nowhere(),
            user_values: BTreeMap::new(),
            user_revision: String::new(),
            session_layers,
        };
        Self::new(sources, loaded, Box::new(Nobody))
    }

    /// What is in force.
    pub fn loaded(&self) -> Arc<Loaded> {
        Arc::clone(&self.loaded.read())
    }

    /// The settings that have another value than the server was started with and need a restart.
    pub fn waiting_for_restart(&self) -> Vec<String> {
        let needs_restart = |key: &String| Effect::of(key) == Effect::Restart;
        differences(&self.started_with, &self.loaded()).into_iter().filter(needs_restart).collect()
    }

    /// Changes the user's file and uses it, or only checks the change. Without changes, the files are read again. With
    /// a revision, the file must still be the one that the caller has seen.
    pub fn change(
        &self,
        changes: BTreeMap<String, Option<Value>>,
        revision: Option<&str>,
        dry_run: bool,
    ) -> Result<ConfigChange, ConfigError> {
        let _alone = self.changing.lock();
        let old = self.loaded();
        if let Some(seen) = revision
            && user_revision(&self.sources)? != seen
        {
            return Err(ConfigError::Changed { path: old.user_file.clone() });
        }
        // A file that is invalid now is reported below, unless the change repairs it.
        let in_file = load(&self.sources).map_or_else(|_| old.user_values.clone(), |loaded| loaded.user_values);
        let changes: BTreeMap<_, _> = changes
            .into_iter()
            .map(|(key, value)| {
                // The secrets of the file, which is what changes, whatever is in force.
                let kept = in_file.get(&key_name(&key));
                let value = value.map(|value| with_secrets_of(kept, value).map_err(|secret| (key.clone(), secret)));
                Ok((key, value.transpose()?))
            })
            .collect::<Result<_, (String, String)>>()
            .map_err(|(key, secret)| ConfigError::UnknownSecret { key, secret })?;
        let edit = if changes.is_empty() { None } else { Some(Edit::all(&self.sources, Place::User, &changes)?) };
        let new = match &edit {
            Some(Edit { outcome: Ok(loaded), .. }) => loaded.clone(),
            _ => load(&self.sources)?,
        };
        if let Some(message) = self.user.problem(&new) {
            return Err(ConfigError::Unusable { message });
        }
        let new = Arc::new(new);
        let differing = differences(&old, &new);
        if !dry_run {
            if let Some(edit) = &edit {
                edit.write()?;
            }
            self.user.apply(&old, &new);
            *self.loaded.write() = Arc::clone(&new);
            if !differing.is_empty() {
                tracing::info!(settings = ?differing, "the configuration has changed");
            }
        }
        Ok(ConfigChange { loaded: new, changed: differing })
    }
}

/// The settings with another value, in either direction.
fn differences(old: &Loaded, new: &Loaded) -> BTreeSet<String> {
    let value = |loaded: &Loaded, key: &String| loaded.values.get(key).map(|(value, _)| value.clone());
    let keys = old.values.keys().chain(new.values.keys());
    keys.filter(|key| value(old, key) != value(new, key)).cloned().collect()
}

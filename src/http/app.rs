//! The state that every handler shares.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::auth::Auth;
use super::guard::Guard;
use super::metrics::Metrics;
use crate::agent::Quarantine;
use crate::agent::program::Installs;
use crate::capture::Captures;
use crate::config::{Limits, LiveConfig};
use crate::folder::FileIndexes;
use crate::jobs::Jobs;
use crate::model::PermissionMode;
use crate::notify::Notifier;
use crate::review::Reviews;
use crate::session::Sessions;

/// The state of the HTTP server; clones share it.
#[derive(Clone)]
pub struct App(Arc<Inner>);

/// The parts of an [`App`].
pub struct AppParts {
    /// All sessions.
    pub sessions: Sessions,
    /// All jobs and tasks.
    pub jobs: Jobs,
    /// Answers requests for a model.
    pub captures: Captures,
    /// Notifications.
    pub notifier: Notifier,
    /// What agents did to files.
    pub reviews: Reviews,
    /// Authentication.
    pub auth: Auth,
    /// The allowed hosts and origins.
    pub guard: Guard,
    /// The configuration in force.
    pub config: Arc<LiveConfig>,
    /// The repository root that `api/config` returns.
    pub repository_root: PathBuf,
    /// The data folder.
    pub data_folder: PathBuf,
    /// Agent versions that must not be used.
    pub quarantine: Arc<Quarantine>,
    /// Cancelled by `api/stop`.
    pub stop: CancellationToken,
}

struct Inner {
    parts: AppParts,
    metrics: Metrics,
    started: Instant,
    rendering: Arc<Semaphore>,
    reading_changes: Semaphore,
    file_indexes: FileIndexes,
    draining: TaskTracker,
    installs: Installs,
}

/// Blocks rendered at a time. Rendering uses CPU time that sessions need too.
const RENDERED_AT_ONCE: usize = 2;
/// Folders examined at a time: a large repository keeps a disk busy for seconds.
const CHANGES_READ_AT_ONCE: usize = 2;

impl App {
    /// Creates the state.
    pub fn new(parts: AppParts) -> Self {
        let metrics = Metrics::new(&parts);
        let rendering = Arc::new(Semaphore::new(RENDERED_AT_ONCE));
        let reading_changes = Semaphore::new(CHANGES_READ_AT_ONCE);
        let installs = Installs::in_folder(parts.data_folder.clone());
        Self(Arc::new(Inner {
            parts,
            metrics,
            started: Instant::now(),
            rendering,
            reading_changes,
            file_indexes: FileIndexes::default(),
            draining: TaskTracker::new(),
            installs,
        }))
    }

    pub(super) fn sessions(&self) -> &Sessions {
        &self.0.parts.sessions
    }

    pub(super) fn jobs(&self) -> &Jobs {
        &self.0.parts.jobs
    }

    pub(super) fn captures(&self) -> &Captures {
        &self.0.parts.captures
    }

    pub(super) fn notifier(&self) -> &Notifier {
        &self.0.parts.notifier
    }

    pub(super) fn reviews(&self) -> &Reviews {
        &self.0.parts.reviews
    }

    pub(super) fn auth(&self) -> &Auth {
        &self.0.parts.auth
    }

    pub(super) fn guard(&self) -> &Guard {
        &self.0.parts.guard
    }

    pub(super) fn config(&self) -> &Arc<LiveConfig> {
        &self.0.parts.config
    }

    pub(super) fn limits(&self) -> Limits {
        self.config().loaded().config.limits.clone()
    }

    /// The permission mode of sessions that the portal's routes start; `None` for the default.
    pub(super) fn portal_permissions(&self) -> Option<PermissionMode> {
        self.config().loaded().config.portal.permissions
    }

    pub(super) fn repository_root(&self) -> &PathBuf {
        &self.0.parts.repository_root
    }

    pub(super) fn data_folder(&self) -> &Path {
        &self.0.parts.data_folder
    }

    pub(super) fn quarantine(&self) -> &Quarantine {
        &self.0.parts.quarantine
    }

    pub(super) fn stop(&self) -> &CancellationToken {
        &self.0.parts.stop
    }

    pub(super) fn metrics(&self) -> &Metrics {
        &self.0.metrics
    }

    /// The files of folders, as they were a moment ago.
    pub(super) fn file_indexes(&self) -> &FileIndexes {
        &self.0.file_indexes
    }

    /// Permits for rendering.
    pub(super) fn rendering(&self) -> &Arc<Semaphore> {
        &self.0.rendering
    }

    /// Permits for reading the changes in folders.
    pub(super) fn reading_changes(&self) -> &Semaphore {
        &self.0.reading_changes
    }

    /// Bodies that were too large and are being read to their end.
    pub(super) fn draining(&self) -> &TaskTracker {
        &self.0.draining
    }

    /// Installs of agents.
    pub(super) fn installs(&self) -> &Installs {
        &self.0.installs
    }

    pub(super) fn started(&self) -> Instant {
        self.0.started
    }
}

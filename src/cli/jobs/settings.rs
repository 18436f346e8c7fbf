//! The settings of jobs.

use std::time::Duration;

use super::super::arguments::{Resolved, ServeFlags};
use crate::jobs::JobSettings;

/// The settings of jobs that a server is started with.
pub(in crate::cli) fn settings(resolved: &Resolved, flags: &ServeFlags, closed_grace: Duration) -> JobSettings {
    let config = &resolved.loaded.config;
    let entry = &config.jobs.entry;
    let test_folder = flags.test_dir.as_ref().map(|folder| resolved.start_folder.join(folder));
    JobSettings {
        entry: (!entry.as_os_str().is_empty()).then(|| resolved.start_folder.join(entry)),
        test_folder: flags.test.then(|| test_folder.unwrap_or_else(|| resolved.start_folder.join("test"))),
        closed_grace,
        readers: config.limits.readers_per_session,
    }
}

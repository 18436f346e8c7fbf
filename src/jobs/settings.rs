//! What the configuration decides about jobs.

use std::path::PathBuf;
use std::time::Duration;

/// All settings of this module.
#[derive(Clone, Debug)]
pub struct JobSettings {
    /// The user's own entry; `None` for the one that ships with the program.
    pub entry: Option<PathBuf>,
    /// The folder that entries may be installed from over HTTP. `None` except with `--test`, which also starts without any
    /// entry.
    pub test_folder: Option<PathBuf>,
    /// How long new tokens may read a finished job or task from the start.
    pub closed_grace: Duration,
    /// Readers that one job or task may have.
    pub readers: usize,
}

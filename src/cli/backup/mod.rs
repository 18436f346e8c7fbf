//! `flightdeck backup` and `flightdeck restore`: the data folder in one file.
//!
//! What must always hold here:
//!
//! - A backup is complete and verified before it has its name; what fails leaves no file behind.
//! - A restore changes nothing before the whole backup is verified, and never deletes what was there.
//! - The server's token is never in a backup: whoever has the file could otherwise run commands as you.

mod archive;
mod create;
mod restore;

use std::path::PathBuf;

use clap::Args;

pub(super) use create::backup;
pub(super) use restore::restore;

#[derive(Debug, Args)]
pub(super) struct BackupFlags {
    /// The file to write, such as flightdeck.tar
    pub file: PathBuf,
    /// Replace the file if it exists
    #[arg(long)]
    pub force: bool,
}

#[derive(Debug, Args)]
pub(super) struct RestoreFlags {
    /// A file that `flightdeck backup` wrote
    pub file: PathBuf,
    /// Use the backup although the data folder is not empty; the old folder is kept beside it
    #[arg(long)]
    pub force: bool,
    /// Only check the backup
    #[arg(long, conflicts_with = "force")]
    pub check: bool,
}

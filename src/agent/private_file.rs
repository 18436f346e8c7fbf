//! A file for the start of an agent: what is in it may be secret, and a command line is not.

use std::io::Write as _;
use std::path::{Path, PathBuf};

/// A file that only this user can read. It goes away with this.
#[derive(Debug)]
pub(super) struct PrivateFile(PathBuf);

impl PrivateFile {
    /// Writes a file whose name begins and ends like that, in the folder for temporary files.
    pub fn write(beginning: &str, ending: &str, content: &[u8]) -> std::io::Result<Self> {
        let name = format!("flightdeck-{beginning}-{}{ending}", uuid::Uuid::new_v4());
        let mut options = std::fs::OpenOptions::new();
        options.write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let file = Self(std::env::temp_dir().join(name));
        options.open(&file.0)?.write_all(content)?;
        Ok(file)
    }

    pub fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for PrivateFile {
    fn drop(&mut self) {
        if let Err(error) = std::fs::remove_file(&self.0) {
            tracing::debug!(%error, file = %self.0.display(), "a file for an agent's start is left over");
        }
    }
}

//! Temporary files and folders with unguessable names.

use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

/// A file to pass to an agent at its start: its content may be secret, and a command line is visible to others. Removed
/// when dropped.
#[derive(Debug)]
pub struct TemporaryFile(tempfile::NamedTempFile);

impl TemporaryFile {
    /// Writes a file with this prefix and suffix in the system's temporary folder.
    pub fn write(beginning: &str, ending: &str, content: &[u8]) -> io::Result<Self> {
        let mut file =
            tempfile::Builder::new().prefix(&format!("flightdeck-{beginning}-")).suffix(ending).tempfile()?;
        file.write_all(content)?;
        Ok(Self(file))
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        self.0.path()
    }
}

/// A folder that only this user can enter. Removed with its content when dropped.
#[derive(Debug)]
pub struct TemporaryFolder {
    /// With symbolic links resolved, because agents report paths that way.
    path: PathBuf,
    _folder: tempfile::TempDir,
}

impl TemporaryFolder {
    /// Creates a folder with this prefix in the system's temporary folder.
    pub fn create(beginning: &str) -> io::Result<Self> {
        let prefix = format!("flightdeck-{beginning}-");
        let mut builder = tempfile::Builder::new();
        builder.prefix(&prefix);
        #[cfg(unix)]
        builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o700));
        let folder = builder.tempdir()?;
        Ok(Self { path: folder.path().canonicalize()?, _folder: folder })
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(unix)]
    fn mode(path: &Path) -> u32 {
        std::os::unix::fs::MetadataExt::mode(&std::fs::metadata(path).expect("there")) & 0o777
    }

    #[test]
    fn both_are_private_and_removed_when_dropped() {
        let file = TemporaryFile::write("test", ".json", b"{}").expect("written");
        let folder = TemporaryFolder::create("test").expect("made");
        let (path, inside) = (file.path().to_owned(), folder.path().join("inside"));
        std::fs::write(&inside, "x").expect("written");
        assert_eq!(std::fs::read(&path).expect("readable"), b"{}");
        let name = path.file_name().expect("a name").to_string_lossy().into_owned();
        assert!(name.starts_with("flightdeck-test-"), "{name}");
        assert_eq!(std::path::Path::new(&name).extension(), Some("json".as_ref()), "{name}");
        #[cfg(unix)]
        assert_eq!((mode(&path), mode(folder.path())), (0o600, 0o700));
        drop((file, folder));
        assert!(!path.exists() && !inside.exists());
    }
}

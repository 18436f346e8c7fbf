//! Writes files atomically.

use std::io::{self, Write as _};
use std::path::Path;

/// What a written file survives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Durability {
    /// The end of this process. A power cut may lose the file.
    Process,
    /// A power cut: the file and its folder are synced.
    PowerCut,
}

/// Replaces a file in a folder that is there. Two processes may do so at the same moment: the later one
/// wins, and nobody reads half of it.
pub fn write(path: &Path, content: &[u8], durability: Durability) -> io::Result<()> {
    let folder = path.parent().ok_or_else(|| io::Error::other("a file needs a folder"))?;
    let mut fresh = tempfile::Builder::new().prefix(".new-").tempfile_in(folder)?;
    fresh.write_all(content)?;
    if durability == Durability::PowerCut {
        fresh.as_file().sync_all()?;
    }
    fresh.persist(path).map_err(|error| error.error)?;
    if durability == Durability::PowerCut {
        sync_folder(folder)?;
    }
    Ok(())
}

/// A rename survives a power cut once its folder is synced.
#[cfg(unix)]
fn sync_folder(folder: &Path) -> io::Result<()> {
    std::fs::File::open(folder)?.sync_all()
}

#[cfg(not(unix))]
fn sync_folder(_: &Path) -> io::Result<()> {
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_replaced_whole_is_private_and_leaves_nothing_else() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("note");
        for (content, durability) in [("one", Durability::Process), ("two", Durability::PowerCut)] {
            write(&path, content.as_bytes(), durability).expect("written");
            assert_eq!(std::fs::read_to_string(&path).expect("readable"), content);
        }
        #[cfg(unix)]
        assert_eq!(std::os::unix::fs::MetadataExt::mode(&std::fs::metadata(&path).expect("there")) & 0o777, 0o600);
        assert_eq!(std::fs::read_dir(folder.path()).expect("readable").count(), 1);
    }

    #[test]
    fn a_write_that_fails_leaves_the_old_content() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("taken");
        std::fs::create_dir_all(path.join("inside")).expect("made");
        assert!(write(&path, b"x", Durability::PowerCut).is_err());
        assert!(path.join("inside").exists());
        assert_eq!(std::fs::read_dir(folder.path()).expect("readable").count(), 1, "no fresh file is left");
    }
}

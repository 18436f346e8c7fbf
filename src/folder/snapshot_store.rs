//! Where snapshots of a folder are kept: a store of git objects and an index of our own, so that nothing is written in
//! the repository.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::FolderError;
use super::git::{Call, Git};

/// The store of one session's snapshots. It has only what the repository itself does not have.
#[derive(Clone, Debug)]
pub struct SnapshotStore {
    folder: PathBuf,
}

impl SnapshotStore {
    /// A store in a folder, which is created when something is written.
    pub fn in_folder(folder: PathBuf) -> Self {
        Self { folder }
    }

    /// How much it holds. Blocks.
    pub fn bytes(&self) -> u64 {
        bytes_below(&self.folder)
    }

    /// git that writes objects into this store, and an index into `index`.
    pub(super) async fn git(&self, git: Git, index: Option<&Path>) -> Result<Git, FolderError> {
        // Asked before it is redirected: a linked work tree has its objects elsewhere.
        let objects = git.call(Call::new(["rev-parse", "--git-path", "objects"])).await?;
        let bytes = objects.output.strip_suffix(b"\n").unwrap_or(&objects.output);
        let theirs = git.top.join(super::git::path_of_bytes(bytes));
        let ours = self.folder.join("objects");
        private_folder(&ours).map_err(|source| FolderError::Unwritable { path: ours.clone(), source })?;
        let mut variables = vec![
            ("GIT_OBJECT_DIRECTORY", ours.into_os_string()),
            ("GIT_ALTERNATE_OBJECT_DIRECTORIES", quoted(&theirs)),
        ];
        if let Some(index) = index {
            variables.push(("GIT_INDEX_FILE", index.as_os_str().to_owned()));
        }
        Ok(git.writing_to(variables))
    }

    /// A folder for the files of one operation; removed when it is dropped.
    pub(super) fn scratch(&self) -> Result<tempfile::TempDir, FolderError> {
        let unwritable = |source| FolderError::Unwritable { path: self.folder.clone(), source };
        private_folder(&self.folder).map_err(unwritable)?;
        tempfile::Builder::new().prefix("scratch-").tempdir_in(&self.folder).map_err(unwritable)
    }
}

/// The list of stores is separated by colons, and a quoted path may contain one.
fn quoted(path: &Path) -> OsString {
    let mut quoted = vec![b'"'];
    for byte in super::git::bytes_of_path(path) {
        match byte {
            b'"' | b'\\' => quoted.extend([b'\\', byte]),
            b'\n' => quoted.extend(b"\\n"),
            other => quoted.push(other),
        }
    }
    quoted.push(b'"');
    super::git::os_string(&quoted)
}

#[cfg(unix)]
fn private_folder(path: &Path) -> io::Result<()> {
    use std::os::unix::fs::DirBuilderExt;
    fs::DirBuilder::new().recursive(true).mode(0o700).create(path)
}

#[cfg(not(unix))]
fn private_folder(path: &Path) -> io::Result<()> {
    fs::create_dir_all(path)
}

fn bytes_below(folder: &Path) -> u64 {
    let Ok(entries) = fs::read_dir(folder) else { return 0 };
    let size = |entry: fs::DirEntry| match entry.file_type() {
        Ok(kind) if kind.is_dir() => bytes_below(&entry.path()),
        _ => entry.metadata().map_or(0, |metadata| metadata.len()),
    };
    entries.flatten().map(size).sum()
}

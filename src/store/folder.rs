//! The data folder: its locks, its permissions, and its files. Files that are not ours are not touched.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::time::Duration;

use serde::{Deserialize, Serialize};

/// A data folder, locked for this process until dropped.
#[derive(Debug)]
pub struct DataFolder {
    path: PathBuf,
    _locks: Locks,
}

/// Two locks: programs wait for the file's, and the folder's holds even if somebody deletes that file. Both end with
/// the process, however that ends.
#[derive(Debug)]
struct Locks {
    _file: File,
    /// `None` where a folder cannot be locked.
    _folder: Option<File>,
}

impl Locks {
    fn take(folder: &Path) -> Result<Self, TryLockError> {
        let file = lock_file(&folder.join(LOCK)).map_err(TryLockError::Error)?;
        file.try_lock()?;
        // Windows opens no folders, and some network file systems lock none.
        let Ok(opened) = File::open(folder) else { return Ok(Self { _file: file, _folder: None }) };
        match opened.try_lock() {
            Ok(()) => Ok(Self { _file: file, _folder: Some(opened) }),
            Err(TryLockError::WouldBlock) => Err(TryLockError::WouldBlock),
            Err(TryLockError::Error(_)) => Ok(Self { _file: file, _folder: None }),
        }
    }
}

/// How long the locks of a server that was killed may last.
const LEFT_BEHIND: Duration = Duration::from_secs(5);
/// The file that is locked.
const LOCK: &str = "flightdeck.lock";

/// What a running server records so that other programs find it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ServerNote {
    /// The server's process.
    pub pid: u32,
    /// Its address.
    pub url: String,
}

/// The data folder cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum FolderError {
    /// Another server uses it.
    #[error("{}", in_use_text(path, server.as_ref()))]
    InUse {
        /// The folder.
        path: PathBuf,
        /// The server that uses it, if it recorded its address.
        server: Option<ServerNote>,
    },
    /// Other users can write to it, and we may not change its permissions.
    #[error(
        "other users can write to the data folder {} (mode {mode:o}), so they could replace the token and the database; run `chmod 700` on it, or choose another folder with --data-dir",
        path.display()
    )]
    OpenToOthers {
        /// The folder.
        path: PathBuf,
        /// Its permissions.
        mode: u32,
    },
    /// The operating system refused.
    #[error("the data folder {} cannot be {action}; check that it is a folder you may write to, or choose another with --data-dir", path.display())]
    Refused {
        /// The folder.
        path: PathBuf,
        /// What was tried.
        action: &'static str,
        /// Why not.
        #[source]
        source: io::Error,
    },
}

fn in_use_text(path: &Path, server: Option<&ServerNote>) -> String {
    let path = path.display();
    match server {
        Some(ServerNote { pid, url }) => format!(
            "a Flightdeck server is already running at {url} (process {pid}) with the data folder {path}; \
             `flightdeck open` opens it, `flightdeck stop` ends it, --data-dir chooses another folder"
        ),
        None => format!("another Flightdeck server uses the data folder {path}; --data-dir chooses another folder"),
    }
}

/// `SQLite`'s smallest page, and so its smallest file.
const SMALLEST_DATABASE: u64 = 512;

impl DataFolder {
    /// The folder in it where running agents are recorded.
    pub const PROCESSES: &'static str = "processes";
    /// The folder in which captured sessions of agents work.
    pub const CAPTURES: &'static str = "capture";

    /// The folder with snapshots of the sessions' folders, and copies of what was reverted there.
    pub const CHANGES: &'static str = "changes";

    /// The file that holds the server's token; there from the first start on.
    pub const TOKEN: &str = "token";

    /// Creates the folder if needed, and locks it.
    pub fn lock(path: &Path) -> Result<Self, FolderError> {
        let refused = |action| move |source| FolderError::Refused { path: path.to_owned(), action, source };
        create_private_folder(path).map_err(refused("created"))?;
        let path = fs::canonicalize(path).map_err(refused("resolved"))?;
        keep_others_out(&path)?;
        let mut taken = Locks::take(&path);
        let is_held = matches!(taken, Err(TryLockError::WouldBlock));
        if is_held && ServerNote::read(&path).is_some_and(|note| note.is_gone()) {
            // A program that the dead server was just starting has its locks until it runs.
            ServerNote::wait_until_gone(&path, LEFT_BEHIND);
            taken = Locks::take(&path);
        }
        match taken {
            Ok(locks) => Ok(Self { path, _locks: locks }),
            Err(TryLockError::WouldBlock) => Err(FolderError::InUse { server: ServerNote::read(&path), path }),
            Err(TryLockError::Error(source)) => Err(FolderError::Refused { path, action: "written", source }),
        }
    }

    /// Creates the folder if needed, without locking it.
    pub fn create(path: &Path) -> Result<(), FolderError> {
        let refused = |source| FolderError::Refused { path: path.to_owned(), action: "created", source };
        create_private_folder(path).map_err(refused)
    }

    /// Whether a server has ever used a folder. Creates nothing.
    pub fn has_database(folder: &Path) -> bool {
        folder.join("flightdeck.db").exists()
    }

    /// Where the folder is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The database's file, made private before `SQLite` opens it: its companions inherit the mode.
    pub(super) fn database(&self) -> io::Result<PathBuf> {
        let path = self.path.join("flightdeck.db");
        if !path.exists() {
            drop(private_file(&path)?);
        }
        Ok(path)
    }

    /// Whether the database lost its content. `SQLite` takes an empty file for a new database; in a folder that has
    /// served before, it is an old one that was cut off.
    pub(super) fn database_was_emptied(&self) -> bool {
        let is_empty = fs::metadata(self.path.join("flightdeck.db")).is_ok_and(|file| file.len() < SMALLEST_DATABASE);
        is_empty && self.path.join(Self::TOKEN).exists()
    }

    pub(super) fn search_index(&self) -> PathBuf {
        self.path.join("search.db")
    }

    pub(super) fn blobs(&self) -> PathBuf {
        self.path.join("blobs")
    }

    /// Where child processes are recorded; created if needed.
    pub fn processes(&self) -> Result<PathBuf, FolderError> {
        self.below(Self::PROCESSES)
    }

    /// Where snapshots of folders and copies of reverted files are kept; created if needed.
    pub fn changes(&self) -> Result<PathBuf, FolderError> {
        self.below(Self::CHANGES)
    }

    /// The empty folder in which captured sessions of agents work; created if needed.
    pub fn captures(&self) -> Result<PathBuf, FolderError> {
        self.below(Self::CAPTURES)
    }

    fn below(&self, name: &str) -> Result<PathBuf, FolderError> {
        let path = self.path.join(name);
        create_private_folder(&path).map_err(|source| FolderError::Refused {
            path: path.clone(),
            action: "created",
            source,
        })?;
        Ok(path)
    }

    /// Writes a file atomically that only its owner may read.
    pub fn write_private(&self, name: &str, content: &str) -> Result<(), FolderError> {
        let write = || {
            let fresh = self.path.join(format!("{name}.new"));
            let mut file = private_file(&fresh)?;
            file.write_all(content.as_bytes())?;
            file.sync_all()?;
            fs::rename(&fresh, self.path.join(name))
        };
        write().map_err(|source| FolderError::Refused { path: self.path.join(name), action: "written", source })
    }

    /// Makes a file readable for its owner alone. Needs no room on the disk.
    pub fn make_private(&self, name: &str) -> Result<(), FolderError> {
        let path = self.path.join(name);
        restrict(&path).map_err(|source| FolderError::Refused { path, action: "made private", source })
    }

    /// Reads a small file of the folder; `None` when there is none.
    pub fn read(&self, name: &str) -> Result<Option<String>, FolderError> {
        match fs::read_to_string(self.path.join(name)) {
            Ok(text) => Ok(Some(text)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(source) => Err(FolderError::Refused { path: self.path.join(name), action: "read", source }),
        }
    }

    /// Records where the server is.
    pub fn write_server_note(&self, note: &ServerNote) -> Result<(), FolderError> {
        let text = serde_json::to_string(note).expect("a number and a string");
        self.write_private(ServerNote::FILE, &text)
    }

    /// Removes the record; the server is stopping.
    pub fn remove_server_note(&self) {
        if let Err(error) = fs::remove_file(self.path.join(ServerNote::FILE)) {
            tracing::warn!(%error, "could not remove server.json");
        }
    }
}

impl ServerNote {
    const FILE: &'static str = "server.json";

    /// The record in a data folder, if there is a readable one.
    pub fn read(folder: &Path) -> Option<Self> {
        serde_json::from_str(&fs::read_to_string(folder.join(Self::FILE)).ok()?).ok()
    }

    /// Whether its process has ended. Where that cannot be known, it counts as running.
    fn is_gone(&self) -> bool {
        let stat = |pid: &str| fs::read_to_string(format!("/proc/{pid}/stat")).ok();
        stat("self").is_some() && stat(&self.pid.to_string()).is_none_or(|stat| stat.contains(") Z"))
    }

    /// Waits until no server holds the folder's lock: it ends with the process, whatever else that leaves behind.
    /// Returns whether that happened in time.
    pub fn wait_until_gone(folder: &Path, longest: Duration) -> bool {
        let opened = File::open(folder);
        let Ok(lock) = File::open(folder.join(LOCK)).or_else(|_| File::open(folder)) else { return true };
        let (gone, heard) = mpsc::channel();
        // This thread is abandoned after the timeout: the process is about to end.
        std::thread::spawn(move || {
            if lock.lock_shared().is_ok() {
                // Where a folder cannot be locked, the file's lock is all there is.
                let _ = opened.map(|folder| folder.lock_shared());
                // Free for others before they hear of it.
                drop(lock);
                let _ = gone.send(());
            }
        });
        heard.recv_timeout(longest).is_ok()
    }

    /// The record of a server that is running: it holds the folder's lock.
    pub fn of_running_server(folder: &Path) -> Option<Self> {
        Self::is_folder_held(folder).then(|| Self::read(folder))?
    }

    /// Whether a server runs with the folder, or is starting.
    pub fn is_folder_held(folder: &Path) -> bool {
        let file = OpenOptions::new().write(true).open(folder.join(LOCK));
        let is_held = |lock: &File| matches!(lock.try_lock(), Err(TryLockError::WouldBlock));
        file.as_ref().is_ok_and(is_held) || File::open(folder).as_ref().is_ok_and(is_held)
    }
}

/// A folder that others may write to is made private if it is empty or a data folder already. Any other one, such as
/// `/tmp`, is not changed.
#[cfg(unix)]
fn keep_others_out(path: &Path) -> Result<(), FolderError> {
    use std::os::unix::fs::PermissionsExt;
    let refused = |source| FolderError::Refused { path: path.to_owned(), action: "read", source };
    let mode = fs::metadata(path).map_err(refused)?.permissions().mode() & 0o7777;
    if mode & 0o022 == 0 {
        return Ok(());
    }
    let is_ours = DataFolder::has_database(path) || fs::read_dir(path).map_err(refused)?.next().is_none();
    if !is_ours || fs::set_permissions(path, fs::Permissions::from_mode(0o700)).is_err() {
        return Err(FolderError::OpenToOthers { path: path.to_owned(), mode });
    }
    tracing::warn!(folder = %path.display(), "other users could write to the data folder; made it private");
    Ok(())
}

#[cfg(not(unix))]
fn keep_others_out(_: &Path) -> Result<(), FolderError> {
    Ok(())
}

#[cfg(unix)]
pub(super) fn create_private_folder(path: &Path) -> io::Result<()> {
    use std::os::unix::fs::DirBuilderExt;
    fs::DirBuilder::new().recursive(true).mode(0o700).create(path)
}

#[cfg(not(unix))]
pub(super) fn create_private_folder(path: &Path) -> io::Result<()> {
    // A folder below the user's profile is private on Windows by inheritance.
    fs::create_dir_all(path)
}

#[cfg(unix)]
fn restrict(path: &Path) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    if fs::metadata(path)?.permissions().mode() & 0o777 == 0o600 {
        return Ok(());
    }
    fs::set_permissions(path, fs::Permissions::from_mode(0o600))
}

#[cfg(not(unix))]
fn restrict(_: &Path) -> io::Result<()> {
    // A folder below the user's profile is private on Windows by inheritance.
    Ok(())
}

/// The file that is locked. Another user who can open it could lock us out, so it is private.
#[cfg(unix)]
fn lock_file(path: &Path) -> io::Result<File> {
    use std::os::unix::fs::OpenOptionsExt;
    OpenOptions::new().create(true).truncate(false).write(true).mode(0o600).open(path)
}

#[cfg(not(unix))]
fn lock_file(path: &Path) -> io::Result<File> {
    OpenOptions::new().create(true).truncate(false).write(true).open(path)
}

/// A new file that only its owner may read; one that is there is replaced.
#[cfg(unix)]
pub(super) fn private_file(path: &Path) -> io::Result<File> {
    use std::os::unix::fs::OpenOptionsExt;
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    OpenOptions::new().create_new(true).write(true).mode(0o600).open(path)
}

#[cfg(not(unix))]
pub(super) fn private_file(path: &Path) -> io::Result<File> {
    OpenOptions::new().create(true).truncate(true).write(true).open(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_locked_even_if_its_lock_file_is_deleted() {
        let root = tempfile::tempdir().expect("a folder");
        let first = DataFolder::lock(root.path()).expect("locked");
        fs::remove_file(root.path().join(LOCK)).expect("removed");
        let second = DataFolder::lock(root.path());
        assert!(matches!(second, Err(FolderError::InUse { .. })), "{second:?}");
        drop(first);
        DataFolder::lock(root.path()).expect("free");
    }

    /// Whether somebody waits for the lock of a file, as the kernel lists it.
    #[cfg(target_os = "linux")]
    fn is_waited_for(inode: u64) -> bool {
        let locks = fs::read_to_string("/proc/locks").expect("readable");
        locks.lines().any(|line| line.contains("->") && line.contains(&format!(":{inode} ")))
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn the_locks_of_a_server_that_is_gone_are_waited_for() {
        use std::os::unix::fs::MetadataExt as _;

        let root = tempfile::tempdir().expect("a folder");
        let first = DataFolder::lock(root.path()).expect("locked");
        // No process has this number.
        let note = ServerNote { pid: u32::MAX, url: "http://localhost:1".to_owned() };
        let text = serde_json::to_string(&note).expect("plain values");
        fs::write(root.path().join(ServerNote::FILE), text).expect("written");
        let path = root.path().to_owned();
        let second = std::thread::spawn(move || DataFolder::lock(&path));
        let inode = fs::metadata(root.path().join(LOCK)).expect("there").ino();
        while !is_waited_for(inode) {
            assert!(!second.is_finished(), "refused instead of waiting");
            std::thread::yield_now();
        }
        drop(first);
        second.join().expect("no panic").expect("locked once it is free");
    }
}

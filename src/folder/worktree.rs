//! Files of a repository's folder, read and written by us alone: no link is followed, nothing in `.git` is touched, and a
//! file has its old content or its new one, never a part.

use std::io;
use std::path::{Component, Path, PathBuf};

/// What is at a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Content {
    /// Nothing.
    Missing,
    /// A file with all permission bits of its mode; on systems without them, 0.
    File {
        /// Everything in it.
        bytes: Vec<u8>,
        /// The permission bits.
        mode: u32,
    },
    /// A symbolic link and its target.
    Link(PathBuf),
}

/// The parts of a path that leads to a file below the top and not into `.git`.
fn parts(path: &Path) -> io::Result<Vec<&std::ffi::OsStr>> {
    let refused = |why: &str| io::Error::new(io::ErrorKind::PermissionDenied, why.to_owned());
    let mut parts = Vec::new();
    for component in path.components() {
        let Component::Normal(name) = component else { return Err(refused("the path leaves the repository")) };
        // Also on file systems where case does not matter.
        if name.to_string_lossy().eq_ignore_ascii_case(".git") {
            return Err(refused("the path is git's own"));
        }
        parts.push(name);
    }
    if parts.is_empty() { Err(refused("the path names no file")) } else { Ok(parts) }
}

#[cfg(unix)]
pub(super) use unix::{read, write};

#[cfg(unix)]
mod unix {
    use std::ffi::OsStr;
    use std::io::{Read as _, Write as _};
    use std::os::fd::{AsFd as _, OwnedFd};
    use std::os::unix::ffi::OsStringExt as _;

    use rustix::fs::{AtFlags, FileType, Mode, OFlags, RawMode};

    use super::{Content, Path, PathBuf, io, parts};

    /// The folders on the way are opened one after the other, each without following a link, so that nothing that is
    /// replaced meanwhile leads elsewhere.
    fn parent(top: &Path, folders: &[&OsStr], create: bool) -> io::Result<Option<OwnedFd>> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC | OFlags::NOFOLLOW;
        let mut folder = rustix::fs::open(top, flags, Mode::empty())?;
        for name in folders {
            let opened = match rustix::fs::openat(&folder, *name, flags, Mode::empty()) {
                Err(rustix::io::Errno::NOENT) if create => {
                    match rustix::fs::mkdirat(&folder, *name, Mode::from_raw_mode(0o777)) {
                        Ok(()) | Err(rustix::io::Errno::EXIST) => {}
                        Err(error) => return Err(error.into()),
                    }
                    rustix::fs::openat(&folder, *name, flags, Mode::empty())
                }
                Err(rustix::io::Errno::NOENT | rustix::io::Errno::NOTDIR | rustix::io::Errno::LOOP) if !create => {
                    return Ok(None);
                }
                // A link is in the place of the folder.
                Err(rustix::io::Errno::LOOP) => return Err(io::ErrorKind::NotADirectory.into()),
                other => other,
            };
            folder = opened?;
        }
        Ok(Some(folder))
    }

    /// Reads what is at a path below the top. Blocks.
    pub(in crate::folder) fn read(top: &Path, path: &Path, byte_limit: u64) -> io::Result<Content> {
        let parts = parts(path)?;
        let Some((name, folders)) = parts.split_last() else { return Ok(Content::Missing) };
        let Some(folder) = parent(top, folders, false)? else { return Ok(Content::Missing) };
        let kind = match rustix::fs::statat(&folder, *name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(found) => FileType::from_raw_mode(found.st_mode as RawMode),
            Err(rustix::io::Errno::NOENT) => return Ok(Content::Missing),
            Err(error) => return Err(error.into()),
        };
        match kind {
            FileType::Symlink => {
                let target = rustix::fs::readlinkat(&folder, *name, Vec::new())?;
                Ok(Content::Link(PathBuf::from(std::ffi::OsString::from_vec(target.into_bytes()))))
            }
            FileType::RegularFile => {
                let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NOFOLLOW | OFlags::NONBLOCK;
                let file = std::fs::File::from(rustix::fs::openat(&folder, *name, flags, Mode::empty())?);
                let mode = std::os::unix::fs::MetadataExt::mode(&file.metadata()?) & 0o7777;
                let mut bytes = Vec::new();
                file.take(byte_limit + 1).read_to_end(&mut bytes)?;
                if bytes.len() as u64 > byte_limit {
                    return Err(io::Error::new(io::ErrorKind::FileTooLarge, "the file is too large"));
                }
                Ok(Content::File { bytes, mode })
            }
            _ => Err(io::Error::new(io::ErrorKind::InvalidInput, "there is neither a file nor a link")),
        }
    }

    /// Puts something at a path below the top, in place of what is there. Folders are made as needed, and those that a
    /// removed file leaves empty are removed too, as git does. Blocks.
    pub(in crate::folder) fn write(top: &Path, path: &Path, content: &Content) -> io::Result<()> {
        let parts = parts(path)?;
        let Some((name, folders)) = parts.split_last() else { return Ok(()) };
        let create = *content != Content::Missing;
        let Some(folder) = parent(top, folders, create)? else { return Ok(()) };
        match content {
            Content::Missing => {
                match rustix::fs::unlinkat(&folder, *name, AtFlags::empty()) {
                    Ok(()) | Err(rustix::io::Errno::NOENT) => {}
                    Err(error) => return Err(error.into()),
                }
                remove_empty(top, folders);
                Ok(())
            }
            Content::Link(target) => {
                let fresh = fresh_name()?;
                rustix::fs::symlinkat(target, &folder, &fresh)?;
                replace(&folder, &fresh, name)
            }
            Content::File { bytes, mode } => {
                let fresh = fresh_name()?;
                let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC | OFlags::NOFOLLOW;
                // Nobody else may read it before its mode is set.
                let opened = rustix::fs::openat(&folder, &fresh, flags, Mode::from_raw_mode(0o600))?;
                let mut file = std::fs::File::from(opened);
                let written = file
                    .write_all(bytes)
                    .and_then(|()| Ok(rustix::fs::fchmod(file.as_fd(), Mode::from_raw_mode(*mode as RawMode))?))
                    .and_then(|()| file.sync_all());
                match written {
                    Ok(()) => replace(&folder, &fresh, name),
                    Err(error) => {
                        let _ = rustix::fs::unlinkat(&folder, &fresh, AtFlags::empty());
                        Err(error)
                    }
                }
            }
        }
    }

    fn replace(folder: &OwnedFd, fresh: &str, name: &OsStr) -> io::Result<()> {
        let renamed = rustix::fs::renameat(folder, fresh, folder, name);
        if renamed.is_err() {
            let _ = rustix::fs::unlinkat(folder, fresh, AtFlags::empty());
        }
        Ok(renamed?)
    }

    fn remove_empty(top: &Path, folders: &[&OsStr]) {
        for length in (1..=folders.len()).rev() {
            let (Some(name), above) = (folders.get(length - 1), &folders[..length - 1]) else { return };
            let removed = match parent(top, above, false) {
                Ok(Some(folder)) => rustix::fs::unlinkat(&folder, *name, AtFlags::REMOVEDIR).is_ok(),
                _ => false,
            };
            if !removed {
                return;
            }
        }
    }

    fn fresh_name() -> io::Result<String> {
        let random = getrandom::u64().map_err(|error| io::Error::other(error.to_string()))?;
        Ok(format!(".flightdeck-{random:016x}"))
    }
}

#[cfg(not(unix))]
pub(super) use elsewhere::{read, write};

/// By path, after a look at every folder on the way.
#[cfg(not(unix))]
mod elsewhere {
    use std::io::{Read as _, Write as _};

    use super::{Content, Path, io, parts};

    fn checked(top: &Path, path: &Path) -> io::Result<std::path::PathBuf> {
        parts(path)?;
        if super::super::snapshot::has_link_above(top, path) {
            return Err(io::Error::new(io::ErrorKind::PermissionDenied, "the path leads through a link"));
        }
        Ok(top.join(path))
    }

    pub(in crate::folder) fn read(top: &Path, path: &Path, byte_limit: u64) -> io::Result<Content> {
        let whole = checked(top, path)?;
        match whole.symlink_metadata() {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Content::Missing),
            Err(error) => Err(error),
            Ok(found) if found.is_symlink() => Ok(Content::Link(whole.read_link()?)),
            Ok(found) if found.is_file() && found.len() <= byte_limit => {
                let mut bytes = Vec::new();
                std::fs::File::open(&whole)?.read_to_end(&mut bytes)?;
                Ok(Content::File { bytes, mode: 0 })
            }
            Ok(_) => Err(io::Error::new(io::ErrorKind::InvalidInput, "there is no file of a size that can be kept")),
        }
    }

    pub(in crate::folder) fn write(top: &Path, path: &Path, content: &Content) -> io::Result<()> {
        let whole = checked(top, path)?;
        let folder = whole.parent().ok_or_else(|| io::Error::other("a file needs a folder"))?;
        match content {
            Content::Missing => match std::fs::remove_file(&whole) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
                _ => Ok(()),
            },
            Content::Link(_) => Err(io::Error::other("symbolic links cannot be written on this system")),
            Content::File { bytes, .. } => {
                std::fs::create_dir_all(folder)?;
                let mut fresh = tempfile::Builder::new().prefix(".flightdeck-").tempfile_in(folder)?;
                fresh.write_all(bytes)?;
                fresh.as_file().sync_all()?;
                fresh.persist(&whole).map_err(|error| error.error)?;
                Ok(())
            }
        }
    }
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    fn file(text: &str, mode: u32) -> Content {
        Content::File { bytes: text.as_bytes().to_vec(), mode }
    }

    #[test]
    fn files_and_links_are_written_whole_and_read_again() {
        let root = tempfile::tempdir().expect("a folder");
        let (top, path) = (root.path(), Path::new("a/b/file"));
        for content in [file("one", 0o755), file("two", 0o640), Content::Link("../elsewhere".into()), Content::Missing]
        {
            write(top, path, &content).expect("written");
            assert_eq!(read(top, path, 100).expect("read"), content);
        }
        assert!(!top.join("a").exists(), "empty folders are removed");
        write(top, Path::new("file"), &file("x", 0o600)).expect("written");
        assert_eq!(std::fs::read_dir(top).expect("read").count(), 1, "nothing else is left");
        assert_eq!(std::fs::metadata(top.join("file")).expect("there").permissions().mode() & 0o777, 0o600);
        assert!(read(top, Path::new("file"), 0).is_err(), "too large");
    }

    #[test]
    fn no_path_leads_out_of_the_folder_or_into_git() {
        let root = tempfile::tempdir().expect("a folder");
        let (top, outside) = (root.path().join("top"), root.path().join("outside"));
        std::fs::create_dir(&top).and_then(|()| std::fs::create_dir(&outside)).expect("made");
        std::os::unix::fs::symlink(&outside, top.join("link")).expect("linked");
        let new = file("x", 0o644);
        for path in ["link/file", "../outside/file", "/tmp/file", ".git/config", "a/.GIT/hooks/x", ".", ""] {
            assert!(write(&top, Path::new(path), &new).is_err(), "{path:?}");
        }
        assert_eq!(std::fs::read_dir(&outside).expect("read").count(), 0);
        std::fs::write(outside.join("secret"), "secret").expect("written");
        assert_eq!(read(&top, Path::new("link/secret"), 100).expect("read"), Content::Missing);
        write(&top, Path::new("link/secret"), &Content::Missing).expect("nothing there");
        assert!(outside.join("secret").exists());
        write(&top, Path::new("link"), &new).expect("the link itself is replaced");
        assert_eq!(std::fs::read_dir(&outside).expect("read").count(), 1);
    }
}

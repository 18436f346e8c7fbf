//! An entry's file: small, regular, and read again only when it has changed.

use std::fs::{File, Metadata};
use std::io::{self, Read};
use std::path::Path;
use std::time::{Duration, SystemTime};

/// The largest file, in bytes.
const LARGEST: u64 = 1_000_000;
/// A file that changed so recently can change again without a trace in its times.
const SETTLING: Duration = Duration::from_secs(2);

/// Whether a symbolic link is followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Links {
    /// The person who configured the path decides where it leads.
    Follow,
    /// The path belongs to others.
    Refuse,
}

/// What tells one version of a file from another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Version {
    size: u64,
    modified: Option<SystemTime>,
    /// Unlike the time of modification, this one cannot be set back.
    changed: Option<SystemTime>,
    #[cfg(unix)]
    inode: (u64, u64),
}

impl Version {
    fn of(metadata: &Metadata) -> Self {
        #[cfg(unix)]
        use std::os::unix::fs::MetadataExt;
        Self {
            size: metadata.len(),
            modified: metadata.modified().ok(),
            changed: changed(metadata),
            #[cfg(unix)]
            inode: (metadata.dev(), metadata.ino()),
        }
    }

    /// The version that is there now; `None` if there is none.
    pub(super) fn current(path: &Path, links: Links) -> Option<Self> {
        let metadata = match links {
            Links::Follow => std::fs::metadata(path),
            Links::Refuse => std::fs::symlink_metadata(path),
        };
        metadata.ok().map(|metadata| Self::of(&metadata))
    }

    /// Whether a later change must have other times than this version.
    fn is_settled(&self, now: SystemTime) -> bool {
        let is_old = |time: SystemTime| now.duration_since(time).is_ok_and(|age| age > SETTLING);
        self.modified.is_some_and(is_old) && self.changed.is_none_or(is_old)
    }
}

#[cfg(unix)]
fn changed(metadata: &Metadata) -> Option<SystemTime> {
    use std::os::unix::fs::MetadataExt;
    let seconds = u64::try_from(metadata.ctime()).ok()?;
    let nanoseconds = u32::try_from(metadata.ctime_nsec()).ok()?;
    SystemTime::UNIX_EPOCH.checked_add(Duration::new(seconds, nanoseconds))
}

#[cfg(not(unix))]
fn changed(_: &Metadata) -> Option<SystemTime> {
    None
}

/// A file that was read.
#[derive(Debug)]
pub(super) struct FileContent {
    pub(super) bytes: Vec<u8>,
    /// `None` if the file may change without a trace, so that it must be read again.
    pub(super) version: Option<Version>,
}

/// Reads a file. The error is a sentence for people.
pub(super) fn read(path: &Path, links: Links, now: SystemTime) -> Result<FileContent, String> {
    if links == Links::Refuse && std::fs::symlink_metadata(path).is_ok_and(|metadata| metadata.is_symlink()) {
        return Err("Is a symbolic link, which is not followed here.".to_owned());
    }
    let unreadable = |error: io::Error| format!("Cannot be read: {error}.");
    let file = open(path, links).map_err(unreadable)?;
    let metadata = file.metadata().map_err(unreadable)?;
    if !metadata.is_file() {
        let what = if metadata.is_dir() { "a folder" } else { "a device or a pipe" };
        return Err(format!("Is {what}, not a file."));
    }
    let version = Version::of(&metadata);
    let mut bytes = Vec::new();
    (&file).take(LARGEST + 1).read_to_end(&mut bytes).map_err(unreadable)?;
    if bytes.len() as u64 > LARGEST {
        return Err("Is larger than 1 MB.".to_owned());
    }
    let after = Version::of(&file.metadata().map_err(unreadable)?);
    let is_settled = after == version && version.is_settled(now);
    Ok(FileContent { bytes, version: is_settled.then_some(version) })
}

/// Never waits for a pipe.
#[cfg(unix)]
fn open(path: &Path, links: Links) -> io::Result<File> {
    use rustix::fs::{Mode, OFlags};
    let mut flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK;
    if links == Links::Refuse {
        flags |= OFlags::NOFOLLOW;
    }
    Ok(rustix::fs::open(path, flags, Mode::empty())?.into())
}

#[cfg(not(unix))]
fn open(path: &Path, _: Links) -> io::Result<File> {
    File::open(path)
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    fn error(path: &Path, links: Links) -> String {
        read(path, links, SystemTime::now()).expect_err("an error")
    }

    fn content(path: &Path, links: Links) -> Vec<u8> {
        read(path, links, SystemTime::now()).expect("read").bytes
    }

    #[test]
    fn only_small_regular_files_are_read() {
        let folder = tempfile::tempdir().expect("a folder");
        let at = |name: &str| folder.path().join(name);
        std::fs::write(at("file"), "{}").expect("written");
        std::fs::write(at("large"), vec![b' '; 1_000_001]).expect("written");
        std::fs::write(at("full"), vec![b' '; 1_000_000]).expect("written");
        std::os::unix::fs::symlink(at("file"), at("link")).expect("linked");
        let made = std::process::Command::new("mkfifo").arg(at("pipe")).status().expect("mkfifo runs");
        assert!(made.success());

        assert_eq!(content(&at("file"), Links::Refuse), b"{}");
        assert_eq!(content(&at("full"), Links::Refuse).len(), 1_000_000);
        assert_eq!(error(&at("large"), Links::Refuse), "Is larger than 1 MB.");
        assert_eq!(error(&at("link"), Links::Refuse), "Is a symbolic link, which is not followed here.");
        assert_eq!(content(&at("link"), Links::Follow), b"{}");
        assert_eq!(error(&at("pipe"), Links::Refuse), "Is a device or a pipe, not a file.");
        assert_eq!(error(folder.path(), Links::Follow), "Is a folder, not a file.");
        assert!(error(&at("missing"), Links::Refuse).starts_with("Cannot be read: "));
    }

    #[test]
    fn a_file_that_just_changed_is_not_settled() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("file");
        std::fs::write(&path, "{}").expect("written");
        let set = |time| File::options().write(true).open(&path).expect("opened").set_modified(time).expect("set");
        let later = SystemTime::now() + Duration::from_mins(1);
        let version = |now| read(&path, Links::Refuse, now).expect("read").version;
        assert_eq!(version(SystemTime::now()), None, "it may change again");
        set(SystemTime::UNIX_EPOCH);
        assert_eq!(version(SystemTime::now()), None, "its time was only set back");
        let settled = version(later);
        assert!(settled.is_some());
        assert_eq!(settled, Version::current(&path, Links::Refuse));
        std::fs::write(&path, "[1]").expect("written");
        assert_ne!(settled, Version::current(&path, Links::Refuse));
        set(later + Duration::from_secs(1));
        assert_eq!(version(later), None, "from the future");
        std::fs::remove_file(&path).expect("removed");
        assert_eq!(Version::current(&path, Links::Refuse), None);
    }
}

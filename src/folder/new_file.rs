//! New files, which git cannot compare with anything: all of their lines are added.

use std::io::Read as _;
use std::path::Path;

/// The content of a new file.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum NewFile {
    /// Text, perhaps cut off.
    Text { text: String, complete: bool },
    /// A symbolic link and its target. It is not followed.
    Link(String),
    /// A binary file.
    Binary,
}

/// Reads a new file, up to that many bytes. `None` if it is missing or unreadable. Blocks.
pub(super) fn read(path: &Path, byte_limit: usize) -> Option<NewFile> {
    if let Ok(target) = path.read_link() {
        return Some(NewFile::Link(target.to_string_lossy().into_owned()));
    }
    let file = open(path).ok()?;
    // Checked on the open file, because the name may refer to something else by now.
    if !file.metadata().ok()?.is_file() {
        return None;
    }
    let mut bytes = Vec::new();
    file.take(byte_limit as u64 + 1).read_to_end(&mut bytes).ok()?;
    // The same rule as git's.
    if bytes.iter().take(8_000).any(|byte| *byte == 0) {
        return Some(NewFile::Binary);
    }
    let complete = bytes.len() <= byte_limit;
    bytes.truncate(byte_limit);
    Some(NewFile::Text { text: String::from_utf8_lossy(&bytes).into_owned(), complete })
}

/// Opens a file. Does not follow a symbolic link or wait for a pipe that has replaced it.
#[cfg(unix)]
pub(super) fn open(path: &Path) -> std::io::Result<std::fs::File> {
    use rustix::fs::{Mode, OFlags};
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NOFOLLOW | OFlags::NONBLOCK;
    Ok(rustix::fs::open(path, flags, Mode::empty())?.into())
}

#[cfg(not(unix))]
pub(super) fn open(path: &Path) -> std::io::Result<std::fs::File> {
    std::fs::File::open(path)
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn only_files_are_read_and_not_beyond_the_limit() {
        let folder = tempfile::tempdir().expect("a folder");
        let at = |name: &str| folder.path().join(name);
        std::fs::write(at("text"), "a\nb\n").expect("written");
        std::fs::write(at("picture"), b"\x89PNG\0").expect("written");
        std::fs::write(at("latin"), b"gr\xfc\xdfe").expect("written");
        std::os::unix::fs::symlink("/etc/passwd", at("link")).expect("linked");
        let text = |text: &str, complete| Some(NewFile::Text { text: text.to_owned(), complete });
        assert_eq!(read(&at("text"), 100), text("a\nb\n", true));
        assert_eq!(read(&at("text"), 3), text("a\nb", false));
        assert_eq!(read(&at("picture"), 100), Some(NewFile::Binary));
        assert_eq!(read(&at("latin"), 100), text("gr\u{fffd}\u{fffd}e", true));
        assert_eq!(read(&at("link"), 100), Some(NewFile::Link("/etc/passwd".to_owned())));
        assert_eq!(read(folder.path(), 100), None);
        assert_eq!(read(&at("nothing"), 100), None);
    }

    #[test]
    fn what_took_the_place_of_a_file_is_neither_followed_nor_waited_for() {
        let folder = tempfile::tempdir().expect("a folder");
        let at = |name: &str| folder.path().join(name);
        std::fs::write(at("secret"), "secret").expect("written");
        std::os::unix::fs::symlink(at("secret"), at("link")).expect("linked");
        assert!(open(&at("link")).is_err(), "a link");
        let made = std::process::Command::new("mkfifo").arg(at("pipe")).status().expect("mkfifo runs");
        assert!(made.success());
        assert_eq!(read(&at("pipe"), 100), None, "nobody writes to it, and nobody waits");
    }
}

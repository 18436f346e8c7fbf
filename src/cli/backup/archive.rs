//! The file format of a backup: a plain tar archive whose last entry has the SHA-256 sums of all others, so that `tar` and
//! `sha256sum -c` can read it too.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read, Write};
use std::path::{Component, Path, PathBuf};

use anyhow::{Context as _, bail, ensure};
use sha2::{Digest, Sha256};

use crate::model::hex;

/// The last entry.
const SUMS: &str = "SHA256SUMS";
/// The first entry says what the file is.
pub(super) const ABOUT: &str = "backup.json";

/// Writes an archive.
pub(super) struct ArchiveWriter<W: Write> {
    tar: tar::Builder<BufWriter<W>>,
    sums: String,
    modified: u64,
}

impl<W: Write> ArchiveWriter<W> {
    pub fn new(file: W, modified: u64) -> Self {
        Self { tar: tar::Builder::new(BufWriter::new(file)), sums: String::new(), modified }
    }

    /// Adds a file of the disk. Returns its size.
    pub fn add_file(&mut self, name: &str, path: &Path) -> io::Result<u64> {
        let file = File::open(path)?;
        let size = file.metadata()?.len();
        self.add(name, size, BufReader::new(file))?;
        Ok(size)
    }

    pub fn add_bytes(&mut self, name: &str, data: &[u8]) -> io::Result<()> {
        self.add(name, data.len() as u64, data)
    }

    fn add(&mut self, name: &str, size: u64, content: impl Read) -> io::Result<()> {
        let mut content = Hashing { inner: content.take(size), digest: Sha256::new(), read: 0 };
        self.entry(name, size, &mut content)?;
        if content.read != size {
            return Err(io::Error::new(io::ErrorKind::UnexpectedEof, "the file became shorter while it was read"));
        }
        let sum = hex(&content.digest.finalize());
        self.sums.push_str(&[sum.as_str(), "  ", name, "\n"].concat());
        Ok(())
    }

    fn entry(&mut self, name: &str, size: u64, content: impl Read) -> io::Result<()> {
        let mut header = tar::Header::new_gnu();
        header.set_size(size);
        header.set_mode(0o600);
        header.set_mtime(self.modified);
        header.set_entry_type(tar::EntryType::Regular);
        self.tar.append_data(&mut header, name, content)
    }

    /// Adds the sums and returns the file.
    pub fn finish(mut self) -> io::Result<W> {
        let sums = std::mem::take(&mut self.sums);
        self.entry(SUMS, sums.len() as u64, sums.as_bytes())?;
        self.tar.into_inner()?.into_inner().map_err(io::IntoInnerError::into_error)
    }
}

struct Hashing<R> {
    inner: R,
    digest: Sha256,
    read: u64,
}

impl<R: Read> Read for Hashing<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let length = self.inner.read(buffer)?;
        self.digest.update(&buffer[..length]);
        self.read += length as u64;
        Ok(length)
    }
}

/// An entry of an archive that was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ReadEntry {
    pub size: u64,
    sum: String,
}

/// Reads an archive to its end and compares every entry with its sum. Each entry is given to `keep`, which returns where
/// its content goes.
pub(super) fn read_archive(
    file: impl Read,
    mut keep: impl FnMut(&Path) -> anyhow::Result<Box<dyn Write>>,
) -> anyhow::Result<BTreeMap<PathBuf, ReadEntry>> {
    let mut archive = tar::Archive::new(BufReader::new(file));
    let (mut entries, mut sums) = (BTreeMap::new(), None);
    for entry in archive.entries().context("it is not a backup: not a tar archive")? {
        let mut entry = entry.context("it is damaged, truncated or not a backup at all")?;
        let path = entry.path().context("it has an entry without a name")?.into_owned();
        ensure!(
            entry.header().entry_type() == tar::EntryType::Regular,
            "it has an entry that no backup has: {}",
            path.display()
        );
        ensure!(sums.is_none(), "it has an entry after its checksums: {}", path.display());
        if path == Path::new(SUMS) {
            let mut text = String::new();
            entry.read_to_string(&mut text).context("its checksums cannot be read")?;
            sums = Some(text);
            continue;
        }
        let is_plain = path.components().all(|part| matches!(part, Component::Normal(_)));
        ensure!(is_plain, "it has an entry with an unsafe name: {}", path.display());
        let mut output = keep(&path)?;
        let mut content = Hashing { inner: entry, digest: Sha256::new(), read: 0 };
        io::copy(&mut content, &mut output).with_context(|| format!("{} cannot be copied", path.display()))?;
        output.flush().with_context(|| format!("{} cannot be copied", path.display()))?;
        let read = ReadEntry { size: content.read, sum: hex(&content.digest.finalize()) };
        ensure!(entries.insert(path.clone(), read).is_none(), "it has {} twice", path.display());
    }
    let Some(sums) = sums else { bail!("it has no checksums at its end: it was truncated, or is not a backup") };
    check_sums(&entries, &sums)?;
    Ok(entries)
}

fn check_sums(entries: &BTreeMap<PathBuf, ReadEntry>, sums: &str) -> anyhow::Result<()> {
    let expected: BTreeMap<PathBuf, &str> =
        sums.lines().filter_map(|line| line.split_once("  ")).map(|(sum, name)| (PathBuf::from(name), sum)).collect();
    for (path, sum) in &expected {
        let Some(entry) = entries.get(path) else { bail!("{} is missing", path.display()) };
        ensure!(entry.sum == *sum, "{} is damaged: its SHA-256 sum differs", path.display());
    }
    if let Some(unknown) = entries.keys().find(|path| !expected.contains_key(*path)) {
        bail!("{} has no sum", unknown.display());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written() -> Vec<u8> {
        let mut archive = ArchiveWriter::new(Vec::new(), 0);
        archive.add_bytes(ABOUT, b"{}").expect("added");
        archive.add_bytes("blobs/ab/abc", &[7; 2000]).expect("added");
        archive.finish().expect("written")
    }

    fn problem(data: &[u8]) -> String {
        let read = read_archive(data, |_| Ok(Box::new(io::sink())));
        format!("{:#}", read.expect_err("a problem"))
    }

    #[test]
    fn what_is_written_is_read_and_checked() {
        let entries = read_archive(written().as_slice(), |_| Ok(Box::new(io::sink()))).expect("whole");
        assert_eq!(entries.values().map(|entry| entry.size).collect::<Vec<_>>(), [2, 2000]);
    }

    #[test]
    fn every_changed_byte_and_every_cut_is_noticed() {
        let data = written();
        let content = data.iter().position(|byte| *byte == 7).expect("there");
        let mut changed = data.clone();
        changed[content + 9] = 8;
        assert!(problem(&changed).contains("blobs/ab/abc is damaged"), "{}", problem(&changed));
        for length in [0, 1, 600, content + 5, data.len() - 2048] {
            assert!(!problem(&data[..length]).is_empty(), "{length}");
        }
        assert!(!problem(b"not a tar archive at all").is_empty());
    }

    #[test]
    fn an_entry_cannot_leave_the_folder() {
        let mut tar = tar::Builder::new(Vec::new());
        let mut header = tar::Header::new_gnu();
        header.set_size(1);
        header.as_gnu_mut().expect("GNU").name[..9].copy_from_slice(b"../escape");
        header.set_cksum();
        tar.append(&header, &b"x"[..]).expect("added");
        let data = tar.into_inner().expect("written");
        assert!(problem(&data).contains("unsafe name"), "{}", problem(&data));
    }
}

//! Records of running child processes, so that a later run can find what is left of them.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::marker::Marker;
use super::system;
use crate::private_file::{self, Durability};

/// One file per child in a folder, or none at all. Clones share the folder.
#[derive(Clone, Debug)]
pub(super) struct Ledger {
    folder: Option<Arc<Path>>,
}

/// The identity of a process. A process id alone is not enough, because ids are reused.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Identity {
    pub pid: u32,
    /// The start time; `None` if the platform does not report it.
    pub started: Option<String>,
}

/// The record of a child.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Note {
    marker: String,
    /// The program, for display.
    pub program: PathBuf,
    /// The boot of the machine that the process ids belong to.
    pub boot: String,
    /// The process that started it.
    pub owner: Identity,
    /// The child; `None` until it has started.
    pub child: Option<Identity>,
}

impl Identity {
    pub fn of(pid: u32) -> Self {
        Self { pid, started: system::started(pid) }
    }

    /// Whether this exact process is still running. Always false if the platform does not report start times.
    pub fn is_alive(&self) -> bool {
        self.started.is_some() && self.started == system::started(self.pid)
    }
}

impl Note {
    pub fn new(marker: &Marker, program: &Path) -> Self {
        Self {
            marker: marker.to_string(),
            program: program.to_owned(),
            boot: system::boot(),
            owner: Identity::of(std::process::id()),
            child: None,
        }
    }

    /// `None` if the record is damaged.
    pub fn marker(&self) -> Option<Marker> {
        Marker::parse(&self.marker)
    }
}

impl Ledger {
    pub fn new(folder: Option<PathBuf>) -> Self {
        Self { folder: folder.map(Arc::from) }
    }

    pub fn folder(&self) -> Option<&Path> {
        self.folder.as_deref()
    }

    /// Writes a record atomically. It must survive this process but not the machine, so nothing is synced.
    pub fn write(&self, note: &Note) -> io::Result<()> {
        let Some(path) = self.file(&note.marker) else { return Ok(()) };
        private_file::write(&path, &serde_json::to_vec(note)?, Durability::Process)
    }

    /// Removes the record of a child of which nothing is left.
    pub fn remove(&self, marker: &Marker) {
        let Some(path) = self.file(&marker.to_string()) else { return };
        match fs::remove_file(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                tracing::warn!(%error, path = %path.display(), "could not remove the record of an ended process");
            }
            _ => {}
        }
    }

    /// All readable records; unreadable ones are removed.
    pub fn notes(&self) -> io::Result<Vec<Note>> {
        let Some(folder) = self.folder() else { return Ok(Vec::new()) };
        let mut notes = Vec::new();
        let entries = match fs::read_dir(folder) {
            // No run has written a record yet.
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(notes),
            entries => entries?,
        };
        for entry in entries {
            let path = entry?.path();
            if path.extension().is_none_or(|extension| extension != "json") {
                continue;
            }
            let text = match fs::read(&path) {
                // A running server has removed it meanwhile, because its child has ended.
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                text => text?,
            };
            let note = serde_json::from_slice::<Note>(&text).ok().filter(|note| note.marker().is_some());
            if let Some(note) = note {
                notes.push(note);
            } else {
                tracing::warn!(path = %path.display(), "removed an unreadable process record");
                fs::remove_file(&path)?;
            }
        }
        Ok(notes)
    }

    fn file(&self, marker: &str) -> Option<PathBuf> {
        self.folder().map(|folder| folder.join(format!("{marker}.json")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notes_are_private_come_back_whole_and_go() {
        let folder = tempfile::tempdir().expect("a folder");
        let ledger = Ledger::new(Some(folder.path().to_owned()));
        let marker = Marker::new();
        let mut note = Note::new(&marker, Path::new("/bin/sh"));
        ledger.write(&note).expect("written");
        note.child = Some(Identity { pid: 7, started: Some("99".to_owned()) });
        ledger.write(&note).expect("written again");
        assert_eq!(ledger.notes().expect("read"), [note]);
        #[cfg(unix)]
        {
            let file = fs::metadata(folder.path().join(format!("{marker}.json"))).expect("there");
            assert_eq!(std::os::unix::fs::PermissionsExt::mode(&file.permissions()) & 0o777, 0o600);
        }
        ledger.remove(&marker);
        assert_eq!(fs::read_dir(folder.path()).expect("read").count(), 0);
    }

    #[cfg(unix)]
    #[test]
    fn a_note_that_goes_while_the_folder_is_read_is_no_error() {
        let folder = tempfile::tempdir().expect("a folder");
        let ledger = Ledger::new(Some(folder.path().to_owned()));
        let note = Note::new(&Marker::new(), Path::new("/bin/sh"));
        ledger.write(&note).expect("written");
        // It is listed, and not there when it is read.
        std::os::unix::fs::symlink(folder.path().join("nowhere"), folder.path().join("gone.json")).expect("linked");
        assert_eq!(ledger.notes().expect("read"), [note]);
    }

    #[test]
    fn damaged_notes_are_dropped_and_other_files_left_alone() {
        let folder = tempfile::tempdir().expect("a folder");
        let ledger = Ledger::new(Some(folder.path().to_owned()));
        let mut note = Note::new(&Marker::new(), Path::new("/bin/sh"));
        note.marker = String::new();
        fs::write(folder.path().join("a.json"), serde_json::to_vec(&note).expect("JSON")).expect("written");
        fs::write(folder.path().join("b.json"), "{").expect("written");
        fs::write(folder.path().join("readme.txt"), "not ours").expect("written");
        assert_eq!(ledger.notes().expect("read"), []);
        let left: Vec<_> =
            fs::read_dir(folder.path()).expect("read").map(|entry| entry.expect("one").file_name()).collect();
        assert_eq!(left, ["readme.txt"]);
    }
}

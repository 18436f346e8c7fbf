//! Where entries come from, and what was found there.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock};
use std::time::SystemTime;

use parking_lot::Mutex;
use sha2::{Digest, Sha256};

use super::default_entry::DEFAULT_ENTRY;
use super::file::{self, Links, Version};
use super::{CheckedEntry, Problem, read_entry};
use crate::model::hex;

/// The file of a folder's own entry.
const FOLDER_ENTRY: &str = ".flightdeck/jobs.json";
/// How many entries are kept in memory.
const MOST_CACHED: usize = 64;

/// Where an entry comes from.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum EntrySource {
    /// The program.
    Default,
    /// A file that the configuration names.
    Configuration(PathBuf),
    /// A file in the working directory or its repository. It counts only once a person trusts it.
    Folder(PathBuf),
    /// A file that a test installed.
    Installed(PathBuf),
}

impl EntrySource {
    /// The word used in the API.
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::Default => "default",
            Self::Configuration(_) => "configuration",
            Self::Folder(_) => "folder",
            Self::Installed(_) => "installed",
        }
    }

    /// The file.
    pub fn path(&self) -> Option<&Path> {
        match self {
            Self::Default => None,
            Self::Configuration(path) | Self::Folder(path) | Self::Installed(path) => Some(path),
        }
    }

    fn links(&self) -> Links {
        match self {
            Self::Configuration(_) => Links::Follow,
            Self::Default | Self::Folder(_) | Self::Installed(_) => Links::Refuse,
        }
    }
}

/// An entry as it was found at its source.
#[derive(Clone, Debug, PartialEq)]
pub struct LoadedEntry {
    /// Where it comes from.
    pub source: EntrySource,
    /// The SHA-256 of its bytes as hexadecimal digits; empty if it could not be read.
    pub hash: String,
    /// What is wrong with it, errors and warnings.
    pub problems: Vec<Problem>,
    /// The entry itself, unless there are errors.
    pub entry: Option<Arc<CheckedEntry>>,
    /// Its text; empty if it could not be read.
    pub text: String,
}

impl LoadedEntry {
    /// The entry that ships with the program.
    pub fn shipped() -> Arc<Self> {
        static SHIPPED: LazyLock<Arc<LoadedEntry>> =
            LazyLock::new(|| Arc::new(LoadedEntry::from_bytes(EntrySource::Default, DEFAULT_ENTRY.as_bytes())));
        Arc::clone(&SHIPPED)
    }

    /// The file.
    pub fn path(&self) -> Option<&Path> {
        self.source.path()
    }

    /// The first problem that makes it unusable.
    pub fn first_error(&self) -> Option<&Problem> {
        self.problems.iter().find(|problem| problem.is_error())
    }

    /// Reads and checks an entry.
    pub fn from_bytes(source: EntrySource, bytes: &[u8]) -> Self {
        let hash = hex(&Sha256::digest(bytes));
        let (text, checked) = match std::str::from_utf8(bytes) {
            Ok(text) => (text.to_owned(), read_entry(text)),
            Err(error) => {
                let message = format!("Should be UTF-8 text, but byte {} is not.", error.valid_up_to());
                (String::new(), Err(vec![Problem::error("entry", message)]))
            }
        };
        let (entry, problems) = match checked {
            Ok(entry) => (Some(Arc::new(entry)), None),
            Err(problems) => (None, Some(problems)),
        };
        let warnings = || entry.as_ref().map(|entry: &Arc<CheckedEntry>| entry.warnings().to_vec());
        Self { source, hash, problems: problems.or_else(warnings).unwrap_or_default(), entry, text }
    }

    fn unreadable(source: EntrySource, message: String) -> Self {
        let path = source.path().map(|path| path.display().to_string()).unwrap_or_default();
        let problems = vec![Problem::error(path, message)];
        Self { source, hash: String::new(), problems, entry: None, text: String::new() }
    }
}

/// The file with the entry of a folder: in the folder itself, or in the nearest one above it within the same git
/// repository. What is there may still be unreadable.
pub fn find_folder_entry(working_directory: &Path) -> Option<PathBuf> {
    let is_there = |path: &Path| std::fs::symlink_metadata(path).is_ok();
    let root = working_directory.ancestors().position(|folder| is_there(&folder.join(".git")));
    let mut folders = working_directory.ancestors().take(root.unwrap_or_default() + 1);
    folders.find_map(|folder| Some(folder.join(FOLDER_ENTRY)).filter(|path| is_there(path)))
}

/// Entries by their source, read again only when their file has changed.
#[derive(Debug, Default)]
pub struct EntryCache {
    known: Mutex<HashMap<EntrySource, Known>>,
}

#[derive(Debug)]
struct Known {
    /// `None` if the file must be read again.
    version: Option<Version>,
    loaded: Arc<LoadedEntry>,
}

impl EntryCache {
    /// The entry at a source as it is now.
    pub fn load(&self, source: &EntrySource) -> Arc<LoadedEntry> {
        self.load_at(source, SystemTime::now())
    }

    fn load_at(&self, source: &EntrySource, now: SystemTime) -> Arc<LoadedEntry> {
        let Some(path) = source.path() else { return LoadedEntry::shipped() };
        let current = Version::current(path, source.links());
        let before = self.known.lock().get(source).map(|known| (known.version.clone(), Arc::clone(&known.loaded)));
        if let Some((version, loaded)) = &before
            && version.is_some()
            && *version == current
        {
            return Arc::clone(loaded);
        }
        let (version, loaded) = match read_file(source, path, now) {
            Ok(content) => {
                let hash = hex(&Sha256::digest(&content.bytes));
                let same = before.map(|(_, loaded)| loaded).filter(|loaded| loaded.hash == hash);
                let read = || Arc::new(LoadedEntry::from_bytes(source.clone(), &content.bytes));
                (content.version, same.unwrap_or_else(read))
            }
            Err(message) => (None, Arc::new(LoadedEntry::unreadable(source.clone(), message))),
        };
        let mut known = self.known.lock();
        if known.len() >= MOST_CACHED {
            known.clear();
        }
        known.insert(source.clone(), Known { version, loaded: Arc::clone(&loaded) });
        loaded
    }
}

fn read_file(source: &EntrySource, path: &Path, now: SystemTime) -> Result<file::FileContent, String> {
    let is_link = |folder: &Path| std::fs::symlink_metadata(folder).is_ok_and(|metadata| metadata.is_symlink());
    if matches!(source, EntrySource::Folder(_)) && path.parent().is_some_and(is_link) {
        return Err("Is in a folder that is a symbolic link, which is not followed here.".to_owned());
    }
    file::read(path, source.links(), now)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::jobs::entry::sample::entry_json;

    fn folder() -> tempfile::TempDir {
        tempfile::tempdir().expect("a folder")
    }

    fn write(path: &Path, text: &str) {
        std::fs::create_dir_all(path.parent().expect("a parent")).expect("folders");
        std::fs::write(path, text).expect("written");
    }

    #[test]
    fn the_shipped_entry_is_usable() {
        let shipped = EntryCache::default().load(&EntrySource::Default);
        assert!(shipped.entry.is_some());
        assert_eq!((shipped.problems.as_slice(), shipped.path()), (&[][..], None));
        assert_eq!((shipped.source.as_str(), shipped.hash.len()), ("default", 64));
    }

    #[test]
    fn a_folders_entry_is_in_it_or_above_it_within_the_repository() {
        let top = folder();
        let at = |path: &str| top.path().join(path);
        std::fs::create_dir_all(at("repository/.git")).expect("folders");
        std::fs::create_dir_all(at("repository/part/deep")).expect("folders");
        std::fs::create_dir_all(at("plain/deep")).expect("folders");
        write(&at(".flightdeck/jobs.json"), "{}");
        assert_eq!(find_folder_entry(top.path()), Some(at(".flightdeck/jobs.json")));
        assert_eq!(find_folder_entry(&at("repository/part/deep")), None, "above the repository");
        assert_eq!(find_folder_entry(&at("plain/deep")), None, "not a repository");
        write(&at("repository/.flightdeck/jobs.json"), "{}");
        assert_eq!(find_folder_entry(&at("repository/part/deep")), Some(at("repository/.flightdeck/jobs.json")));
        write(&at("repository/part/.flightdeck/jobs.json"), "{}");
        assert_eq!(find_folder_entry(&at("repository/part/deep")), Some(at("repository/part/.flightdeck/jobs.json")));
        std::fs::create_dir_all(at("plain/.flightdeck/jobs.json")).expect("a folder in its place");
        assert_eq!(find_folder_entry(&at("plain")), Some(at("plain/.flightdeck/jobs.json")), "its problem is shown");
    }

    #[test]
    fn a_changed_file_is_read_again() {
        let folder = folder();
        let path = folder.path().join(".flightdeck/jobs.json");
        let (cache, source) = (EntryCache::default(), EntrySource::Folder(path.clone()));
        write(&path, &entry_json().to_string());
        let first = cache.load(&source);
        assert!(first.entry.is_some(), "{:?}", first.problems);
        assert!(Arc::ptr_eq(&first, &cache.load(&source)));
        let other = entry_json().to_string().replace("Do a.", "Do x.");
        assert_eq!(other.len(), first.text.len());
        write(&path, &other);
        let second = cache.load(&source);
        assert_ne!(first.hash, second.hash);
        assert_eq!(second.text, other);
        write(&path, &other);
        assert!(Arc::ptr_eq(&second, &cache.load(&source)), "the same bytes");
        std::fs::remove_file(&path).expect("removed");
        assert!(cache.load(&source).entry.is_none());
        write(&path, &other);
        assert_eq!(cache.load(&source).hash, second.hash);
    }

    #[test]
    fn a_file_that_did_not_change_is_not_read_again() {
        let folder = folder();
        let path = folder.path().join("jobs.json");
        let (cache, source) = (EntryCache::default(), EntrySource::Configuration(path.clone()));
        write(&path, &entry_json().to_string());
        let later = SystemTime::now() + Duration::from_mins(1);
        let first = cache.load_at(&source, later);
        let known = || cache.known.lock().get(&source).and_then(|known| known.version.clone());
        assert_eq!(known(), Version::current(&path, Links::Follow), "settled");
        assert!(Arc::ptr_eq(&first, &cache.load_at(&source, later)));
        write(&path, "{}");
        assert_ne!(cache.load_at(&source, later).hash, first.hash);
        cache.load(&source);
        assert_ne!(known(), None, "still the settled version");
    }

    #[test]
    fn what_is_wrong_is_said_and_nothing_is_in_force() {
        let folder = folder();
        let path = folder.path().join("jobs.json");
        let load = |bytes: &[u8]| {
            std::fs::write(&path, bytes).expect("written");
            EntryCache::default().load(&EntrySource::Configuration(path.clone()))
        };
        for (bytes, expected) in [
            (&b"{"[..], "entry: Invalid JSON at line 1, column 1: EOF while parsing an object."),
            (b"{\"\xff\"}", "entry: Should be UTF-8 text, but byte 2 is not."),
        ] {
            let loaded = load(bytes);
            assert_eq!(loaded.first_error().expect("an error").to_string(), expected);
            assert!(loaded.entry.is_none());
        }
        let mut json = entry_json();
        json["promptVariables"]["a1"] = serde_json::json!(["x"]);
        let loaded = load(json.to_string().as_bytes());
        assert!(loaded.entry.is_some() && loaded.first_error().is_none());
        assert_eq!(loaded.problems.len(), 1, "a warning");
    }

    #[cfg(unix)]
    #[test]
    fn links_are_followed_only_where_the_configuration_leads() {
        let folder = folder();
        let at = |path: &str| folder.path().join(path);
        write(&at("real/jobs.json"), &entry_json().to_string());
        std::os::unix::fs::symlink(at("real"), at(".flightdeck")).expect("linked");
        std::os::unix::fs::symlink(at("real/jobs.json"), at("link.json")).expect("linked");
        let problem = |source: EntrySource| {
            let loaded = EntryCache::default().load(&source);
            loaded.first_error().map(|problem| problem.message.clone())
        };
        let in_link = problem(EntrySource::Folder(at(".flightdeck/jobs.json")));
        assert_eq!(in_link.expect("refused"), "Is in a folder that is a symbolic link, which is not followed here.");
        let link = problem(EntrySource::Folder(at("link.json")));
        assert_eq!(link.expect("refused"), "Is a symbolic link, which is not followed here.");
        assert!(problem(EntrySource::Installed(at("link.json"))).is_some());
        assert_eq!(problem(EntrySource::Configuration(at("link.json"))), None);
    }

    #[test]
    fn the_cache_stays_small() {
        let cache = EntryCache::default();
        for number in 0..200 {
            cache.load(&EntrySource::Folder(PathBuf::from(format!("/nowhere/{number}"))));
        }
        assert!(cache.known.lock().len() <= MOST_CACHED);
    }
}

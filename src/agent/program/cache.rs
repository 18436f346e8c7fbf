//! A cache of found programs that survives restarts.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use serde::{Deserialize, Serialize};

use super::FoundProgram;
use crate::private_file::{read_json, write_json};

/// The version of the file format; files of another version are ignored.
const VERSION: u32 = 1;

#[derive(Serialize, Deserialize)]
struct File {
    version: u32,
    programs: BTreeMap<String, Entry>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Entry {
    program: FoundProgram,
    size: u64,
    /// In nanoseconds since 1970.
    modified: u128,
}

/// The cache, in one file. Without a file, nothing is cached.
#[derive(Clone, Debug, Default)]
pub(super) struct ProgramCache {
    file: Option<PathBuf>,
}

impl ProgramCache {
    pub fn at(file: PathBuf) -> Self {
        Self { file: Some(file) }
    }

    /// The cached program for `name`, unless it has changed since.
    pub fn get(&self, name: &str) -> Option<FoundProgram> {
        let entry = self.read().remove(name)?;
        (fingerprint(&entry.program.path)? == (entry.size, entry.modified)).then_some(entry.program)
    }

    /// Stores a program. If the file cannot be written, the only cost is another search.
    pub fn put(&self, name: &str, program: &FoundProgram) {
        let (Some(file), Some((size, modified))) = (&self.file, fingerprint(&program.path)) else { return };
        let mut programs = self.read();
        programs.insert(name.to_owned(), Entry { program: program.clone(), size, modified });
        if let Err(error) = write_json(file, &File { version: VERSION, programs }) {
            tracing::warn!(%error, file = %file.display(), "cannot write the cache of found programs");
        }
    }

    fn read(&self) -> BTreeMap<String, Entry> {
        let file = self.file.as_ref().and_then(|file| read_json::<File>(file).ok()?);
        file.filter(|file| file.version == VERSION).map(|file| file.programs).unwrap_or_default()
    }
}

/// The size and modification time of a file, which change if the program is replaced.
fn fingerprint(path: &Path) -> Option<(u64, u128)> {
    let file = std::fs::metadata(path).ok().filter(std::fs::Metadata::is_file)?;
    let modified = file.modified().ok()?.duration_since(UNIX_EPOCH).ok()?;
    Some((file.len(), modified.as_nanos()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent::program::ProgramSource;

    #[test]
    fn what_was_found_is_known_until_the_program_changes() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("copilot");
        std::fs::write(&path, "one").expect("written");
        let cache = ProgramCache::at(folder.path().join("cache/programs.json"));
        let program = FoundProgram {
            path: path.clone(),
            leading_arguments: Vec::new(),
            native: true,
            version: Some("1.0.0".to_owned()),
            source: ProgramSource::Path,
            found_at: 1,
        };
        assert_eq!(cache.get("copilot"), None);
        cache.put("copilot", &program);
        assert_eq!(cache.get("copilot"), Some(program.clone()));
        std::fs::write(&path, "another one").expect("written");
        assert_eq!(cache.get("copilot"), None, "it is another program now");
        cache.put("copilot", &program);
        let file = folder.path().join("cache/programs.json");
        let text = std::fs::read_to_string(&file).expect("there").replace("\"version\": 1,", "\"version\": 0,");
        std::fs::write(&file, text).expect("written");
        assert_eq!(cache.get("copilot"), None, "a file of another form says nothing");
        std::fs::write(&file, "rubbish").expect("written");
        assert_eq!(cache.get("copilot"), None);
    }
}

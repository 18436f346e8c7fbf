//! Lists the folders in a folder.

use std::path::{Path, PathBuf};

use super::FolderError;

/// At most this many folders are listed.
const MOST_FOLDERS: usize = 1_000;
/// At most this many entries are examined.
const MOST_ENTRIES: usize = 100_000;

/// The folders in a folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listing {
    /// Sorted by name.
    pub folders: Vec<Subfolder>,
    /// Whether there are more.
    pub truncated: bool,
}

/// A folder in a folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Subfolder {
    /// Its name.
    pub name: String,
    /// The path; symbolic links are not resolved.
    pub path: PathBuf,
    /// Whether it is the top of a git repository.
    pub repository: bool,
}

/// Lists the folders in a folder. A symbolic link counts if its target is a folder below one of the roots, if there are
/// any. Names that are not UTF-8 are left out, because JSON cannot contain them. Blocks.
pub fn list(folder: &Path, roots: &[PathBuf], with_hidden: bool) -> Result<Listing, FolderError> {
    let entries =
        std::fs::read_dir(folder).map_err(|source| FolderError::Unreadable { path: folder.to_owned(), source })?;
    let roots: Vec<PathBuf> = roots.iter().filter_map(|root| root.canonicalize().ok()).collect();
    let mut names = Vec::new();
    let mut looked_at = 0;
    // An entry that disappears meanwhile is skipped.
    for entry in entries.flatten() {
        looked_at += 1;
        if looked_at > MOST_ENTRIES {
            break;
        }
        let Ok(name) = entry.file_name().into_string() else { continue };
        let wanted = with_hidden || !name.starts_with('.');
        if wanted && entry.file_type().is_ok_and(|kind| is_folder(&entry.path(), kind, &roots)) {
            names.push(name);
        }
    }
    names.sort_by_cached_key(|name| (name.to_lowercase(), name.clone()));
    let truncated = names.len() > MOST_FOLDERS || looked_at > MOST_ENTRIES;
    names.truncate(MOST_FOLDERS);
    let folders = names
        .into_iter()
        .map(|name| {
            let path = folder.join(&name);
            let repository = path.join(".git").symlink_metadata().is_ok();
            Subfolder { name, path, repository }
        })
        .collect();
    Ok(Listing { folders, truncated })
}

fn is_folder(path: &Path, kind: std::fs::FileType, roots: &[PathBuf]) -> bool {
    if !kind.is_symlink() {
        return kind.is_dir();
    }
    let allowed = |target: PathBuf| roots.is_empty() || roots.iter().any(|root| target.starts_with(root));
    path.is_dir() && path.canonicalize().is_ok_and(allowed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_folders_are_cut_after_sorting() {
        let folder = tempfile::tempdir().expect("a folder");
        for number in (0..1_050).rev() {
            std::fs::create_dir(folder.path().join(format!("f{number:04}"))).expect("made");
        }
        std::fs::write(folder.path().join("a-file"), "").expect("written");
        let listing = list(folder.path(), &[], false).expect("listed");
        assert!(listing.truncated);
        assert_eq!((listing.folders.len(), listing.folders[0].name.as_str()), (MOST_FOLDERS, "f0000"));
        assert_eq!(listing.folders[999].name, "f0999");
    }

    #[test]
    fn a_file_is_no_folder_to_list() {
        let file = tempfile::NamedTempFile::new().expect("a file");
        assert!(matches!(list(file.path(), &[], true), Err(FolderError::Unreadable { .. })));
    }
}

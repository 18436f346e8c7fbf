//! Whether files are inside a session's working directory.

use std::ffi::OsStr;
use std::path::{Component, Path, PathBuf};

/// A folder that an agent must not write into without asking: git runs programs that its files name.
const PROTECTED_FOLDER: &str = ".git";
/// Files that decide what agents may do: a project's own configuration, and its jobs.
const PROTECTED_FILES: [&str; 2] = [".flightdeck.toml", ".flightdeck/jobs.json"];

/// Whether a path is inside a folder, wherever symbolic links lead. What does not exist is not.
pub(super) async fn is_inside(folder: Option<&Path>, path: &str) -> bool {
    let Some(folder) = folder else { return false };
    match (tokio::fs::canonicalize(folder).await, tokio::fs::canonicalize(folder.join(path)).await) {
        (Ok(folder), Ok(path)) => path.starts_with(folder),
        _ => false,
    }
}

/// Whether all of these files may be written by somebody who may only write inside a folder.
pub(super) async fn may_write(folder: Option<&Path>, paths: &[String]) -> bool {
    let Some(folder) = folder else { return false };
    let Ok(resolved) = tokio::fs::canonicalize(folder).await else { return false };
    for path in paths {
        let file = resolve(&folder.join(path)).await;
        if path.is_empty() || !file.is_some_and(|file| is_writable(&resolved, &file)) {
            return false;
        }
    }
    !paths.is_empty()
}

/// Where a file is or would be, symbolic links resolved. A link to something that does not exist has no place.
async fn resolve(path: &Path) -> Option<PathBuf> {
    let mut missing: Vec<&OsStr> = Vec::new();
    let mut existing = path;
    loop {
        if tokio::fs::symlink_metadata(existing).await.is_ok() {
            let mut resolved = tokio::fs::canonicalize(existing).await.ok()?;
            resolved.extend(missing.iter().rev());
            return Some(resolved);
        }
        // A path that goes up again from what does not exist may lead anywhere.
        let Some(Component::Normal(name)) = existing.components().next_back() else { return None };
        missing.push(name);
        existing = existing.parent()?;
    }
}

fn is_writable(folder: &Path, file: &Path) -> bool {
    let Ok(below) = file.strip_prefix(folder) else { return false };
    let is_protected = |name: &OsStr| name.eq_ignore_ascii_case(PROTECTED_FOLDER);
    let is_configuration = |protected: &str| {
        let mut names = file.iter().rev();
        Path::new(protected).iter().rev().all(|part| names.next().is_some_and(|name| name.eq_ignore_ascii_case(part)))
    };
    below.components().next().is_some()
        && !below.iter().chain(folder.iter()).any(is_protected)
        && !PROTECTED_FILES.iter().any(|protected| is_configuration(protected))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn links_and_dots_lead_out_of_a_folder() {
        let parent = tempfile::tempdir().expect("a folder");
        let folder = parent.path().join("work");
        std::fs::create_dir(&folder).expect("created");
        std::fs::write(folder.join("file"), "").expect("written");
        std::fs::write(parent.path().join("secret"), "").expect("written");
        #[cfg(unix)]
        std::os::unix::fs::symlink(parent.path().join("secret"), folder.join("link")).expect("linked");
        let is_inside = async |path: &str| is_inside(Some(&folder), path).await;
        assert!(is_inside("file").await && is_inside("./file").await && is_inside(".").await);
        assert!(is_inside(folder.join("file").to_str().expect("UTF-8")).await);
        for path in ["../secret", "link", "missing", "/", "..", "file/../../secret"] {
            assert!(!is_inside(path).await, "{path}");
        }
        assert!(!super::is_inside(None, "file").await);
    }

    #[cfg(unix)]
    #[tokio::test]
    async fn files_in_a_folder_may_be_written_but_not_those_of_git_and_not_our_own() {
        use std::os::unix::fs::symlink;
        let parent = tempfile::tempdir().expect("a folder");
        let folder = parent.path().join("work");
        for made in ["work/sub", "work/.git/hooks", "other"] {
            std::fs::create_dir_all(parent.path().join(made)).expect("created");
        }
        std::fs::write(folder.join("file"), "").expect("written");
        symlink(parent.path().join("other"), folder.join("out")).expect("linked");
        symlink(parent.path().join("missing"), folder.join("dangling")).expect("linked");
        symlink(folder.join(".git"), folder.join("git")).expect("linked");
        symlink(folder.join("sub"), folder.join("inner")).expect("linked");
        let may = async |paths: &[&str]| {
            let paths: Vec<String> = paths.iter().map(|path| (*path).to_owned()).collect();
            may_write(Some(&folder), &paths).await
        };
        for path in [
            "file",
            "./file",
            "new",
            "sub/new",
            "inner/new",
            "new/folder/file",
            "sub/../new",
            ".github/x",
            ".flightdeck/plan.md",
        ] {
            assert!(may(&[path]).await, "{path}");
        }
        assert!(may(&[folder.join("new").to_str().expect("UTF-8")]).await);
        for path in [
            "",
            ".",
            "..",
            "../other/new",
            "/etc/passwd",
            "out/new",
            "dangling",
            "missing/../../other/new",
            ".git",
            ".git/config",
            ".git/hooks/pre-commit",
            ".GIT/config",
            "git/config",
            "sub/.git/config",
            ".flightdeck.toml",
            "sub/.flightdeck.toml",
            ".flightdeck/jobs.json",
        ] {
            assert!(!may(&[path]).await, "{path}");
            assert!(!may(&["file", path]).await, "{path} beside another");
        }
        assert!(!may(&[]).await && !may_write(None, &["file".to_owned()]).await);
        let in_git = may_write(Some(&folder.join(".git/hooks")), &["x".to_owned()]).await;
        assert!(!in_git, "the folder itself belongs to git");
    }
}

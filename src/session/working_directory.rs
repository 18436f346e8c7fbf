//! Where a session may work.

use std::path::{Path, PathBuf};

/// Why a folder cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum WorkingDirectoryError {
    /// Not an absolute path.
    #[error("the working directory {0:?} is not an absolute path")]
    NotAbsolute(String),
    /// Does not exist, or is not a folder.
    #[error("the working directory {0:?} does not exist or is not a folder")]
    NotExists(String),
    /// Outside the configured roots.
    #[error("the working directory {0:?} is outside the folders that sessions may work in (sessions.roots)")]
    NotAllowed(String),
}

/// As [`check`], but always resolves symbolic links: the path that was checked is the one that is used, even if a link
/// changes meanwhile.
pub async fn check_resolved(
    path: impl AsRef<Path>,
    roots: &[PathBuf],
) -> Result<Option<PathBuf>, WorkingDirectoryError> {
    let path = path.as_ref();
    let Some(checked) = check(path, roots).await? else { return Ok(None) };
    if !roots.is_empty() {
        return Ok(Some(checked));
    }
    let resolved = tokio::fs::canonicalize(checked).await;
    resolved.map(Some).map_err(|_| WorkingDirectoryError::NotExists(path.to_string_lossy().into_owned()))
}

/// Checks a working directory; empty means none. With roots, symbolic links are resolved first, and the session gets
/// the resolved folder, so that a link changed later leads nowhere else.
pub async fn check(path: impl AsRef<Path>, roots: &[PathBuf]) -> Result<Option<PathBuf>, WorkingDirectoryError> {
    let path = path.as_ref();
    let text = path.to_string_lossy();
    let text: &str = &text;
    if text.is_empty() {
        // Without a folder an agent would work wherever the server was started, which no root may cover.
        return if roots.is_empty() { Ok(None) } else { Err(WorkingDirectoryError::NotAllowed(text.to_owned())) };
    }
    if !path.is_absolute() {
        return Err(WorkingDirectoryError::NotAbsolute(text.to_owned()));
    }
    let is_folder = tokio::fs::metadata(path).await.is_ok_and(|metadata| metadata.is_dir());
    if !is_folder {
        return Err(WorkingDirectoryError::NotExists(text.to_owned()));
    }
    if roots.is_empty() {
        return Ok(Some(path.to_owned()));
    }
    let resolved =
        tokio::fs::canonicalize(path).await.map_err(|_| WorkingDirectoryError::NotExists(text.to_owned()))?;
    for root in roots {
        if tokio::fs::canonicalize(root).await.is_ok_and(|root| resolved.starts_with(root)) {
            return Ok(Some(resolved));
        }
    }
    Err(WorkingDirectoryError::NotAllowed(text.to_owned()))
}

//! Large outputs, as files named after their content's hash, outside the database so that a large one never blocks the
//! writer. Which session uses which blob is in the database; a file that no session uses is removed.

use std::collections::HashSet;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use rusqlite::{OptionalExtension, params};
use sha2::{Digest, Sha256};

use super::Sqlite;
use crate::model::{SessionId, hex};
use crate::store::folder::{create_private_folder, private_file};
use crate::store::{Answer, Blob, BlobUse, Blobs, StoreError};

/// A file younger than this may belong to an event that is not committed yet.
const TOO_YOUNG_TO_REMOVE: Duration = Duration::from_mins(10);

impl Blobs for Sqlite {
    fn put_blob(&self, data: Vec<u8>) -> Answer<'_, String> {
        let folder = self.blobs.clone();
        Box::pin(run_blocking(move || {
            let hash = hex(&Sha256::digest(&data));
            let path = blob_path(&folder, &hash);
            write_once(&path, &data).map_err(|source| StoreError::Blob { path, source })?;
            Ok(hash)
        }))
    }

    fn blob(&self, session: SessionId, hash: String) -> Answer<'_, Option<Blob>> {
        Box::pin(async move {
            let path = blob_path(&self.blobs, &hash);
            let wanted = hash.clone();
            let mime: Option<String> = self
                .read(move |connection| {
                    connection
                        .prepare_cached("SELECT mime FROM blob_use WHERE session = ?1 AND hash = ?2")?
                        .query_row(params![session.number(), wanted], |row| row.get(0))
                        .optional()
                })
                .await?;
            let Some(mime) = mime else {
                return Ok(None);
            };
            run_blocking(move || read_whole(path, hash, mime)).await
        })
    }

    fn blobs_of(&self, session: SessionId) -> Answer<'_, Vec<BlobUse>> {
        self.read(move |connection| {
            connection
                .prepare_cached("SELECT hash, mime, size FROM blob_use WHERE session = ?1 ORDER BY hash")?
                .query_map([session.number()], |row| {
                    Ok(BlobUse { hash: row.get(0)?, mime: row.get(1)?, size: row.get(2)? })
                })?
                .collect()
        })
    }

    fn remove_unused_blobs(&self) -> Answer<'_, ()> {
        Box::pin(async move {
            let folder = self.blobs.clone();
            let files = run_blocking(move || Ok(old_files(&folder))).await?;
            if files.is_empty() {
                return Ok(());
            }
            let used: HashSet<String> = self
                .read(|connection| {
                    connection
                        .prepare_cached("SELECT DISTINCT hash FROM blob_use")?
                        .query_map([], |row| row.get(0))?
                        .collect()
                })
                .await?;
            run_blocking(move || {
                // Checked again: a blob that is used again is touched first.
                for (_, path) in files.iter().filter(|(name, path)| !used.contains(name) && is_old(path)) {
                    if let Err(error) = fs::remove_file(path) {
                        tracing::warn!(%error, path = %path.display(), "could not remove an unused blob");
                    }
                }
                Ok(())
            })
            .await
        })
    }
}

/// Reads a blob and checks its hash: a file that was changed is not served.
fn read_whole(path: PathBuf, hash: String, mime: String) -> Result<Option<Blob>, StoreError> {
    match fs::read(&path) {
        Ok(data) if hex(&Sha256::digest(&data)) == hash => Ok(Some(Blob { mime, data })),
        Ok(_) => {
            tracing::error!(path = %path.display(), "a blob was changed: its content does not match its hash");
            Err(StoreError::BlobDamaged { hash })
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            tracing::error!(path = %path.display(), "a blob that a session uses is missing");
            Ok(None)
        }
        Err(source) => Err(StoreError::Blob { path, source }),
    }
}

async fn run_blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, StoreError> + Send + 'static,
) -> Result<T, StoreError> {
    tokio::task::spawn_blocking(work).await.unwrap_or(Err(StoreError::Closed))
}

fn blob_path(folder: &Path, hash: &str) -> PathBuf {
    // A hash from a client is looked up in the database before its path is used; this keeps the path inside anyway.
    let safe: String = hash.chars().filter(char::is_ascii_hexdigit).collect();
    folder.join(safe.get(..2).unwrap_or("00")).join(safe)
}

fn write_once(path: &Path, data: &[u8]) -> io::Result<()> {
    if path.exists() {
        // Touched, so that a cleanup that runs now sees a new file.
        return fs::File::options().append(true).open(path)?.set_modified(SystemTime::now());
    }
    let folder = path.parent().unwrap_or(Path::new("."));
    create_private_folder(folder)?;
    let fresh = path.with_extension(format!("{}.new", uuid::Uuid::new_v4()));
    let mut file = private_file(&fresh)?;
    let written = file.write_all(data).and_then(|()| file.sync_all()).and_then(|()| fs::rename(&fresh, path));
    if written.is_err() {
        // An incomplete blob is useless; if it cannot be removed now, the cleanup of old files removes it.
        let _ = fs::remove_file(&fresh);
    }
    written
}

/// Whether a file has a name of ours: a hash, with a suffix while it is being written.
fn is_ours(name: &str) -> bool {
    let (hash, rest) = name.split_at_checked(64).unwrap_or((name, ""));
    let is_hash = hash.len() == 64 && hash.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_hash && (rest.is_empty() || rest.strip_prefix('.').is_some_and(|rest| rest.strip_suffix(".new").is_some()))
}

fn is_old(path: &Path) -> bool {
    let age = fs::metadata(path).and_then(|data| data.modified()).ok().and_then(|moment| moment.elapsed().ok());
    age.is_some_and(|age| age > TOO_YOUNG_TO_REMOVE)
}

fn old_files(folder: &Path) -> Vec<(String, PathBuf)> {
    let entries = |folder: &Path| fs::read_dir(folder).into_iter().flatten().flatten();
    entries(folder)
        .flat_map(|shelf| entries(&shelf.path()))
        .map(|entry| (entry.file_name().to_string_lossy().into_owned(), entry.path()))
        .filter(|(name, path)| is_ours(name) && is_old(path))
        .collect()
}

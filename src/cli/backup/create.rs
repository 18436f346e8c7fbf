//! `flightdeck backup`: writes everything into one file, while the server may be running.

use std::collections::BTreeSet;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context as _, bail};
use serde_json::json;
use tempfile::NamedTempFile;

use super::super::arguments::CommonFlags;
use super::super::command_context::CommandContext;
use super::super::exit;
use super::super::output::print;
use super::super::signals::Signals;
use super::super::terminal::text::{count, path as shown};
use super::BackupFlags;
use super::archive::{ABOUT, ArchiveWriter, read_archive};
use crate::config::ConfigPaths;
use crate::session::now;
use crate::store::{DataFolder, ServerNote, Snapshot};

/// How often a backup begins again because a session was deleted meanwhile.
const ATTEMPTS: usize = 3;

/// What a backup contains.
struct Written {
    bytes: u64,
    blobs: usize,
    missing: usize,
}

pub(in crate::cli) fn backup(flags: &BackupFlags, common: &CommonFlags) -> anyhow::Result<ExitCode> {
    let context = CommandContext::new(common)?;
    let folder = context.resolved.data_folder.clone();
    let file = context.resolved.start_folder.join(&flags.file);
    if !DataFolder::has_database(&folder) {
        bail!("there is nothing to back up: the data folder {} has no database", shown(&folder));
    }
    if file.exists() && !flags.force {
        bail!("{} exists; choose another name, or replace it with --force", shown(&file));
    }
    let parent = file.parent().filter(|parent| parent.is_dir()).map(Path::to_owned);
    let Some(parent) = parent else { bail!("the folder of {} does not exist", shown(&file)) };
    // Without a server, nobody may start one while files are copied.
    let _lock = if ServerNote::is_folder_held(&folder) { None } else { Some(DataFolder::lock(&folder)?) };
    let room = tempfile::Builder::new()
        .prefix(".flightdeck-backup-")
        .tempdir_in(&parent)
        .with_context(|| format!("cannot write to {}", shown(&parent)))?;
    let work = Work { folder, room: room.path().to_owned(), target: file.clone(), force: flags.force };
    // In a thread, so that Ctrl+C can end it; what was written goes away with the room.
    let outcome = context.wait_for(async {
        let mut signals = Signals::register()?;
        let writing = tokio::task::spawn_blocking(move || work.run());
        tokio::select! {
            written = writing => written.context("the backup failed")?.map(Some),
            () = signals.next() => Ok(None),
        }
    });
    drop(room);
    let Some(written) = outcome.with_context(|| format!("no backup was written to {}", shown(&file)))? else {
        eprintln!("Interrupted; no backup was written.");
        return Ok(ExitCode::from(exit::INTERRUPTED));
    };
    if written.missing > 0 {
        eprintln!(
            "flightdeck: {} of sessions could not be backed up, because their files are missing in the data folder",
            count(written.missing, "large output")
        );
    }
    print(&if common.json {
        json!({ "file": file, "bytes": written.bytes, "blobs": written.blobs, "missingBlobs": written.missing })
            .to_string()
    } else {
        format!(
            "Wrote and verified {} ({} bytes, {}).",
            shown(&file),
            written.bytes,
            count(written.blobs, "large output")
        )
    })?;
    Ok(ExitCode::SUCCESS)
}

struct Work {
    folder: PathBuf,
    room: PathBuf,
    target: PathBuf,
    force: bool,
}

impl Work {
    fn run(&self) -> anyhow::Result<Written> {
        let mut missing_before = None;
        for _ in 0..ATTEMPTS {
            let (archive, blobs, missing) = self.write()?;
            // A session that was deleted while its outputs were copied is not in the next copy of the database. What is
            // missing twice was missing before.
            if !missing.is_empty() && missing_before.as_ref() != Some(&missing) {
                missing_before = Some(missing);
                continue;
            }
            return self.keep(archive, blobs, missing.len());
        }
        bail!("sessions are deleted faster than they can be copied; try again")
    }

    /// Writes an archive under a temporary name. Returns also how many outputs it has, and which are missing.
    fn write(&self) -> anyhow::Result<(NamedTempFile, usize, BTreeSet<String>)> {
        let copy = self.room.join(DataFolder::DATABASE);
        match std::fs::remove_file(&copy) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error.into()),
            _ => {}
        }
        eprintln!("Copying the database …");
        let snapshot = Snapshot::take(&self.folder, &copy).context("cannot copy the database")?;
        snapshot.check().context("the copy of the database is damaged; run `flightdeck doctor`")?;
        let hashes = snapshot.blobs().context("cannot read the copy of the database")?;
        let moment = now();
        let temporary = NamedTempFile::new_in(&self.room).context("cannot create the file")?;
        let seconds = u64::try_from(moment.as_millis() / 1000).unwrap_or_default();
        let mut archive = ArchiveWriter::new(temporary, seconds);
        let about = json!({ "format": 1, "createdAt": moment, "version": env!("CARGO_PKG_VERSION") });
        let full = "cannot write the backup; is the disk full?";
        archive.add_bytes(ABOUT, about.to_string().as_bytes()).context(full)?;
        archive.add_file(DataFolder::DATABASE, &copy).context(full)?;
        let mut optional: Vec<(String, PathBuf)> =
            DataFolder::RECORDS.map(|name| (name.to_owned(), self.folder.join(name))).to_vec();
        optional.push(("config/flightdeck.toml".to_owned(), ConfigPaths::of_this_user().user_file));
        for (name, path) in optional {
            match std::fs::read(&path) {
                Ok(data) => archive.add_bytes(&name, &data).context(full)?,
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(error).with_context(|| format!("cannot read {}", shown(&path))),
            }
        }
        if !hashes.is_empty() {
            eprintln!("Adding {} …", count(hashes.len(), "large output"));
        }
        let mut missing = BTreeSet::new();
        for hash in &hashes {
            let Some(name) = DataFolder::blob_file(hash) else { continue };
            let path = self.folder.join(&name);
            if !path.is_file() {
                missing.insert(hash.clone());
                continue;
            }
            archive.add_file(&name.to_string_lossy(), &path).context(full)?;
        }
        let file = archive.finish().context(full)?;
        // The copy is in the archive; the room on the disk may be needed.
        std::fs::remove_file(&copy)?;
        Ok((file, hashes.len() - missing.len(), missing))
    }

    /// Verifies what was written and gives it its name.
    fn keep(&self, archive: NamedTempFile, blobs: usize, missing: usize) -> anyhow::Result<Written> {
        eprintln!("Verifying …");
        archive.as_file().sync_all().context("cannot write the backup; is the disk full?")?;
        let file = File::open(archive.path()).context("cannot read what was written")?;
        read_archive(file, |_| Ok(Box::new(io::sink()))).context("what was written cannot be read back")?;
        let bytes = archive.as_file().metadata()?.len();
        let kept = if self.force { archive.persist(&self.target) } else { archive.persist_noclobber(&self.target) };
        kept.map_err(|error| error.error).context("cannot rename the finished backup")?;
        Ok(Written { bytes, blobs, missing })
    }
}

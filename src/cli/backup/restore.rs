//! `flightdeck restore`: puts a backup in place of the data folder.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context as _, bail, ensure};
use serde_json::{Value, json};

use super::super::arguments::CommonFlags;
use super::super::command_context::CommandContext;
use super::super::output::print;
use super::super::terminal::text::{count, one_line, path as shown, value};
use super::RestoreFlags;
use super::archive::{ABOUT, read_archive};
use crate::config::ConfigPaths;
use crate::session::now;
use crate::store::{DataFolder, Snapshot};

const CONFIG: &str = "config/flightdeck.toml";
/// Where the configuration of a backup is left if there is one already.
const OTHER_CONFIG: &str = "flightdeck.toml.from-backup";

pub(in crate::cli) fn restore(flags: &RestoreFlags, common: &CommonFlags) -> anyhow::Result<ExitCode> {
    let context = CommandContext::new(common)?;
    let folder = context.resolved.data_folder.clone();
    let file = context.resolved.start_folder.join(&flags.file);
    let backup = File::open(&file).with_context(|| format!("cannot read {}", shown(&file)))?;
    let is_used = is_used(&folder)?;
    if is_used && !flags.force && !flags.check {
        bail!(
            "the data folder {} is not empty; --force replaces it and keeps the old folder next to it",
            shown(&folder)
        );
    }
    // Held until the old folder has been moved away: no server may start meanwhile.
    let lock = if is_used && !flags.check { Some(DataFolder::lock(&folder)?) } else { None };
    let parent = folder.parent().unwrap_or(Path::new("/"));
    fs::create_dir_all(parent).with_context(|| format!("cannot create {}", shown(parent)))?;
    let room = tempfile::Builder::new()
        .prefix(".flightdeck-restore-")
        .tempdir_in(parent)
        .with_context(|| format!("cannot write to {}", shown(parent)))?;
    eprintln!("Verifying …");
    let unpacked = unpack(backup, room.path()).with_context(|| format!("{} cannot be used", shown(&file)))?;
    if flags.check {
        let created = one_line(&value(&unpacked.about["createdAt"]));
        print(&if common.json {
            json!({ "file": file, "intact": true, "createdAt": created, "blobs": unpacked.blobs }).to_string()
        } else {
            format!("{} is intact: written at {created}, {}.", shown(&file), count(unpacked.blobs, "large output"))
        })?;
        return Ok(ExitCode::SUCCESS);
    }
    Snapshot::at(&room.path().join(DataFolder::DATABASE)).mark_restored().context("cannot prepare the database")?;
    let config_left = place_config(room.path()).context("cannot restore the configuration")?;
    let aside = exchange(&folder, room, is_used)?;
    drop(lock);
    if let Some(config) = &config_left {
        eprintln!("Your configuration was kept; that of the backup is in {}.", shown(&folder.join(config)));
    }
    if let Some(aside) = &aside {
        eprintln!("The old data folder is now {}.", shown(aside));
    }
    print(&if common.json {
        json!({ "dataFolder": folder, "oldFolder": aside, "blobs": unpacked.blobs }).to_string()
    } else {
        format!("Restored {} from {}.", shown(&folder), shown(&file))
    })?;
    Ok(ExitCode::SUCCESS)
}

/// Whether there is anything in the data folder.
fn is_used(folder: &Path) -> anyhow::Result<bool> {
    match fs::read_dir(folder) {
        Ok(mut entries) => Ok(entries.next().is_some()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error).with_context(|| format!("cannot read {}", shown(folder))),
    }
}

struct Unpacked {
    about: Value,
    blobs: usize,
}

/// Unpacks a backup into a folder and checks all of it.
fn unpack(backup: File, into: &Path) -> anyhow::Result<Unpacked> {
    let entries = read_archive(backup, |path| {
        ensure!(is_known(path), "it has an entry that no backup has: {}", path.display());
        let target = into.join(path);
        let parent = target.parent().unwrap_or(into);
        create_private(parent).with_context(|| format!("cannot create {}", parent.display()))?;
        let file = private_file(&target).with_context(|| format!("cannot create {}", target.display()))?;
        Ok(Box::new(SyncedFile(io::BufWriter::new(file))))
    })?;
    let about = fs::read(into.join(ABOUT)).context("it does not say what it is")?;
    let about: Value = serde_json::from_slice(&about).context("it does not say what it is")?;
    ensure!(
        about["format"] == 1,
        "it was written by version {} in a format that this version does not know",
        one_line(&value(&about["version"]))
    );
    fs::remove_file(into.join(ABOUT))?;
    let database = into.join(DataFolder::DATABASE);
    ensure!(database.is_file(), "it has no database");
    let snapshot = Snapshot::at(&database);
    snapshot.check()?;
    let blobs = entries.keys().filter(|path| path.starts_with("blobs")).count();
    Ok(Unpacked { about, blobs })
}

fn is_known(path: &Path) -> bool {
    let Some(name) = path.to_str() else { return false };
    let hash = name.rsplit('/').next().unwrap_or_default();
    name == ABOUT
        || name == DataFolder::DATABASE
        || name == CONFIG
        || DataFolder::RECORDS.contains(&name)
        || DataFolder::blob_file(hash).as_deref() == Some(path)
}

/// The configuration goes where it was if there is none; otherwise it stays in the data folder under another name, which
/// is returned.
fn place_config(room: &Path) -> io::Result<Option<&'static str>> {
    let restored = room.join(CONFIG);
    if !restored.is_file() {
        return Ok(None);
    }
    let user_file = ConfigPaths::of_this_user().user_file;
    let left = match fs::read(&user_file) {
        Ok(present) if present == fs::read(&restored)? => None,
        Ok(_) => {
            fs::rename(&restored, room.join(OTHER_CONFIG))?;
            Some(OTHER_CONFIG)
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            if let Some(parent) = user_file.parent() {
                fs::create_dir_all(parent)?;
            }
            private_file(&user_file)?.write_all(&fs::read(&restored)?)?;
            None
        }
        Err(error) => return Err(error),
    };
    fs::remove_dir_all(room.join("config"))?;
    Ok(left)
}

/// Puts the unpacked folder in place; returns where the old one is now.
fn exchange(folder: &Path, room: tempfile::TempDir, is_used: bool) -> anyhow::Result<Option<PathBuf>> {
    let mut aside = None;
    if is_used {
        // Programs that hold the token keep working with the restored folder.
        let token = DataFolder::TOKEN;
        match fs::copy(folder.join(token), room.path().join(token)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                return Err(error).context("cannot keep the server's token");
            }
            _ => {}
        }
        let stamp = now().to_string().replace([':', '.'], "-");
        let name = folder.file_name().unwrap_or_default().to_string_lossy();
        let target = folder.with_file_name(format!("{name}.before-restore-{stamp}"));
        fs::rename(folder, &target).with_context(|| format!("cannot move {} to {}", shown(folder), shown(&target)))?;
        aside = Some(target);
    } else if folder.is_dir() {
        fs::remove_dir(folder).with_context(|| format!("cannot replace {}", shown(folder)))?;
    }
    let room = room.keep();
    if let Err(error) = fs::rename(&room, folder) {
        if let Some(aside) = &aside {
            // Back to how it was.
            fs::rename(aside, folder).with_context(|| format!("the old data folder is {}", shown(aside)))?;
        }
        return Err(error).with_context(|| format!("cannot move {} to {}", shown(&room), shown(folder)));
    }
    Ok(aside)
}

/// A file that is on the disk when it is flushed.
struct SyncedFile(io::BufWriter<File>);

impl Write for SyncedFile {
    fn write(&mut self, data: &[u8]) -> io::Result<usize> {
        self.0.write(data)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()?;
        self.0.get_ref().sync_all()
    }
}

fn create_private(folder: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}

fn private_file(path: &Path) -> io::Result<File> {
    let mut options = fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

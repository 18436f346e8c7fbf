//! Changes one setting in a file. The change is checked before anything is written; the rest of the file stays unchanged.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use toml::{Table, Value};
use toml_edit::{Decor, DocumentMut, Item, Key, TableLike};

use super::layers::{default_of, is_named, nearest_key, user_file, value_like};
use super::project::project_file_to_write;
use super::{ConfigError, Loaded, Sources, load};

/// Which file is changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// The user's own.
    User,
    /// The project's, which others get with the repository.
    Project,
}

/// The content of a file after the change.
#[derive(Clone, Debug)]
pub(super) struct EditedFile {
    pub place: Place,
    pub path: PathBuf,
    pub text: String,
}

/// A change that was checked but not written yet.
#[derive(Debug)]
pub struct Edit {
    file: EditedFile,
    /// The configuration after the change; an error if the file was invalid before and still is.
    pub outcome: Result<Loaded, ConfigError>,
    /// Whether the file changes at all.
    pub changes: bool,
}

impl Edit {
    /// Sets a key. The empty text removes the key, except for a duration, where it means "never".
    pub fn set(sources: &Sources, place: Place, key: &str, text: &str) -> Result<Self, ConfigError> {
        let parts = parts_of(key)?;
        let name = name_of(&parts);
        let candidates = match default_of(&name) {
            Some(default) if text.is_empty() && !is_span(&default) => return Self::unset(sources, place, key),
            Some(default) => vec![value_like(&default, text)],
            None if is_named(&name) && text.is_empty() => return Self::unset(sources, place, key),
            // The type of the value is not known here, so it is guessed from the text.
            None if is_named(&name) => as_toml(text).into_iter().chain([Value::String(text.to_owned())]).collect(),
            None => return Err(unknown(&name)),
        };
        let mut document = Document::read(sources, place)?;
        let mut problem = unknown(&name);
        for candidate in candidates {
            let changes = document.put(&parts, &candidate)?;
            match document.checked(sources, place) {
                Ok(loaded) => return Ok(Self { file: document.edited(place), outcome: Ok(loaded), changes }),
                Err(error) => problem = error,
            }
        }
        Err(problem)
    }

    /// Sets several keys, and removes those without a value. Either all of it is valid, or nothing is changed.
    pub fn all(
        sources: &Sources,
        place: Place,
        changes: &BTreeMap<String, Option<Value>>,
    ) -> Result<Self, ConfigError> {
        let mut document = Document::read(sources, place)?;
        let mut has_changed = false;
        for (key, value) in changes {
            let parts = parts_of(key)?;
            let name = name_of(&parts);
            let is_known = default_of(&name).is_some() || is_named(&name);
            has_changed |= match value {
                Some(_) if !is_known => return Err(unknown(&name)),
                Some(value) => document.put(&parts, value)?,
                None => {
                    let was_there = document.take_out(&parts);
                    if !was_there && !is_known {
                        return Err(unknown(&name));
                    }
                    was_there
                }
            };
        }
        let loaded = document.checked(sources, place)?;
        Ok(Self { file: document.edited(place), outcome: Ok(loaded), changes: has_changed })
    }

    /// Removes a key, also an unknown one: that is how a mistake is corrected.
    pub fn unset(sources: &Sources, place: Place, key: &str) -> Result<Self, ConfigError> {
        let parts = parts_of(key)?;
        let name = name_of(&parts);
        let mut document = Document::read(sources, place)?;
        let changes = document.take_out(&parts);
        if !changes && default_of(&name).is_none() && !is_named(&name) {
            return Err(unknown(&name));
        }
        match document.checked(sources, place) {
            // A valid file must stay valid.
            Err(error) if load(sources).is_ok() => Err(error),
            outcome => Ok(Self { file: document.edited(place), outcome, changes }),
        }
    }

    /// The file that is changed.
    pub fn path(&self) -> &Path {
        &self.file.path
    }

    /// Writes the file atomically.
    pub fn write(&self) -> Result<(), ConfigError> {
        if !self.changes {
            return Ok(());
        }
        write_whole(&self.file).map_err(|source| ConfigError::Unwritable { path: self.file.path.clone(), source })
    }
}

/// The parts of a key such as `server.port`.
fn parts_of(key: &str) -> Result<Vec<Key>, ConfigError> {
    Key::parse(key).map_err(|_| unknown(key))
}

fn name_of(parts: &[Key]) -> String {
    parts.iter().map(Key::get).collect::<Vec<_>>().join(".")
}

fn unknown(key: &str) -> ConfigError {
    ConfigError::NoSuchKey { key: key.to_owned(), nearest: nearest_key(key) }
}

fn is_span(default: &Value) -> bool {
    default.as_str().is_some_and(|text| humantime::parse_duration(text).is_ok())
}

fn as_toml(text: &str) -> Option<Value> {
    format!("value = {text}").parse::<Table>().ok()?.remove("value")
}

struct Document {
    path: PathBuf,
    content: DocumentMut,
}

impl Document {
    fn read(sources: &Sources, place: Place) -> Result<Self, ConfigError> {
        let path = match place {
            Place::User => user_file(sources),
            Place::Project => project_file_to_write(&sources.start_folder),
        };
        let text = match std::fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
            Err(source) => return Err(ConfigError::Unreadable { path, source }),
        };
        let content = text.parse().map_err(|error: toml_edit::TomlError| ConfigError::NotToml {
            path: path.clone(),
            message: error.to_string(),
        })?;
        Ok(Self { path, content })
    }

    fn edited(&self, place: Place) -> EditedFile {
        EditedFile { place, path: self.path.clone(), text: self.content.to_string() }
    }

    /// The configuration after the change, or what would be wrong with it.
    fn checked(&self, sources: &Sources, place: Place) -> Result<Loaded, ConfigError> {
        load(&Sources { edited: Some(self.edited(place)), ..sources.clone() })
    }

    /// Returns whether this changes anything.
    fn put(&mut self, parts: &[Key], value: &Value) -> Result<bool, ConfigError> {
        let Some((last, tables)) = parts.split_last() else { return Ok(false) };
        let mut table: &mut dyn TableLike = self.content.as_table_mut();
        for part in tables {
            let entry = table.entry(part.get()).or_insert_with(|| {
                let mut table = toml_edit::Table::new();
                // A table without values of its own needs no heading.
                table.set_implicit(true);
                Item::Table(table)
            });
            table = entry.as_table_like_mut().ok_or_else(|| ConfigError::BadValue {
                origin: self.path.display().to_string(),
                key: part.get().to_owned(),
                message: "it is a value, not a table".to_owned(),
            })?;
        }
        let mut item = written(value);
        match table.get_mut(last.get()) {
            Some(there) => {
                if let (Some(old), Some(new)) = (there.as_value(), item.as_value_mut()) {
                    if bare(old) == bare(new) {
                        return Ok(false);
                    }
                    // A comment after the value stays.
                    *new.decor_mut() = old.decor().clone();
                }
                *there = item;
            }
            None => {
                table.insert(last.get(), item);
            }
        }
        Ok(true)
    }

    /// Returns whether the key was set. A comment above it stays, because it may be about more than this key.
    fn take_out(&mut self, parts: &[Key]) -> bool {
        let Some((last, tables)) = parts.split_last() else { return false };
        let mut table: &mut dyn TableLike = self.content.as_table_mut();
        for part in tables {
            let Some(inner) = table.get_mut(part.get()).and_then(Item::as_table_like_mut) else { return false };
            table = inner;
        }
        let above = table.key(last.get()).and_then(|key| key.leaf_decor().prefix()?.as_str().map(str::to_owned));
        let next = table.iter().skip_while(|(name, _)| *name != last.get()).nth(1).map(|(name, _)| name.to_owned());
        if table.remove(last.get()).is_none() {
            return false;
        }
        let Some(above) = above.filter(|text| text.contains('#')) else { return true };
        let Some(next) = next else {
            let end = self.content.trailing().as_str().unwrap_or_default().to_owned();
            self.content.set_trailing(format!("{above}{end}"));
            return true;
        };
        match table.get_mut(&next) {
            Some(Item::Table(heading)) => put_above(heading.decor_mut(), &above),
            _ => {
                if let Some(mut key) = table.key_mut(&next) {
                    put_above(key.leaf_decor_mut(), &above);
                }
            }
        }
        true
    }
}

fn put_above(decor: &mut Decor, text: &str) {
    let own = decor.prefix().and_then(|prefix| prefix.as_str()).unwrap_or_default().to_owned();
    decor.set_prefix(format!("{text}{own}"));
}

/// A value without the whitespace and comments around it.
fn bare(value: &toml_edit::Value) -> String {
    let mut value = value.clone();
    value.decor_mut().clear();
    value.to_string()
}

fn written(value: &Value) -> Item {
    let text = format!("value = {value}\n");
    // One crate reads what the other writes; if that ever fails, the value is written as text.
    let read = text.parse::<DocumentMut>().ok().and_then(|mut document| document.remove("value"));
    read.unwrap_or_else(|| toml_edit::value(value.to_string()))
}

fn write_whole(file: &EditedFile) -> std::io::Result<()> {
    if file.place == Place::Project && std::fs::symlink_metadata(&file.path).is_ok_and(|known| known.is_symlink()) {
        // The file comes with a repository and may point anywhere.
        return Err(std::io::Error::other("the file is a symbolic link; change its target by hand"));
    }
    // A symbolic link of the user's own stays a link.
    let path = std::fs::canonicalize(&file.path).unwrap_or_else(|_| file.path.clone());
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder)?;
    }
    let fresh = path.with_extension(format!("{}.new", std::process::id()));
    let written = write_fresh(&fresh, &path, file).and_then(|()| std::fs::rename(&fresh, &path));
    if written.is_err() {
        // The leftover file is useless; the first error is the one to report.
        let _ = std::fs::remove_file(&fresh);
    }
    written
}

fn write_fresh(fresh: &Path, path: &Path, file: &EditedFile) -> std::io::Result<()> {
    let mut options = std::fs::OpenOptions::new();
    options.write(true).create(true).truncate(true);
    #[cfg(unix)]
    if file.place == Place::User {
        // The file may contain provider keys.
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    }
    let mut written = options.open(fresh)?;
    if let Ok(known) = std::fs::metadata(path) {
        std::fs::set_permissions(fresh, known.permissions())?;
    }
    written.write_all(file.text.as_bytes())?;
    written.sync_all()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::ConfigPaths;

    const FILE: &str = "# My settings\n\n[server]\n# Not the usual one\nport = 4321 # taken\nauth = \"token\"\n\n\
                        [limits]\nsessions = 7\n";

    struct Machine(tempfile::TempDir);

    impl Machine {
        fn new(user: &str) -> Self {
            let machine = Self(tempfile::tempdir().expect("a folder"));
            std::fs::write(machine.user_file(), user).expect("written");
            machine
        }

        fn user_file(&self) -> PathBuf {
            self.0.path().join("user.toml")
        }

        fn sources(&self) -> Sources {
            Sources {
                paths: ConfigPaths { user_file: self.user_file(), data_folder: self.0.path().join("data") },
                start_folder: self.0.path().to_owned(),
                variables: Vec::new(),
                flags: Vec::new(),
                edited: None,
            }
        }

        /// The user's file afterwards, or what was wrong.
        fn after(&self, edit: impl FnOnce(&Sources) -> Result<Edit, ConfigError>) -> Result<String, String> {
            let edit = edit(&self.sources()).map_err(|error| error.to_string())?;
            edit.write().map_err(|error| error.to_string())?;
            Ok(std::fs::read_to_string(self.user_file()).expect("readable"))
        }

        fn set(&self, key: &str, text: &str) -> Result<String, String> {
            self.after(|sources| Edit::set(sources, Place::User, key, text))
        }

        fn unset(&self, key: &str) -> Result<String, String> {
            self.after(|sources| Edit::unset(sources, Place::User, key))
        }
    }

    #[test]
    fn everything_else_in_the_file_stays_as_it_is() {
        let expected = FILE.replace("4321", "5000");
        assert_eq!(Machine::new(FILE).set("server.port", "5000").as_deref(), Ok(expected.as_str()));
        let expected = FILE.replace("sessions = 7\n", "sessions = 7\nreaders_per_session = 9\n");
        assert_eq!(Machine::new(FILE).set("limits.readers_per_session", "9").as_deref(), Ok(expected.as_str()));
        let expected = format!("{FILE}\n[agents.copilot]\nmodels = [\"a\", \"b\"]\n");
        assert_eq!(Machine::new(FILE).set("agents.copilot.models", "a, b").as_deref(), Ok(expected.as_str()));
        let file = Machine::new(FILE).set("data_dir", "/data").expect("set");
        assert!(file.starts_with("data_dir = \"/data\"\n# My settings") || file.contains("\ndata_dir = "), "{file}");
        assert!(file.contains("# My settings") && file.contains("port = 4321 # taken"), "{file}");
    }

    #[test]
    fn a_value_is_read_as_its_key_wants_it() {
        let check = |key: &str, text: &str, line: &str| {
            let file = Machine::new("").set(key, text).expect(key);
            assert!(file.lines().any(|one| one == line), "{file}");
        };
        check("server.behind_proxy", "true", "behind_proxy = true");
        check("budget.day_cost_usd", "5", "day_cost_usd = 5.0");
        check("sessions.model", "5", "model = \"5\"");
        check("recovery.silence_notice", "", "silence_notice = \"\"");
        check("providers.ollama.base_url", "http://localhost:1/v1", "base_url = \"http://localhost:1/v1\"");
        check("acp.\"my.agent\".command", "agent", "[acp.\"my.agent\"]");
        check("mcp_servers.files", "{ command = \"mcp-files\" }", "files = { command = \"mcp-files\" }");
    }

    #[test]
    fn nothing_invalid_is_written() {
        for (key, text, words) in [
            ("server.prot", "1", ["server.prot", "server.port"]),
            ("server.port", "many", ["server.port", "user.toml"]),
            ("server.port", "70000", ["server.port", "from 0 to 65535"]),
            ("server", "1", ["no setting", "`server`"]),
            ("permissions.default", "sometimes", ["permissions.default", "allow-all"]),
            ("providers.x.base_uri", "http://a", ["providers.x", "base_url"]),
            ("budget.warn_at", "80", ["budget.warn_at", "fraction"]),
            ("a..b", "1", ["no setting", "a..b"]),
        ] {
            let machine = Machine::new(FILE);
            let error = machine.set(key, text).expect_err(key);
            assert!(words.iter().all(|word| error.contains(word)), "{key}: {error}");
            assert_eq!(std::fs::read_to_string(machine.user_file()).expect("readable"), FILE);
        }
    }

    #[test]
    fn the_empty_text_takes_a_key_out_and_comments_stay() {
        let machine = Machine::new(FILE);
        let expected = FILE.replace("port = 4321 # taken\n", "");
        assert_eq!(machine.set("server.port", "").as_deref(), Ok(expected.as_str()));
        assert_eq!(machine.unset("server.port").as_deref(), Ok(expected.as_str()), "it is not there, which is fine");
        let expected = expected.replace("sessions = 7\n", "");
        assert_eq!(machine.unset("limits.sessions").as_deref(), Ok(expected.as_str()));
        let last = Machine::new("[limits]\n# why\nsessions = 7\n").unset("limits.sessions").expect("taken out");
        assert_eq!(last, "[limits]\n# why\n");
        let first = Machine::new("# Mine\ndata_dir = \"/x\"\n\n[limits]\nsessions = 7\n").unset("data_dir");
        assert_eq!(first.as_deref(), Ok("# Mine\n\n[limits]\nsessions = 7\n"));
        assert!(machine.unset("server.prot").expect_err("unknown").contains("server.port"));
    }

    #[test]
    fn a_mistake_is_corrected_by_unsetting_it() {
        let machine = Machine::new("[server]\nprot = 1\nport = 2\n");
        assert_eq!(machine.unset("server.prot").as_deref(), Ok("[server]\nport = 2\n"));
        let broken = Machine::new("[acp.x]\ncommand = \"a\"\n");
        let error = broken.unset("acp.x.command").expect_err("an agent needs a command");
        assert!(error.contains("acp.x"), "{error}");
    }

    #[test]
    fn a_project_may_be_given_only_what_a_project_may_set() {
        let machine = Machine::new("");
        std::fs::create_dir(machine.0.path().join(".git")).expect("a repository");
        let sources = Sources { start_folder: machine.0.path().join("below"), ..machine.sources() };
        let edit = Edit::set(&sources, Place::Project, "sessions.model", "m").expect("allowed");
        assert_eq!(edit.path(), machine.0.path().join(".flightdeck.toml"));
        assert_eq!(edit.outcome.as_ref().expect("valid").config.sessions.model, "m");
        edit.write().expect("written");
        let error = Edit::set(&sources, Place::Project, "server.port", "1").expect_err("not for projects");
        assert!(error.to_string().contains("a project may not"), "{error}");
    }

    #[cfg(unix)]
    #[test]
    fn a_projects_file_that_leads_elsewhere_is_not_followed() {
        let machine = Machine::new("");
        let elsewhere = machine.0.path().join("elsewhere.toml");
        std::fs::write(&elsewhere, "").expect("written");
        std::os::unix::fs::symlink(&elsewhere, machine.0.path().join(".flightdeck.toml")).expect("linked");
        let edit = Edit::set(&machine.sources(), Place::Project, "sessions.model", "m").expect("valid in itself");
        assert!(matches!(edit.write(), Err(ConfigError::Unwritable { .. })));
        assert_eq!(std::fs::read_to_string(&elsewhere).expect("readable"), "");
    }

    #[cfg(unix)]
    #[test]
    fn a_link_stays_a_link_a_new_file_is_private_and_an_old_one_keeps_its_rights() {
        use std::os::unix::fs::PermissionsExt as _;
        let machine = Machine::new(FILE);
        let real = machine.0.path().join("real.toml");
        std::fs::rename(machine.user_file(), &real).expect("moved");
        std::os::unix::fs::symlink(&real, machine.user_file()).expect("linked");
        std::fs::set_permissions(&real, std::fs::Permissions::from_mode(0o640)).expect("set");
        machine.set("server.port", "5000").expect("set");
        assert!(std::fs::symlink_metadata(machine.user_file()).expect("there").is_symlink());
        let mode = |path: &Path| std::fs::metadata(path).expect("there").permissions().mode() & 0o777;
        assert_eq!(mode(&real), 0o640);
        std::fs::remove_file(machine.user_file()).expect("removed");
        machine.set("server.port", "5000").expect("set");
        assert_eq!(mode(&machine.user_file()), 0o600);
        let names = std::fs::read_dir(machine.0.path()).expect("readable");
        let left: Vec<_> =
            names.filter_map(Result::ok).filter(|one| one.path().extension().is_some_and(|e| e == "new")).collect();
        assert!(left.is_empty(), "{left:?}");
    }
}

//! Merges the layers and remembers where each value came from.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::Deserialize as _;
use sha2::{Digest as _, Sha256};
use toml::{Table, Value};

use super::edit::EditedFile;
use super::project::project_file;
use super::type_error;
use super::{
    AcpAgent, Config, ConfigError, ConfigPaths, Limits, McpServer, Place, Provider, RuntimeDefaults, SessionLayers,
};
use crate::model::hex;

/// Keys that a project's own file may set: they choose among what the user allows.
const ALLOWED_FOR_PROJECTS: [&str; 3] = ["sessions.runtime", "sessions.model", "sessions.effort"];
/// Variables with the prefix `FLIGHTDECK_` that are not settings.
const OTHER_VARIABLES: [&str; 1] = ["FLIGHTDECK_CONFIG"];
const PREFIX: &str = "FLIGHTDECK_";
/// Tables whose keys are names of the user's choice; each entry is one value.
const NAMED_TABLES: [&str; 6] =
    ["providers", "mcp_servers", "acp", "runtimes", "capture.aliases", "notifications.targets"];

/// Where a value came from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// Built in.
    Default,
    /// A file.
    File(PathBuf),
    /// An environment variable.
    Variable(String),
    /// A flag of the command line.
    Flag(&'static str),
}

impl std::fmt::Display for Origin {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Default => formatter.write_str("default"),
            Self::File(path) => write!(formatter, "{}", path.display()),
            Self::Variable(name) => formatter.write_str(name),
            Self::Flag(name) => formatter.write_str(name),
        }
    }
}

/// Every source of values.
#[derive(Clone, Debug)]
pub struct Sources {
    /// Files and folders of the user.
    pub paths: ConfigPaths,
    /// Where the server is started; the search for the project's file goes up from here.
    pub start_folder: PathBuf,
    /// The environment.
    pub variables: Vec<(String, String)>,
    /// Key, value and name of each flag.
    pub flags: Vec<(&'static str, Value, &'static str)>,
    /// The new content of a file that is about to change.
    pub(super) edited: Option<EditedFile>,
}

impl Sources {
    /// The sources as they are now.
    pub fn new(
        paths: ConfigPaths,
        start_folder: PathBuf,
        variables: Vec<(String, String)>,
        flags: Vec<(&'static str, Value, &'static str)>,
    ) -> Self {
        Self { paths, start_folder, variables, flags, edited: None }
    }
}

/// The configuration in force, value by value.
#[derive(Clone, Debug)]
pub struct Loaded {
    /// The configuration in force.
    pub config: Config,
    /// Every key with its value and where that came from.
    pub values: BTreeMap<String, (Value, Origin)>,
    /// The path of the user's file, which may not exist.
    pub user_file: PathBuf,
    /// What the user's file says, also where another layer wins.
    pub user_values: BTreeMap<String, Value>,
    /// Changes with the content of the user's file.
    pub user_revision: String,
    /// What each layer chooses for sessions.
    pub session_layers: SessionLayers,
}

/// Reads all layers.
pub fn load(sources: &Sources) -> Result<Loaded, ConfigError> {
    let mut values: BTreeMap<String, (Value, Origin)> =
        defaults().into_iter().map(|(key, value)| (key, (value, Origin::Default))).collect();
    let mut layers = Vec::new();
    let user_file = user_file(sources);
    let edited = |place| sources.edited.as_ref().filter(|edited| edited.place == place);
    let user_text = file_text(&user_file, edited(Place::User))?;
    layers.extend(file_layer(&user_file, &user_text)?);
    let user_values = layers.iter().map(|(key, value, _)| (key.clone(), value.clone())).collect();
    let project = edited(Place::Project).map(|edited| edited.path.clone());
    if let Some(file) = project.or_else(|| project_file(&sources.start_folder)) {
        layers.extend(project_layer(&file, &user_file, edited(Place::Project))?);
    }
    layers.extend(variable_layer(&sources.variables)?);
    layers
        .extend(sources.flags.iter().map(|(key, value, flag)| ((*key).to_owned(), value.clone(), Origin::Flag(flag))));
    let mut session_layers = SessionLayers::new(user_file.clone());
    for (key, value, origin) in layers {
        if !values.contains_key(&key) && !is_named(&key) {
            let nearest = nearest(&key, values.keys());
            return Err(ConfigError::UnknownKey { origin: origin.to_string(), key, nearest });
        }
        check_alone(&key, &value, &origin)?;
        // An empty value is no choice, so the next layer applies.
        if ALLOWED_FOR_PROJECTS.contains(&key.as_str()) && value.as_str() == Some("") {
            continue;
        }
        session_layers.add(&key, &value, &origin);
        values.insert(key, (value, origin));
    }
    let merged = values.iter().fold(Table::new(), |mut table, (key, (value, _))| {
        insert(&mut table, key, value.clone());
        table
    });
    let config = Config::deserialize(merged).map_err(|error| ConfigError::BadValue {
        origin: "the configuration".to_owned(),
        key: String::new(),
        message: error.to_string(),
    })?;
    let user_revision = revision_of(&user_text);
    Ok(Loaded { config, values, user_file, user_values, user_revision, session_layers })
}

/// The user's file; a variable may set its path.
pub(super) fn user_file(sources: &Sources) -> PathBuf {
    sources
        .variables
        .iter()
        .find(|(name, _)| name == "FLIGHTDECK_CONFIG")
        .map_or_else(|| sources.paths.user_file.clone(), |(_, path)| PathBuf::from(path))
}

/// The settings of a project's file, for a session that works in it.
pub(super) fn project_layer(
    file: &Path,
    user_file: &Path,
    edited: Option<&EditedFile>,
) -> Result<Vec<(String, Value, Origin)>, ConfigError> {
    let layer = file_layer(file, &file_text(file, edited)?)?;
    let known = defaults();
    for (key, _, origin) in &layer {
        if !known.contains_key(key) && !is_named(key) {
            let nearest = nearest(key, known.keys());
            return Err(ConfigError::UnknownKey { origin: origin.to_string(), key: key.clone(), nearest });
        }
        if !ALLOWED_FOR_PROJECTS.contains(&key.as_str()) {
            return Err(ConfigError::NotForProjects {
                origin: origin.to_string(),
                key: key.clone(),
                user_file: user_file.to_owned(),
            });
        }
    }
    Ok(layer)
}

/// Every key with its default. Tables are flattened; lists are values.
fn defaults() -> BTreeMap<String, Value> {
    let table = Table::try_from(Config::default()).expect("the defaults are plain values");
    let mut keys = Vec::new();
    flatten("", table, &mut keys);
    keys.into_iter().collect()
}

/// Every key that has a default.
#[cfg(test)]
pub(super) fn known_keys() -> impl Iterator<Item = String> {
    defaults().into_keys()
}

/// The default of a key; `None` if the key is unknown.
pub fn default_of(key: &str) -> Option<Value> {
    defaults().remove(key)
}

/// The known key that is most similar to an unknown one.
pub fn nearest_key(key: &str) -> Option<String> {
    nearest(key, defaults().keys())
}

fn flatten(prefix: &str, table: Table, into: &mut Vec<(String, Value)>) {
    for (name, value) in table {
        let key = if prefix.is_empty() { name } else { format!("{prefix}.{name}") };
        match value {
            Value::Table(inner) if !is_named(&key) => flatten(&key, inner, into),
            value => into.push((key, value)),
        }
    }
}

/// Whether a key is an entry of a table of names, such as `providers.ollama`.
pub(super) fn is_named(key: &str) -> bool {
    split_named(key).is_some()
}

/// The table of names and the name in it.
fn split_named(key: &str) -> Option<(&'static str, &str)> {
    NAMED_TABLES.into_iter().find_map(|table| Some((table, key.strip_prefix(table)?.strip_prefix('.')?)))
}

fn insert(table: &mut Table, key: &str, value: Value) {
    // A name may contain dots; there are no settings below it.
    let (path, name) = match split_named(key) {
        Some((path, name)) => (path, name),
        None => key.rsplit_once('.').unwrap_or(("", key)),
    };
    let mut inner = table;
    for head in path.split('.').filter(|head| !head.is_empty()) {
        let next = inner.entry(head.to_owned()).or_insert_with(|| Value::Table(Table::new()));
        let Value::Table(next) = next else { return };
        inner = next;
    }
    inner.insert(name.to_owned(), value);
}

/// Checks one value by itself, so that an error names its origin.
fn check_alone(key: &str, value: &Value, origin: &Origin) -> Result<(), ConfigError> {
    let mut table = Table::new();
    insert(&mut table, key, value.clone());
    let bad = |message: String| ConfigError::BadValue { origin: origin.to_string(), key: key.to_owned(), message };
    if let Some(problem) = Limits::problem(key, value) {
        return Err(bad(problem));
    }
    let config = Config::deserialize(table).map_err(|error| bad(type_error::in_words(error.message())))?;
    let problem = config
        .providers
        .values()
        .find_map(Provider::problem)
        .or_else(|| config.mcp_servers.values().find_map(McpServer::problem))
        .or_else(|| config.acp.values().find_map(AcpAgent::problem))
        .or_else(|| config.runtimes.values().find_map(RuntimeDefaults::problem))
        .or_else(|| config.budget.problem())
        .or_else(|| config.notifications.problem());
    match problem {
        Some(problem) => Err(bad(problem)),
        None => config.server.address().map(drop).map_err(bad),
    }
}

/// The content of a file, or what it is about to become; empty if there is none.
fn file_text(path: &Path, edited: Option<&EditedFile>) -> Result<String, ConfigError> {
    let read = edited.map_or_else(|| std::fs::read_to_string(path), |edited| Ok(edited.text.clone()));
    match read {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(String::new()),
        read => read.map_err(|source| ConfigError::Unreadable { path: path.to_owned(), source }),
    }
}

/// The user's file as it is now.
pub(super) fn user_revision(sources: &Sources) -> Result<String, ConfigError> {
    Ok(revision_of(&file_text(&user_file(sources), None)?))
}

fn revision_of(text: &str) -> String {
    hex(&Sha256::digest(text)[..8])
}

/// The name of a setting that is written as a TOML key: `providers."my.box"` is `providers.my.box`.
pub fn key_name(key: &str) -> String {
    let parts = toml_edit::Key::parse(key);
    parts.map_or_else(|_| key.to_owned(), |parts| parts.iter().map(toml_edit::Key::get).collect::<Vec<_>>().join("."))
}

fn file_layer(path: &Path, text: &str) -> Result<Vec<(String, Value, Origin)>, ConfigError> {
    let table: Table = text
        .parse()
        .map_err(|error: toml::de::Error| ConfigError::NotToml { path: path.to_owned(), message: error.to_string() })?;
    let mut keys = Vec::new();
    flatten("", table, &mut keys);
    Ok(keys.into_iter().map(|(key, value)| (key, value, Origin::File(path.to_owned()))).collect())
}

/// `FLIGHTDECK_SERVER_PORT` is `server.port`. The known keys decide which underscores stand for dots.
fn variable_layer(variables: &[(String, String)]) -> Result<Vec<(String, Value, Origin)>, ConfigError> {
    let known = defaults();
    let name_of = |key: &str| format!("{PREFIX}{}", key.replace('.', "_").to_uppercase());
    let mut layer = Vec::new();
    for (name, text) in variables {
        if !name.starts_with(PREFIX) || OTHER_VARIABLES.contains(&name.as_str()) {
            continue;
        }
        let Some((key, default)) = known.iter().find(|(key, _)| name_of(key) == *name) else {
            let names: Vec<String> = known.keys().map(|key| name_of(key)).collect();
            return Err(ConfigError::UnknownKey {
                origin: "the environment".to_owned(),
                key: name.clone(),
                nearest: nearest(name, names.iter()),
            });
        };
        layer.push((key.clone(), value_like(default, text), Origin::Variable(name.clone())));
    }
    Ok(layer)
}

/// Parses a text as the type of the default. A text that does not parse stays a string and fails the type check later.
pub(super) fn value_like(default: &Value, text: &str) -> Value {
    let as_text = || Value::String(text.to_owned());
    match default {
        Value::Integer(_) => text.parse().map_or_else(|_| as_text(), Value::Integer),
        Value::Float(_) => text.parse().map_or_else(|_| as_text(), Value::Float),
        Value::Boolean(_) => text.parse().map_or_else(|_| as_text(), Value::Boolean),
        Value::Array(_) if text.trim_start().starts_with('[') => format!("value = {text}")
            .parse::<Table>()
            .ok()
            .and_then(|mut table| table.remove("value"))
            .unwrap_or_else(as_text),
        Value::Array(_) => Value::Array(
            text.split(',')
                .map(str::trim)
                .filter(|item| !item.is_empty())
                .map(|item| Value::String(item.to_owned()))
                .collect(),
        ),
        _ => as_text(),
    }
}

fn nearest<'a>(key: &str, known: impl Iterator<Item = &'a String>) -> Option<String> {
    known
        .map(|candidate| (strsim::jaro_winkler(candidate, key), candidate))
        .filter(|(likeness, _)| *likeness > 0.7)
        .max_by(|(one, _), (other, _)| one.total_cmp(other))
        .map(|(_, candidate)| candidate.clone())
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Machine {
        folder: tempfile::TempDir,
    }

    impl Machine {
        fn new(user: &str, project: &str) -> Self {
            let folder = tempfile::tempdir().expect("a folder");
            for (name, text) in [("user.toml", user), (".flightdeck.toml", project)] {
                if !text.is_empty() {
                    std::fs::write(folder.path().join(name), text).expect("written");
                }
            }
            Self { folder }
        }

        fn load(
            &self,
            variables: &[(&str, &str)],
            flags: &[(&'static str, Value, &'static str)],
        ) -> Result<Loaded, String> {
            let sources = Sources {
                paths: ConfigPaths {
                    user_file: self.folder.path().join("user.toml"),
                    data_folder: self.folder.path().join("data"),
                },
                start_folder: self.folder.path().to_owned(),
                variables: variables.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned())).collect(),
                flags: flags.to_vec(),
                edited: None,
            };
            load(&sources).map_err(|error| error.to_string())
        }
    }

    #[test]
    fn the_later_layer_wins_and_every_value_knows_its_origin() {
        let machine = Machine::new("[server]\nport = 1\nauth = \"none\"", "[sessions]\nmodel = \"m\"");
        let port = |variables: &[_], flags: &[_]| {
            let loaded = machine.load(variables, flags).expect("valid");
            (loaded.config.server.port, loaded.values["server.port"].1.to_string())
        };
        assert!(port(&[], &[]).1.ends_with("user.toml"));
        assert_eq!(port(&[("FLIGHTDECK_SERVER_PORT", "2")], &[]), (2, "FLIGHTDECK_SERVER_PORT".to_owned()));
        let flag = ("server.port", Value::Integer(3), "--port");
        assert_eq!(port(&[("FLIGHTDECK_SERVER_PORT", "2")], &[flag]), (3, "--port".to_owned()));
        let loaded = machine.load(&[], &[]).expect("valid");
        assert_eq!(loaded.config.sessions.model, "m");
        assert_eq!(loaded.values["limits.sessions"].1, Origin::Default);
    }

    #[test]
    fn an_unknown_key_names_the_nearest_known_one() {
        let error = Machine::new("[server]\nprot = 1", "").load(&[], &[]).expect_err("unknown");
        assert!(error.contains("`server.prot`") && error.contains("`server.port`"), "{error}");
        let error = Machine::new("", "").load(&[("FLIGHTDECK_SERVER_PROT", "1")], &[]).expect_err("unknown");
        assert!(error.contains("FLIGHTDECK_SERVER_PORT"), "{error}");
    }

    #[test]
    fn a_wrong_value_names_key_and_origin() {
        for (text, key) in [
            ("[server]\nport = \"x\"", "server.port"),
            ("[server]\nport = 70000", "server.port"),
            ("[permissions]\ndefault = \"sometimes\"", "permissions.default"),
            ("[recovery]\nfirst_delay = \"soon\"", "recovery.first_delay"),
            ("[server]\nbind = \"nowhere\"", "server.bind"),
        ] {
            let error = Machine::new(text, "").load(&[], &[]).expect_err(key);
            assert!(error.contains(key) && error.contains("user.toml"), "{error}");
        }
        let error = Machine::new("server = {", "").load(&[], &[]).expect_err("not TOML");
        assert!(error.contains("not valid TOML"), "{error}");
    }

    #[test]
    fn a_limit_is_zero_only_where_that_means_something() {
        let limits: Vec<_> = known_keys().filter(|key| key.starts_with("limits.")).collect();
        assert!(limits.len() > Limits::MAY_BE_ZERO.len());
        for key in limits {
            let name = key.trim_start_matches("limits.");
            let of = |number: i64| Machine::new(&format!("[limits]\n{name} = {number}"), "").load(&[], &[]).map(drop);
            assert_eq!(of(1), Ok(()), "{key}");
            let least = i64::from(!Limits::MAY_BE_ZERO.contains(&key.as_str()));
            let refused = of(least - 1).expect_err(&key);
            let words = format!("expected a whole number, {least} or more, got {}", least - 1);
            assert!(refused.contains(&key) && refused.contains("user.toml") && refused.ends_with(&words), "{refused}");
            assert_eq!(of(0).is_ok(), least == 0, "{key}");
        }
        let variable = ("FLIGHTDECK_LIMITS_SESSIONS", "0");
        let error = Machine::new("", "").load(&[variable], &[]).expect_err("no session could be opened");
        assert!(error.contains(variable.0) && error.contains("1 or more"), "{error}");
    }

    #[test]
    fn tables_of_names_take_any_name_and_check_what_is_in_them() {
        let text = "[providers.\"my.box\"]\nbase_url = \"http://localhost:1/v1\"\nmodels = [\"m\"]\n\
                    [mcp_servers.files]\ncommand = \"mcp-files\"";
        let loaded = Machine::new(text, "").load(&[], &[]).expect("valid");
        assert_eq!(loaded.config.providers["my.box"].models, ["m"]);
        assert_eq!(loaded.config.mcp_servers["files"].transport(), "stdio");
        for (wrong, word) in [
            ("[providers.x]\nbase_uri = \"http://a\"", "base_url"),
            ("[providers.x]\nbase_url = \"localhost\"", "http://localhost"),
            ("[providers.x]\nbase_url = \"http://a\"\ntype = \"other\"", "anthropic"),
            ("[mcp_servers.x]\nargs = []", "command is missing"),
            ("[mcp_servers.x]\ntype = \"carrier-pigeon\"\nurl = \"http://a\"", "carrier-pigeon"),
        ] {
            let error = Machine::new(wrong, "").load(&[], &[]).expect_err(wrong);
            assert!(error.contains(word) && error.contains("user.toml"), "{error}");
        }
        let error = Machine::new("", text).load(&[], &[]).expect_err("a project may not");
        assert!(error.contains("a project may not"), "{error}");
    }

    #[test]
    fn a_project_cannot_open_the_server_or_loosen_permissions() {
        for text in ["[server]\nauth = \"none\"", "[permissions]\ndefault = \"allow-all\"", "data_dir = \"/x\""] {
            let error = Machine::new("", text).load(&[], &[]).expect_err(text);
            assert!(error.contains("a project may not"), "{error}");
        }
    }

    #[test]
    fn variables_are_read_as_the_kind_of_value_they_set() {
        let machine = Machine::new("", "");
        let loaded = machine
            .load(
                &[
                    ("FLIGHTDECK_SERVER_ALLOWED_HOSTS", "a.example, b.example"),
                    ("FLIGHTDECK_SERVER_BEHIND_PROXY", "true"),
                    ("FLIGHTDECK_RETENTION_MAX_AGE", "30d"),
                    ("FLIGHTDECK_PERMISSIONS_RULES", "[{ tool = \"shell\", decision = \"deny\" }]"),
                ],
                &[],
            )
            .expect("valid");
        assert_eq!(loaded.config.server.allowed_hosts, ["a.example", "b.example"]);
        assert!(loaded.config.server.behind_proxy);
        assert_eq!(loaded.config.retention.max_age.or_zero().as_secs(), 30 * 24 * 3600);
        assert_eq!(loaded.config.permissions.rules[0].tool, "shell");
    }
}

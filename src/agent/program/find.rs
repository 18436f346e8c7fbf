//! Finds a program, in the cheap places first.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use parking_lot::Mutex;

use super::cache::ProgramCache;
use super::native::{behind_loader, file_names};
use super::version::{run, version_of};
use super::{FoundProgram, ProgramSource};

/// How long "not found" is cached, because npm and gh are slow.
const ABSENCE_GOOD_FOR: Duration = Duration::from_secs(30);

/// What to look for.
#[derive(Clone, Debug)]
pub struct ProgramSearch {
    /// The program's name on the `PATH`.
    pub name: &'static str,
    /// The program that the configuration names.
    pub configured: Option<PathBuf>,
    /// The configuration key, for messages.
    pub setting: &'static str,
    /// The environment variable that may name it.
    pub variable: Option<&'static str>,
    /// Its npm package.
    pub package: &'static str,
    /// The `gh` command that may run it.
    pub github_cli: Option<&'static str>,
    /// The message if it is not found.
    pub not_found: &'static str,
}

/// Finds one program and caches the result.
#[derive(Debug)]
pub struct Programs {
    search: ProgramSearch,
    environment: BTreeMap<String, String>,
    private_folder: Option<PathBuf>,
    cache: ProgramCache,
    absent_since: Mutex<Option<Instant>>,
}

impl Programs {
    /// Searches with the given environment. `data_folder`, if there is one, holds Flightdeck's own installs and the
    /// cache.
    pub fn new(search: ProgramSearch, environment: BTreeMap<String, String>, data_folder: Option<&Path>) -> Self {
        Self {
            private_folder: data_folder.map(|folder| private_folder(folder, search.name)),
            cache: data_folder.map(|folder| ProgramCache::at(cache_file(folder))).unwrap_or_default(),
            search,
            environment,
            absent_since: Mutex::new(None),
        }
    }

    /// The program, or what to do if it is missing.
    pub async fn find(&self) -> Result<FoundProgram, String> {
        if let Some(near) = self.find_near()? {
            return Ok(self.complete(near).await);
        }
        let known = self.cache.get(self.search.name);
        if let Some(known) = known.filter(|known| is_far(known.source)) {
            return Ok(known);
        }
        if self.absent_since.lock().is_some_and(|since| since.elapsed() < ABSENCE_GOOD_FOR) {
            return Err(self.search.not_found.to_owned());
        }
        if let Some(far) = self.find_far().await {
            return Ok(self.complete(far).await);
        }
        *self.absent_since.lock() = Some(Instant::now());
        Err(self.search.not_found.to_owned())
    }

    /// Whether the configuration or a variable names the program, so that it is expected to exist.
    pub fn is_named(&self) -> bool {
        let variable = self.search.variable.and_then(|name| self.environment.get(name));
        self.search.configured.is_some() || variable.is_some_and(|path| !path.is_empty())
    }

    /// Clears a cached "not found".
    pub fn look_again(&self) {
        *self.absent_since.lock() = None;
    }

    /// Searches the places that are cheap to check. A configured program that is missing is an error: it must not be
    /// replaced by another one.
    fn find_near(&self) -> Result<Option<FoundProgram>, String> {
        if let Some(path) = &self.search.configured {
            return named(path, self.search.setting).map(|path| Some(self.found(&path, ProgramSource::Configuration)));
        }
        let variable = self.search.variable.and_then(|name| Some((name, self.environment.get(name)?)));
        if let Some((name, path)) = variable.filter(|(_, path)| !path.is_empty()) {
            return named(Path::new(path), name).map(|path| Some(self.found(&path, ProgramSource::Variable)));
        }
        let private = self.private_folder.iter().map(|folder| folder.join("node_modules/.bin"));
        let on_path = self.environment.get("PATH").map(String::as_str).unwrap_or_default();
        let places = private
            .map(|folder| (folder, ProgramSource::Private))
            .chain(std::env::split_paths(on_path).map(|folder| (folder, ProgramSource::Path)));
        for (folder, source) in places {
            let found =
                file_names(self.search.name).into_iter().map(|file| folder.join(file)).find(|file| is_program(file));
            if let Some(path) = found {
                return Ok(Some(self.found(&path, source)));
            }
        }
        Ok(None)
    }

    /// Searches the places that only another program knows.
    async fn find_far(&self) -> Option<FoundProgram> {
        let arguments = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
        if let Some(root) = run(Path::new("npm"), &arguments(&["root", "-g"]), &self.environment).await {
            let package = Path::new(root.trim()).join(self.search.package);
            if let Some(loader) = loader_of(&package, self.search.name) {
                return Some(self.found(&loader, ProgramSource::NpmGlobal));
            }
        }
        let command = self.search.github_cli?;
        let on_path = self.environment.get("PATH")?;
        let gh = std::env::split_paths(on_path)
            .flat_map(|folder| file_names("gh").into_iter().map(move |file| folder.join(file)))
            .find(|file| is_program(file))?;
        run(&gh, &arguments(&[command, "--help"]), &self.environment).await?;
        Some(FoundProgram {
            leading_arguments: vec![command.to_owned()],
            native: false,
            ..self.found(&gh, ProgramSource::GitHubCli)
        })
    }

    fn found(&self, path: &Path, source: ProgramSource) -> FoundProgram {
        let (path, native) = behind_loader(path, self.search.package, self.search.name);
        FoundProgram { path, leading_arguments: Vec::new(), native, version: None, source, found_at: now() }
    }

    /// The program with its version, which is cached because reading it may take a second.
    async fn complete(&self, mut program: FoundProgram) -> FoundProgram {
        *self.absent_since.lock() = None;
        if let Some(known) = self.cache.get(self.search.name)
            && known.path == program.path
            && known.source == program.source
        {
            return known;
        }
        program.version = version_of(&program, &self.environment).await;
        self.cache.put(self.search.name, &program);
        program
    }
}

/// The folder of Flightdeck's own install of an agent.
pub(super) fn private_folder(data_folder: &Path, name: &str) -> PathBuf {
    data_folder.join("agents").join(name)
}

fn cache_file(data_folder: &Path) -> PathBuf {
    data_folder.join("cache").join("programs.json")
}

fn is_far(source: ProgramSource) -> bool {
    matches!(source, ProgramSource::NpmGlobal | ProgramSource::GitHubCli)
}

fn named(path: &Path, by: &str) -> Result<PathBuf, String> {
    if is_program(path) {
        Ok(path.to_owned())
    } else if path.is_file() {
        Err(format!("{by} is set to {}, which is not executable", path.display()))
    } else {
        Err(format!("{by} is set to {}, which does not exist", path.display()))
    }
}

/// Whether a file can be executed.
#[cfg(unix)]
pub(in crate::agent) fn is_program(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    std::fs::metadata(path).is_ok_and(|file| file.is_file() && file.permissions().mode() & 0o111 != 0)
}

/// Whether a file can be executed.
#[cfg(not(unix))]
pub(in crate::agent) fn is_program(path: &Path) -> bool {
    path.is_file()
}

/// The script that a package offers under `name`.
fn loader_of(package: &Path, name: &str) -> Option<PathBuf> {
    let text = std::fs::read_to_string(package.join("package.json")).ok()?;
    let description: serde_json::Value = serde_json::from_str(&text).ok()?;
    let file = description["bin"].as_str().or_else(|| description["bin"][name].as_str())?;
    Some(package.join(file)).filter(|file| file.is_file())
}

pub(in crate::agent) fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map(|since| since.as_secs()).unwrap_or_default()
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    struct Machine {
        folder: tempfile::TempDir,
    }

    impl Machine {
        fn new() -> Self {
            Self { folder: tempfile::tempdir().expect("a folder") }
        }

        fn path(&self, name: &str) -> PathBuf {
            self.folder.path().canonicalize().expect("there").join(name)
        }

        fn script(&self, name: &str, text: &str) -> PathBuf {
            let path = self.path(name);
            std::fs::create_dir_all(path.parent().expect("a folder")).expect("made");
            std::fs::write(&path, format!("#!/bin/sh\n{text}\n")).expect("written");
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).expect("set");
            path
        }

        fn programs(&self, configured: Option<PathBuf>, variables: &[(&str, &Path)]) -> Programs {
            let search = ProgramSearch {
                name: "copilot",
                configured,
                setting: "agents.copilot.program",
                variable: Some("COPILOT_CLI_PATH"),
                package: "@github/copilot",
                github_cli: Some("copilot"),
                not_found: "not installed",
            };
            let mut environment: BTreeMap<String, String> =
                [("PATH".to_owned(), format!("{}:/usr/bin:/bin", self.path("bin").display()))].into();
            environment.extend(variables.iter().map(|(name, path)| ((*name).to_owned(), path.display().to_string())));
            Programs::new(search, environment, Some(&self.path("data")))
        }
    }

    #[tokio::test]
    async fn the_nearest_place_wins_and_its_version_is_known() {
        let machine = Machine::new();
        // Tests must not run this machine's npm or gh.
        machine.script("bin/npm", "exit 1");
        machine.script("bin/gh", "exit 1");
        assert_eq!(machine.programs(None, &[]).find().await, Err("not installed".to_owned()));
        let mut expected = Vec::new();
        for (file, source) in [
            ("bin/copilot", ProgramSource::Path),
            ("data/agents/copilot/node_modules/.bin/copilot", ProgramSource::Private),
        ] {
            expected.push((machine.script(file, "echo Copilot 1.2.3"), source));
            let found = machine.programs(None, &[]).find().await.expect("found");
            assert_eq!((found.path, found.source), expected.pop().expect("one"));
            assert_eq!(found.version.as_deref(), Some("1.2.3"));
        }
        let other = machine.script("other/copilot", "echo 2.0.0");
        let found = machine.programs(None, &[("COPILOT_CLI_PATH", &other)]).find().await.expect("found");
        assert_eq!((&found.path, found.source), (&other, ProgramSource::Variable));
        let configured = machine.script("mine/copilot", "echo 3.0.0");
        let programs = machine.programs(Some(configured.clone()), &[("COPILOT_CLI_PATH", &other)]);
        assert_eq!(programs.find().await.expect("found").path, configured);
    }

    #[tokio::test]
    async fn a_program_that_is_named_and_not_there_is_not_replaced_by_another() {
        let machine = Machine::new();
        machine.script("bin/copilot", "echo 1.0.0");
        let nowhere = machine.path("nowhere");
        let error = machine.programs(None, &[("COPILOT_CLI_PATH", &nowhere)]).find().await.expect_err("missing");
        assert!(error.contains("COPILOT_CLI_PATH") && error.contains("nowhere"), "{error}");
        let error = machine.programs(Some(nowhere.clone()), &[]).find().await.expect_err("missing");
        assert!(error.contains("agents.copilot.program"), "{error}");
        std::fs::write(&nowhere, "text").expect("written");
        let error = machine.programs(Some(nowhere), &[]).find().await.expect_err("not a program");
        assert!(error.contains("not executable"), "{error}");
    }

    #[tokio::test]
    async fn npms_global_folder_is_asked_for_and_remembered() {
        let machine = Machine::new();
        let root = machine.path("global");
        let asked = machine.path("asked");
        machine.script("bin/npm", &format!("echo x >> {}; echo {}", asked.display(), root.display()));
        machine.script("global/@github/copilot/loader.js", "echo 4.5.6");
        std::fs::write(
            root.join("@github/copilot/package.json"),
            r#"{"version":"4.5.6","bin":{"copilot":"loader.js"}}"#,
        )
        .expect("written");
        for _ in 0..2 {
            let found = machine.programs(None, &[]).find().await.expect("found");
            assert_eq!((found.source, found.version.as_deref()), (ProgramSource::NpmGlobal, Some("4.5.6")));
            assert!(!found.native);
        }
        assert_eq!(std::fs::read_to_string(&asked).expect("asked").lines().count(), 1, "the second time it was known");
        // A program that disappears is searched for again.
        std::fs::remove_dir_all(&root).expect("removed");
        assert!(machine.programs(None, &[]).find().await.is_err());
    }

    #[tokio::test]
    async fn gh_is_the_last_resort_and_says_so() {
        let machine = Machine::new();
        machine.script("bin/npm", "exit 1");
        let gh = machine
            .script("bin/gh", "[ \"$1 $2\" = 'copilot --help' ] || [ \"$1 $2\" = 'copilot --version' ] && echo 0.9.9");
        let found = machine.programs(None, &[]).find().await.expect("found");
        assert_eq!((found.path, found.source), (gh, ProgramSource::GitHubCli));
        assert_eq!(found.leading_arguments, ["copilot"]);
        assert_eq!(found.version.as_deref(), Some("0.9.9"));
    }
}

//! `config set`, `unset` and `get`: checked first, written whole, and told what is in force now.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::support::{Ended, Server, ServerBuilder};

const FILE: &str = "# Mine\n[limits]\nsessions = 7 # enough\n";

/// A person's machine: the user's file stays what the commands make of it.
struct Machine {
    folder: tempfile::TempDir,
    builder: ServerBuilder,
}

impl Machine {
    fn new(file: &str) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("mine.toml");
        std::fs::write(&path, file).expect("written");
        let builder = Server::builder().variable("FLIGHTDECK_CONFIG", path.to_str().expect("UTF-8"));
        Self { folder, builder }
    }

    fn file(&self) -> PathBuf {
        self.folder.path().join("mine.toml")
    }

    fn text(&self) -> String {
        std::fs::read_to_string(self.file()).expect("readable")
    }

    async fn config(&self, arguments: &[&str]) -> Ended {
        let arguments: Vec<&str> = std::iter::once("config").chain(arguments.iter().copied()).collect();
        self.builder.run(self.folder.path(), &arguments).await
    }

    /// A command that must fail, say all of this, and change nothing.
    async fn refuses(&self, arguments: &[&str], words: &[&str]) {
        let before = self.text();
        let ended = self.config(arguments).await;
        assert!(!ended.success, "{arguments:?}");
        assert!(words.iter().all(|word| ended.stderr.contains(word)), "{arguments:?}: {}", ended.stderr);
        assert_eq!((self.text(), ended.stdout), (before, String::new()), "{arguments:?}");
    }
}

#[tokio::test]
async fn a_setting_is_written_beside_what_is_there_and_is_in_force() {
    let machine = Machine::new(FILE);
    let ended = machine.config(&["set", "limits.sessions", "8"]).await;
    assert!(ended.success, "{}", ended.stderr);
    assert_eq!(machine.text(), FILE.replace('7', "8"));
    let path = machine.file();
    let expected = format!("Written to {0}.\nIn effect: limits.sessions = 8, from {0}.\n", path.display());
    assert_eq!(ended.stdout, expected);
    let again = machine.config(&["set", "limits.sessions", "8", "--user", "--json"]).await;
    let answer: Value = serde_json::from_str(&again.stdout).expect("JSON");
    let effective = json!({ "value": 8, "origin": path });
    let expected = json!({
        "key": "limits.sessions", "file": path, "changed": false, "effective": effective, "warnings": [],
    });
    assert_eq!(answer, expected);
    let got = machine.config(&["get", "limits.sessions"]).await;
    assert_eq!(got.stdout, "8\n");
    let got = machine.config(&["get", "limits.sessions", "--json"]).await;
    let got: Value = serde_json::from_str(&got.stdout).expect("JSON");
    assert_eq!(got, json!({ "key": "limits.sessions", "value": 8, "origin": path }));
    let unset = machine.config(&["unset", "limits.sessions"]).await;
    assert!(unset.stdout.contains("limits.sessions = 2000, from default"), "{}{}", unset.stdout, unset.stderr);
    assert_eq!(machine.text(), "# Mine\n[limits]\n");
}

#[tokio::test]
async fn what_will_not_do_is_refused_and_nothing_is_written() {
    let machine = Machine::new(FILE);
    machine.refuses(&["set", "limits.session", "8"], &["nothing was written", "did you mean `limits.sessions`?"]).await;
    let number = "nothing was written: invalid value of `server.port`: expected a whole number from 0 to 65535, got ";
    machine.refuses(&["set", "server.port", "abc"], &[&format!("{number}the text \"abc\"")]).await;
    machine.refuses(&["set", "server.port", "70000"], &[&format!("{number}70000")]).await;
    machine.refuses(&["set", "limits.sessions", "many"], &["limits.sessions", "many"]).await;
    machine.refuses(&["set", "server.auth", "maybe"], &["server.auth", "token"]).await;
    let there_are = &["unknown runtime \"gemini\"", "copilot", "copilot-acp", "demo"];
    machine.refuses(&["set", "sessions.runtime", "gemini"], there_are).await;
    machine.refuses(&["set", "sessions.runtime", "gemini", "--project"], there_are).await;
    assert!(!machine.folder.path().join(".flightdeck.toml").exists());
    machine.refuses(&["set", "server.port", "1", "--project"], &["a project may not"]).await;
    machine.refuses(&["set", "sessions.model", "m", "--project", "--user"], &["--project", "--user"]).await;
    machine.refuses(&["unset", "limits.session"], &["did you mean `limits.sessions`?"]).await;
    machine.refuses(&["get", "limits.session"], &["did you mean `limits.sessions`?"]).await;
}

#[tokio::test]
async fn a_runtime_that_the_file_names_itself_can_be_chosen() {
    let machine = Machine::new("[acp.gemini]\ncommand = \"gemini\"\n");
    let ended = machine.config(&["set", "sessions.runtime", "acp:gemini"]).await;
    assert!(ended.success, "{}", ended.stderr);
    assert!(machine.text().contains("runtime = \"acp:gemini\""), "{}", machine.text());
    let unset = machine.config(&["unset", "acp.gemini"]).await;
    assert!(unset.success && unset.stdout.contains("Warning: sessions.runtime is not valid"), "{}", unset.stdout);
    let ended = machine.config(&["set", "sessions.runtime", ""]).await;
    assert!(ended.success && !machine.text().contains("runtime ="), "the empty text takes it out: {}", machine.text());
}

#[tokio::test]
async fn a_project_gets_its_own_file_in_the_root_of_its_repository() {
    let machine = Machine::new("[sessions]\nmodel = \"mine\"\n");
    let repository = machine.folder.path().join("repository");
    std::fs::create_dir_all(repository.join(".git")).expect("a repository");
    std::fs::create_dir_all(repository.join("below")).expect("a folder");
    let run = async |arguments: &[&str]| {
        let mut command = machine.builder.command(machine.folder.path());
        let output = command.current_dir(repository.join("below")).arg("config").args(arguments).output().await;
        let output = output.expect("the binary starts");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).expect("UTF-8")
    };
    let said = run(&["set", "sessions.model", "theirs", "--project"]).await;
    let file = repository.join(".flightdeck.toml");
    assert!(said.contains(&format!("In effect: sessions.model = \"theirs\", from {}.", file.display())), "{said}");
    assert_eq!(std::fs::read_to_string(&file).expect("readable"), "[sessions]\nmodel = \"theirs\"\n");
    let said = run(&["set", "sessions.model", "other", "--user"]).await;
    assert!(said.contains("\"theirs\"") && said.contains("which overrides the file"), "{said}");
    assert_eq!(run(&["get", "sessions.model"]).await, "theirs\n");
    run(&["unset", "sessions.model", "--project"]).await;
    assert_eq!(run(&["get", "sessions.model"]).await, "other\n");
}

#[tokio::test]
async fn a_variable_that_wins_is_named() {
    let mut machine = Machine::new("");
    machine.builder = machine.builder.variable("FLIGHTDECK_SESSIONS_MODEL", "from-outside");
    let ended = machine.config(&["set", "sessions.model", "mine"]).await;
    assert!(ended.stdout.contains("\"from-outside\", from FLIGHTDECK_SESSIONS_MODEL"), "{}", ended.stdout);
    assert!(machine.text().contains("mine"));
}

#[tokio::test]
async fn a_model_that_hardly_fits_is_written_with_a_warning() {
    let machine = Machine::new("[sessions]\nruntime = \"copilot\"\n");
    let ended = machine.config(&["set", "sessions.model", "opus"]).await;
    assert!(ended.success && ended.stdout.contains("Warning: \"opus\""), "{}{}", ended.stdout, ended.stderr);
    for (key, value) in [("limits.sessions", "9"), ("sessions.runtime", "demo")] {
        let ended = machine.config(&["set", key, value]).await;
        assert!(ended.success && !ended.stdout.contains("Warning"), "{key} {}", ended.stdout);
    }
}

#[tokio::test]
async fn keys_are_written_and_never_shown() {
    let machine = Machine::new("[providers.mine]\nbase_url = \"http://localhost:1/v1\"\n");
    let ended = machine.config(&["set", "providers.mine.api_key", "very-private"]).await;
    assert!(ended.success, "{}", ended.stderr);
    assert!(machine.text().contains("very-private"));
    for arguments in [&["get", "providers.mine.api_key"][..], &["get", "providers.mine"], &["show"], &[]] {
        let shown = machine.config(arguments).await;
        assert!(shown.success && shown.stdout.contains("[redacted]"), "{arguments:?} {}", shown.stdout);
        assert!(!format!("{}{}{}", ended.stdout, shown.stdout, shown.stderr).contains("very-private"));
    }
    assert_eq!(machine.config(&["get", "providers.mine.base_url"]).await.stdout, "http://localhost:1/v1\n");
}

#[tokio::test]
async fn a_mistake_in_the_file_is_corrected_with_unset() {
    let machine = Machine::new("[server]\nprot = 1\nbind = \"loopback\"\n[limit]\nx = 1\n");
    let ended = machine.config(&["unset", "server.prot"]).await;
    assert!(
        !ended.success && ended.stderr.contains("still has a problem") && ended.stderr.contains("limit.x"),
        "{}",
        ended.stderr
    );
    let ended = machine.config(&["unset", "limit.x"]).await;
    assert!(ended.success, "{}", ended.stderr);
    assert_eq!(machine.text(), "[server]\nbind = \"loopback\"\n[limit]\n");
}

#[tokio::test]
async fn a_running_server_is_told_of() {
    let server = Server::start().await;
    let ended = server.run(&["config", "set", "sessions.model", "demo-slow"]).await;
    assert!(ended.success && ended.stdout.contains(&server.url), "{}{}", ended.stdout, ended.stderr);
    assert!(user_file(server.folder()).contains("demo-slow"));
}

fn user_file(folder: &Path) -> String {
    std::fs::read_to_string(folder.join("home/config/flightdeck/flightdeck.toml")).expect("readable")
}

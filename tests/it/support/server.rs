//! A server of a test's own: the real binary, a free port, a data folder that goes away with the test.

use std::path::{Path, PathBuf};
use std::process::Stdio;

use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, BufReader};
use tokio::process::{Child, Command};
use tokio::sync::watch;
use tokio::task::JoinHandle;

use super::{Http, TestSession, send_signal};

/// How a server is to be started.
#[derive(Clone, Debug, Default)]
pub struct ServerBuilder {
    flags: Vec<String>,
    config: String,
    variables: Vec<(String, String)>,
    port_arguments: Option<Vec<String>>,
    wrapper: Vec<String>,
    program: Option<PathBuf>,
    data: Option<PathBuf>,
}

/// A server that runs.
pub struct Server {
    builder: ServerBuilder,
    folder: TempDir,
    child: Child,
    stderr: Option<JoinHandle<()>>,
    log: watch::Receiver<String>,
    /// The address that it printed.
    pub url: String,
    /// The lines that it printed after the address.
    pub greeting: Vec<String>,
}

/// A run that ended by itself.
pub struct Ended {
    pub success: bool,
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

impl ServerBuilder {
    pub fn flags(mut self, flags: &[&str]) -> Self {
        self.flags.extend(flags.iter().map(|flag| (*flag).to_owned()));
        self
    }

    pub fn config(mut self, text: &str) -> Self {
        text.clone_into(&mut self.config);
        self
    }

    pub fn variable(mut self, name: &str, value: &str) -> Self {
        self.variables.push((name.to_owned(), value.to_owned()));
        self
    }

    /// A port of the test's own choice instead of any free one.
    pub fn port(self, port: u16) -> Self {
        self.port_arguments(&["--port", &port.to_string()])
    }

    /// How the server is told its port, instead of `--port 0`.
    pub fn port_arguments(mut self, arguments: &[&str]) -> Self {
        self.port_arguments = Some(arguments.iter().map(|argument| (*argument).to_owned()).collect());
        self
    }

    /// A program that starts the binary, which is its next argument, and becomes it.
    pub fn wrapped_in(mut self, wrapper: &[&str]) -> Self {
        self.wrapper = wrapper.iter().map(|argument| (*argument).to_owned()).collect();
        self
    }

    /// Another data folder than `data` below the server's own folder.
    pub fn data_folder(mut self, path: &Path) -> Self {
        self.data = Some(path.to_owned());
        self
    }

    /// A copy of the binary, where another user can reach it.
    pub fn program(mut self, path: &Path) -> Self {
        self.program = Some(path.to_owned());
        self
    }

    /// Starts the server and waits until it answers.
    pub async fn start(self) -> Server {
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::create_dir(folder.path().join("work")).expect("a folder to work in");
        self.start_in(folder).await
    }

    pub async fn start_in(self, folder: TempDir) -> Server {
        let any_port = ["--port".to_owned(), "0".to_owned()];
        let port = self.port_arguments.as_deref().unwrap_or(&any_port);
        let mut child = self.command(folder.path()).args(port).spawn().expect("the binary starts");
        let mut lines = BufReader::new(child.stdout.take().expect("piped")).lines();
        let mut greeting = Vec::new();
        while greeting.len() < 3 {
            if let Some(line) = lines.next_line().await.expect("readable") {
                greeting.push(line);
            } else {
                let mut stderr = String::new();
                child.stderr.take().expect("piped").read_to_string(&mut stderr).await.expect("readable");
                panic!("the server ended instead of starting:\n{stderr}");
            }
        }
        // Drained for as long as the server runs, so that a full pipe never stops it.
        let stderr = child.stderr.take().expect("piped");
        let (sender, log) = watch::channel(String::new());
        let stderr = tokio::spawn(async move {
            let mut lines = BufReader::new(stderr).lines();
            while let Ok(Some(line)) = lines.next_line().await {
                eprintln!("server: {line}");
                sender.send_modify(|log| {
                    log.push_str(&line);
                    log.push('\n');
                });
            }
        });
        let url = greeting.remove(0);
        Server { builder: self, folder, child, stderr: Some(stderr), log, url, greeting }
    }

    /// The binary with this builder's settings, in a world of its own below `folder`.
    pub fn command(&self, folder: &Path) -> Command {
        let home = folder.join("home");
        std::fs::create_dir_all(home.join("config/flightdeck")).expect("a folder");
        std::fs::write(home.join("config/flightdeck/flightdeck.toml"), &self.config).expect("written");
        let program = self.program.clone().unwrap_or_else(|| PathBuf::from(env!("CARGO_BIN_EXE_flightdeck")));
        let mut command = match self.wrapper.split_first() {
            None => Command::new(program),
            Some((wrapper, arguments)) => {
                let mut command = Command::new(wrapper);
                command.args(arguments).arg(program);
                command
            }
        };
        let leaks = |name: &str| {
            name.starts_with("FLIGHTDECK_")
                || name.starts_with("COPILOT_")
                || name == "GH_TOKEN"
                || name == "GITHUB_TOKEN"
        };
        for (name, _) in std::env::vars().filter(|(name, _)| leaks(name)) {
            command.env_remove(name);
        }
        command
            .args(&self.flags)
            .arg("--data-dir")
            .arg(self.data.clone().unwrap_or_else(|| folder.join("data")))
            .env("HOME", &home)
            // Whatever agents this machine has: a test that wants one says so.
            .env("COPILOT_CLI_PATH", "/no/copilot/unless/a/test/wants/it")
            .env("XDG_CONFIG_HOME", home.join("config"))
            .env("XDG_DATA_HOME", home.join("data"))
            .envs(self.variables.iter().map(|(name, value)| (name, value)))
            .current_dir(folder)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true);
        command
    }

    /// Runs a command that is expected to end by itself.
    pub async fn run(&self, folder: &Path, arguments: &[&str]) -> Ended {
        let mut command = self.command(folder);
        let chooses_port = self.variables.iter().any(|(name, _)| name == "FLIGHTDECK_SERVER_PORT");
        if arguments.first() == Some(&"doctor") && !chooses_port {
            // It checks whether the configured port is free, and somebody may listen on the usual one.
            command.env("FLIGHTDECK_SERVER_PORT", "0");
        }
        let output = command.args(arguments).output().await.expect("the binary starts");
        Ended {
            success: output.status.success(),
            code: output.status.code(),
            stdout: String::from_utf8(output.stdout).expect("UTF-8"),
            stderr: String::from_utf8(output.stderr).expect("UTF-8"),
        }
    }
}

impl Server {
    pub fn builder() -> ServerBuilder {
        ServerBuilder::default()
    }

    /// A server with nothing special about it.
    pub async fn start() -> Self {
        Self::builder().start().await
    }

    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    pub fn data(&self) -> PathBuf {
        self.builder.data.clone().unwrap_or_else(|| self.folder.path().join("data"))
    }

    /// A folder that sessions may work in.
    pub fn work(&self) -> PathBuf {
        self.folder.path().join("work")
    }

    pub fn token(&self) -> String {
        std::fs::read_to_string(self.data().join("token")).expect("a token").trim().to_owned()
    }

    pub fn port(&self) -> u16 {
        self.url.rsplit_once(':').and_then(|(_, port)| port.parse().ok()).expect("a port")
    }

    /// The one address of the two that everybody has, for connections made by hand.
    pub fn authority(&self) -> String {
        format!("127.0.0.1:{}", self.port())
    }

    pub fn process_id(&self) -> u32 {
        self.child.id().expect("running")
    }

    /// A client that is let in.
    pub fn http(&self) -> Http {
        Http::new(&self.url).header("authorization", &format!("Bearer {}", self.token()))
    }

    /// A client that shows nothing.
    pub fn stranger(&self) -> Http {
        Http::new(&self.url)
    }

    /// A new session on the demo.
    pub async fn session(&self) -> TestSession {
        TestSession::start(self.http()).await
    }

    /// `kill -9`, then waits until it is gone.
    pub async fn kill(&mut self) {
        self.child.kill().await.expect("killed");
    }

    /// `kill -9`, then starts again on the same data.
    pub async fn kill_and_restart(mut self) -> Self {
        self.kill().await;
        self.builder.start_in(self.folder).await
    }

    /// Stops over HTTP and waits for the end. Returns whether it ended well.
    pub async fn stop(&mut self) -> bool {
        assert_eq!(self.http().post("/api/stop", "").await.text(), "{}");
        self.ended().await
    }

    /// Sends a signal and waits for the end. Returns whether it ended well.
    pub async fn signal(&mut self, name: &str) -> bool {
        send_signal(name, self.process_id());
        self.ended().await
    }

    /// Everything that it wrote to standard error, once it has ended.
    pub async fn stderr(&mut self) -> String {
        self.stderr.take().expect("asked once").await.expect("read to its end");
        self.log.borrow().clone()
    }

    /// Waits until it has logged that many further lines with a text.
    pub async fn until_logged(&self, text: &str, times: usize) {
        let mut log = self.log.clone();
        let count = |log: &String| log.matches(text).count();
        let before = count(&log.borrow());
        log.wait_for(|log| count(log) >= before + times).await.expect("the server runs");
    }

    pub async fn ended(&mut self) -> bool {
        self.exit_code().await == Some(0)
    }

    /// How it ended; `None` for a signal.
    pub async fn exit_code(&mut self) -> Option<i32> {
        self.child.wait().await.expect("waited").code()
    }

    /// Starts again on the same data after an end.
    pub async fn start_again(self) -> Self {
        self.builder.start_in(self.folder).await
    }

    /// The settings it was started with, to change some of them.
    pub fn builder_again(&self) -> ServerBuilder {
        self.builder.clone()
    }

    /// Starts again on the same data after an end, with other settings.
    pub async fn start_again_as(self, builder: ServerBuilder) -> Self {
        builder.start_in(self.folder).await
    }

    /// Stops, then starts again on the same data.
    pub async fn restart(mut self) -> Self {
        assert!(self.stop().await, "a clean end");
        self.builder.start_in(self.folder).await
    }

    /// As [`Self::restart`], with other settings.
    pub async fn restart_as(mut self, builder: ServerBuilder) -> Self {
        assert!(self.stop().await, "a clean end");
        builder.start_in(self.folder).await
    }

    /// Runs another command of the binary against the same data.
    pub async fn run(&self, arguments: &[&str]) -> Ended {
        let builder = ServerBuilder { flags: Vec::new(), ..self.builder.clone() };
        builder.run(self.folder(), arguments).await
    }
}

/// A page of a person who has logged in.
pub async fn page(server: &Server) -> Http {
    let ended = server.run(&["open", "--print"]).await;
    let form = ended.stdout.trim().rsplit_once('?').expect("a link").1.to_owned();
    let reply = server.stranger().post("/login", form).await;
    let cookie = reply.header("set-cookie").split(';').next().expect("a cookie").to_owned();
    let secret = reply.json()["secret"].as_str().expect("a secret").to_owned();
    server.stranger().header("cookie", &cookie).header("flightdeck-secret", &secret)
}

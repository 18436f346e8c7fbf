//! The real binary, and what the system says about it.

use std::path::Path;
use std::process::Stdio;
use std::time::Instant;

use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, Command};

pub struct Process {
    pub folder: TempDir,
    child: Child,
    pub port: u16,
    /// Seconds from its start to its first answer.
    pub first_answer: f64,
}

impl Process {
    pub async fn start() -> Self {
        Self::start_in(tempfile::tempdir().expect("a folder")).await
    }

    pub async fn start_in(folder: TempDir) -> Self {
        Self::start_with(folder, &[]).await
    }

    pub async fn start_with(folder: TempDir, variables: &[(String, String)]) -> Self {
        let began = Instant::now();
        // Another binary, to compare two versions on one machine.
        let binary = std::env::var_os("BENCH_BINARY").unwrap_or_else(|| env!("CARGO_BIN_EXE_flightdeck").into());
        let mut child = Command::new(binary)
            .args(["--port", "0", "--auth", "none", "--data-dir"])
            .arg(folder.path().join("data"))
            .env("XDG_CONFIG_HOME", folder.path())
            .env("FLIGHTDECK_LIMITS_CONNECTIONS", "5000")
            .env("FLIGHTDECK_LOG_FILTER", "error")
            .envs(variables.iter().map(|(name, value)| (name, value)))
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .expect("the binary starts");
        let mut lines = BufReader::new(child.stdout.take().expect("piped")).lines();
        let url = lines.next_line().await.expect("readable").expect("an address");
        let port = url.rsplit(':').next().expect("a port").parse().expect("a number");
        super::viewer::request(port, "GET", "/api/health", "").await;
        Self { folder, child, port, first_answer: began.elapsed().as_secs_f64() }
    }

    pub async fn stop(mut self) -> TempDir {
        super::viewer::request(self.port, "POST", "/api/stop", "").await;
        self.child.wait().await.expect("ended");
        self.folder
    }

    fn proc_file(&self, name: &str) -> String {
        let id = self.child.id().expect("running");
        std::fs::read_to_string(Path::new("/proc").join(id.to_string()).join(name)).expect("Linux")
    }

    /// Resident memory in KiB.
    pub fn memory(&self) -> f64 {
        self.status("VmRSS:")
    }

    /// Resident memory that is not mapped from a file, in KiB.
    pub fn own_memory(&self) -> f64 {
        self.status("RssAnon:")
    }

    /// The most resident memory so far, in KiB.
    pub fn peak_memory(&self) -> f64 {
        self.status("VmHWM:")
    }

    fn status(&self, name: &str) -> f64 {
        let status = self.proc_file("status");
        let line = status.lines().find(|line| line.starts_with(name)).expect("a line");
        line.split_whitespace().nth(1).expect("a number").parse().expect("a number")
    }

    /// Seconds of processor time so far.
    pub fn processor_time(&self) -> f64 {
        let stat = self.proc_file("stat");
        let after_name = stat.rsplit(')').next().expect("fields");
        let fields: Vec<f64> = after_name.split_whitespace().filter_map(|field| field.parse().ok()).collect();
        // After the state letter: utime and stime are the 12th and 13th, in hundredths of a second.
        (fields[10] + fields[11]) / 100.0
    }

    pub async fn new_session(&self) -> String {
        self.new_session_on("demo").await
    }

    pub async fn new_session_on(&self, model: &str) -> String {
        let path = format!("/api/copilot/session/start/{model}");
        let reply = super::viewer::request(self.port, "POST", &path, "").await;
        let start = reply.find("session-").expect("an id");
        reply[start..].split('"').next().expect("an id").to_owned()
    }

    pub async fn prompt(&self, session: &str, text: &str) {
        super::viewer::request(self.port, "POST", &format!("/api/copilot/session/{session}/query"), text).await;
    }
}

//! `flightdeck service`, with a service manager that only writes down how it is called.

use std::path::{Path, PathBuf};

use crate::support::{Server, ServerBuilder};

/// A folder with a stub of the manager, and what the stub was called with.
struct Stub {
    folder: tempfile::TempDir,
}

impl Stub {
    #[cfg(unix)]
    fn new(name: &str, script: &str) -> Self {
        use std::os::unix::fs::PermissionsExt as _;
        let folder = tempfile::tempdir().expect("a folder");
        let bin = folder.path().join("bin");
        std::fs::create_dir(&bin).expect("made");
        let program = bin.join(name);
        let calls = folder.path().join("calls");
        std::fs::write(&program, format!("#!/bin/sh\necho \"$@\" >> '{}'\n{script}\n", calls.display()))
            .expect("written");
        std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).expect("executable");
        Self { folder }
    }

    fn builder(&self) -> ServerBuilder {
        Server::builder().variable("PATH", &self.folder.path().join("bin").to_string_lossy())
    }

    fn calls(&self) -> String {
        std::fs::read_to_string(self.folder.path().join("calls")).unwrap_or_default()
    }
}

fn unit_of(home: &Path) -> PathBuf {
    home.join("home/config/systemd/user/flightdeck.service")
}

#[cfg(unix)]
#[tokio::test]
async fn a_unit_is_written_enabled_asked_and_removed() {
    let stub = Stub::new("systemctl", "[ \"$2\" = is-active ] && echo active; exit 0");
    let (builder, home) = (stub.builder(), tempfile::tempdir().expect("a folder"));
    let run = |arguments: &'static [&'static str]| builder.run(home.path(), arguments);
    let dry = run(&["service", "install", "--manager", "systemd", "--dry"]).await;
    assert!(
        dry.stdout.contains("ExecStart=") && dry.stdout.contains("systemctl --user enable --now"),
        "{}",
        dry.stdout
    );
    assert!(!unit_of(home.path()).exists() && stub.calls().is_empty(), "nothing was done");
    let installed = run(&["service", "install", "--manager", "systemd"]).await;
    assert!(installed.success && installed.stdout.starts_with("Installed"), "{}", installed.stderr);
    let unit = std::fs::read_to_string(unit_of(home.path())).expect("written");
    let program = format!("ExecStart=\"{}\" \"serve\" \"--data-dir\"", env!("CARGO_BIN_EXE_flightdeck"));
    assert!(unit.contains(&program) && unit.contains("WantedBy=default.target"), "{unit}");
    assert_eq!(stub.calls(), "--user daemon-reload\n--user enable --now flightdeck.service\n");
    let status = run(&["service", "status", "--manager", "systemd"]).await;
    assert!(status.success && status.stdout.contains("state: running"), "{}", status.stdout);
    let removed = run(&["service", "uninstall", "--manager", "systemd"]).await;
    assert!(removed.success, "{}", removed.stderr);
    assert!(!unit_of(home.path()).exists());
    assert!(
        stub.calls().ends_with("--user disable --now flightdeck.service\n--user daemon-reload\n"),
        "{}",
        stub.calls()
    );
    let again = run(&["service", "uninstall", "--manager", "systemd"]).await;
    assert!(!again.success && again.stderr.contains("not installed"), "{}", again.stderr);
    assert_eq!(run(&["service", "status", "--manager", "systemd"]).await.code, Some(1));
}

#[cfg(unix)]
#[tokio::test]
async fn without_a_manager_the_command_says_what_to_run() {
    let (empty, home) = (tempfile::tempdir().expect("a folder"), tempfile::tempdir().expect("a folder"));
    let absent = Server::builder().variable("PATH", &empty.path().to_string_lossy());
    let unreachable = Stub::new("systemctl", "echo 'Failed to connect to bus: No medium found' >&2; exit 1");
    for builder in [absent, unreachable.builder()] {
        let ended = builder.run(home.path(), &["service", "install", "--manager", "systemd"]).await;
        assert!(ended.success, "{}", ended.stderr);
        assert!(ended.stdout.contains("cannot be run here") && ended.stdout.contains("systemctl --user daemon-reload"));
        assert!(unit_of(home.path()).is_file());
    }
    let refusing = Stub::new("systemctl", "echo 'Unit is masked' >&2; exit 1");
    let ended = refusing.builder().run(home.path(), &["service", "install", "--manager", "systemd"]).await;
    assert!(!ended.success && ended.stderr.contains("Unit is masked"), "{}", ended.stderr);
}

#[cfg(unix)]
#[tokio::test]
async fn an_agent_of_launchd_is_written_and_loaded() {
    let stub = Stub::new("launchctl", "[ \"$1\" = list ] && echo '\"PID\" = 7;'; exit 0");
    let (builder, home) = (stub.builder(), tempfile::tempdir().expect("a folder"));
    let installed = builder.run(home.path(), &["service", "install", "--manager", "launchd"]).await;
    assert!(installed.success, "{}", installed.stderr);
    let file = home.path().join("home/Library/LaunchAgents/dev.flightdeck.server.plist");
    let text = std::fs::read_to_string(&file).expect("written");
    assert!(text.contains("<key>RunAtLoad</key>") && text.contains(env!("CARGO_BIN_EXE_flightdeck")), "{text}");
    assert_eq!(stub.calls(), format!("load -w {}\n", file.display()));
    let status = builder.run(home.path(), &["service", "status", "--manager", "launchd"]).await;
    assert!(status.success, "{}", status.stdout);
}

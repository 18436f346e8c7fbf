//! `cargo xtask proxies`: what `docs/remote-access.md` describes, with the real nginx, Caddy and OpenSSH.

use std::process::Command;

use crate::shell::{apt_get_install, cargo, run, works, workspace};

/// Each program, how it shows that it is there, and its Debian package.
const PROGRAMS: [(&str, &str, &str); 5] = [
    ("nginx", "-v", "nginx-light"),
    ("caddy", "version", "caddy"),
    ("openssl", "version", "openssl"),
    ("ssh", "-V", "openssh-client"),
    ("/usr/sbin/sshd", "-V", "openssh-server"),
];

/// Installs the proxies and runs the tests.
pub fn proxies() -> Result<(), String> {
    let is_missing = |(program, shows, _): &&(&str, &str, &str)| !works(Command::new(program).arg(shows));
    let missing: Vec<&str> = PROGRAMS.iter().filter(is_missing).map(|(_, _, package)| *package).collect();
    if !missing.is_empty() {
        let text = format!("testing the proxies needs {}: install them", missing.join(", "));
        apt_get_install(&missing).ok_or(text)??;
    }
    run(&mut cargo(&["test", "--workspace", "--no-run", "--quiet"]))?;
    let own = std::env::current_exe().map_err(|error| format!("cannot find the target folder: {error}"))?;
    let binary = own.with_file_name(format!("flightdeck{}", std::env::consts::EXE_SUFFIX));
    run(Command::new("node")
        .current_dir(workspace())
        .env("TEST_BINARY", binary)
        .env("TEST_DOCS", workspace().join("docs/remote-access.md"))
        .args(["--test", "--test-reporter=spec", "--test-timeout=300000"])
        .args(["tests/proxies/proxies.test.mjs", "tests/proxies/tunnel.test.mjs"]))
}

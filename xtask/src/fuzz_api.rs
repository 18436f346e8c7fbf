//! `cargo xtask fuzz-api`: generated requests against a real server, compared with its OpenAPI document.

use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use crate::npm::{self, Package};
use crate::pypi;
use crate::shell::{cargo, run, workspace};

const PACKAGES: [Package; 1] = [("schemathesis", "4.32.5")];

/// Generated requests for each operation, unless the caller says otherwise.
const USUAL_EXAMPLES: &str = "30";

/// A failure is a status of 500 and above, or a reply that is not what the document says.
const CHECKS: &str = "not_a_server_error,status_code_conformance,content_type_conformance,response_schema_conformance";

/// The one route that is left out: it stops the server.
const STOPS_THE_SERVER: &str = "/api/stop";

/// Tests every operation with that many generated requests.
pub fn fuzz_api(examples: Option<&str>) -> Result<(), String> {
    let examples = examples.unwrap_or(USUAL_EXAMPLES);
    examples.parse::<u32>().map_err(|_| format!("{examples:?} is no number of examples"))?;
    let tools = npm::cache().join("flightdeck-test-fuzz-api");
    pypi::install(&tools, &PACKAGES)?;
    run(&mut cargo(&["build", "--package", "flightdeck", "--bin", "flightdeck"]))?;
    let folder = tempfile::tempdir().map_err(|error| format!("no temporary folder: {error}"))?;
    let server = Server::start(folder.path())?;
    let python = tools.join("python/bin/python3");
    run(Command::new(&python)
        .arg(workspace().join("tests/fuzz_api/sessions.py"))
        .arg(&server.url)
        .arg(folder.path().join("work")))?;
    let own = workspace().join("tests/fuzz_api");
    let outcome = run(Command::new(tools.join("python/bin/schemathesis"))
        .arg("--config-file")
        .arg(own.join("schemathesis.toml"))
        .args(["run", &format!("{}/api/openapi.json", server.url), "--url", &server.url])
        .args(["--checks", CHECKS, "--max-examples", examples, "--exclude-path", STOPS_THE_SERVER])
        .args(["--phases", "coverage,fuzzing", "--continue-on-failure", "--request-timeout", "60", "--workers", "2"])
        .args(["--seed", "1", "--generation-database", "none", "--warnings", "off", "--no-color"])
        .env("SCHEMATHESIS_HOOKS", "hooks")
        .env("PYTHONPATH", &own)
        .current_dir(folder.path()));
    drop(server);
    outcome
}

/// A server on a free port, with nothing but the demo agent. It is killed when it is dropped.
struct Server {
    child: Child,
    url: String,
}

impl Server {
    fn start(folder: &Path) -> Result<Self, String> {
        let (data, work, config) = (folder.join("data"), folder.join("work"), folder.join("flightdeck.toml"));
        std::fs::create_dir_all(&work).map_err(|error| format!("{}: {error}", work.display()))?;
        let settings = format!("[sessions]\nroots = [{:?}]\n", work.display().to_string());
        std::fs::write(&config, settings).map_err(|error| format!("{}: {error}", config.display()))?;
        // Nothing that belongs to the person: no agents, no configuration, no folders but this one.
        let mut child = Command::new(workspace().join("target/debug/flightdeck"))
            .args(["--port", "0", "--auth", "none", "--data-dir"])
            .arg(&data)
            .current_dir(&work)
            .env("HOME", folder)
            .env("FLIGHTDECK_CONFIG", &config)
            .env("PATH", "/usr/bin:/bin")
            .stdout(Stdio::piped())
            .stderr(Stdio::from(
                std::fs::File::create(folder.join("server.log")).map_err(|error| format!("server.log: {error}"))?,
            ))
            .spawn()
            .map_err(|error| format!("the server cannot be started: {error}"))?;
        let mut url = String::new();
        let output = child.stdout.take().ok_or("the server has no output")?;
        BufReader::new(output).read_line(&mut url).map_err(|error| format!("the server said nothing: {error}"))?;
        let url = url.trim().trim_end_matches('/').to_owned();
        if !url.starts_with("http") {
            return Err(format!("the server did not start; its first line is {url:?}"));
        }
        Ok(Self { child, url })
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

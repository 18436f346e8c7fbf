//! The Copilot program: how it is found and started as an SDK server.

use std::path::PathBuf;

use super::settings::CopilotSettings;
use crate::agent::program::{FoundProgram, ProgramSearch, Programs};

/// Arguments that make the CLI, or `copilot-runtime`, an SDK server. Stored logins and tokens of the environment are
/// used, because `--no-auto-login` is not among them.
const SERVER_ARGUMENTS: [&str; 3] = ["--headless", "--no-auto-update", "--stdio"];
const NOT_FOUND: &str = "GitHub Copilot is not installed: run `flightdeck agents install copilot` (or `npm install -g \
    @github/copilot`), or set COPILOT_CLI_PATH to the program";
/// The command that installs the program.
pub(super) const INSTALL_COMMAND: &str = "flightdeck agents install copilot";

pub(super) fn programs(settings: &CopilotSettings) -> Programs {
    let search = ProgramSearch {
        name: "copilot",
        configured: settings.program.clone(),
        setting: "agents.copilot.program",
        variable: Some("COPILOT_CLI_PATH"),
        package: "@github/copilot",
        github_cli: Some("copilot"),
        not_found: NOT_FOUND,
    };
    Programs::new(search, settings.environment.clone(), settings.data_folder.as_deref())
}

/// The process that runs the program as a server.
pub(super) fn server_arguments(program: &FoundProgram) -> Vec<String> {
    with_leading(program, &SERVER_ARGUMENTS)
}

/// The arguments of a command of the program.
pub(super) fn with_leading(program: &FoundProgram, arguments: &[&str]) -> Vec<String> {
    program.leading_arguments.iter().cloned().chain(arguments.iter().map(|argument| (*argument).to_owned())).collect()
}

/// Whether the program is the full CLI, which can log in, and not just the server.
pub(super) fn is_whole_cli(program: &FoundProgram) -> bool {
    !PathBuf::from(program.path.file_name().unwrap_or_default()).with_extension("").ends_with("copilot-runtime")
}

//! Claude Code's program.

use crate::agent::headless::settings::ClaudeSettings;
use crate::agent::program::{ProgramSearch, Programs};

const NOT_FOUND: &str = "Claude Code is not installed: run `flightdeck agents install claude` (or `npm install -g \
    @anthropic-ai/claude-code`), or set CLAUDE_CLI_PATH to the program";
/// The command that installs the program.
pub const INSTALL_COMMAND: &str = "flightdeck agents install claude";

pub fn programs(settings: &ClaudeSettings) -> Programs {
    let search = ProgramSearch {
        name: "claude",
        configured: settings.program.clone(),
        setting: "agents.claude.program",
        variable: Some("CLAUDE_CLI_PATH"),
        package: "@anthropic-ai/claude-code",
        github_cli: None,
        not_found: NOT_FOUND,
    };
    Programs::new(search, settings.environment.clone(), settings.data_folder.as_deref())
}

//! The tools that a criterion can name.

/// The tools that every session of a task has.
pub const JOB_TOOLS: [&str; 4] =
    ["job_prepare_document", "job_boolean_true", "job_boolean_false", "job_prerequisite_failed"];

/// Tools that agents bring along, by the agents' own names.
#[rustfmt::skip]
const AGENT_TOOLS: [&str; 79] = [
    // Copilot
    "apply_patch", "ask_user", "bash", "create", "edit", "fetch_copilot_cli_documentation", "glob", "grep", "insert",
    "list_agents", "list_bash", "list_powershell", "lsp", "powershell", "read_agent", "read_bash", "read_powershell",
    "report_intent", "rg", "show_file", "skill", "sql", "stop_bash", "stop_powershell", "store_memory", "str_replace",
    "str_replace_editor", "task", "task_complete", "think", "update_todo", "view", "web_fetch", "web_search",
    "write_agent", "write_bash", "write_powershell",
    // Claude Code
    "Agent", "AskUserQuestion", "Bash", "BashOutput", "Edit", "EnterPlanMode", "ExitPlanMode", "Glob", "Grep",
    "KillBash", "KillShell", "LS", "LSP", "ListMcpResourcesTool", "MultiEdit", "NotebookEdit", "NotebookRead", "Read",
    "ReadMcpResourceTool", "Skill", "SlashCommand", "Task", "TaskOutput", "TaskStop", "TodoRead", "TodoWrite",
    "ToolSearch", "WebFetch", "WebSearch", "Write",
    // opencode
    "codesearch", "list", "multiedit", "patch", "question", "read", "todoread", "todowrite", "webfetch", "websearch",
    "write", "task_status",
];

/// Whether a session may have a tool of this name. Tools of MCP servers are known by the form of their names:
/// `server-tool` or `mcp__server__tool`.
pub(super) fn is_available(name: &str) -> bool {
    if JOB_TOOLS.contains(&name) || AGENT_TOOLS.contains(&name) {
        return true;
    }
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "_-/.".contains(letter);
    let joins = |separator| {
        name.split_once(separator).is_some_and(|(server, tool): (&str, &str)| !server.is_empty() && !tool.is_empty())
    };
    !name.starts_with("job_") && name.chars().all(is_plain) && (joins("-") || joins("__"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tools_of_jobs_of_agents_and_of_mcp_servers_are_available() {
        for name in
            JOB_TOOLS.iter().chain(&["bash", "Bash", "view", "github-search_issues", "mcp__git__log", "a-b/c.d"])
        {
            assert!(is_available(name), "{name}");
        }
        for name in
            ["", " ", "x", "*", "bash ", "Shell", "job_boolean", "job_a-b", "job__x", "a- b", "-a", "a-", "mcp__"]
        {
            assert!(!is_available(name), "{name}");
        }
    }

    #[test]
    fn no_tool_is_listed_twice() {
        let mut names = AGENT_TOOLS.to_vec();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), AGENT_TOOLS.len());
    }
}
